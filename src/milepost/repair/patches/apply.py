"""Diffs put into a checkout and taken out again: nothing happens unless all of it can."""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from milepost.core.task import Task
from milepost.repair.file_scope import covers, in_scope
from milepost.repair.patches.unified_diff import PatchedFile
from milepost.sandbox.confined import PathRefused, PlainFolder, is_inside

LARGEST_DIFF = 1_000_000
MOST_FILES = 200

# Runs git with these words in the checkout, neutrally: the exit code, and what it printed on both streams.
RunGit = Callable[[tuple[str, ...], bytes], tuple[int, str]]

_APPLY = ("apply", "--whitespace=nowarn", "-p1")
_READ_FROM_STDIN = ("-",)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A path at one moment: a plain file, or a link with its target as content."""

    content: bytes
    mode: int

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A path that a patch changed, before and after; None where there was no file."""

    path: str
    before: FileState | None
    after: FileState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """Why a diff is not applied. `breach` means that it reached for what is none of its business."""

    reason: str
    kind: Literal["unusable", "breach"] = "unusable"


def object_to(
    files: tuple[PatchedFile, ...], *, task: Task, folder: PlainFolder, run_git: RunGit, protected: tuple[str, ...] = ()
) -> Objection | None:
    """What speaks against a diff: size, reach, links, the task's scope, whether it applies; None when nothing does.

    `protected` are paths that no patch may change, such as the roadmap.
    """
    text = rendered(files, folder)
    if not files:
        return Objection(reason="there is no diff")
    if len(text) > LARGEST_DIFF or len(files) > MOST_FILES:
        return Objection(reason=f"the diff is too large: {len(text)} bytes, {len(files)} files")
    for path in touched_paths(files):
        if not is_inside(path):
            return Objection(reason=f"{path!r} is not a path in the checkout", kind="breach")
        if any(covers(entry, path) for entry in protected):
            return Objection(reason=f"{path} may not be changed", kind="breach")
        if not in_scope(task, path):
            return Objection(reason=f"{path} is not among the files of the task", kind="breach")
    if objection := next(filter(None, (_about_links(file, folder) for file in files)), None):
        return objection
    code, output = run_git((*_APPLY, "--check", *_READ_FROM_STDIN), text)
    return None if code == 0 else Objection(reason=f"it does not apply: {_first_line(output)}")


def apply(files: tuple[PatchedFile, ...], *, folder: PlainFolder, run_git: RunGit) -> tuple[Touched, ...] | str:
    """Put a diff that nothing speaks against into the checkout: what it touched, or why git would not."""
    paths = touched_paths(files)
    before = {path: state_of(folder, path) for path in paths}
    code, output = run_git((*_APPLY, *_READ_FROM_STDIN), rendered(files, folder))
    touched = tuple(Touched(path=path, before=before[path], after=state_of(folder, path)) for path in paths)
    if code == 0:
        return touched
    restore(touched, folder)
    return _first_line(output)


def roll_back(touched: tuple[Touched, ...], diff: str, *, folder: PlainFolder, run_git: RunGit) -> str:
    """Take a patch out of the checkout; gives why that cannot be, or nothing.

    Files that nobody changed since get their old bytes back. Otherwise only git can tell whether the patch still comes
    out alone.
    """
    if touched and all(state_of(folder, one.path) == one.after for one in touched):
        return restore(touched, folder)
    text = diff.encode("utf-8", "surrogateescape")
    code, output = run_git((*_APPLY, "-R", "--check", *_READ_FROM_STDIN), text)
    if code == 0:
        code, output = run_git((*_APPLY, "-R", *_READ_FROM_STDIN), text)
    return "" if code == 0 else f"other changes conflict: {_first_line(output)}"


def restore(touched: tuple[Touched, ...], folder: PlainFolder) -> str:
    """Give every path its old bytes, mode or absence; gives why one cannot have them, or nothing."""
    try:
        for one in touched:
            if state_of(folder, one.path) == one.before:
                continue
            if one.before is None:
                folder.remove(one.path)
            elif one.before.is_link:
                folder.link(one.path, one.before.content.decode("utf-8", "surrogateescape"))
            else:
                if not folder.is_file(one.path):
                    folder.remove(one.path)
                folder.write(one.path, one.before.content)
                folder.set_mode(one.path, one.before.mode)
    except PathRefused as problem:
        return str(problem)
    return ""


def touched_paths(files: tuple[PatchedFile, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for file in files for path in file.paths))


def rendered(files: tuple[PatchedFile, ...], folder: PlainFolder) -> bytes:
    """The diff as git is to read it: with the line ends that the files have."""
    suited = (_suited(file, folder) for file in files)
    return "".join(file.render() for file in suited).encode("utf-8", "surrogateescape")


def state_of(folder: PlainFolder, path: str) -> FileState | None:
    mode = folder.mode(path)
    if mode is None:
        return None
    if stat.S_ISLNK(mode):
        return FileState(content=(folder.target(path) or "").encode("utf-8", "surrogateescape"), mode=mode)
    content = folder.read(path)
    return None if content is None else FileState(content=content, mode=mode)


def _suited(file: PatchedFile, folder: PlainFolder) -> PatchedFile:
    """A diff whose lines lost their carriage returns on the way gets them back where the file has them."""
    content = folder.read(file.old) if file.old and is_inside(file.old) else None
    if content is None or content.count(b"\r\n") * 2 <= content.count(b"\n"):
        return file
    if any(line.endswith("\r") for line in file.hunks):
        return file
    return file.with_carriage_returns()


def _about_links(file: PatchedFile, folder: PlainFolder) -> Objection | None:
    """A link may be made only to what is inside, and what is a link already may only be deleted."""
    if file.mode == "160000":
        return Objection(reason=f"{file.paths[0]} would become a submodule", kind="breach")
    for path in file.paths:
        if stat.S_ISLNK(folder.mode(path) or 0) and file.new is not None:
            return Objection(reason=f"{path} is a link", kind="breach")
        above = path.rpartition("/")[0]
        while above:
            if stat.S_ISLNK(folder.mode(above) or 0):
                return Objection(reason=f"{above} is a link", kind="breach")
            above = above.rpartition("/")[0]
    if file.makes_link and file.new is not None:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file.new), file.added))
        if file.added.startswith("/") or not is_inside(target):
            return Objection(reason=f"{file.new} would be a link to {file.added!r}", kind="breach")
    return None


def _first_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith("error: ")), lines[0] if lines else "git printed nothing")
    return told.removeprefix("error: ")
