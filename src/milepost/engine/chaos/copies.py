"""Copies of a repository, aside: made from git, disturbed, and looked at when all is over."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import GitFailed
from milepost.engine.project.state_lock import holder_of
from milepost.engine.project.state_mark import KEY_VARIABLE
from milepost.engine.project.state_place import state_path
from milepost.store.kill_points import SEEN, TRACE
from milepost.workspace.git import off_switches

Post = tuple[str, str, str]  # a task, the attempt that ended it, the tree of its milepost
_NOT_OURS = ("MILEPOST_", "GIT_", "OTEL_")
_KEPT = "environments"  # the packages that projects need: installed once, for all copies


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalState:
    """What is there when a run is over."""

    branch: str
    tree: str
    posts: tuple[Post, ...]
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """What a run that is over should have taken away."""

    processes: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryCopy:
    """One copy, and all that its lives write, below `home`."""

    home: Path
    roadmap: str

    @property
    def repository(self) -> Path:
        return self.home / "repository"

    @property
    def state(self) -> Path:
        return state_path((self.repository / self.roadmap).parent)

    @property
    def trace(self) -> Path:
        return self.home / "trace"

    @property
    def seen(self) -> Path:
        return self.home / "seen"

    def environ(self, outside: Mapping[str, str], *, dying: bool) -> dict[str, str]:
        """The variables of a life here; one that is `dying` kills itself at the next boundary."""
        kept = {name: value for name, value in outside.items() if not name.startswith(_NOT_OURS)}
        trust = {name: outside[name] for name in ("MILEPOST_TRUST", KEY_VARIABLE) if outside.get(name)}
        cache = self.home / "cache"
        ours = {"XDG_CACHE_HOME": str(cache), "TMPDIR": str(self.home / "tmp"), TRACE: str(self.trace)}
        ours["MILEPOST_CHECKOUTS"] = str(cache / "milepost")
        return kept | trust | ours | ({SEEN: str(self.seen)} if dying else {})


def make_copy(source: Path, home: Path, roadmap: str, *, apart: bool = False) -> RepositoryCopy:
    """A clone of what is committed in a repository; `apart` shares no file with it, not even one never written."""
    place = RepositoryCopy(home=home, roadmap=roadmap)
    for name in ("cache/milepost", "tmp"):
        (home / name).mkdir(parents=True)
    shared = home.parent / _KEPT
    shared.mkdir(exist_ok=True)
    (home / "cache/milepost" / _KEPT).symlink_to(shared)
    links = ("--no-hardlinks",) if apart else ()
    _git(home, "clone", "--quiet", "--local", *links, "--", str(source), str(place.repository))
    return place


def commit_all(place: RepositoryCopy, message: str) -> None:
    """Commit what is changed in a copy."""
    who = ("-c", "user.name=Chaos", "-c", "user.email=chaos@localhost")
    _git(place.repository, *who, "commit", "--quiet", "--all", "--message", message)


def look(place: RepositoryCopy) -> FinalState:
    """What a run that is over left on its branch, and what git says of the copy's own tree."""
    found = _git(place.repository, "for-each-ref", "--format=%(refname)", "refs/heads/milepost/").split()
    branch = found[0] if found else "HEAD"
    trailers = (f"%(trailers:key=Milepost-{key},valueonly,separator=)" for key in ("Task", "Attempt"))
    lines = _git(place.repository, "log", "--reverse", f"--format={'%x1f'.join((*trailers, '%T'))}", branch)
    posts = [tuple(line.split("\x1f")) for line in lines.split("\n")]
    return FinalState(
        branch=branch.removeprefix("refs/heads/"),
        tree=_git(place.repository, "rev-parse", f"{branch}^{{tree}}"),
        posts=tuple((task, attempt, tree) for task, attempt, tree in posts if task),
        status=_git(place.repository, "status", "--porcelain"),
    )


def damage(place: RepositoryCopy) -> frozenset[str]:
    """What `git fsck` complains about."""
    words = ["git", "-C", str(place.repository), *off_switches(), "fsck", "--strict", "--no-dangling", "--no-progress"]
    done = subprocess.run(words, cwd="/", env=_environ(), capture_output=True, text=True, check=False)
    return frozenset((done.stdout + done.stderr).splitlines()) or frozenset(
        () if done.returncode == 0 else (f"git fsck ended with {done.returncode}",)
    )


def leftovers(place: RepositoryCopy) -> Leftovers:
    """What is still there of a run that is over."""
    git = place.repository / ".git"
    held = ["the lock of the state is held"] if holder_of(place.state) is not None else []
    locks = [str(path.relative_to(git)) for path in git.rglob("*.lock") if git / "objects" not in path.parents]
    cached = [path for path in (place.home / "cache" / "milepost").glob("*/*") if path.parent.name != _KEPT]
    worktrees = list((git / "worktrees").glob("*"))
    temporary = list((place.home / "tmp").iterdir())
    folders = [str(path.relative_to(place.home)) for path in (*cached, *worktrees, *temporary)]
    return Leftovers(processes=tuple(_processes(place.home)), folders=tuple(folders), locks=(*held, *locks))


def _processes(home: Path) -> Iterator[str]:
    """The processes that work in a folder, or were given it: by their place, their files, words or variables."""
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()) and _has_to_do_with(process, os.fsencode(home)):
            words = _read(process / "cmdline").replace(b"\0", b" ").decode("utf-8", "replace")
            yield f"{process.name} {words}".strip()


def _has_to_do_with(process: Path, home: bytes) -> bool:
    with suppress(OSError):
        if any(home in _read(process / name) for name in ("cmdline", "environ")):
            return True
        return any(home in os.fsencode(link.readlink()) for link in (process / "cwd", *(process / "fd").iterdir()))
    return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder.absolute()), *off_switches(), "-c", "protocol.file.allow=always", *words],
        cwd="/",
        env=_environ(),
        capture_output=True,
        text=True,
        errors="backslashreplace",
        check=False,
    )
    if done.returncode != 0:
        raise GitFailed(f"git {words[0]} failed: {done.stderr.strip()}", "the copy was deleted: try again")
    return done.stdout.rstrip("\n")


def _environ() -> dict[str, str]:
    """The user's variables, without those that lead git elsewhere; filters for large files fetch nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_LFS_SKIP_SMUDGE": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
