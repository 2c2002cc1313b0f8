"""Which of the requests that failed are told, and which are asked again: nothing that could be a secret is either."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from milepost.core.secrets.redact import MASK
from milepost.core.watching import FailedRequest

MOST = 10
_LONGEST = 200
_METHOD = re.compile(r"[A-Z]{3,10}")
_PLAIN = re.compile(r"[\w./~@:+,;=!$()*%-]*")
_NAME = re.compile(r"[\w.\[\]-]{1,40}")
_SLUG = re.compile(r"[a-z]+(?:-(?:[a-z]+|[0-9]{1,4}))*(?:\.[a-z]{1,5})?")
_TOKEN = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[\w.=%+-]{16,}|[\w.=%+-]{40,}|[0-9]{9,}|.*@.*")
_IDEMPOTENT = ("GET", "HEAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedKind:
    """Requests that are alike: how often one failed, and with which answers; 0 is none at all."""

    method: str
    path: str
    count: int
    statuses: tuple[int, ...]

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be asked again as it is told: it changes nothing, and nothing of it is masked."""
        return self.method in _IDEMPOTENT and MASK not in self.path


def kinds_of(requests: Iterable[FailedRequest], redact: Callable[[str], str]) -> tuple[FailedKind, ...]:
    """The most frequent first, so many that they can be read."""
    found: dict[tuple[str, str], Counter[int]] = {}
    for one in requests:
        if _METHOD.fullmatch(one.method) and one.path.startswith("/"):
            found.setdefault((one.method, path_told(one.path, redact)), Counter())[one.status] += 1
    kinds = [
        FailedKind(
            method=method,
            path=path,
            count=statuses.total(),
            statuses=tuple(status for status, _ in statuses.most_common(3)),
        )
        for (method, path), statuses in found.items()
    ]
    return tuple(sorted(kinds, key=lambda one: -one.count)[:MOST])


def path_told(path: str, redact: Callable[[str], str]) -> str:
    """A path without what could be somebody's: parts like tokens or addresses, and all that a query's fields hold."""
    if len(path) > _LONGEST:
        return f"/{MASK}"
    place, _, query = redact(path).partition("?")
    parts = [part if _PLAIN.fullmatch(part) and not _is_token(part) else MASK for part in place.split("/")]
    names = [field.partition("=")[0] for field in query.split("&") if field]
    told = [f"{name}=" if _NAME.fullmatch(name) and not _is_token(name) else MASK for name in names]
    return "/".join(parts) + (f"?{'&'.join(told)}" if told else "")


def _is_token(word: str) -> bool:
    return bool(_TOKEN.fullmatch(word)) and not (len(word) < 80 and _SLUG.fullmatch(word))
