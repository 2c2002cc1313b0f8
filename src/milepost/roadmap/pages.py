"""A roadmap that is a folder, as one run of bytes: its files one after the other, each with its name before it.

All that reads, ticks and compares roadmaps works on bytes. A folder becomes bytes when it is read, and files again when
it is written; in between nobody needs to know.
"""

from __future__ import annotations

from collections.abc import Mapping

# Control characters that no text file has; a file that has one is no page.
_PAGE, _NAME_END = b"\x1c", b"\x1d"


def is_bound(content: bytes) -> bool:
    """Whether these bytes are a folder's."""
    return content.startswith(_PAGE)


def bound(pages: Mapping[str, bytes]) -> bytes:
    """The files of a folder, by their paths in it, as one run of bytes; what is no text is left out."""
    texts = {name: page for name, page in pages.items() if not {*_PAGE, *_NAME_END, 0} & {*page, *name.encode()}}
    return b"".join(_PAGE + name.encode() + _NAME_END + texts[name] for name in sorted(texts)) or _PAGE


def unbound(content: bytes) -> dict[str, tuple[int, bytes]]:
    """The files in a run of bytes, each with the byte at which its content begins."""
    found = {}
    start = 0
    for part in content.split(_PAGE)[1:]:
        start += 1
        name, end, page = part.partition(_NAME_END)
        if end:
            found[name.decode()] = (start + len(name) + 1, page)
        start += len(part)
    return found
