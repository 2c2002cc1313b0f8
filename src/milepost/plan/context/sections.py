"""The sections of a context: each says as much as fits into so many bytes, and what it had to leave out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from milepost.plan.context.build_context import LEAST_ROOM, Shown, beginning
from milepost.plan.context.tokens import size_of

LARGEST_FILE = 50_000  # bytes that are shown of one file
LONGEST_FOLDER = 240  # characters of the line about a folder
MOST_FILES = 8  # that are named of one task
_REST = "… the rest is left out …"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileShown:
    """A file that a task hints at: its text, or why it has none to show."""

    path: str
    text: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A task that was done before, and what became of which files: `created`, `changed` or `deleted`."""

    task: str
    title: str
    files: tuple[tuple[str, str], ...] = ()


def lines_within(lines: Sequence[str], room: int, more: str) -> Shown:
    """As many lines as fit, and how many more there are; nothing when not one fits."""
    whole = "\n".join(lines)
    if size_of(whole) <= room:
        return Shown(whole)
    kept, left = [], room - size_of(f"… and {len(lines)} {more}\n")
    for line in lines:
        left -= size_of(line) + 1
        if left < 0:
            break
        kept.append(line)
    if not kept:
        return Shown("", cut=True)
    return Shown("\n".join((*kept, f"… and {len(lines) - len(kept)} {more}")), cut=True)


def text_within(text: str, room: int) -> Shown:
    """A text whole, or as many of its first and last lines as fit, with the number of those left out between."""
    text = text.strip("\n")
    if size_of(text) <= room:
        return Shown(text)
    lines = text.split("\n")
    room -= max(size_of(f"\n… {len(lines)} lines left out …\n"), size_of(f"\n{_REST}"))
    if room < LEAST_ROOM:
        return Shown("", cut=True)
    head = _fitting(lines, room * 2 // 3)
    tail = _fitting(lines[head:][::-1], room - size_of("\n".join(lines[:head])))
    if not head:
        return Shown(f"{beginning(text, room)}\n{_REST}", cut=True)
    between = f"… {len(lines) - head - tail} lines left out …"
    return Shown("\n".join((*lines[:head], between, *lines[len(lines) - tail :])), cut=True)


def files_within(files: Sequence[FileShown], room: int) -> Shown:
    """The files that a task hints at: small ones whole, large ones in part, others by name with the reason."""
    headers = {file.path: _header(file) for file in files}
    room_for_text = room - sum(size_of(header) + 2 for header in headers.values())
    if room_for_text < 0:
        return lines_within([*headers.values()], room, "files")
    allotted = _allotted({file.path: min(size_of(file.text), LARGEST_FILE) for file in files}, room_for_text)
    pieces, cut = [], False
    for file in files:
        said = text_within(file.text, allotted[file.path])
        cut = cut or said.cut
        missing = " (no room for what is in it)" if said.cut and not said.text else ""
        pieces.append("\n".join(filter(None, (headers[file.path] + missing, said.text))))
    text = "\n".join(pieces)
    return Shown(text, cut) if size_of(text) <= room else lines_within([*headers.values()], room, "files")


def memory_within(done: Sequence[Done], room: int) -> Shown:
    """Tasks that were done, one line each, the newest first."""
    return lines_within([_done(one) for one in done], room, "earlier tasks")


def structure_within(paths: Collection[str], near: Iterable[str], room: int) -> Shown:
    """The files of the repository, one line a folder: those near some files first, then those at the top."""
    folders: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    wanted = {path.rpartition("/")[0] for path in near}
    order = sorted(folders, key=lambda folder: (folder not in wanted, folder.count("/") + bool(folder), folder))
    return lines_within([_folder(folder, folders[folder]) for folder in order], room, "folders")


def _header(file: FileShown) -> str:
    why_not = f": {file.why_not}" if file.why_not else ""
    return f"--- {file.path}{why_not} ---"


def _allotted(sizes: Mapping[str, int], room: int) -> dict[str, int]:
    """The room of each file: equal parts, and what small ones leave goes to the larger."""
    allotted, left = {}, room
    for at, path in enumerate(sorted(sizes, key=lambda path: (sizes[path], path))):
        allotted[path] = min(sizes[path], max(0, left) // (len(sizes) - at))
        left -= allotted[path]
    return allotted


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many of the first lines fit."""
    for at, line in enumerate(lines):
        room -= size_of(line) + 1
        if room < 0:
            return at
    return len(lines)


def _done(one: Done) -> str:
    files = ", ".join(f"{path} ({what})" for path, what in one.files[:MOST_FILES])
    more = f" (+{len(one.files) - MOST_FILES} more)" if len(one.files) > MOST_FILES else ""
    return f"- {one.task} {one.title}{': ' if files else ''}{files}{more}"


def _folder(folder: str, names: Sequence[str]) -> str:
    line = f"{folder}/: " if folder else "./: "
    for at, name in enumerate(names):
        if len(line) + len(name) > LONGEST_FOLDER:
            return f"{line}… {len(names) - at} more"
        line += f"{name} "
    return line.rstrip()
