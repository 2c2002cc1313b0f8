"""The id of a task: what its author wrote, else a short name from its words and its place."""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

LONGEST = 64
LONGEST_DERIVED = 12
_DIGEST = 4
BARE = ""  # in a series of ids: they are numbers with nothing behind them

_DOTTED = r"[0-9]{1,4}(?:\.[0-9]{1,4}){1,7}[a-f]?"
_CODE = r"[A-Za-z]{1,4}-?[0-9]{1,6}(?:[.-][0-9]{1,6}){0,5}[A-D]?"
_EXPLICIT = re.compile(
    rf"""
    (?P<task> (?: [Tt]ask | TASK ) \s+ )?
    (?:
        \[ (?P<bracketed> {_DOTTED} | {_CODE} ) \] (?: \( [^()\s]* \) )?
      | \[ \# (?P<issue> [0-9]{{1,6}} ) \] \( [^()\s]* \)
      | \( (?P<rounded> {_DOTTED} | {_CODE} ) \)
      | ` (?P<quoted> {_DOTTED} | {_CODE} ) `
      | (?P<dotted> {_DOTTED} )
      | (?P<code> {_CODE} )
      | (?P<number> [0-9]{{1,4}} ) (?=[.:)])
      | (?P<bare> [0-9]{{1,4}} ) (?=\s+\S)
    )
    (?P<mark> [.:)] | \s+ [-–—:] (?=\s|$) )?
    (?=\s|$)
    """,
    re.VERBOSE,
)
_GROUPS = ("bracketed", "issue", "rounded", "quoted", "dotted", "code", "number", "bare")
# Names of things that look like `T001` and start many a sentence.
_KNOWN = re.compile(
    r"""
      (?: UTF | SHA | AES | RSA | ISO | RFC | IEEE | ECMA | PEP | ES | GPT | HTTP | TLS | CSS | HTML | MP | MD | EC
        | IPV | CRC | HS | RS | CP | WIN | PY | ARM | INT | UINT | AVX | SSE | USB | CUDA | X | I ) -? [0-9] .*
    | S3 | D3 | R2 | B2[BC]? | H[1-6] | K8 | P[0-9] | Q[1-4]
    """,
    re.VERBOSE,
)
# A number that a title starts with, and the first letter of what follows where no sign stands between.
_LEADING = re.compile(r"(?P<number>[0-9]{1,4})(?:[.:)]\s|\s+(?P<bare>[^\W\d_]))")
# Of those, the ones that a series of ids may be made of: B1, B2, B3.
_IN_SERIES = re.compile(r"([SDRBK])[1-9][0-9]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The id that a task asks for; an explicit one goes before a derived one, a task before a subtask."""

    id: str
    explicit: bool
    top: bool


def split_id(text: str, series: Collection[str] = ()) -> tuple[str, str]:
    """The explicit id that plain text starts with, or nothing, and the text after it.

    `series` are letters that the roadmap makes ids of, though a letter and a number may well be a word; and nothing,
    where it makes them of numbers alone.
    """
    found = _EXPLICIT.match(text)
    if found is None or not _is_meant(found, series):
        return "", text
    name = next(found[group] for group in _GROUPS if found[group])
    return name, text[found.end() :].strip()


def series_in(titles: Iterable[str]) -> frozenset[str]:
    """The letters that several of these titles start with, each time before another number; BARE for none at all."""
    titles = tuple(titles)
    numbers: dict[str, set[str]] = {}
    for title in titles:
        found = _IN_SERIES.match(title)
        if found is not None and title[found.end() : found.end() + 1].isspace():
            numbers.setdefault(found[1], set()).add(found[0])
    found_in = (letter for letter, codes in numbers.items() if len(codes) > 1)
    return frozenset((*found_in, *((BARE,) if _are_counted(titles) else ())))


def _are_counted(titles: Sequence[str]) -> bool:
    """Whether titles that start with a number count from 1: `2 new tests` alone is about two tests."""
    leading = [found for title in titles if (found := _LEADING.match(title))]
    numbers = [int(found["number"]) for found in leading]
    counted = numbers == [*range(1, len(numbers) + 1)]
    return bool(numbers) and counted and all(found["bare"] is None or found["bare"].isupper() for found in leading)


def derived_id(title: str, place: Sequence[str]) -> str:
    """A name from the first words of the title and a digest of the title and its place in the outline."""
    ascii_title = unicodedata.normalize("NFKD", title[:200]).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", ascii_title)[:3] or ["task"]
    room = LONGEST_DERIVED - _DIGEST - 1
    name = words[0][:room]
    for word in words[1:]:
        if len(name) + 1 + len(word) > room:
            break
        name = f"{name}-{word}"
    outline = "\0".join(" ".join(part.casefold().split()) for part in (*place, title))
    digest = base64.b32encode(hashlib.sha256(outline.encode()).digest()[:5])[:_DIGEST].decode().lower()
    if digest.isdigit():  # `t-234567` could be somebody's own id
        digest = f"d{digest[1:]}"
    return f"{name}-{digest}"


def settle(claims: Sequence[Claim]) -> tuple[list[str], dict[int, int]]:
    """One id a claim, no two alike even where case is ignored; and for each renamed claim the one that was first."""
    ids = [claim.id for claim in claims]
    owners: dict[str, int] = {}
    clashes: dict[int, int] = {}
    for index in sorted(range(len(claims)), key=lambda index: (not claims[index].explicit, not claims[index].top)):
        first = owners.setdefault(ids[index].casefold(), index)
        if first != index:
            clashes[index] = first
    # Only now is it known which names with a suffix are somebody's own.
    suffixes: dict[str, int] = {}
    for index in clashes:
        longest = LONGEST if claims[index].explicit else LONGEST_DERIVED
        ids[index] = _next_free(ids[index], owners, suffixes, longest)
        owners[ids[index].casefold()] = index
    return ids, clashes


def _is_meant(found: re.Match[str], series: Collection[str]) -> bool:
    """Whether what looks like an id is one, rather than a version or the name of a thing."""
    code = found["code"] or found["quoted"] or found["rounded"] or found["bracketed"] or ""
    if found["bare"]:
        return BARE in series
    if found["task"]:
        return bool(found["dotted"] or found["mark"] or found["bracketed"])
    prefix = re.split(r"[0-9-]", code, maxsplit=1)[0]
    if prefix.lower() == "v":
        return False
    if not prefix or found["bracketed"] or found["mark"]:
        return True
    if prefix.islower():
        return len(prefix) == 1 and code[1] == "0"
    return prefix.isupper() and (not _KNOWN.fullmatch(code) or _is_of(series, code))


def _is_of(series: Collection[str], code: str) -> bool:
    found = _IN_SERIES.fullmatch(code)
    return found is not None and found[1] in series


def _next_free(wanted: str, owners: dict[str, int], suffixes: dict[str, int], longest: int) -> str:
    number = suffixes.get(wanted.casefold(), 2)
    while True:
        suffix = f"-{number}"
        candidate = wanted[: longest - len(suffix)] + suffix
        number += 1
        if candidate.casefold() not in owners:
            suffixes[wanted.casefold()] = number
            return candidate
