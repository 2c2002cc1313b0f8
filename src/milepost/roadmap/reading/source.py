"""The bytes of a roadmap as lines that know where they came from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from milepost.core.errors import RoadmapUnreadable

LARGEST_BYTES = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadmapSource:
    """The text of a roadmap, line by line, with the byte at which each line starts."""

    lines: tuple[str, ...]
    starts: tuple[int, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def offset(self, line: int, column: int) -> int:
        """The byte at which the character at `column` of `line` stands."""
        return self.starts[line] + len(self.lines[line][:column].encode())


def source_of(content: bytes) -> RoadmapSource:
    """The lines of `content`, split where Markdown splits them."""
    _refuse_what_is_no_text(content)
    starts = [len(_BOM) if content.startswith(_BOM) else 0]
    lines = []
    for end in _LINE_END.finditer(content):
        lines.append(content[starts[-1] : end.start()].decode())
        starts.append(end.end())
    lines.append(content[starts[-1] :].decode())
    return RoadmapSource(lines=tuple(lines), starts=tuple(starts))


def _refuse_what_is_no_text(content: bytes) -> None:
    if len(content) > LARGEST_BYTES:
        size = len(content) / 1024 / 1024
        raise RoadmapUnreadable(
            f"the roadmap has {size:.0f} MB; at most {LARGEST_BYTES // 1024 // 1024} MB are read",
            "split it into several roadmaps",
        )
    if (nul := content.find(b"\0")) >= 0:
        raise RoadmapUnreadable(
            f"the roadmap is binary: there is a NUL at byte {nul}", "save it as Markdown, encoded in UTF-8"
        )
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise RoadmapUnreadable(
            f"the roadmap is not UTF-8: byte {error.start} is {content[error.start]:#04x}", "save it encoded in UTF-8"
        ) from error
