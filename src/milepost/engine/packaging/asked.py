"""What people ask of a package beside building it: a kind by its name, its facts as JSON, copies of its files."""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path
from typing import Any

from milepost.core.errors import FileInTheWay, NothingToPackage
from milepost.core.shipping import Artifact, ArtifactKind
from milepost.engine.packaging.package import Packaged
from milepost.engine.project.project import Project
from milepost.ship.kept_artifacts import PROVENANCE, SBOM
from milepost.ship.site_manifest import manifest_path


def kind_named(name: str) -> ArtifactKind:
    """The kind of artifact of this name."""
    try:
        return ArtifactKind(name)
    except ValueError:
        names = ", ".join(kind.value for kind in ArtifactKind)
        raise NothingToPackage(f"there is no kind of artifact {name!r}", f"the kinds are {names}") from None


def to_json(packaged: Packaged) -> dict[str, Any]:
    """All that is known of an artifact, for programs."""
    artifact = packaged.artifact
    folder = folder_of(artifact)
    return {
        "kind": artifact.kind.value,
        "name": artifact.name,
        "version": artifact.version,
        "path": str(artifact.path),
        "sha256": artifact.sha256,
        "size": artifact.size,
        "start": list(artifact.start),
        "commit": artifact.commit,
        "tree": artifact.tree,
        "mileposts": packaged.mileposts,
        "unproven": packaged.unproven,
        "reason": packaged.reason,
        "cached": packaged.cached,
        "reproducible": True,
        "ran": packaged.ran,
        "duration_ms": packaged.duration_ms,
        "sbom": str(folder / SBOM),
        "provenance": str(folder / PROVENANCE),
        "signature": str(folder / f"{PROVENANCE}.sig") if packaged.signed_by else "",
        "others": [str(folder / name) for name in packaged.others],
        "generated": dict(packaged.generated),
    }


def folder_of(artifact: Artifact) -> Path:
    """The folder that an artifact is kept in, with all that belongs to it."""
    return artifact.path.parent


def write_generated(project: Project, packaged: Packaged) -> tuple[Path, ...]:
    """Write generated manifests where the project has none; raises where one is there, and writes nothing then."""
    top = project.repository.top
    there = [name for name in packaged.generated if (top / name).exists() or (top / name).is_symlink()]
    if there:
        raise FileInTheWay(
            f"{there[0]} is there, and is not overwritten", "apply the diff that is shown: milepost package | git apply"
        )
    written = []
    for name, text in packaged.generated.items():
        place = top / name
        if place.parent.resolve() != (top.resolve() / name).parent:
            raise FileInTheWay(f"{name} would be written outside of the repository", "remove the link in its way")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        written.append(place)
    return tuple(written)


def copy_to(packaged: Packaged, folder: Path) -> tuple[Path, ...]:
    """Copy an artifact and what belongs to it; raises where another file has one of the names, and copies nothing."""
    artifact, place = packaged.artifact, folder_of(packaged.artifact)
    beside = [artifact.path, *(place / name for name in packaged.others)]
    manifest = manifest_path(artifact.path)
    documents = [file for name in (SBOM, PROVENANCE, f"{PROVENANCE}.sig") if (file := place / name).exists()]
    names = {file.name: file for file in [*beside, *([manifest] if manifest.exists() else [])]}
    names |= {f"{artifact.name}-{artifact.version}.{file.name}".replace("/", "-"): file for file in documents}
    for name, file in names.items():
        target = folder / name
        if target.exists() and not _same(file, target):
            raise FileInTheWay(f"{str(target)!r} is there with another content", "remove it, or name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in names.items():
        if file.is_dir():
            shutil.copytree(file, folder / name, dirs_exist_ok=True)
        else:
            shutil.copyfile(file, folder / name)
    return tuple(folder / name for name in names)


def _same(one: Path, other: Path) -> bool:
    if one.is_dir():
        found = filecmp.dircmp(one, other) if other.is_dir() else None
        return found is not None and not (found.diff_files or found.funny_files or found.right_only)
    return other.is_file() and filecmp.cmp(one, other, shallow=False)
