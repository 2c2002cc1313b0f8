"""All targets by name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from tests.fuzz import checkouts, notes, pages, readers, servers
from tests.fuzz.run import Target

TARGETS: dict[str, Callable[[], AbstractContextManager[Target]]] = {
    "roadmap": readers.roadmap,
    "settings": readers.settings,
    "cassette": readers.cassette,
    "export": readers.export,
    "note": notes.note,
    "left": readers.left,
    "printed": readers.printed,
    "checkout": checkouts.checkout,
    "mcp": servers.mcp,
    "web": pages.web,
}
