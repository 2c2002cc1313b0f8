"""A text as rows of (class, text): the short classes of Pygments, found by the name of the file. Never HTML. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

MOST_SIGNS: Final = 300_000  # of a text that is coloured
LONGEST_LINE: Final = 5_000

Piece = tuple[str, str]
Row = tuple[Piece, ...]
Paint = Callable[[str, str], tuple[Row, ...]]  # from the name of a file and its text to its rows


def coloured(path: str, text: str) -> tuple[Row, ...]:
    """The lines of a text, each in pieces that give it again when they are joined.

    The text is read as a whole, so that a string over many lines is one on each of them. One that is too long, or has
    too long a line, has no classes. Some texts take their lexer for ever: see painting.
    """
    lines = lines_of(text)
    if len(text) > MOST_SIGNS or any(len(line) > LONGEST_LINE for line in lines):
        return plain(lines)
    lexer = _lexer_for(path)
    rows = _rows(text, _pieces(lexer, text)) if lexer is not None and text else None
    return rows if rows is not None else plain(lines)


def plain(lines: list[str]) -> tuple[Row, ...]:
    """Lines without a class."""
    return tuple((("", line),) if line else () for line in lines)


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends; what follows the last end is a line if it is there."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _lexer_for(path: str) -> Lexer | None:
    from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_for_filename(path)
    except ClassNotFound:
        return None


def _pieces(lexer: Lexer, text: str) -> Iterator[Piece]:
    """What the lexer finds in a text; carriage returns, which some stumble over, are blanks to it."""
    from pygments.token import STANDARD_TYPES  # type: ignore[import-untyped]

    for _, kind, piece in lexer.get_tokens_unprocessed(text.replace("\r", " ")):
        yield next(STANDARD_TYPES[known] for known in reversed(kind.split()) if known in STANDARD_TYPES), piece


def _rows(text: str, pieces: Iterator[Piece]) -> tuple[Row, ...] | None:
    """The rows of a text; None where its pieces do not give it again."""
    rows: list[list[Piece]] = [[]]
    at = 0
    for kind, piece in pieces:
        own = text[at : at + len(piece)]
        if own.replace("\r", " ") != piece:
            return None
        at += len(piece)
        for line, part in enumerate(own.split("\n")):
            if line:
                rows.append([])
            if part:
                _add(rows[-1], kind, part)
    if at != len(text):
        return None
    return tuple(map(tuple, rows if rows[-1] else rows[:-1]))


def _add(row: list[Piece], kind: str, part: str) -> None:
    """Add a part to a row, to the piece before it if that is of the same class."""
    kind = "" if kind == "w" or part.isspace() else kind
    if row and row[-1][0] == kind:
        row[-1] = (kind, row[-1][1] + part)
    else:
        row.append((kind, part))
