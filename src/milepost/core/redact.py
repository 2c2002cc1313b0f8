"""Secrets taken out of text before it is kept or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MASK = "[secret]"
SHORTEST_SECRET = 8

_SECRET_NAME = re.compile(r"(?i)(^|_)(api_?key|key|token|secret|passw(or)?d|credentials?)(_|$)")
_SECRET_SHAPE = re.compile(
    r"""
      \bsk-[A-Za-z0-9_-]{16,}                      # OpenAI, Anthropic
    | \bgh[pousr]_[A-Za-z0-9]{20,}                 # GitHub
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}                   # GitLab
    | \bxox[abprs]-[A-Za-z0-9-]{10,}               # Slack
    | \bAKIA[0-9A-Z]{16}\b                         # AWS
    | \bAIza[0-9A-Za-z_-]{30,}                     # Google
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
# What each of these shapes begins with: to look for them first makes the search through much output cheap.
_SIGNS = ("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA", "AIza", "-----BEGIN")


def secrets_of(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of an environment whose names say that they are secret."""
    return frozenset(
        value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET
    )


class Redactor:
    """Makes text fit to be kept: known secret values, and what has a secret's shape, become a mask.

    Bytes that are no text, which Python carries as lone surrogates, are written out as escapes.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        longest_first = sorted({value for value in values if len(value) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._values = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        if self._values is not None:
            text = self._values.sub(MASK, text)
        return _SECRET_SHAPE.sub(MASK, text) if any(sign in text for sign in _SIGNS) else text
