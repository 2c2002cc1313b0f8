"""The options of a command line told from its other words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

NONE: frozenset[str] = frozenset()
GIT_OPTIONS = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The flags that were given, `-rf` as `-r` and `-f`; the values of those that take one; the words left over."""

    flags: frozenset[str]
    values: tuple[tuple[str, str], ...]
    rest: tuple[str, ...]

    def has(self, *names: str) -> bool:
        return not self.flags.isdisjoint(names)

    def value(self, *names: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.values if name in names)


def options_of(words: Iterable[str], taking: frozenset[str] = NONE, *, leading: bool = False) -> Options:
    """Read options as most programs do; those in `taking` take a value.

    With `leading` the first word that is none ends them: the rest belongs to another program.
    """
    flags: set[str] = set()
    values: list[tuple[str, str]] = []
    rest: list[str] = []
    queue = list(reversed(list(words)))
    while queue:
        word = queue.pop()
        if word == "--":
            rest += reversed(queue)
            break
        if len(word) < 2 or word[0] != "-":
            rest.append(word)
            if leading:
                rest += reversed(queue)
                break
            continue
        name, equals, value = word.partition("=")
        flags.add(name)
        if equals:
            values.append((name, value))
        elif name in taking:
            values.append((name, queue.pop() if queue else ""))
        elif word[1] != "-":
            _cluster(word, taking, flags, values, queue)
    return Options(flags=frozenset(flags), values=tuple(values), rest=tuple(rest))


def _cluster(
    word: str, taking: frozenset[str], flags: set[str], values: list[tuple[str, str]], queue: list[str]
) -> None:
    for place, letter in enumerate(word[1:], start=1):
        flags.add(f"-{letter}")
        if f"-{letter}" in taking:
            values.append((f"-{letter}", word[place + 1 :] or (queue.pop() if queue else "")))
            return
