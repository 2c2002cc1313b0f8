"""Keeps a package of Milepost from being built without the libraries of its page."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibrariesOfThePage(BuildHookInterface[Any]):
    """Ends a build that would lack them; an editable installation may, since `make web` can still fetch them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable" and (lack := missing(Path(self.root))):
            self.app.abort(f"error: {lack}")


def missing(root: Path) -> str:
    """What is missing, as the program itself says it: it is not installed where it is built."""
    spec = importlib.util.spec_from_file_location("libraries", root / "src/milepost/web/libraries.py")
    assert spec is not None
    assert spec.loader is not None
    libraries = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(libraries)
    return str(libraries.missing())
