"""One more package in the text of a manifest, everything else in it as it was, comments and all.

Each function gives the new text: the same one where the package is there as it is wanted. Where in a manifest the
package goes is the caller's choice.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, MutableMapping, MutableSequence
from dataclasses import dataclass
from typing import Any

from milepost.sources.manifests.python import normalised, requirement_name
from milepost.sources.parse_documents import at

LONGEST_TOML = 200_000

Keys = tuple[str, ...]

_REQUIRED = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^]]*\])?\s*([^;#]*)(?:;([^#]*))?")


class CannotAdd(Exception):
    """Says why a manifest does not take a package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A package, the range of its versions, and the group that asks for it: `main`, `dev` or another."""

    name: str
    version: str = ""
    group: str = "main"
    replace: bool = False

    @property
    def requirement(self) -> str:
        """The package as a requirement of Python."""
        return f"{self.name}{self.version}"

    def replaces(self, there: str) -> None:
        """Raise CannotAdd where another range is there that may not be replaced."""
        if not self.replace:
            raise CannotAdd(f"{there!r} is there already; give replace=true to change its range")


def in_requirements(text: str, wanted: Dependency) -> str:
    """A requirements file with the package on a line of its own."""
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    at = _place(lines, wanted)
    if at is None:
        if text.rstrip().endswith("\\"):
            raise CannotAdd("its last line goes on in the next one, which is not there")
        gap = "" if not text or text.endswith(("\n", "\r")) else end
        return f"{text}{gap}{wanted.requirement}{end}"
    if lines[at].rstrip().endswith("\\"):
        raise CannotAdd(f"{lines[at].strip()!r} goes on in the next line: change it by hand")
    if not _replaced(lines[at].strip(), wanted):
        return text
    lines[at] = f"{wanted.requirement}{end}"
    return "".join(lines)


def in_toml_list(text: str, keys: Keys, wanted: Dependency) -> str:
    """A TOML manifest with the package in the list of requirements that these keys name."""

    def edit(whole: Any) -> None:
        listed = at(whole, *keys)
        if listed is None:
            _put(whole, keys, [wanted.requirement])
        elif not isinstance(listed, MutableSequence):
            raise CannotAdd(f"{keys[-1]} is no list")
        elif (place := _place(listed, wanted)) is None:
            listed.append(wanted.requirement)
        elif _replaced(listed[place], wanted):
            listed[place] = wanted.requirement

    return _edited(text, edit)


def in_toml_table(text: str, keys: Keys, wanted: Dependency) -> str:
    """A TOML manifest with the package in the table of versions by name that these keys name."""
    version = wanted.version or "*"

    def edit(whole: Any) -> None:
        table = at(whole, *keys)
        if table is None:
            _put(whole, keys, {wanted.name: version})
            return
        if not isinstance(table, MutableMapping):
            raise CannotAdd(f"{keys[-1]} is no table")
        known = next((key for key in table if normalised(key) == normalised(wanted.name)), wanted.name)
        owner, key = (table[known], "version") if isinstance(table.get(known), MutableMapping) else (table, known)
        stated = owner.get(key, "")
        if stated != version:
            if known in table:
                wanted.replaces(f"{known} {stated}")
            owner[key] = version

    return _edited(text, edit)


def loaded(text: str) -> dict[str, Any]:
    """What a TOML manifest says; raises CannotAdd."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise CannotAdd(f"it cannot be read: {error}") from error


def _place(lines: Any, wanted: Dependency) -> int | None:
    """Where in a list of requirements the package is."""
    name = normalised(requirement_name(wanted.requirement))
    named = (normalised(requirement_name(line)) if isinstance(line, str) else "" for line in lines)
    return next((at for at, one in enumerate(named) if one == name), None)


def _replaced(there: str, wanted: Dependency) -> bool:
    """Whether a requirement is to give way to another; raises CannotAdd where it may not."""
    if _parts(there) == _parts(wanted.requirement):
        return False
    if _parts(there)[-1:] not in ((), ("",)):
        # Another line may have the package for the rest.
        raise CannotAdd(f"{there!r} has an environment marker: change it by hand")
    wanted.replaces(there)
    return True


def _parts(requirement: str) -> tuple[str, ...]:
    found = _REQUIRED.match(requirement)
    return tuple("".join((part or "").split()) for part in found.groups()[1:]) if found else ()


def _put(whole: Any, keys: Keys, leaf: object) -> None:
    """Set what these keys name; the tables on the way are made."""
    while len(keys) > 1 and isinstance(whole.get(keys[0]), MutableMapping):
        whole, keys = whole[keys[0]], keys[1:]
    for key in reversed(keys[1:]):
        leaf = {key: leaf}
    whole[keys[0]] = leaf


def _edited(text: str, edit: Callable[[Any], None]) -> str:
    """The text after an edit that keeps its form, when it means what the same edit of its meaning does."""
    import tomlkit  # here: most runs change no manifest
    from tomlkit.exceptions import TOMLKitError

    if len(text) > LONGEST_TOML:
        raise CannotAdd("it is too long")
    meant = loaded(text)
    try:
        document = tomlkit.parse(text)
        edit(document)
        edit(meant)
        after = tomlkit.dumps(document)
        if tomllib.loads(after) == meant:
            return after
    except (TOMLKitError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CannotAdd(f"it cannot be edited: {error}") from error
    raise CannotAdd("it cannot be edited without changing what else it says")
