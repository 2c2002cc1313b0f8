"""Submodules and large files of a tree, from what the user's own repository has: nothing is fetched."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from milepost.core.errors import GitFailed
from milepost.sandbox.open_folder import folder_of, opened
from milepost.workspace.git import Git

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]+\n)*oid sha256:([0-9a-f]{64})\nsize \d+\n"
)
_LONGEST_POINTER = 1024
_NAME = re.compile(r"^submodule\.(.+)\.path\n(.+)$", re.DOTALL)
_DEEPEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What was put into a checkout: the paths of submodules, the large files by the hash of their content.

    `missing` are the paths of both kinds that the stores do not have.
    """

    modules: tuple[str, ...] = ()
    large: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def to_json(self) -> str:
        return json.dumps({"modules": self.modules, "large": dict(self.large), "missing": self.missing})

    @staticmethod
    def from_json(text: str) -> Filled:
        kept = json.loads(text)
        return Filled(modules=tuple(kept["modules"]), large=kept["large"], missing=tuple(kept["missing"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnStores:
    """Where a repository keeps what its trees only point to: `modules` for submodules, `lfs` for large files."""

    common_dir: Path

    def fill(self, git: Git, tree: str, checkout: Path, index: Path) -> Filled:
        """Put submodules and large files into a fresh checkout of a tree, as far as the stores have them."""
        modules, missing = self._fill_modules(git, tree, checkout, index, self.common_dir, _DEEPEST)
        large, unknown = self._fill_large(checkout)
        return Filled(modules=modules, large=large, missing=(*missing, *unknown))

    def is_as_large(self, checkout: Path, path: str, filled: Filled) -> bool:
        """Whether a path of a checkout is a large file that has the size it was given."""
        oid = filled.large.get(path)
        if oid is None:
            return False
        with suppress(OSError):
            return (checkout / path).lstat().st_size == self._stored(oid).stat().st_size
        return False

    def _stored(self, oid: str) -> Path:
        return self.common_dir / "lfs/objects" / oid[:2] / oid[2:4] / oid

    def _fill_modules(
        self, git: Git, tree: str, folder: Path, index: Path, store: Path, depth: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The submodules of a tree, those that are there and those that are not; theirs are filled with them."""
        if not depth or not (folder / ".gitmodules").is_file():
            return (), ()
        names = _names(git, tree)
        pinned = _pinned(git, index)
        missing: list[str] = []
        for path, commit in pinned.items():
            module = store / "modules" / names.get(path, path)
            if not (_is_inside(path) and _is_inside(names.get(path, path)) and (module / "objects").is_dir()):
                missing.append(path)
                continue
            inner = Git(git_dir=module, objects=(module / "objects").resolve(), own_dir=git.own_dir)
            if inner.try_plumb("cat-file", "-e", f"{commit}^{{commit}}")[0] != 0:
                missing.append(path)
                continue
            require_sound(inner, commit)
            if not _is_empty_folder(folder, path):
                missing.append(path)
                continue
            with tempfile.TemporaryDirectory(prefix="milepost-") as own:
                own_index = Path(own, "index")
                _check_out(inner, commit, folder / path, own_index)
                _, below = self._fill_modules(inner, commit, folder / path, own_index, module, depth - 1)
            missing += [f"{path}/{one}" for one in below]
        return tuple(pinned), tuple(missing)

    def _fill_large(self, checkout: Path) -> tuple[dict[str, str], list[str]]:
        objects = self.common_dir / "lfs/objects"
        if not objects.is_dir() and not _speaks_of_lfs(checkout / ".gitattributes"):
            return {}, []
        filled, missing = {}, []
        for path in _small_files(checkout):
            pointer = _POINTER.fullmatch(path.read_bytes())
            if pointer is None:
                continue
            oid, name = pointer[1].decode(), path.relative_to(checkout).as_posix()
            stored = self._stored(oid)
            if stored.is_file():
                mode = path.stat().st_mode
                shutil.copyfile(stored, path)
                path.chmod(mode)
                filled[name] = oid
            else:
                missing.append(name)
        return filled, missing


def sha256_of(file: Path) -> str:
    """The hash of a plain file's content; empty for what is none."""
    with suppress(OSError):
        if not file.is_symlink() and file.is_file():
            with file.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
    return ""


def require_sound(git: Git, tree: str) -> None:
    """Raise GitFailed where a folder of a tree has two entries of one name: such a tree stands for no files."""
    rows = git.plumb_bytes("ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", tree).split(b"\0")
    if len(set(rows)) < len(rows):
        twice = next(row for row, number in Counter(rows).items() if number > 1)
        raise GitFailed(
            f"commit {tree[:7]} is malformed: it has two entries named {os.fsdecode(twice)!r}",
            "nothing was checked out; `git fsck` tells more about such commits",
        )


def _pinned(git: Git, index: Path) -> dict[str, str]:
    """The commits of the submodules that a checkout has, by their paths."""
    rows = git.plumb_bytes("ls-files", "--stage", "-z", env={"GIT_INDEX_FILE": str(index)}).split(b"\0")
    parted = (row.partition(b"\t") for row in rows)
    return {os.fsdecode(path): meta.split()[1].decode() for meta, _, path in parted if meta.startswith(b"160000")}


def _check_out(git: Git, commit: str, place: Path, index: Path) -> None:
    env = {"GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(index)}
    git.plumb("read-tree", "--reset", "-u", commit, env=env)


def _is_empty_folder(checkout: Path, path: str) -> bool:
    """Whether there is an empty folder at a path, and no link on the way to it: git makes one for a submodule."""
    inside = PurePosixPath(path, "_")
    with suppress(OSError), opened(checkout) as top, folder_of(inside, top) as folder, os.scandir(folder) as found:
        return not any(found)
    return False


def _speaks_of_lfs(attributes: Path) -> bool:
    with suppress(OSError):
        return "filter=lfs" in attributes.read_text(errors="replace")
    return False


def _names(git: Git, tree: str) -> dict[str, str]:
    """The names of submodules by their paths, which git's folder for them is called after."""
    words = ("config", "--blob", f"{tree}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    code, text = git.try_plumb(*words)
    rows = (match for row in text.split("\0") if (match := _NAME.match(row))) if code == 0 else ()
    return {match[2]: match[1] for match in rows}


def _small_files(checkout: Path) -> list[Path]:
    found = []
    for folder, folders, files in os.walk(checkout):
        folders[:] = [name for name in folders if name not in (".git", "node_modules")]
        for name in files:
            path = Path(folder, name)
            with suppress(OSError):
                if not path.is_symlink() and path.stat().st_size <= _LONGEST_POINTER and _begins(path):
                    found.append(path)
    return found


def _begins(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8) == b"version "


def _is_inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return bool(pure.parts) and not pure.is_absolute() and not {"..", ".git"} & set(pure.parts)
