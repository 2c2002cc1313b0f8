"""Whether a task says too little to be done: the words that stand where something definite should."""

from __future__ import annotations

import re

from milepost.core.task import Task
from milepost.core.task_parts import is_vague
from milepost.plan.graph.alike_tasks import words_of

_WOOLLY = re.compile(
    r"\b(?:nicer|better|cleaner|prettier|faster|improv\w+|enhanc\w+|polish\w*|optimi[sz]\w*|tweak\w*|tidy|clean ?up"
    r"|various|several|stuff|things?|misc\w*|etc|and so on|as needed|if needed|maybe|possibly|somehow|tbd|tba|wip"
    r"|look into|investigate|explore|consider|think about)\b|\?\?+",
    re.IGNORECASE,
)
# What somebody could look for: code, a path, a number, a name with an inner capital, a quotation.
_DEFINITE = re.compile(r"`[^`]+`|\w+[./]\w+|\d|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|[\"“][^\"”]+[\"”]|\w+_\w+|--\w+")
_FEWEST, _FEW = 2, 3


def vague_words(task: Task) -> tuple[str, ...] | None:
    """The words that make a task vague, none where it just has too few; None where it is not vague.

    Such a task says neither which files nor how it is proven, and nothing definite; beside a woolly word it has few
    others, or it has hardly any at all.
    """
    said = " ".join(f"{part.title} {part.text}" for part in task.walk())
    if not is_vague(task) or _DEFINITE.search(said):
        return None
    woolly = tuple(dict.fromkeys(word.lower() for word in _WOOLLY.findall(said)))
    others = words_of(_WOOLLY.sub(" ", said))
    if woolly:
        return woolly if len(others) <= _FEW else None
    # Words of a script without spaces cannot be counted.
    return () if said.isascii() and len(others) < _FEWEST else None
