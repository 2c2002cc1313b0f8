"""Which project a call is about: the folder it names, or the one that the server was started in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

import milepost
from milepost import roadmaps

Folder = Annotated[str, Field(max_length=4096, description="Project folder; default: the server's")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProject:
    """Where a server stands."""

    folder: Path

    def named(self, workspace: str = "") -> Path:
        """The folder that a call names, which must be there."""
        if "\0" in workspace:
            raise milepost.Misuse("the name of a folder contains a NUL", "name another workspace")
        found = self.folder / Path(workspace) if workspace else self.folder
        if not found.is_dir():
            raise milepost.Misuse(f"there is no folder {str(found)!r}", "name another workspace")
        return found

    def roadmap(self, workspace: str = "") -> Path:
        """The roadmap of a folder, or of the nearest one above it in its repository."""
        named = self.named(workspace).absolute()
        for folder in (named, *named.parents):
            try:
                return roadmaps.find(folder)
            except milepost.MilepostError:
                if (folder / ".git").exists():
                    break
        return roadmaps.find(named)
