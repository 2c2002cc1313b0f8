"""What a manifest says of a project: its name, the projects below it, and the ones that it depends on."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Kind = Literal["python", "javascript", "rust", "go"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What was read of one file; `problem` is why nothing could be.

    `members` are folders or patterns of folders below it that it declares to be projects, `left_out` those of them that
    are not. `needs` are names of what it depends on; `paths` the folders, from its own, that it depends on.
    """

    kind: Kind
    name: str = ""
    members: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    problem: str = ""


def read_manifest(file: str, content: bytes) -> Manifest:
    """What a manifest of this name says; whatever it holds, this does not raise."""
    kind, reader = readers()[file]
    try:
        found = reader(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also what is not JSON, TOML or UTF-8
        said = str(error).splitlines()[0][:200] if str(error) else "nested too deeply"
        return Manifest(kind=kind, problem=f"{file} cannot be read: {said}")
    return replace(found, members=_said(found.members), left_out=_said(found.left_out))


def readers() -> Mapping[str, tuple[Kind, Callable[[str], Manifest]]]:
    """Every manifest that is known, by the name of its file; the first of a project gives it its name."""
    from milepost.plan.projects import go, javascript, python, rust

    return {
        "pyproject.toml": ("python", python.read),
        "package.json": ("javascript", javascript.read_package),
        "pnpm-workspace.yaml": ("javascript", javascript.read_pnpm),
        "lerna.json": ("javascript", javascript.read_lerna),
        "Cargo.toml": ("rust", rust.read),
        "go.mod": ("go", go.read_module),
        "go.work": ("go", go.read_work),
    }


def from_toml(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def from_json(text: str) -> dict[str, Any]:
    return table(json.loads(text))


def table(value: object) -> dict[str, Any]:
    """The value where it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def inside(value: object, *names: str) -> dict[str, Any]:
    """The table at the end of a way of names."""
    for name in names:
        value = table(value).get(name)
    return table(value)


def texts(value: object) -> tuple[str, ...]:
    """The texts in a list; none where it is no list."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _said(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in patterns if one.strip()))
