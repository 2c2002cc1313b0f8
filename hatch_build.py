"""Packs the libraries of the page into a package of Milepost: fetches them where they are missing, if npm is there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LONGEST_S = 60  # somebody waits for `pip install`, and the page can be completed later


class LibrariesOfThePage(BuildHookInterface[Any]):
    """Fetches them, or warns: no build fails for them. An editable installation is left to `make web`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        libraries = loaded(Path(self.root))
        if version == "editable" or not libraries.missing():
            return
        try:
            libraries.fetch(longest_s=LONGEST_S)
        except (libraries.NotFetched, OSError) as error:
            self.app.display_warning(f"built without the libraries of the page: {error}")
            self.app.display_warning(f"to have the page later: {libraries.COMMAND}")


def loaded(root: Path) -> ModuleType:
    """The program's own module about them: it is not installed where it is built."""
    spec = importlib.util.spec_from_file_location("libraries", root / "src/milepost/web/libraries.py")
    assert spec is not None
    assert spec.loader is not None
    libraries = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(libraries)
    return libraries
