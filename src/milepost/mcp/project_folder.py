"""Which project a call is about: the folder it names, among those that the server was started for."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

import milepost
from milepost import roadmaps

Folder = Annotated[str, Field(max_length=4096, description="Project folder; default: the server's")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProject:
    """Where a server stands, and the further folders that it was started for; all else of the machine is not for it."""

    folder: Path
    further: tuple[Path, ...] = ()

    def named(self, workspace: str = "") -> Path:
        """The real folder that a call names; Misuse unless it lies in one of the server's own and is there."""
        if "\0" in workspace:
            raise milepost.Misuse("the name of a folder contains a NUL", "name another workspace")
        found = self.inside(self.folder / workspace)
        if not found.is_dir():
            raise milepost.Misuse(f"there is no folder {str(found)!r}", "name another workspace")
        return found

    def inside(self, path: Path) -> Path:
        """Where a path leads with every link followed; Misuse where that is outside of the server's folders."""
        real = _real(path)
        if not any(real.is_relative_to(_real(folder)) for folder in (self.folder, *self.further)):
            raise milepost.Misuse(
                f"this server may not use {str(path)[:200]!r}", "start it with: milepost mcp --folder FOLDER"
            )
        return real

    def roadmap(self, workspace: str = "") -> Path:
        """The roadmap of a folder, or of the nearest one above it in its repository; Misuse where a link leads out."""
        folder, found = _nearest(self.named(workspace))
        for page in (found, *(found.glob("*.md") if found.is_dir() else ())):
            replace(self, further=(*self.further, folder)).inside(page)
        return found


def _nearest(named: Path) -> tuple[Path, Path]:
    """The nearest folder that has a roadmap, and the roadmap."""
    for folder in (named, *named.parents):
        try:
            return folder, roadmaps.find(folder)
        except milepost.MilepostError:
            if (folder / ".git").exists():
                break
    return named, roadmaps.find(named)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # Path.resolve raises on a loop of links
