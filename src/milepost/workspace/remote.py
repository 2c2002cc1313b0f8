"""The git remote that machines share: what a recorded result names is on it before the result is recorded.

It is spoken to with the user's own git and keys, from a repository whose configuration is ours. A network that fails
is tried again; a ref that is not where it was expected is an answer. No ref is moved but from where it was seen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from milepost.core.errors import GitFailed, MachineFailed
from milepost.core.under_way import under_way
from milepost.workspace.git import Git
from milepost.workspace.mileposts import NOTES, Mileposts, Stamp, run_branch

PATIENCE_S = 120.0  # of one exchange with the remote, tried again and again
LONGEST_EXCHANGE_S = 900.0
LONGEST_PAUSE_S = 5.0
SSH = "ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=3"

_OURS = (
    *("core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "core.fsmonitor=false"),
    *("push.gpgSign=false", "push.recurseSubmodules=no", "fetch.recurseSubmodules=no", "submodule.recurse=false"),
    *("push.followTags=false", "http.lowSpeedLimit=1", "http.lowSpeedTime=60", "advice.fetchShowForcedUpdates=false"),
)
_SECRET = re.compile(r"(?<=://)[^@/\s'\"]+@|(?<=password=)[^&\s'\"]+")
_NAMES = re.compile(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-zA-Z])")


def without_secrets(text: str) -> str:
    """A text with what an address may hold of names and passwords taken out."""
    return _SECRET.sub("", text)


def base_ref(run: str) -> str:
    """Where a run starts, on the remote."""
    return f"refs/milepost/{run}/base"


def kept_ref(run: str, commit: str) -> str:
    """Holds what a recorded result names: named by its content, so that nobody can put anything else there."""
    return f"refs/milepost/{run}/kept/{commit}"


class Remote:
    """One remote as seen from one repository. `fence` is asked right before anything is changed there."""

    def __init__(
        self,
        url: str,
        repository: Path,
        *,
        fence: Callable[[], None] = lambda: None,
        stopping: Callable[[], bool] = lambda: False,
        held_fds: tuple[int, ...] = (),
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.url = url
        self._repository, self._fence, self._stopping = repository, fence, stopping
        self._held_fds, self._patience_s = held_fds, patience_s
        self._one_at_a_time = threading.Lock()

    def look(self, ref: str) -> str | None:
        """The commit that a ref of the remote is at."""
        lines = self._insist("ls-remote", self.url, ref).splitlines()
        return next((name for name, _, found in (line.partition("\t") for line in lines) if found == ref), None)

    def fetch(self, *refspecs: str) -> None:
        """Bring refs of the remote here, with all that they hold; a pattern may match none."""
        with self._one_at_a_time:
            words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
            with under_way("fetching from the remote"):
                self._insist(*words, self.url, *refspecs)

    def publish(self, ref: str, commit: str, held: str) -> None:
        """Put a ref at a commit, wherever it was, and hold the commit on another one that is named after it.

        What another one puts there meanwhile is seen, and overwritten.

        The order matters: a process that was held still after its look finds the ref moved, and one that was held
        still before it is stopped at the fence.
        """
        for _ in self._tries(f"the remote does not accept {ref}"):
            if self.swap(ref, commit, self.look(ref), held=held):
                return

    def move(self, ref: str, new: str, old: str) -> str | None:
        """Move a ref from `old` to `new`; gives where it is, which is elsewhere when somebody else moved it."""
        for _ in self._tries(f"the remote does not accept {ref}"):
            if self.swap(ref, new, old):
                return new
            if (seen := self.look(ref)) != old:  # else the remote was busy with another push
                return seen
        raise AssertionError("unreachable: the last try raises")

    def swap(self, ref: str, new: str | None, old: str | None, *, held: str = "") -> bool:
        """Move a ref from where it was seen, None for nowhere; False when it is not there any more.

        With it another ref is put there, which is named after the new commit.
        """
        also = [f"{new}:{held}"] if new and held else []
        return self._push(f"--force-with-lease={ref}:{old or ''}", f"{new or ''}:{ref}", *also)

    def hold(self, refs: Iterable[tuple[str, str]]) -> None:
        """Put commits on refs that are named after them."""
        words = [f"{commit}:{ref}" for commit, ref in refs]
        for _ in self._tries("the remote does not accept refs below refs/milepost"):
            if not words or self._push(*words):
                return

    def _tries(self, problem: str) -> Iterator[None]:
        """Turns until it works, with pauses that grow; raises when the patience is over."""
        until, pause_s = time.monotonic() + self._patience_s, 0.02
        while True:
            yield
            if self._stopping() or time.monotonic() + pause_s > until:
                raise GitFailed(problem, "check its hooks and branch rules, then try again")
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _push(self, *words: str) -> bool:
        code, said = self._try_insisting("push", "--quiet", "--porcelain", "--no-verify", self.url, *words)
        return code == 0 and not any(line.startswith("!") for line in said.splitlines())

    def _insist(self, *words: str) -> str:
        code, said = self._try_insisting(*words)
        if code:
            raise _failure(words[0], said)
        return said

    def _try_insisting(self, *words: str) -> tuple[int, str]:
        """What came of an exchange: tried again while it fails, unless its failing is an answer."""
        until, pause_s = time.monotonic() + self._patience_s, 0.1
        while True:
            if words[0] == "push":
                self._fence()
            code, out, error = self._run(*words)
            if code == 0 or any(line.startswith("!") for line in out.splitlines()):
                return code, out
            if self._stopping() or time.monotonic() + pause_s > until:
                raise _failure(words[0], error)
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _run(self, *words: str) -> tuple[int, str, str]:
        options = [word for setting in _OURS for word in ("-c", setting)]
        try:
            done = subprocess.run(
                ["git", "-C", str(self._repository.absolute()), *options, *words],
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=_environment(),
                pass_fds=self._held_fds,
                start_new_session=True,
                timeout=LONGEST_EXCHANGE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 1, "", "the remote did not answer in time"
        said, complained = (text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr))
        return done.returncode, said, complained


class SharedMileposts(Mileposts):
    """Mileposts whose refs are those of a remote. What is here is a copy, brought when it is missed."""

    def __init__(self, git: Git, remote: Remote, run: str, base: str) -> None:
        super().__init__(git)
        self._shared, self._run = remote, run
        self._there = {base}
        self._nowhere: set[str] = set()
        self._notes = threading.Lock()

    def resolve(self, name: str) -> str | None:
        if not name.startswith("refs/"):
            return super().resolve(name)
        found = self._shared.look(name)
        if found is not None:
            self.bring(found)
        return found

    def keep(self, ref: str, commit: str) -> None:
        super().keep(ref, commit)
        self._shared.publish(ref, commit, kept_ref(self._run, commit))
        self._there |= {commit, self.tree_of(commit)}

    def move(self, ref: str, new: str, old: str) -> None:
        if (now := self._shared.move(ref, new, old)) != new:
            raise MachineFailed(
                f"{ref} on the remote was moved by somebody else, from {old[:7]} to {(now or 'nowhere')[:7]}",
                f"put it back: git push --force {without_secrets(self._shared.url)} {old}:{ref}",
            )
        super().keep(ref, new)
        self._there |= {new, self.tree_of(new)}

    def forget(self, ref: str, old: str) -> None:
        self._shared.swap(ref, None, old)
        super().forget(ref, old)

    def annotate(self, commit: str, evidence: str, stamp: Stamp) -> None:
        """Attach evidence on top of the notes that are on the remote, as often as others add theirs meanwhile."""
        with self._notes:
            while True:
                seen = self._shared.look(NOTES)
                if seen is not None:
                    self._shared.fetch(f"+{NOTES}:{NOTES}")
                if seen is None or (self.note(commit) or "").rstrip() != evidence.rstrip():
                    super().annotate(commit, evidence, stamp)
                made = super().resolve(NOTES)
                if made == seen or self._shared.swap(NOTES, made, seen):
                    return

    def bring(self, told: Any) -> None:
        """Fetch what a value names and is not here: others made it and put it on the remote."""
        if any(kind == "missing" for _, kind in self._look_up(_names_in(told) - self._nowhere)):
            self.refresh()
            missed = self._look_up(_names_in(told))
            self._nowhere |= {name for name, kind in missed if kind == "missing"}

    def refresh(self) -> None:
        """Fetch all that the remote has of the run."""
        mine, branch = f"refs/milepost/{self._run}/*", run_branch(self._run)
        self._shared.fetch(f"+{mine}:{mine}", f"+{branch}*:{branch}*")

    def share(self, told: Any) -> None:
        """See that all that a value names can be fetched from the remote: commits as they are, trees in one."""
        new = self._look_up(_names_in(told) - self._there)
        commits = {name for name, kind in new if kind == "commit"}
        covered = {self.tree_of(commit) for commit in commits}
        trees = {name for name, kind in new if kind == "tree"} - covered
        wrapped = {self._wrap(tree) for tree in trees}
        self._shared.hold((commit, kept_ref(self._run, commit)) for commit in sorted(commits | wrapped))
        self._there |= commits | covered | trees

    def _wrap(self, tree: str) -> str:
        words = ("commit-tree", tree, "-m", "A tree that a result names")
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _NOBODY.items()}
        return self._git.plumb(*words, env=who)

    def _look_up(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Which of some names are objects here, and of what kind."""
        asked = "".join(f"{name}\n" for name in sorted(names))
        if not asked:
            return []
        rows = self._git.plumb("cat-file", "--batch-check", stdin=asked.encode()).splitlines()
        return [(row.split()[0], row.split()[1]) for row in rows]


_NOBODY = {"NAME": "Milepost", "EMAIL": "milepost@localhost", "DATE": "@0 +0000"}


def make_clone(folder: Path, base: str, run: str, remote: Remote, *, sha256: bool = False) -> None:
    """A repository in `folder` that stands on a run's base as the remote has it; harmless when repeated."""
    if not (folder / ".git/HEAD").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _plain(folder, "init", "--quiet", "--template=", f"--object-format={'sha256' if sha256 else 'sha1'}")
    if remote.look(base_ref(run)) != base:
        raise GitFailed(f"the remote has no run {run}", "it was submitted with another remote")
    remote.fetch(f"+{base_ref(run)}:{base_ref(run)}")
    _plain(folder, "checkout", "--quiet", "--force", "--detach", base)


def _plain(folder: Path, *words: str) -> None:
    """Run git in a repository of ours, with no configuration but its own."""
    from milepost.workspace.git import neutral_environment, off_switches

    environment = neutral_environment() | {"GIT_OPTIONAL_LOCKS": "1"}
    done = subprocess.run(
        ["git", "-C", str(folder.absolute()), *off_switches(), *words],
        cwd="/",
        capture_output=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        raise _failure(words[0], done.stderr.decode("utf-8", "backslashreplace"))


def _environment() -> dict[str, str]:
    """The user's own variables, with their keys and helpers, and nobody there to be asked."""
    kept = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_SSL_CAINFO")
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in kept}
    env |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    return env if "GIT_SSH" in env else {"GIT_SSH_COMMAND": SSH} | env


def _failure(verb: str, said: str) -> GitFailed:
    lines = [line for line in without_secrets(said).strip().splitlines() if line] or ["it gave no reason"]
    last = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[-1])
    return GitFailed(
        f"git {verb} with the remote failed: {last}", "make sure that it can be reached from here, then try again"
    )


def _names_in(told: Any) -> set[str]:
    """All that looks like the name of an object in a plain value."""
    return set(_NAMES.findall(json.dumps(told, default=str)))
