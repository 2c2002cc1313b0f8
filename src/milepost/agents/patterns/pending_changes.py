"""The site of a pattern: the files of a folder with changes that are not written yet, and commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from milepost.core.commands import CommandResult
from milepost.core.folders import BUILT
from milepost.core.unified_diff import unified_diff
from milepost.sandbox.confined import NOT_PLAIN_FOLDERS, ConfinedFolder, PathRefused

MOST_FILES = 50_000
MADE_FOLDERS = BUILT | {"coverage", "vendor"}  # deeper down they may be anything

__all__ = ["Commands", "NoCommands", "PathRefused", "PendingChange", "PendingChanges", "TookTooLong"]


class TookTooLong(PathRefused):
    """Says that a command of a pattern was ended because its time was over."""


class Commands(Protocol):
    """Runs what a pattern wants to be run."""

    def ask(self, argv: tuple[str, ...]) -> CommandResult:
        """Run a command that only reads."""
        ...

    def run(self, argv: tuple[str, ...], timeout_s: float | None) -> CommandResult:
        """Run a command that may change the folder."""
        ...


class NoCommands:
    """Where nothing can be run."""

    def ask(self, argv: tuple[str, ...]) -> CommandResult:
        raise PathRefused(f"{argv[0]} cannot be run here")

    def run(self, argv: tuple[str, ...], timeout_s: float | None) -> CommandResult:
        raise PathRefused(f"{argv[0]} cannot be run here")


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingChange:
    """A file before and after; None where there is none."""

    path: str
    before: bytes | None
    after: bytes | None


class PendingChanges:
    """What a pattern works on. Paths are relative to the folder, and none leads out of it.

    Changes are kept in memory: `write_out` makes them, `diff` shows them. With `dry`, commands that may change the
    folder are only noted. `commands` are the ones that were run so, or noted.
    """

    def __init__(self, folder: Path, commands: Commands | None = None, *, dry: bool = False) -> None:
        self._files = ConfinedFolder(folder)
        self._commands = commands or NoCommands()
        self._staged: dict[str, PendingChange] = {}
        self.dry = dry
        self.remarks: list[str] = []
        self.written: list[str] = []
        self.commands: list[tuple[str, ...]] = []

    def holds(self, path: str) -> bool:
        """Whether there is anything at a path."""
        if path in self._staged:
            return self._staged[path].after is not None
        return self._files.holds(path)

    def read(self, path: str) -> bytes:
        """What a file holds."""
        if path not in self._staged:
            return self._files.read(path)
        content = self._staged[path].after
        if content is None:
            raise PathRefused(f"{path} was deleted")
        return content

    def text(self, path: str) -> str:
        """What a text file holds, its line ends as they are."""
        try:
            return self.read(path).decode()
        except UnicodeDecodeError:
            raise PathRefused(f"{path} is not UTF-8 text") from None

    def text_if_there(self, path: str) -> str | None:
        return self.text(path) if self.holds(path) else None

    def paths(self, *suffixes: str) -> tuple[str, ...]:
        """The files that end so, all without a suffix; what tools fill and others own is left out."""
        listed = self._files.listing("", at_most=MOST_FILES)
        if len(listed) >= MOST_FILES:
            raise PathRefused(f"there are more than {MOST_FILES} files here")
        kept = {path for path in listed if not path.endswith("/") and _is_ours(path.split("/")[:-1])}
        for change in self._staged.values():
            (kept.add if change.after is not None else kept.discard)(change.path)
        return tuple(sorted(path for path in kept if not suffixes or path.endswith(suffixes)))

    def write(self, path: str, content: str | bytes) -> None:
        """Let a file hold this in the end."""
        self._stage(path, content.encode() if isinstance(content, str) else content)

    def create(self, files: Mapping[str, str | bytes]) -> None:
        """Let these files be there in the end; one that is there with other content is refused, each with its name."""
        wanted = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        there = [path for path in wanted if self.holds(path) and self.read(path) != wanted[path]]
        if there:
            raise PathRefused("; ".join(f"{path} is there already, with other content" for path in there))
        for path, content in wanted.items():
            self._stage(path, content)

    def delete(self, path: str) -> None:
        self._stage(path, None)

    def say(self, remark: str) -> None:
        """Tell whoever watches something that the changes do not show."""
        self.remarks.append(remark)

    def ask(self, *argv: str) -> CommandResult:
        """Run a command that only reads, also in a dry run."""
        return self._commands.ask(argv)

    def run(self, argv: tuple[str, ...], timeout_s: float | None = None) -> CommandResult | None:
        """Run a command that may change the folder, after the changes so far; None in a dry run."""
        self.commands.append(argv)
        if self.dry:
            return None
        self.write_out()
        return self._commands.run(argv, timeout_s)

    @property
    def changes(self) -> tuple[PendingChange, ...]:
        """What is still to be written."""
        return tuple(change for change in self._staged.values() if change.before != change.after)

    def write_out(self) -> None:
        """Make the changes, or none of them where a file would have to be a folder."""
        # What goes makes room for what comes.
        changes = sorted(self.changes, key=lambda change: change.after is not None)
        kept = {str(PurePosixPath(change.path)): change.after is not None for change in changes}
        for change in changes:
            if change.after is not None:
                self._refuse_below_files(change.path, kept)
        for change in changes:
            if change.after is None:
                self._files.delete(change.path)
            else:
                self._files.write(change.path, change.after)
            self.written.append(change.path)
        self._staged.clear()

    def diff(self) -> str:
        """The changes as a unified diff."""
        return "".join(map(_diff_of, self.changes))

    def _refuse_below_files(self, path: str, kept: Mapping[str, bool]) -> None:
        """Refuse a path that leads through a file; `kept` says of what changes whether a file will be there."""
        for folder in map(str, list(PurePosixPath(path).parents)[:-1]):
            if kept.get(folder, self._holds_file(folder)):
                raise PathRefused(f"{folder} is a file, and {path} would be below it")

    def _holds_file(self, path: str) -> bool:
        if not self._files.holds(path):
            return False
        try:
            self._files.listing(path, at_most=1)
        except PathRefused:
            return True
        return False

    def _stage(self, path: str, content: bytes | None) -> None:
        known = self._staged.get(path)
        before = known.before if known else (self._files.read(path) if self._files.holds(path) else None)
        self._staged[path] = PendingChange(path=path, before=before, after=content)


def _is_ours(folders: list[str]) -> bool:
    return not NOT_PLAIN_FOLDERS.intersection(folders) and not MADE_FOLDERS.intersection(folders[:1])


def _diff_of(change: PendingChange) -> str:
    """A change as git shows it: files that come or go are told, for an empty one there is nothing else to see."""
    before, after = _lines(change.before), _lines(change.after)
    mode = "new file mode 100644\n" if change.before is None else "deleted file mode 100644\n"
    head = f"diff --git a/{change.path} b/{change.path}\n{mode if None in (change.before, change.after) else ''}"
    old = "/dev/null" if change.before is None else f"a/{change.path}"
    new = "/dev/null" if change.after is None else f"b/{change.path}"
    if before is None or after is None:
        return f"{head}Binary files {old} and {new} differ\n"
    lines = unified_diff(before, after, old, new)
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes | None) -> list[str] | None:
    try:
        text = (content or b"").decode()
    except UnicodeDecodeError:
        return None
    return [part + "\n" for part in text.split("\n")[:-1]] + [part for part in text.split("\n")[-1:] if part]
