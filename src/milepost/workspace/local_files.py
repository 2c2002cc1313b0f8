"""Files that git ignores and tests need, such as `.env`: copied into checkouts, never into a commit."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from milepost.sandbox.confined import ConfinedFolder, PathRefused, PlainFolder

LARGEST = 10_000_000
_ASSIGNED = re.compile(r"^\s*(?:export\s+)?[\"']?[\w.\-]+[\"']?\s*[=:]\s*(.+?)\s*,?\s*$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z]+|[\d.:]+|localhost(:\d+)?|(?:\.{0,2}/)?[\w./\-]*/")
_PASSWORD = re.compile(r"\w+://[^:/@\s]*:([^@\s]+)@")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFiles:
    """The files of a working tree that checkouts are to have beside what git has; no secret is in `built` ones."""

    top: Path
    names: tuple[str, ...] = ()
    built: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.names, *self.built)

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """The bytes and the rights of each that is there, a plain file inside the tree."""
        return {name: found for name in self.paths if (found := self._read(name)) is not None}

    def secrets(self) -> frozenset[str]:
        """The values in them that must be kept nowhere; plain words and addresses of this machine are none."""
        found = (self._read(name) for name in self.names)
        texts = (each[0].decode(errors="replace") for each in found if each is not None)
        return frozenset(value for text in texts for value in values_in(text))

    def lay(self, checkout: Path) -> None:
        """Put them into a fresh checkout; what the commit has there stays, and no link leads them out."""
        confined, plain = ConfinedFolder(checkout), PlainFolder(checkout)
        for name, (content, mode) in self.contents().items():
            with suppress(PathRefused):
                if not confined.holds(name):
                    place = confined.name_of(name)
                    plain.write(place, content)
                    plain.set_mode(place, mode)

    def _read(self, name: str) -> tuple[bytes, int] | None:
        place = Path(os.path.realpath(self.top / name))
        top = os.path.realpath(self.top)
        if not is_plain(name) or not place.is_relative_to(top) or not is_plain(str(place.relative_to(top))):
            return None
        with suppress(OSError):
            found = place.stat()
            if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST:
                return place.read_bytes(), stat.S_IMODE(found.st_mode) | stat.S_IRUSR | stat.S_IWUSR
        return None


def is_plain(name: str) -> bool:
    """Whether a name is that of a file inside the tree, and not of git's own."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and not {"..", ".git"} & set(path.parts)


def values_in(text: str) -> Iterator[str]:
    """The values that a file of settings gives to names, as far as they could be secret."""
    found = [value for value in (match.strip("\"' ") for match in _ASSIGNED.findall(text)) if value]
    with suppress(ValueError):
        found += _leaves(json.loads(text))
    for value in found:
        yield from _PASSWORD.findall(value)
        if not _PLAIN.fullmatch(value):
            yield value


def _leaves(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [leaf for each in value.values() for leaf in _leaves(each)]
        case list():
            return [leaf for each in value for leaf in _leaves(each)]
        case _:
            return []
