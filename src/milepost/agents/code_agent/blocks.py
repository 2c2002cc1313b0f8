"""The code in a model's answer: what stands in its one fenced block of Python."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")
_PYTHON = frozenset({"python", "py", "python3"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One step that a model wants: the code, and the words around it."""

    code: str
    words: str


@dataclass(frozen=True, slots=True)
class NoBlock:
    """Why an answer has no code that could be run."""

    why: str


def block_in(text: str) -> Block | NoBlock:
    """The one block of Python in an answer; one without a language counts where none is called Python."""
    blocks, words, is_open = _split(text)
    python = [code for language, code in blocks if language in _PYTHON]
    found = python or [code for language, code in blocks if not language]
    if is_open:
        return NoBlock("its code block is not closed")
    if not found:
        return NoBlock("it holds no code block")
    if len(found) > 1:
        return NoBlock(f"it holds {len(found)} code blocks, and one step is one block")
    if not found[0].strip():
        return NoBlock("its code block is empty")
    return Block(code=found[0], words=words.strip())


def _split(text: str) -> tuple[list[tuple[str, str]], str, bool]:
    """The blocks of a text with their languages, the words outside of them, and whether the last one is not closed."""
    blocks: list[tuple[str, str]] = []
    words: list[str] = []
    fence, language, lines = "", "", list[str]()
    for line in text.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.fullmatch(line.strip()) if line[:4].strip() else None
        if not fence and mark:
            fence, language, lines = mark["fence"], mark["info"].strip().lower().partition(" ")[0], []
        elif fence and mark and not mark["info"] and mark["fence"].startswith(fence):
            blocks.append((language, "\n".join(lines) + "\n"))
            fence = ""
        else:
            (lines if fence else words).append(line)
    return blocks, "\n".join(words), bool(fence)
