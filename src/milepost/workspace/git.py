"""The engine's own git: nothing that a repository or a user configures takes part in it.

Two views of one repository. `plumb` sees only its objects, through a git directory of our own
with a configuration of our own: no hook, filter, merge driver, fsmonitor, alias or replace ref
can be reached from there. `refs` sees the repository itself, for commands that only move refs
and read history. Both hold the engine's lock open, in a session of their own: a git that
outlives a killed engine finishes its work, and holds the next engine back until it has.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from milepost.core.errors import GitFailed, StateUnwritable

_DISK_FULL = ("No space left on device", "Disk quota exceeded", "disk full")
_PIECE = 1 << 20
_OFF = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    "submodule.recurse": "false",
    "protocol.allow": "never",
    "advice.detachedHead": "false",
}


def neutral_environment() -> dict[str, str]:
    """What every git of the engine gets: no configuration of the machine or the user, no prompt."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "true",
    }


def off_switches(filters: tuple[str, ...] = ()) -> list[str]:
    """The `-c` arguments that turn off what a repository's own configuration could turn on."""
    settings = dict(_OFF)
    for name in filters:
        settings |= {f"filter.{name}.{part}": "" for part in ("clean", "smudge", "process")}
        settings[f"filter.{name}.required"] = "false"
    return [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]


class Git:
    """Runs git on one repository, neutrally."""

    def __init__(
        self,
        *,
        git_dir: Path,
        objects: Path,
        own_dir: Path,
        held_fds: tuple[int, ...] = (),
        other_objects: tuple[Path, ...] = (),
    ) -> None:
        self.git_dir = git_dir
        self.objects = objects
        self.stores = (objects, *other_objects)
        self.own_dir = own_dir
        self._objects_alone = {"GIT_DIR": str(own_dir), "GIT_OBJECT_DIRECTORY": str(objects)}
        self._repository = {"GIT_DIR": str(git_dir)}
        self._held_fds = held_fds

    def with_objects(self, objects: Path) -> Git:
        """The same repository with another folder for new objects, which names those so far as its alternates."""
        return Git(
            git_dir=self.git_dir,
            objects=objects,
            own_dir=self.own_dir,
            held_fds=self._held_fds,
            other_objects=self.stores,
        )

    def plumb(
        self,
        *words: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        within_s: float | None = None,
    ) -> str:
        """Run git on the objects alone and return what it prints; GitFailed where it takes longer than `within_s`."""
        return _text(self.plumb_bytes(*words, stdin=stdin, env=env, within_s=within_s))

    def plumb_bytes(
        self,
        *words: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        within_s: float | None = None,
    ) -> bytes:
        """Run git on the objects alone and return the bytes it prints."""
        place = self._objects_alone | dict(env or {})
        return _checked([*words], self._start([*words], stdin, place, within_s))

    def plumb_rows(self, *words: str, env: Mapping[str, str], most: int, within_s: float) -> list[bytes]:
        """Run git on the objects alone and return the rows it prints, each ended by a NUL.

        It is ended when it has printed `most` of them, and after `within_s`.
        """
        argv, place = ["git", *words], neutral_environment() | self._objects_alone | dict(env)
        rows: list[bytes] = []
        with (
            tempfile.TemporaryFile() as problems,
            subprocess.Popen(
                argv,
                cwd=self.own_dir,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=problems,
                env=place,
                pass_fds=self._held_fds,
                start_new_session=True,
            ) as git,
        ):
            assert git.stdout is not None
            clock = threading.Timer(within_s, git.kill)
            clock.start()
            rest = b""
            while len(rows) < most and (piece := git.stdout.read(_PIECE)):
                *whole, rest = (rest + piece).split(b"\0")
                rows += whole
            clock.cancel()
            if len(rows) >= most:
                git.kill()
                return rows[:most]
            if git.wait() != 0:
                problems.seek(0)
                raise failure([*words], git.returncode, _text(problems.read(_PIECE)))
        return rows

    def try_plumb(self, *words: str) -> tuple[int, str]:
        """Run git on the objects alone where failing is an answer: the exit code and what it prints."""
        done = self._start([*words], b"", self._objects_alone)
        return done.returncode, _text(done.stdout)

    def try_plumb_bytes(self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes | None:
        """Run git on the objects alone where failing is an answer: the bytes it prints, or None."""
        done = self._start([*words], stdin, self._objects_alone | dict(env or {}))
        return done.stdout if done.returncode == 0 else None

    def refs(self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """Run git on the repository's refs and history and return what it prints."""
        words = (*off_switches(), *words)
        return _text(_checked([*words], self._start([*words], stdin, self._repository | dict(env or {}))))

    def try_refs(self, *words: str) -> tuple[int, str]:
        """Run git on the repository's refs where failing is an answer: the exit code and what it prints."""
        done = self._start([*off_switches(), *words], b"", self._repository)
        return done.returncode, _text(done.stdout)

    def _start(
        self, words: list[str], stdin: bytes, place: Mapping[str, str], within_s: float | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *words],
                cwd=self.own_dir,  # where no file of the user's, like .gitattributes, takes part
                input=stdin,
                capture_output=True,
                env=neutral_environment() | dict(place),
                pass_fds=self._held_fds,
                start_new_session=True,
                timeout=within_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitFailed(f"git took longer than {within_s:g} s", "nothing is lost; try again") from error


def _checked(words: list[str], done: subprocess.CompletedProcess[bytes]) -> bytes:
    if done.returncode != 0:
        raise failure(words, done.returncode, _text(done.stderr))
    return done.stdout


def failure(words: list[str], code: int, stderr: str) -> GitFailed | StateUnwritable:
    """The error that a failed git stands for: a full disk is not git's fault."""
    lines = stderr.strip().splitlines() or [f"exit code {code}"]
    last = next((line for sign in ("error: ", "fatal: ") for line in lines if line.startswith(sign)), lines[-1])
    if any(sign in stderr for sign in _DISK_FULL):
        return StateUnwritable(f"the disk is full: git reported {last!r}", "free some space, then: milepost resume")
    if "Read-only file system" in stderr or "Permission denied" in stderr or "insufficient permission" in stderr:
        return StateUnwritable(
            f"git may not write here: {last!r}", "make the repository writable, then: milepost resume"
        )
    if "unable to write" in stderr:
        return StateUnwritable(
            f"git cannot write: {last!r}", "make sure that the disk is not full, then: milepost resume"
        )
    verb = next((word for word in words if not word.startswith("-") and "=" not in word), "")
    return GitFailed(f"git {verb} failed: {last}", "nothing is lost; continue with: milepost resume")


def _text(output: bytes) -> str:
    """What git printed, as text that can be kept and shown: names of files may be any bytes."""
    return output.decode("utf-8", "backslashreplace").rstrip("\n")
