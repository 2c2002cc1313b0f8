"""A unified diff as values: what is done to each file, and how git would write it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_LINK = "120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchedFile:
    """What a diff does to one file, paths relative to the top; None stands for no file on that side.

    `hunks` are whole lines, a carriage return at their end included. `mode` is the new one where it is told.
    """

    old: str | None
    new: str | None
    extended: tuple[str, ...] = ()
    hunks: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for path in (self.old, self.new) if path is not None))

    @property
    def mode(self) -> str:
        told = [line.split()[-1] for line in self.extended if line.startswith(("new file mode", "new mode"))]
        return told[-1] if told else ""

    @property
    def makes_link(self) -> bool:
        return self.mode == _LINK

    @property
    def added(self) -> str:
        """The text of the lines that it adds."""
        return "\n".join(line[1:] for line in self.hunks if line.startswith("+"))

    def render(self) -> str:
        """The diff as git writes it, with `a/` and `b/` before the paths."""
        old, new = self.old or self.new or "", self.new or self.old or ""
        lines = [f"diff --git {_quoted(f'a/{old}')} {_quoted(f'b/{new}')}", *self.extended]
        if self.hunks:
            lines.append(f"--- {_named('a', self.old)}")
            lines.append(f"+++ {_named('b', self.new)}")
        return "\n".join((*lines, *self.hunks)) + "\n"

    def with_carriage_returns(self) -> PatchedFile:
        """The same change to a file whose lines end with a carriage return."""
        lines = list(self.hunks)
        for number, line in enumerate(lines):
            ends_file = lines[number + 1 : number + 2] and lines[number + 1].startswith("\\")
            if line[:1] in (" ", "+", "-") and not line.endswith("\r") and not ends_file:
                lines[number] = f"{line}\r"
        return replace(self, hunks=tuple(lines))


def _named(side: str, path: str | None) -> str:
    if path is None:
        return "/dev/null"
    quoted = _quoted(f"{side}/{path}")
    return f"{quoted}\t" if " " in quoted and not quoted.startswith('"') else quoted


def _quoted(path: str) -> str:
    """A path as git writes it: in quotes when it holds a character that could be misread."""
    if re.fullmatch(r'[^"\\\x00-\x1f\x7f]*', path):
        return path
    escaped = (f"\\{byte:03o}" if byte < 32 or byte in (34, 92) or byte >= 127 else chr(byte) for byte in _bytes(path))
    return '"' + "".join(escaped) + '"'


def unquoted(name: str) -> str:
    if not (len(name) > 1 and name[0] == name[-1] == '"'):
        return name

    def byte(match: re.Match[bytes]) -> bytes:
        found = match[1]
        return bytes([_ESCAPES[found] if found in _ESCAPES else int(found, 8) & 255])

    return _ESCAPE.sub(byte, _bytes(name[1:-1])).decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
