"""A question to the index: its words and its signatures, whoever asks it."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.memories import Query
from milepost.memory.recall.signature import signatures
from milepost.memory.recall.words import words_of
from milepost.store.dialect import kept

MOST_ERRORS = 5
LONGEST_ERROR = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """What is looked for. `words` are those of the task and of its errors, `text` the task alone, to judge by."""

    project: str
    text: str
    words: tuple[str, ...]
    signatures: tuple[str, ...] = ()
    task: str = ""


def asked(query: Query) -> RecallQuery:
    """What an attempt needs to know."""
    errors = [_fit(error) for error in query.errors[-MOST_ERRORS:]]
    text, files, known = _fit(query.text), list(map(_fit, query.files)), list(map(_fit, query.signatures))
    found = [each for error in errors for each in signatures(error)]
    ends = [error[-LONGEST_ERROR:] for error in errors]
    return RecallQuery(
        project=_fit(query.project),
        text=" ".join((text, *files, *ends)),
        words=words_of(text, *files, *known, *ends),
        signatures=tuple(dict.fromkeys((*found, *known))),
        task=query.task,
    )


def sought(text: str, project: str) -> RecallQuery:
    """What a person types: words, or an error as it was printed."""
    text = _fit(text)
    found = signatures(text) or (text.strip(),)
    return RecallQuery(project=_fit(project), text=text, words=words_of(text), signatures=found)


def _fit(text: str) -> str:
    """A text as a database can be asked for it."""
    return str(kept(text))
