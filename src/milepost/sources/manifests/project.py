"""What a manifest says of a project: its name, the projects below it, and the ones that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

Kind = Literal["python", "javascript", "rust", "go"]
ANY_VERSION = "*"
Read = Callable[[str], bytes | None]


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


def versions(paths: tuple[str, ...], manifest: str, read: Callable[[str], Mapping[str, str]]) -> dict[str, str]:
    """The version that these files ask of each package, that of a manifest before a lock's."""
    found: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: PurePosixPath(path).name != manifest):
        for name, version in read(path).items():
            found.setdefault(name, version)
    return found
