"""Manifests that say both what the product is and how it is judged, split by section.

Dependencies and what describes the package are the product's, as the candidate has them; everything else judges, and
is as it was at the base.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from milepost.sources.parse_documents import at
from milepost.verify.judging.ini_sections import merged_ini
from milepost.verify.judging.manifest_rules import Rule, cargo, composer, package_json, pyproject
from milepost.verify.judging.paths import name_of

Document = dict[str, Any]

_LARGEST = 500_000


def is_manifest(path: str) -> bool:
    """Whether a file is one of those that are split."""
    return name_of(path) in _MERGERS


def merged_manifest(path: str, before: bytes | None, after: bytes) -> bytes | None:
    """The manifest that judges as the base's and describes the candidate's product.

    It is `after` itself, or `before` itself, where that says the same. None where a side cannot be read.
    """
    if max(len(before or b""), len(after)) > _LARGEST:
        return None
    try:
        return _MERGERS[name_of(path)](None if before is None else before.decode(), after.decode())
    except (ValueError, TypeError, AttributeError, RecursionError):  # also what is not JSON, TOML, INI or UTF-8
        return None


def merge(before: Mapping[str, Any], after: Mapping[str, Any], rule: Rule, way: tuple[str, ...] = ()) -> Document:
    """Two documents as one: each key from the side that the rule names, mixed tables key by key."""
    found: Document = {}
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        whose = rule((*way, key), old, new)
        if whose == "both" and isinstance(old, dict | None) and isinstance(new, dict | None):
            inner = merge(old or {}, new or {}, rule, (*way, key))
            if inner or (key in before and key in after):
                found[key] = inner
        else:
            side = after if whose == "product" else before
            if key in side:
                found[key] = side[key]
    return found


def _toml(rule: Rule) -> Callable[[str | None, str], bytes]:
    def merger(before: str | None, after: str) -> bytes:
        old, new = tomllib.loads(before or ""), tomllib.loads(after)
        meant = merge(old, new, rule)
        if (same := _same(meant, before, old, after, new)) is not None:
            return same
        return _edited_toml(before or "", after, meant, rule).encode()

    return merger


def _json(rule: Rule) -> Callable[[str | None, str], bytes]:
    def merger(before: str | None, after: str) -> bytes:
        old, new = json.loads(before or "{}"), json.loads(after)
        meant = merge(old, new, rule)
        if (same := _same(meant, before, old, after, new)) is not None:
            return same
        lines = (before or after).splitlines()
        indent = next((line[: len(line) - len(line.lstrip())] for line in lines if line[:1].isspace()), "") or None
        return f"{json.dumps(meant, indent=indent, ensure_ascii=False)}\n".encode()

    return merger


def _same(meant: Document, before: str | None, old: Document, after: str, new: Document) -> bytes | None:
    """The side that says what is meant, with all its comments."""
    if meant == new:
        return after.encode()
    return before.encode() if before is not None and meant == old else None


def _edited_toml(before: str, after: str, meant: Document, rule: Rule) -> str:
    """The base's text with the product's tables put into it; where that would say something else, plain text."""
    import tomlkit  # here: most changes touch no manifest
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(before)
        _put(document, tomlkit.parse(after), rule, ())
        text = tomlkit.dumps(document)
        if tomllib.loads(text) == meant:
            return text
    except (TOMLKitError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        pass  # comments are lost, the meaning is not
    return tomlkit.dumps(meant)


def _put(into: Any, given: Any, rule: Rule, way: tuple[str, ...]) -> None:
    for key in [*dict.fromkeys((*into, *given))]:
        whose = rule((*way, key), at(into, key), at(given, key))
        if whose == "both" and key in into and key in given and hasattr(into[key], "keys"):
            _put(into[key], given[key], rule, (*way, key))
        elif whose == "both" and key in given:
            inner = merge({}, given[key].unwrap(), rule, (*way, key))
            if inner:
                into[key] = inner
        elif whose == "product" and key in given:
            if key not in into or into[key] != given[key]:
                into[key] = given[key]
        elif whose == "product":
            into.remove(key)


_MERGERS: Mapping[str, Callable[[str | None, str], bytes | None]] = {
    "pyproject.toml": _toml(pyproject),
    "Cargo.toml": _toml(cargo),
    "package.json": _json(package_json),
    "composer.json": _json(composer),
    "setup.cfg": merged_ini,
}
