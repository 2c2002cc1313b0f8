"""Every manifest that is known, by the name of its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from milepost.sources.manifests import go, javascript, python, rust
from milepost.sources.manifests.project import Kind, Manifest

# The first of a project gives it its name.
READERS: Mapping[str, tuple[Kind, Callable[[str], Manifest]]] = {
    "pyproject.toml": ("python", python.read_pyproject),
    "package.json": ("javascript", javascript.read_package),
    "pnpm-workspace.yaml": ("javascript", javascript.read_pnpm),
    "lerna.json": ("javascript", javascript.read_lerna),
    "Cargo.toml": ("rust", rust.read_cargo),
    "go.mod": ("go", go.read_module),
    "go.work": ("go", go.read_work),
}


def read_manifest(file: str, content: bytes) -> Manifest:
    """What a manifest of this name says; whatever it holds, this does not raise."""
    kind, reader = READERS[file]
    try:
        found = reader(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also what is not JSON, TOML or UTF-8
        said = str(error).splitlines()[0][:200] if str(error) else "nested too deeply"
        return Manifest(kind=kind, problem=f"{file} cannot be read: {said}")
    return replace(found, members=_said(found.members), left_out=_said(found.left_out))


def _said(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in patterns if one.strip()))
