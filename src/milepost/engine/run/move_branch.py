"""Whether the user's branch can be moved to a commit, what is in the way, and moving it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from milepost.core.errors import MachineFailed
from milepost.engine.project.project import Project
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts
from milepost.workspace.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why a branch cannot be moved, and the command by which its user moves it themselves."""

    why: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """The user's branch (empty: HEAD is on none) and where it is to go: a commit, and a name for that."""

    project: Project
    git: Git
    name: str
    head: str
    head_name: str
    held_fds: tuple[int, ...] = ()

    @property
    def mileposts(self) -> Mileposts:
        return Mileposts(self.git)

    @property
    def arrived(self) -> bool:
        """True when the commit is in the branch's history."""
        at = f"refs/heads/{self.name}" if self.name else self.project.repository.position().commit
        tip = self.mileposts.resolve(at)
        return tip is not None and (tip == self.head or self.mileposts.is_ancestor(self.head, tip))

    def obstacle(self) -> Obstacle | None:
        """What keeps the branch from being moved as it is now; None when nothing does, or it is there already."""
        if self.arrived:
            return None
        repository, now = self.project.repository, self.project.repository.position()
        git = f"git -C {shlex.quote(str(repository.top))}"
        if now.branch != self.name:
            switch = f"{git} switch {shlex.quote(self.name)}" if self.name else f"{git} switch --detach"
            return Obstacle(
                why=f"your working tree is on {now.branch or 'no branch'}, not on {self.name or 'HEAD'}: switch back",
                command=f"{switch} && {git} merge --ff-only {self.head_name}",
            )
        if not self.mileposts.is_ancestor(now.commit, self.head):
            merge = f"{git} merge {self.head_name}"
            return Obstacle(why=f"your branch has diverged meanwhile; merge by hand: {merge}", command=merge)
        forward = f"{git} merge --ff-only {self.head_name}"
        if not repository.is_clean():
            return Obstacle(
                why="your working tree has uncommitted changes or an unfinished merge: commit or stash them",
                command=forward,
            )
        if repository.uses_filters(self.head):
            return Obstacle(why="it uses git filters such as LFS, which only your own git may run", command=forward)
        if (name := in_the_way(self.git, repository, now.commit, self.head)) is not None:
            return Obstacle(why=f"{name!r} is in the way and not tracked by git: move it away", command=forward)
        return None

    def move(self) -> Obstacle | None:
        """Move the branch, unless it is there already; what was in the way."""
        obstacle = self.obstacle()
        if obstacle is not None or self.arrived:
            return obstacle
        try:
            self.project.repository.fast_forward(self.head, self.held_fds)
        except MachineFailed as error:
            top = shlex.quote(str(self.project.repository.top))
            return Obstacle(why=error.message, command=f"git -C {top} merge --ff-only {self.head_name}")
        return None


def in_the_way(git: Git, repository: Repository, old: str, new: str) -> str | None:
    """A file of the user's that git does not know, where a commit has one of its own."""
    goes = frozenset(_names(git, old, new, "D"))
    for name in _names(git, old, new, "A"):
        for folder in (str(parent) for parent in PurePosixPath(name).parents if str(parent) != "."):
            path = repository.top / folder
            if os.path.lexists(path) and (path.is_symlink() or not path.is_dir()) and folder not in goes:
                return folder
        there = repository.top / name
        if there.is_dir() and not there.is_symlink():
            if any(path.relative_to(repository.top).as_posix() not in goes for path in _files_in(there)):
                return name
        elif os.path.lexists(there):
            return name
    return None


def _names(git: Git, old: str, new: str, kind: str) -> list[str]:
    """The files that a commit has and another has not: added ("A") or deleted ("D")."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", f"--diff-filter={kind}")
    return [os.fsdecode(name) for name in git.plumb_bytes(*words, old, new).split(b"\0") if name]


def _files_in(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(where) / name).is_symlink()]
        yield from (Path(where) / name for name in (*files, *links))
