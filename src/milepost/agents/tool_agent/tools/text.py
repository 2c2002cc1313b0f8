"""The text of files as a model reads and changes it."""

from __future__ import annotations

import re

from milepost.agents.clip import clip
from milepost.sandbox.confined import PathRefused

LONGEST_PAGE = 30_000
LONGEST_LINE = 2_000

_LINE_END = r"(?:\r\n|(?<!\r)\n)"  # found once in \r\n, never a second time in the middle of it


def numbered(text: str, *, offset: int, limit: int) -> str:
    """Lines of `text` with their numbers, from `offset`, and where to go on when there are more."""
    if not text:
        return "the file is empty"
    # Only newlines end a line: compilers and test runners count no others.
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").removesuffix("\n").split("\n")]
    if offset > len(lines):
        raise PathRefused(f"the file has only {len(lines)} lines")
    shown: list[str] = []
    room = LONGEST_PAGE - 100
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], start=offset):
        row = f"{number:6}\t{clip(line, LONGEST_LINE)}"
        room -= len(row) + 1
        if room < 0:
            break
        shown.append(row)
    after = offset + len(shown)
    more = [f"… {len(lines) - after + 1} more lines: go on with offset {after}"] if after <= len(lines) else []
    return "\n".join(shown + more)


def replaced(text: str, old: str, new: str, *, everywhere: bool) -> str:
    """`text` with `old` replaced. A line end matches either kind, and those of `new` become the file's own."""
    line_end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    pattern = _LINE_END.join(re.escape(line) for line in old.replace("\r\n", "\n").split("\n"))
    new = new.replace("\r\n", "\n").replace("\n", line_end)
    # Looking ahead also finds matches that overlap, of which a plain search would see only the first.
    count = sum(1 for _ in re.finditer(f"(?={pattern})", text))
    if count == 0:
        raise PathRefused("the old text is not in the file; read the file and copy it exactly, without line numbers")
    if count > 1 and not everywhere:
        raise PathRefused(f"the old text is in the file {count} times; add lines around it, or set replace_all")
    return re.sub(pattern, lambda _: new, text)


def decoded(path: str, content: bytes) -> str:
    """The text of a file, or why it is none."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise PathRefused(f"{path} is not a text file in UTF-8") from error


def encoded(content: str) -> bytes:
    """A text as it is written."""
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise PathRefused(f"the text cannot be written as UTF-8: {error.reason}") from error
