"""What gives away that a program's service failed it, when the protocol says that all is well.

Some programs end their turn as if nothing had happened and put the error into their model's mouth. Their words for it
are known; a model that says the same things in passing is not meant, so they count only where a message begins.
"""

from __future__ import annotations

import re

LONGEST_WHAT = 1_000

_CONFESSION = re.compile(
    r"""
    Ran\ into\ this\ error                              # goose
    | Network\ error:
    | The\ model\ returned\ an\ empty\ response
    | I've\ reached\ the\ maximum\ number\ of\ actions
    | We.re\ currently\ experiencing\ high\ demand       # codex-acp
    | exceeded\ retry\ limit
    | stream\ disconnected\ before\ completion
    | unexpected\ status\ \d
    """,
    re.VERBOSE,
)


def confession_in(text: str) -> str:
    """The words with which a program's last message says that it failed; empty when it does not."""
    return text[:LONGEST_WHAT] if _CONFESSION.match(text.lstrip()) else ""
