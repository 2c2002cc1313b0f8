"""What was found once, by target: none of it may be a finding again."""

from __future__ import annotations

import json
from typing import Any

from tests.fuzz import examples
from tests.fuzz.notes import sealed, trailers_of


def _half() -> bytes:
    """A note whose JSON can be read, and has half a character where texts are."""
    note = json.loads(examples.NOTES[0])
    note["evidence"]["tree"] = note["evidence"]["checks"][0]["environment"] = "\ud800\x1b[2J"
    return json.dumps(note).encode()


_LINES = b"".join(b"%d\n" % number for number in range(40_000))

FOUND: tuple[tuple[str, str, Any], ...] = (
    ("a note that is nested without end", "note", sealed(trailers_of(), b"[" * 100_000)),
    ("a note with half a character", "note", sealed(trailers_of(), _half())),
    (
        "a task whose name is obeyed by terminals",
        "note",
        sealed(trailers_of(task="\x1b[2J"), examples.NOTES[0].encode()),
    ),
    ("an attempt whose number is a digit and no number", "note", sealed(trailers_of(attempt="\xb2"), b"{}")),
    ("an attempt whose number has no end", "note", sealed(trailers_of(attempt="9" * 5000), b"{}")),
    ("a migration with many lines before and after", "left", ("migrations/a.sql", _LINES, _LINES[::-1])),
    ("a heading of nothing but signs", "roadmap", ("ROADMAP.md", b"## " * 200 + b"(")),
    ("a number of a thousand digits", "settings", b"a = " + b"9" * 5000),
    ("settings that are nested without end", "settings", b"a = " + b"[" * 5000),
    ("a manifest with a number of a thousand digits", "left", ("pyproject.toml", b"", b"a = " + b"9" * 5000)),
    ("JavaScript that is all errors", "left", ("a.js", b"a", "test('\u00bd\x02!55U".encode() * 60_000)),
    ("Go that is all errors", "left", ("a.go", b"a", b"of " * 60_000)),
    ("Rust that is all errors", "left", ("a.rs", b"a", b"async " * 30_000)),
    ("lines that are all alike", "left", ("a.py", b"x\ny\n" * 8_000, b"y\ny\nx\n" * 6_000)),
    ("a fence without end", "printed", ("runtime", b"~" * 190_000 + b"`")),
    ("a fence and spaces without end", "printed", ("runtime", b"```" + b" " * 190_000 + b"`")),
    ("a pipe where git reads what to ignore", "checkout", [("pipe", b".gitignore", b"", b"")]),
    ("an endless file where git reads attributes", "checkout", [("holes", b".gitattributes", b"", b"")]),
)
