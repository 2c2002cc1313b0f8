"""An artifact that was built elsewhere, as its file tells: a wheel, an npm tarball, a site, an image, a binary."""

from __future__ import annotations

import json
import os
import re
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from milepost.core.errors import ArtifactUnfit
from milepost.core.shipping import Artifact, ArtifactKind
from milepost.ship.builders.wheel import scripts_of
from milepost.ship.copying import copy_into
from milepost.ship.folder_digest import folder_digest
from milepost.ship.guest_files import sha256_of

_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl")
_LARGEST_MANIFEST = 1_000_000


def take_artifact(path: Path, out: Path, *, commit: str, tree: str) -> Artifact:
    """Copy an artifact into a folder of ours, and say what it is; `commit` is what its giver says it was built from."""
    kind = _kind_of(path)
    kept = out / path.name
    copy_into(path, kept)
    name, version, start = _told(kind, kept)
    sha256, size = folder_digest(kept) if kept.is_dir() else (sha256_of(kept), kept.stat().st_size)
    return Artifact(
        kind=kind,
        name=name,
        version=version or sha256[:12],
        path=kept,
        sha256=sha256,
        size=size,
        tree=tree,
        commit=commit,
        start=start,
    )


def _kind_of(path: Path) -> ArtifactKind:
    if _WHEEL.fullmatch(path.name) and zipfile.is_zipfile(path):
        return ArtifactKind.WHEEL
    if path.name.endswith(".tgz") and path.is_file():
        return ArtifactKind.NPM
    if (path / "oci-layout").is_file():
        return ArtifactKind.IMAGE
    if (path / "index.html").is_file():
        return ArtifactKind.STATIC
    if path.is_file() and os.access(path, os.X_OK):
        return ArtifactKind.RUST
    raise ArtifactUnfit(
        f"{str(path)!r} is no artifact" if path.exists() else f"there is no artifact {str(path)!r}",
        "give a wheel (.whl), an npm package (.tgz), a folder with index.html, or a program",
    )


def _told(kind: ArtifactKind, path: Path) -> tuple[str, str, tuple[str, ...]]:
    """Name and version as the artifact has them, and the command that it brings."""
    try:
        if kind is ArtifactKind.WHEEL and (named := _WHEEL.fullmatch(path.name)):
            return named["name"], named["version"], _only(scripts_of(path))
        if kind is ArtifactKind.NPM:
            return _package_in(path)
    except (OSError, ValueError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise ArtifactUnfit(f"{path.name} is damaged: {error}"[:300], "build it again") from error
    return path.name, "", (path.name,) if kind is ArtifactKind.RUST else ()


def _only(scripts: Sequence[str]) -> tuple[str, ...]:
    """The program that is started: the only one there is; with several, nobody can know which."""
    return (scripts[0],) if len(scripts) == 1 else ()


def _package_in(tarball: Path) -> tuple[str, str, tuple[str, ...]]:
    with tarfile.open(tarball) as archive:
        member = archive.getmember("package/package.json")
        stream = archive.extractfile(member)
        if stream is None or member.size > _LARGEST_MANIFEST:
            raise ValueError("it has no package.json")
        package = json.load(stream)
    name, programs = str(package["name"]), package.get("bin")
    scripts = list(programs) if isinstance(programs, dict) else [name.rpartition("/")[2]] if programs else []
    return name, str(package["version"]), _only([str(one) for one in scripts])
