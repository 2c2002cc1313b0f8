"""A builder for projects that need no building: the files of the commit, started by a command or served as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import ArtifactUnfit
from milepost.core.shipping import Artifact, ArtifactKind
from milepost.ship.copying import copy_into
from milepost.ship.folder_digest import folder_digest

_PAGE = "index.html"
_BUILT_BY = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml")


def is_served_as_it_is(checkout: Path, command: tuple[str, ...]) -> bool:
    """Whether nothing has to be built: a command starts it, or it is a page and no project of a packager."""
    is_page = (checkout / _PAGE).is_file() and not any((checkout / name).is_file() for name in _BUILT_BY)
    return bool(command) or is_page


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeBuilder:
    """Copies a checkout. Without a command only a tree with a page at its top is fit to be deployed."""

    name: str
    commit: str
    tree: str
    command: tuple[str, ...] = ()

    def build(self, checkout: Path, out: Path) -> Artifact:
        if not self.command and not (checkout / _PAGE).is_file():
            raise ArtifactUnfit(
                "nothing says how this project is started",
                "set command in the target's section of milepost.toml, or name what was built: --artifact PATH",
            )
        files = out / "files"
        copy_into(checkout, files, but=".git")
        sha256, size = folder_digest(files)
        return Artifact(
            kind=ArtifactKind.TREE if self.command else ArtifactKind.STATIC,
            name=self.name,
            version=self.commit[:12],
            path=files,
            sha256=sha256,
            size=size,
            tree=self.tree,
            commit=self.commit,
            start=self.command,
        )
