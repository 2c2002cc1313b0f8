"""Packaging: from a milepost to an artifact that was built twice and has run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from milepost.engine.packaging import Packaged


def package(
    commit: str = "",
    roadmap: Path | str | None = None,
    *,
    kind: str | None = None,
    unproven: bool = False,
    say: Callable[[str], None] | None = None,
) -> Packaged:
    """Build the artifact of a commit, by default of the one that you stand on, and try it.

    A commit whose mileposts do not hold is refused, unless it may be `unproven`.
    """
    from milepost.engine import packaging
    from milepost.engine.packaging.asked import kind_named
    from milepost.engine.project.project import Project

    wanted = kind_named(kind) if kind else None
    return packaging.package(
        Project.find(path_of(roadmap)), commit=commit, kind=wanted, unproven=unproven, say=say or (lambda _: None)
    )


def to_json(packaged: Packaged) -> dict[str, Any]:
    """What `milepost package --json` prints."""
    from milepost.engine.packaging.asked import to_json as packaged_to_json

    return packaged_to_json(packaged)


def write_generated(packaged: Packaged, roadmap: Path | str | None = None) -> tuple[Path, ...]:
    """Write the manifests that were generated into the working tree; one that is there is never overwritten."""
    from milepost.engine.packaging.asked import write_generated as write
    from milepost.engine.project.project import Project

    return write(Project.find(path_of(roadmap)), packaged)


def copy_to(packaged: Packaged, folder: Path | str) -> tuple[Path, ...]:
    """Copy the artifact and what belongs to it into a folder; other files that are there are not overwritten."""
    from pathlib import Path

    from milepost.engine.packaging.asked import copy_to as copy

    return copy(packaged, Path(folder))
