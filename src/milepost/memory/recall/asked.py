"""A question to the index: its words and its signatures, whoever asks it."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.memories import Query
from milepost.memory.recall.signature import signatures
from milepost.memory.recall.words import words_of

MOST_ERRORS = 5
LONGEST_ERROR = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is looked for. `words` are those of the task and of its errors, `text` the task alone, to judge by."""

    project: str
    text: str
    words: tuple[str, ...]
    signatures: tuple[str, ...] = ()
    task: str = ""


def asked(query: Query) -> Asked:
    """What an attempt needs to know."""
    errors = query.errors[-MOST_ERRORS:]
    found = [each for error in errors for each in signatures(error)]
    ends = [error[-LONGEST_ERROR:] for error in errors]
    return Asked(
        project=query.project,
        text=" ".join((query.text, *query.files, *ends)),
        words=words_of(query.text, *query.files, *query.signatures, *ends),
        signatures=tuple(dict.fromkeys((*found, *query.signatures))),
        task=query.task,
    )


def sought(text: str, project: str) -> Asked:
    """What a person types: words, or an error as it was printed."""
    return Asked(project=project, text=text, words=words_of(text), signatures=signatures(text) or (text.strip(),))
