"""A roadmap that is a folder, as one run of bytes: its files one after the other, each with its name before it.

All that reads, ticks and compares roadmaps works on bytes. A folder becomes bytes when it is read, and files again when
it is written; in between nobody needs to know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Control characters that no text file has; a file that has one is no page.
_PAGE, _NAME_END = b"\x1c", b"\x1d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One file of a folder, and the byte of the whole at which its content begins."""

    start: int
    content: bytes


def is_page(name: str) -> bool:
    """Whether a file, by its path in the folder, is a page: Markdown, in no folder below, with a name in UTF-8."""
    return name.endswith(".md") and "/" not in name and not any("\ud800" <= sign <= "\udfff" for sign in name)


def is_of_roadmap(path: str, roadmap: str) -> bool:
    """Whether a path is the roadmap, or a page of it where that is a folder; nothing is of no roadmap."""
    return bool(roadmap) and (path == roadmap or (path.startswith(f"{roadmap}/") and is_page(path[len(roadmap) + 1 :])))


def is_bound(content: bytes) -> bool:
    """Whether these bytes are a folder's."""
    return content.startswith(_PAGE)


def bound(pages: Mapping[str, bytes]) -> bytes:
    """The files of a folder, by their paths in it, as one run of bytes; what is no text is left out."""
    signs = {*_PAGE, *_NAME_END, 0}
    texts = {name: page for name, page in pages.items() if signs.isdisjoint(page) and signs.isdisjoint(name.encode())}
    return b"".join(_PAGE + name.encode() + _NAME_END + texts[name] for name in sorted(texts)) or _PAGE


def unbound(content: bytes) -> dict[str, Page]:
    """The files in a run of bytes by their names."""
    found = {}
    start = 0
    for part in content.split(_PAGE)[1:]:
        name, end, page = part.partition(_NAME_END)
        if end:
            found[name.decode()] = Page(start=start + 1 + len(name) + 1, content=page)
        start += 1 + len(part)
    return found
