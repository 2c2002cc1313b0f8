"""The clauses of a project's lists: a program, or a program with words and options, such as `git push --force`.

Words stand where they stand in the command, before any others; options may stand anywhere in it. In a word `*` is for
any signs, and as the last word for whatever follows.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from fnmatch import fnmatchcase

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import GIT_OPTIONS, Options, options_of
from milepost.sandbox.command_risk.risky_programs import options_taking_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One line of a list, taken apart."""

    text: str
    program: str
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    rest: bool = False

    @property
    def as_command(self) -> tuple[str, ...]:
        """The clause's own words."""
        return (self.program, *self.words, *self.options, *(("*",) if self.rest else ()))

    def matches(self, piece: Piece) -> bool:
        if not (fnmatchcase(piece.name, self.program) or (piece.words and piece.words[0] == self.program)):
            return False
        if not (self.words or self.options):
            return True
        taking = GIT_OPTIONS if piece.name == "git" else options_taking_values(piece.name)
        given = options_of(piece.arguments, taking)
        return len(given.rest) >= len(self.words) and (
            all(map(fnmatchcase, given.rest, self.words)) and all(_has(given, option) for option in self.options)
        )


def clause_of(text: str) -> Clause:
    """Read a clause; ValueError where there is none in it."""
    program, *words = shlex.split(text) or [""]
    if not program or program.startswith("-"):
        raise ValueError(f"{text!r} names no program")
    rest = bool(words) and words[-1] == "*"
    words = words[:-1] if rest else words
    options = tuple(word for word in words if word.startswith("-"))
    plain = tuple(word for word in words if not word.startswith("-"))
    return Clause(text=text, program=program, words=plain, options=options, rest=rest)


def _has(given: Options, option: str) -> bool:
    name, equals, value = option.partition("=")
    if equals:
        return any(fnmatchcase(one, value) for one in given.value(name))
    if name.startswith("--") or len(name) == 2:
        return given.has(name)
    return given.has(name) or all(given.has(f"-{letter}") for letter in name[1:])
