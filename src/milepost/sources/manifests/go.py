"""A go.mod or a go.work: lines of words, some of them in brackets below their verb."""

from __future__ import annotations

import re
from collections.abc import Iterator

from milepost.sources.manifests.project import Manifest

_WORDS = re.compile(r'"([^"]*)"|`([^`]*)`|(\S+)')


def read_module(content: str) -> Manifest:
    """What a go.mod says: its module, what it requires, and what it has in a folder instead."""
    statements = tuple(_statements(content))
    replaced = (words[words.index("=>") + 1 :] for verb, words in statements if verb == "replace" and "=>" in words)
    return Manifest(
        kind="go",
        name=next((words[0] for verb, words in statements if verb == "module" and words), ""),
        needs=tuple(words[0] for verb, words in statements if verb == "require" and words),
        paths=tuple(words[0] for words in replaced if words and words[0].startswith(("./", "../"))),
    )


def read_work(content: str) -> Manifest:
    """What a go.work says: the folders whose modules are used as they are there."""
    return Manifest(
        kind="go", members=tuple(words[0] for verb, words in _statements(content) if verb == "use" and words)
    )


def _statements(content: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each line as a verb and its words; lines in brackets have the verb before these."""
    below = ""
    for line in content.splitlines():
        words = tuple(next(filter(None, found), "") for found in _WORDS.findall(line.partition("//")[0]))
        if not words:
            continue
        if below and words[0] == ")":
            below = ""
        elif below:
            yield below, words
        elif words[1:] == ("(",):
            below = words[0]
        else:
            yield words[0], words[1:]
