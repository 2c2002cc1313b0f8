"""Dependencies that a change adds or moves to another version: code of others that the project will run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from milepost.core.change import Change, ChangedFile
from milepost.sandbox.command_risk import Danger
from milepost.sources.manifests import go, javascript, python, rust

WHY = "adds a dependency"
# Locks repeat what manifests say, and name what that brings along: a person is asked about what was chosen.
_LOCKS = frozenset({"package-lock.json", "npm-shrinkwrap.json", "Cargo.lock", "Pipfile.lock", "go.sum"})


def new_dependencies(change: Change) -> tuple[Danger, ...]:
    """The packages that the manifests of a change ask for and did not before, each with its version and manifest."""
    return tuple(
        Danger(kind="packages", why=WHY, what=f"{asked} in {file.path}")
        for file in change.files
        if not file.is_link and not is_lock(file.path)
        for asked in _new(file)
    )


def is_lock(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in _LOCKS or name.endswith(".lock") or name.startswith("pylock.")


def _new(file: ChangedFile) -> Iterator[str]:
    before, after = (_asked(file.path, content) for content in (file.before, file.after))
    for name, asked in after.items():
        if before.get(name) != asked:
            yield asked


def _asked(path: str, content: bytes | None) -> dict[str, str]:
    """What a manifest asks for, as one text for each package."""
    if content is None:
        return {}
    try:
        if PurePosixPath(path).name == "go.mod":
            required = _GO_REQUIRE.findall(content.decode("utf-8", "replace"))
            return {name: f"{name} {version}" for name, version in required if name in go_needs(content)}
        found = python.declared((path,), lambda _: content)
        others = javascript.declared((path,), lambda _: content) | rust.declared((path,), lambda _: content)
    except (ValueError, RecursionError):  # what cannot be read is not installed either
        return {}
    return found | {name: f"{name} {version}".strip() for name, version in others.items()}


def go_needs(content: bytes) -> frozenset[str]:
    return frozenset(go.read_module(content.decode("utf-8", "replace")).needs)


_GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?(\S+/\S+|\S+\.\S+)\s+(v\d\S*)", re.MULTILINE)
