"""Dependencies by place: `Depends on: previous`, `Depends on: all of the above`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from milepost.roadmap.reading.drafts import Draft

_WHAT = r"(?:\s+(?:task|step|item|one|box|work)s?)?"
_BEFORE = re.compile(
    rf"(?P<all>(?:all|every|everything)\s+(?:of\s+)?)?(?:the\s+)?"
    rf"(?:(?:previous|prior|preceding|earlier){_WHAT}|(?:(?:task|step|item|one)s?\s+)?(?:above|before)(?:\s+it)?)",
    re.IGNORECASE,
)


class Earlier:
    """Finds the drafts that stand before another one in the same list of tasks."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._places = {id(draft): (family, at) for family in _families(drafts) for at, draft in enumerate(family)}

    def named(self, reference: str, draft: Draft) -> Sequence[Draft]:
        """Whom words such as `previous` mean below a draft: the one before it, or all; nobody for other words."""
        found = _BEFORE.fullmatch(reference)
        family, at = self._places[id(draft)]
        if found is None:
            return ()
        return family[:at] if found["all"] else family[max(0, at - 1) : at]


def _families(drafts: Sequence[Draft]) -> Iterator[Sequence[Draft]]:
    yield drafts
    for draft in drafts:
        for one in draft.walk():
            yield one.subtasks
