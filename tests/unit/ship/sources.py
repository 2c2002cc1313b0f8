"""Trees to package that are only named."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.ship.recipe import Options, Source


def source(
    files: Mapping[str, str], *, programs: tuple[str, ...] = (), options: Options | None = None, name: str = "project"
) -> Source:
    return Source(
        name=name,
        files=tuple(sorted(files)),
        read=lambda path: files[path].encode() if path in files else None,
        time=1_700_000_000,
        has=lambda program: program in programs,
        options=options or Options(),
    )
