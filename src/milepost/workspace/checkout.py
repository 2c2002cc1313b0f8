"""Checkouts: a folder with the files of one commit, made from git and thrown away.

A checkout is a cache of a tree and never a truth. It lies outside the user's repository, so
that no tool that looks for its configuration in parent folders finds the user's. Its `.git`
is private to it and borrows the user's objects read-only: an agent may use git there as it
likes, and the engine never reads what it did there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.errors import GitFailed, StateUnwritable
from milepost.workspace.git import Git

# What tools leave behind and nobody means to commit, for projects that do not ignore it themselves.
LEFTOVERS = (
    *("__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".coverage"),
    *(".tox/", ".venv/", "venv/", "node_modules/", ".DS_Store", ".milepost/"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The tree of a workspace as it is now and what differs in it, or why it cannot become a commit."""

    tree: str = ""
    changed: tuple[str, ...] = ()
    problem: str = ""


class Checkouts:
    """Makes, snapshots and removes checkouts below one folder that belongs to one engine."""

    def __init__(self, root: Path, git: Git) -> None:
        self._root = root
        self._git = git

    def make(self, name: str, commit: str, *, tree: str = "") -> Workspace:
        """A fresh checkout of a commit, or of `tree` on top of it; what was under this name before is gone."""
        home = self._root / name
        self.drop(name)
        workspace = Workspace(folder=home / "tree", scratch=home / "scratch", base=commit)
        try:
            workspace.folder.mkdir(parents=True)
            workspace.scratch.mkdir()
            self._git.plumb("read-tree", "--reset", "-u", tree or commit, env=self._place(workspace))
            self._lend_git(workspace)
        except OSError as error:
            raise _unwritable(self._root, error) from error
        return workspace

    def snapshot(self, workspace: Workspace, *, keep: dict[str, bytes] | None = None) -> Snapshot:
        """The tree of all that is in the workspace and not ignored; files in `keep` are put back first."""
        try:
            for path, content in (keep or {}).items():
                _put_back(workspace.folder, path, content)
            ignore = self._root / "leftovers"
            ignore.write_text("\n".join(LEFTOVERS) + "\n")
        except OSError as error:
            raise _unwritable(self._root, error) from error
        env = self._place(workspace)
        try:
            self._git.plumb("-c", f"core.excludesFile={ignore}", *_ADD, env=env)
        except GitFailed as error:
            return Snapshot(problem=f"what the attempt left cannot be committed: {error.message}")
        tree = self._git.plumb("write-tree", env=env)
        return self._compared(workspace, tree)

    def drop(self, name: str) -> None:
        """Remove a checkout, also one that was made half."""
        remove_folder(self._root / name)

    def sweep(self) -> None:
        """Remove every checkout: with the engine's lock held, all of them are stale."""
        remove_folder(self._root)

    def _compared(self, workspace: Workspace, tree: str) -> Snapshot:
        """The tree and what it changes; a repository inside it would be committed as a bare pointer, its files lost."""
        raw = self._git.plumb("diff-tree", "-r", "-z", "--no-renames", workspace.base, tree).split("\0")
        changes = dict(zip(raw[1::2], raw[0::2], strict=False))
        nested = next((path for path, modes in changes.items() if modes.split()[1] == "160000"), None)
        if nested is not None:
            return Snapshot(
                problem=f"{nested} is a git repository of its own: remove {nested}/.git so that its files count"
            )
        return Snapshot(tree=tree, changed=tuple(changes))

    def _place(self, workspace: Workspace) -> dict[str, str]:
        index = workspace.folder.parent / "index"
        return {"GIT_WORK_TREE": str(workspace.folder), "GIT_INDEX_FILE": str(index)}

    def _lend_git(self, workspace: Workspace) -> None:
        """A `.git` of the checkout's own, for agents and tests that ask git questions."""
        own = workspace.folder / ".git"
        for folder in ("objects/info", "refs/heads", "info"):
            (own / folder).mkdir(parents=True)
        (own / "objects/info/alternates").write_text(f"{self._git.objects}\n")
        shutil.copyfile(self._git.own_dir / "config", own / "config")
        if (self._git.own_dir / "shallow").exists():
            shutil.copyfile(self._git.own_dir / "shallow", own / "shallow")
        (own / "info/exclude").write_text("\n".join(LEFTOVERS) + "\n")
        (own / "HEAD").write_text(f"{workspace.base}\n")
        shutil.copyfile(workspace.folder.parent / "index", own / "index")


_ADD = ("add", "--all", "--no-warn-embedded-repo", "--", ".")


def cache_folder(state: Path) -> Path:
    """Where the checkouts of a state directory go: in the user's cache, named after the directory."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:12]
    return cache / "milepost" / f"{state.resolve().parent.name}-{name}"


def remove_folder(folder: Path) -> None:
    """Remove a folder and all below it, also where an agent took its own rights away."""
    try:
        _remove(folder)
    except PermissionError:
        for place, _, _ in os.walk(folder):
            Path(place).chmod(stat.S_IRWXU)
        _remove(folder)


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _put_back(folder: Path, path: str, content: bytes) -> None:
    """Write a file of ours into a tree that an agent had its hands on: follow no link it laid."""
    target = folder
    for part in Path(path).parts[:-1]:
        target = target / part
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            target.unlink()
        target.mkdir(exist_ok=True)
    target = target / Path(path).name
    if target.is_symlink():
        target.unlink()
    elif target.is_dir():
        remove_folder(target)
    elif target.exists() and target.read_bytes() == content:
        return
    target.write_bytes(content)


def _unwritable(root: Path, error: OSError) -> StateUnwritable:
    return StateUnwritable(
        f"checkouts cannot be written below {str(root)!r}: {error.strerror}",
        "free some space or set XDG_CACHE_HOME to a folder that can be written, then: milepost resume",
    )
