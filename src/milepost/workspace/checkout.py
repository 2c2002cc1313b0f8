"""Checkouts: a folder with the files of one commit, made from git and thrown away.

A checkout is a cache of a tree and never a truth. It lies outside the user's repository, so
that no tool that looks for its configuration in parent folders finds the user's. Its `.git`
is private to it and borrows the user's objects read-only: an agent may use git there as it
likes, and the engine never reads what it did there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.errors import GitFailed, StateUnwritable
from milepost.core.folder_roadmap import is_of_roadmap, is_page
from milepost.core.plain_names import plain_name
from milepost.workspace.checkout_places import cache_root, real
from milepost.workspace.git import Git, neutral_environment, off_switches
from milepost.workspace.left_files import LeftLimits, TooMuch, entries_of, open_up, require_little
from milepost.workspace.local_files import LocalFiles
from milepost.workspace.masked_tree import Changed, Mask, changes_between, mask_tree, new_objects
from milepost.workspace.own_stores import Filled, OwnStores, require_sound, sha256_of
from milepost.workspace.quarantine import drop_left, quarantine

# What tools leave behind and nobody means to commit, for projects that do not ignore it themselves.
LEFTOVERS = (
    *("__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".coverage"),
    *(".tox/", ".venv", "venv", "node_modules", ".DS_Store", ".milepost/"),  # the plain names may be links
)

# With less than this left, nothing of a project can be built or tested.
LEAST_FREE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The tree of a workspace as it is now and what differs in it, or why it cannot become a commit.

    `leaks` are the places of credentials that the workspace has and the tree has not: they are masked in it.
    """

    tree: str = ""
    changed: tuple[str, ...] = ()
    problem: str = ""
    leaks: tuple[str, ...] = ()


class Checkouts:
    """Makes, snapshots and removes checkouts below one folder that belongs to one engine."""

    def __init__(
        self,
        root: Path,
        git: Git,
        local: LocalFiles | None = None,
        limits: LeftLimits | None = None,
        mask: Mask = lambda _: None,
    ) -> None:
        self._root = real(root)
        self._git = git
        self.limits = limits or LeftLimits()
        self._local = local or LocalFiles(top=root)
        self._mask = mask
        self._stores = OwnStores(common_dir=git.git_dir)
        self._sound = ""

    def make(self, name: str, commit: str, *, tree: str = "") -> Workspace:
        """A fresh checkout of a commit, or of `tree` on top of it; what was under this name before is gone."""
        home = self._folder(name)
        self.drop(name)
        self._require_sound(tree or commit)
        workspace = Workspace(folder=home / "tree", scratch=home / "scratch", base=commit)
        try:
            workspace.folder.mkdir(parents=True)
            workspace.scratch.mkdir()
            (home / "leftovers").write_text("\n".join(LEFTOVERS) + "\n")
            self._git.plumb("read-tree", "--reset", "-u", tree or commit, env=self._place(workspace))
            self._lend_git(workspace)
            if tree:  # to the agent's own git, what was done before is not staged
                own = {"GIT_INDEX_FILE": str(workspace.folder / ".git/index")}
                self._git.plumb("read-tree", "--reset", commit, env=self._place(workspace) | own)
            filled = self._stores.fill(self._git, tree or commit, workspace.folder, home / "index")
            (home / "filled").write_text(filled.to_json())
            self._local.lay(workspace.folder)
        except OSError as error:
            raise _unwritable(self._root, error) from error
        return workspace

    def _require_sound(self, tree: str) -> None:
        """Raise where a tree stands for no files; the last one that was found sound is not looked at again."""
        if tree != self._sound:
            require_sound(self._git, tree)
            self._sound = tree

    def beside(self, git: Git) -> Checkouts:
        """The same checkouts, of which snapshots are taken with the objects of another git."""
        return Checkouts(self._root, git, self._local, self.limits, self._mask)

    def require_space(self, workspace: Workspace) -> None:
        """Raise StateUnwritable where no space is left: what failed there failed for that."""
        try:
            free = shutil.disk_usage(workspace.folder).free
        except OSError:
            return
        if free < LEAST_FREE:
            raise StateUnwritable(
                f"the disk is full: {free:,} bytes are left for {str(self._root)!r}",
                "free some space, then: milepost resume",
            )

    def snapshot(self, workspace: Workspace, *, keep: tuple[str, ...] = ()) -> Snapshot:
        """The tree of all that is in the workspace and not ignored; roadmaps in `keep` are as they were at its base.

        What is more than the limits allow is not read at all: then there is no tree, and a problem says why. Objects
        with credentials never get into the repository: the tree has them masked.
        """
        taken = False
        try:
            with quarantine(self._git, self._root) as apart:
                written = self._write(apart.git, workspace, keep)
                if isinstance(written, Snapshot):
                    return written
                changes = changes_between(apart.git, workspace.base, written)
                if nested := next((change.path for change in changes if change.is_submodule), None):
                    return _refused(nested)
                tree, leaks = mask_tree(apart.git, written, changes, self._mask)
                if leaks:
                    changes = changes_between(apart.git, workspace.base, tree)
                apart.take_over(new_objects(changes, tree))
                taken = not leaks
                return Snapshot(tree=tree, changed=_paths(changes), leaks=leaks)
        except OSError as error:
            raise StateUnwritable(
                f"git's objects cannot be written below {str(self._git.objects)!r}: {error.strerror}",
                "make the repository writable or free some space, then: milepost resume",
            ) from error
        finally:
            if not taken:  # the index names objects that were dropped
                self._git.plumb("read-tree", workspace.base, env=self._place(workspace))

    def _write(self, git: Git, workspace: Workspace, keep: tuple[str, ...]) -> str | Snapshot:
        """Write a tree of it as it is, with objects that `git` writes; a snapshot without one says why there is none.

        The cost of a snapshot is that of starting git, nearly all of it: it is started as seldom as can be.
        """
        env = self._place(workspace)
        ignoring = ("-c", f"core.excludesFile={workspace.folder.parent / 'leftovers'}")
        try:
            # Git must not come near a repository inside: it asks a submodule for its state with the submodule's own
            # configuration, which names programs to run and was written by the agent.
            left = open_up(workspace.folder, self.limits)
            if nested := self._not_ignored(left.repositories, ignoring, env):
                return _refused(nested)
            for path in keep:
                _clear_roadmap(workspace.folder, path)
            filled = self.filled(workspace)
            added = (".", *(f":(exclude,top,literal){path}" for path in filled.modules))
            if not left.is_little(self.limits, _entries_in(Path(env["GIT_INDEX_FILE"]))):
                self._require_little(workspace, filled, (*ignoring, *_CHANGED, *added), env)
            git.plumb(*ignoring, *_ADD, *added, env=env, within_s=_LONGEST_GIT_S)
        except OSError as error:
            raise _unwritable(self._root, error) from error
        except TooMuch as excess:
            return Snapshot(problem=str(excess))
        except GitFailed as error:
            return Snapshot(problem=f"what the attempt left cannot be committed: {error.message}")
        if keep:
            rows = git.plumb_bytes("ls-tree", "-r", "-z", "--full-tree", workspace.base, "--", *keep).split(b"\0")
            named = ((row, os.fsdecode(row.partition(b"\t")[2])) for row in rows if row)
            kept = [row + b"\0" for row, name in named if any(is_of_roadmap(name, path) for path in keep)]
            git.plumb("update-index", "-z", "--index-info", stdin=b"".join(kept), env=env)
        if problem := _put_pointers_back(git, workspace, filled.large, env):
            return Snapshot(problem=problem)
        if lent := sorted(set(self._local.paths) - self._tracked(workspace.base)):
            git.plumb("update-index", "--force-remove", "-z", "--stdin", stdin=_rows(lent), env=env)
        return git.plumb("write-tree", env=env)

    def apply(self, workspace: Workspace, words: tuple[str, ...], patch: bytes) -> tuple[int, str]:
        """Run `git apply`, or a question to it, on the files of a workspace: the exit code and what it prints."""
        done = subprocess.run(
            ["git", "-C", str(workspace.folder), *off_switches(), *words],
            cwd="/",
            input=patch,
            capture_output=True,
            env=neutral_environment() | {"GIT_DIR": "/dev/null"},  # what the agent did to its .git takes no part
            check=False,
        )
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "backslashreplace")

    def drop(self, name: str) -> None:
        """Remove a checkout, also one that was made half."""
        remove_folder(self._folder(name))

    def sweep(self) -> None:
        """Remove every checkout: with the engine's lock held, all of them are stale."""
        remove_folder(self._root)
        drop_left(self._git, self._root)

    def kept(self, run: str, name: str) -> Path:
        """The folder that an attempt finds again when it goes on in another process; for its owner only."""
        folder = self._kept(run) / plain_name(name, "an attempt")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self._root, error) from error
        return folder

    def forget(self, run: str, name: str) -> None:
        """Remove what was kept for an attempt that is over."""
        folder = self._kept(run)
        remove_folder(folder / plain_name(name, "an attempt"))
        with suppress(OSError):  # another attempt has a folder there
            folder.rmdir()

    def forget_all_but(self, runs: Collection[str]) -> None:
        """Remove what was kept for attempts of other runs than these."""
        with suppress(FileNotFoundError):
            for folder in [*kept_folder(self._root).iterdir()]:
                if folder.name not in runs:
                    remove_folder(folder)

    def _folder(self, name: str) -> Path:
        return self._root / plain_name(name, "a checkout")

    def _kept(self, run: str) -> Path:
        return kept_folder(self._root) / plain_name(run, "a run")

    def filled(self, workspace: Workspace) -> Filled:
        """What of submodules and large files was put into a checkout, and what the user's repository lacks of them."""
        kept = workspace.folder.parent / "filled"
        return Filled.from_json(kept.read_text()) if kept.exists() else Filled()

    def _not_ignored(self, folders: list[str], ignoring: tuple[str, ...], env: Mapping[str, str]) -> str:
        """The first of these folders of a workspace that git does not ignore, if any."""
        asked = b"".join(b"./" + os.fsencode(path) + b"\0" for path in folders)
        words = (*ignoring, "check-ignore", "-z", "--stdin")
        told = self._git.try_plumb_bytes(*words, stdin=asked, env=env) if folders else b""
        ignored = {os.fsdecode(path) for path in (told or b"").split(b"\0")}
        return next((path for path in folders if f"./{path}" not in ignored), "")

    def _require_little(
        self, workspace: Workspace, filled: Filled, words: tuple[str, ...], env: Mapping[str, str]
    ) -> None:
        """Raise TooMuch where git would have to read too much; large files may have the size that they came with."""
        most = self.limits.change_files + len(filled.large) + 1
        rows = self._git.plumb_rows(*words, env=env, most=most, within_s=_LONGEST_GIT_S)
        changed = (os.fsdecode(row) for row in rows)
        unfilled = (path for path in changed if not self._stores.is_as_large(workspace.folder, path, filled))
        require_little(workspace.folder, unfilled, self.limits)

    def _tracked(self, tree: str) -> frozenset[str]:
        """Those of the local files that a tree has itself: they are the project's."""
        names = self._local.paths
        if not names:
            return frozenset()
        rows = self._git.plumb_bytes("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree, "--", *names)
        return frozenset(map(os.fsdecode, rows.split(b"\0"))) & frozenset(names)

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
        lent = (f"/{name}" for name in self._local.paths)
        (own / "info/exclude").write_text("\n".join((*LEFTOVERS, *lent)) + "\n")
        (own / "HEAD").write_text(f"{workspace.base}\n")
        shutil.copyfile(workspace.folder.parent / "index", own / "index")


def _paths(changes: tuple[Changed, ...]) -> tuple[str, ...]:
    return tuple(change.path for change in changes if not change.is_folder)


def _put_pointers_back(git: Git, workspace: Workspace, large: Mapping[str, str], env: Mapping[str, str]) -> str:
    """Let the index have the pointers to large files again; says which of them were changed, if any."""
    there = {path: sha256_of(workspace.folder / path) for path in large}
    changed = [path for path, oid in large.items() if there[path] not in ("", oid)]
    if changed:
        return f"{changed[0]} is kept by git-lfs: a new version of it can only be committed by a person"
    same = [path for path, oid in large.items() if there[path] == oid]
    if same:
        rows = git.plumb_bytes("ls-tree", "-r", "-z", "--full-tree", workspace.base, "--", *same)
        git.plumb("update-index", "-z", "--index-info", stdin=rows, env=env)
    return ""


def _entries_in(index: Path) -> int:
    """How many files an index has: its header says it."""
    with index.open("rb") as file:
        return int.from_bytes(file.read(12)[8:], "big")


def _rows(names: list[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)


_ADD = ("add", "--all", "--no-warn-embedded-repo", "--")
_CHANGED = ("ls-files", "-z", "--others", "--modified", "--exclude-standard", "--")
_LONGEST_GIT_S = 600.0


def kept_folder(checkouts: Path) -> Path:
    """Where attempts keep what outlives a process, beside the checkouts, which do not."""
    return checkouts.with_name(f"{checkouts.name}.kept")


def environments_folder() -> Path:
    """Where packages that projects need are installed, for all of them: in the user's cache."""
    return cache_root() / "environments"


def workers_folder() -> Path:
    """Where workers keep their clones: in the user's cache."""
    return cache_root() / "workers"


def remove_folder(folder: Path) -> None:
    """Remove a folder and all below it, also where an agent took its own rights away or nested without end."""
    try:
        _remove(folder)
    except (OSError, RecursionError):
        for words in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*words, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
        _remove(folder)


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _clear_roadmap(folder: Path, path: str) -> None:
    """Remove a roadmap, or the pages of one that is a folder: what else an agent puts there is work."""
    place = folder / path
    is_real = not any(part.is_symlink() for part in (place, *place.parents) if part.is_relative_to(folder))
    if not is_real or not place.is_dir():
        _clear(folder, path)
        return
    for name in [entry.name for entry in entries_of(place) if is_page(entry.name)]:
        _clear(folder, f"{path}/{name}")


def _clear(folder: Path, path: str) -> None:
    """Remove what is where a file of ours belongs: an agent may have put a link, a pipe or a folder there."""
    place = folder
    for part in Path(path).parts:
        place = place / part
        if place.is_symlink() or not place.is_dir():
            place.unlink(missing_ok=True)
            return
    remove_folder(place)


def _refused(nested: str) -> Snapshot:
    """A repository inside the workspace would be committed as a bare pointer, its files lost."""
    nested = os.fsencode(nested).decode("utf-8", "backslashreplace")
    return Snapshot(problem=f"{nested} is a git repository of its own: remove {nested}/.git so that its files count")


def _unwritable(root: Path, error: OSError) -> StateUnwritable:
    return StateUnwritable(
        f"cannot write checkouts below {str(root)!r}: {error.strerror}",
        "free some space or set MILEPOST_CHECKOUTS to a writable folder, then: milepost resume",
    )
