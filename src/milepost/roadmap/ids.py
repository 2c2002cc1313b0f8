"""The id of a task: what its author wrote, else a short name from its words and its place."""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 64

_DOTTED = r"\d{1,4}(?:\.\d{1,4}){1,7}[a-f]?"
_CODE = r"[A-Za-z]{1,4}-?\d{1,6}(?:[.-]\d{1,6}){0,5}[A-D]?"
_EXPLICIT = re.compile(
    rf"""
    (?:
        \[ (?P<bracketed> {_DOTTED} | {_CODE} ) \] (?: \( [^()\s]* \) )?
      | ` (?P<quoted> {_DOTTED} | {_CODE} ) `
      | (?P<dotted> {_DOTTED} )
      | (?P<code> {_CODE} )
      | (?P<number> \d{{1,4}} ) (?=[.:)])
    )
    (?P<mark> [.:)] | \s+ [-–—:] (?=\s|$) )?
    (?=\s|$)
    """,
    re.VERBOSE,
)
# Names of things that look like `T001` and start many a sentence.
_KNOWN = re.compile(
    r"""
      (?: UTF | SHA | AES | RSA | ISO | RFC | IEEE | ECMA | PEP | ES | GPT | HTTP | TLS | CSS | HTML | MP | MD | EC
        | IPV | CRC | HS | RS | CP | WIN | PY | ARM | INT | UINT | AVX | SSE | USB | CUDA | X | I ) -? \d .*
    | S3 | D3 | R2 | B2[BC]? | H[1-6] | K8 | P\d | Q[1-4]
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The id that a task asks for; an explicit one goes before a derived one, a task before a subtask."""

    id: str
    explicit: bool
    top: bool


def split_id(text: str) -> tuple[str, str]:
    """The explicit id that plain text starts with, or nothing, and the text after it."""
    found = _EXPLICIT.match(text)
    if found is None or not _is_meant(found):
        return "", text
    name = next(found[group] for group in ("bracketed", "quoted", "dotted", "code", "number") if found[group])
    return name, text[found.end() :].strip()


def derived_id(title: str, place: Sequence[str]) -> str:
    """A name from the first words of the title and a digest of the title and its place in the outline."""
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", ascii_title)[:3] or ["task"]
    outline = "\0".join(" ".join(part.casefold().split()) for part in (*place, title))
    digest = base64.b32encode(hashlib.sha256(outline.encode()).digest())[:6].decode().lower()
    return f"{'-'.join(words)[:40].rstrip('-')}-{digest}"


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
        ids[index] = _next_free(ids[index], owners, suffixes)
        owners[ids[index].casefold()] = index
    return ids, clashes


def _is_meant(found: re.Match[str]) -> bool:
    """Whether what looks like an id is one, rather than a version or the name of a thing."""
    code = found["code"] or found["quoted"] or found["bracketed"] or ""
    prefix = re.split(r"[\d-]", code, maxsplit=1)[0]
    if prefix.lower() == "v":
        return False
    if not prefix or found["bracketed"] or found["mark"]:
        return True
    if prefix.islower():
        return len(prefix) == 1 and code[1] == "0"
    return prefix.isupper() and not _KNOWN.fullmatch(code)


def _next_free(wanted: str, owners: dict[str, int], suffixes: dict[str, int]) -> str:
    number = suffixes.get(wanted.casefold(), 2)
    while True:
        suffix = f"-{number}"
        candidate = wanted[: LONGEST - len(suffix)] + suffix
        number += 1
        if candidate.casefold() not in owners:
            suffixes[wanted.casefold()] = number
            return candidate
