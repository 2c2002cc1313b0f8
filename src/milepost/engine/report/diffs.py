"""A diff as a report shows it: by file, bounded, with a note of what was left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from milepost.engine.report.words import cut

LINES_A_FILE, LINES_A_TASK, LINES_A_REPORT = 300, 1_500, 30_000
FILES_A_TASK = 60
LONGEST_LINE = 500

Sign = Literal["+", "-", " ", "@"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    sign: Sign
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """What changed in one file. `left_out` counts lines that are not shown."""

    path: str
    what: str
    added: int = 0
    removed: int = 0
    lines: tuple[DiffLine, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What an attempt changed; `command` shows all of it, `note` says why nothing is shown."""

    command: str
    files: tuple[FileDiff, ...] = ()
    files_left_out: int = 0
    note: str = ""

    @property
    def shown(self) -> int:
        return sum(len(file.lines) for file in self.files)


@dataclass(slots=True)
class Room:
    """How many lines of diffs a report has room for yet."""

    lines: int = LINES_A_REPORT

    def take(self, wanted: int) -> int:
        given = max(0, min(wanted, self.lines))
        self.lines -= given
        return given


def read_diff(text: str, command: str, redact: Callable[[str], str], room: Room) -> Diff:
    """The diff that git printed. Lines of a file's text always begin with a sign, so no text looks like a header."""
    sections = [part for part in f"\n{text}".split("\ndiff --git ") if part.strip("\n")]
    task_room = LINES_A_TASK
    files = []
    for section in sections[:FILES_A_TASK]:
        found = _file(section, redact, min(LINES_A_FILE, task_room), room)
        task_room -= len(found.lines)
        files.append(found)
    return Diff(command=command, files=tuple(files), files_left_out=max(0, len(sections) - FILES_A_TASK))


def _file(section: str, redact: Callable[[str], str], most: int, room: Room) -> FileDiff:
    head, at, body = section.partition("\n@@")
    header = head.split("\n")
    lines = redact(f"@@{body}").rstrip("\n").split("\n") if at else []
    signed = [_line(line) for line in lines if not line.startswith("\\")]
    given = room.take(min(most, len(signed)))
    return FileDiff(
        path=redact(_path(header)),
        what=_what(header),
        added=sum(line.sign == "+" for line in signed),
        removed=sum(line.sign == "-" for line in signed),
        lines=tuple(signed[:given]),
        left_out=len(signed) - given,
    )


def _line(line: str) -> DiffLine:
    first = line[:1]
    if line.startswith("@@"):
        return DiffLine(sign="@", text=cut(line, LONGEST_LINE))
    if first == "+":
        return DiffLine(sign="+", text=cut(line[1:], LONGEST_LINE))
    if first == "-":
        return DiffLine(sign="-", text=cut(line[1:], LONGEST_LINE))
    return DiffLine(sign=" ", text=cut(line[1:] if first == " " else line, LONGEST_LINE))


def _path(header: list[str]) -> str:
    """The path of a file, which git puts in quotes when there is something odd about it."""
    for prefix in ("+++ ", "--- "):
        named = next((line.removeprefix(prefix).rstrip("\t") for line in header if line.startswith(prefix)), "")
        if named and named != "/dev/null":
            return named.strip('"')[2:]
    half = header[0][: len(header[0]) // 2]  # a/PATH b/PATH, of a file with no lines to show
    return half.strip('"')[2:]


def _what(header: list[str]) -> str:
    if any(line.startswith("new file") for line in header):
        what = "new"
    elif any(line.startswith("deleted file") for line in header):
        what = "deleted"
    else:
        what = "changed"
    if any(line.startswith("Binary files") for line in header):
        return f"{what}, binary or too large"
    modes = [line.rpartition(" ")[2] for line in header if line.startswith(("old mode", "new mode"))]
    return f"mode {' → '.join(modes)}" if modes else what
