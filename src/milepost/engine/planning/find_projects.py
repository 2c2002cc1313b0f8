"""Finding the family that projects belong to: the folders that `[workspace]` or manifests name, and what is in them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

from milepost.core.errors import SettingInvalid
from milepost.core.own_files import SETTINGS_FILE
from milepost.engine.project.folder_globs import folders_named, is_pattern
from milepost.engine.project.project import NAMES
from milepost.plan.projects.dependencies import Family, ProjectFolder, related
from milepost.sandbox.read_plain import LARGEST_SETTINGS, read_plain
from milepost.sources.manifests.project import Manifest
from milepost.sources.manifests.reading import READERS, read_manifest
from milepost.sources.parse_documents import table

MOST = 2000  # more projects than anybody plans as one: a pattern that names so many was not meant
_LARGEST_MANIFEST = 4 << 20


def find_family(folder: Path | None = None) -> Family:
    """The projects that a folder's `[workspace]` names, else itself; and those that the manifests of each declare."""
    top = (folder or Path.cwd()).resolve()
    named = workspace_members(top)
    told: list[str] = []
    waiting = [one for pattern in named for one in _named(top, pattern, told)] if named else [top]
    found: dict[Path, ProjectFolder] = {}
    while waiting and len(found) < MOST:
        one = waiting.pop(0)
        if one not in found:
            found[one] = _found(top, one)
            waiting += _declared(one, found[one].manifests)
    if waiting:
        told.append(f"more than {MOST} projects are named: the rest is ignored")
    if top not in found and _roadmap(top):
        found = {top: _found(top, top), **found}
    return related(str(top), [one for one in found.values() if one.roadmap or _is_project(one)], told)


def family_here(folder: Path | None = None) -> Family:
    """The family of a folder that somebody names, whose settings must be right."""
    top = (folder or Path.cwd()).resolve()
    if (top / SETTINGS_FILE).is_file():
        from milepost.engine.project.settings.load import load

        load(top)
    return find_family(top)


def family_of(roadmap: Path) -> Family | None:
    """The widest family that a roadmap is of: of its own folder, or of one above, with somebody else in it."""
    for folder in reversed(roadmap.parents):
        if workspace_members(folder) or any(one.members for one in _manifests(folder)):
            family = find_family(folder)
            if family.of_roadmap(str(roadmap)) is not None and len(family.siblings) > 1:
                return family
    return None


def workspace_members(folder: Path, *, strict: bool = False) -> tuple[str, ...]:
    """What `[workspace] members` of a folder's milepost.toml says; nothing where there is none.

    One that is broken says nothing of the folders below it; with `strict` it is refused.
    """
    path = folder / SETTINGS_FILE
    try:
        whole = tomllib.loads(read_plain(path, LARGEST_SETTINGS).decode()) if path.is_file() else {}
    except (OSError, ValueError, RecursionError) as error:
        if strict:
            raise SettingInvalid(f"{SETTINGS_FILE} cannot be read: {error}", "fix the line it names") from error
        return ()
    members = table(whole.get("workspace")).get("members", [])
    if not isinstance(members, list) or not all(isinstance(one, str) and one.strip() for one in members):
        raise SettingInvalid(
            f"workspace.members in {str(path)!r} is not a list of folders", 'write members = ["api", "packages/*"]'
        )
    from milepost.engine.project.settings.reach import is_below

    if is_below(members):
        return tuple(members)
    from milepost.engine.project.settings.load import load

    return tuple(load(folder).workspace.members)  # folders outside need a person's agreement


def _named(top: Path, pattern: str, told: list[str]) -> list[Path]:
    """The folders that a line of `[workspace] members` names; one that it spells out must be there."""
    folders = list(folders_named(top, pattern))
    if not folders:
        told.append(f"workspace.members names {pattern!r}, but there is no such folder")
    if not is_pattern(pattern):
        return folders
    return [one for one in folders if (one / ".git").exists() or _roadmap(one) or _has_manifest(one)]


def _declared(folder: Path, manifests: tuple[Manifest, ...]) -> Iterator[Path]:
    """The folders that manifests declare to be projects, as far as they have a manifest."""
    for manifest in manifests:
        left_out = {one for pattern in manifest.left_out for one in folders_named(folder, pattern)}
        for pattern in manifest.members:
            named = (one for one in folders_named(folder, pattern) if one not in left_out)
            yield from (one for one in named if _has_manifest(one))


def _found(top: Path, folder: Path) -> ProjectFolder:
    return ProjectFolder(
        folder=os.path.relpath(folder, top),
        title=folder.name or str(folder),
        manifests=_manifests(folder),
        roadmap=_roadmap(folder),
    )


def _is_project(one: ProjectFolder) -> bool:
    """A folder that does nothing but declare others is none."""
    return one.folder != "." or any(manifest.name for manifest in one.manifests)


def _has_manifest(folder: Path) -> bool:
    return any((folder / file).is_file() for file in READERS)


def _manifests(folder: Path) -> tuple[Manifest, ...]:
    read = ((file, _content(folder / file)) for file in READERS)
    return tuple(read_manifest(file, content) for file, content in read if content is not None)


def _content(path: Path) -> bytes | None:
    """The bytes of a manifest; None where there is none."""
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST_MANIFEST)
    except OSError:
        return None


def _roadmap(folder: Path) -> str:
    """The roadmap that a folder has itself; empty without one."""
    return next((str((folder / name).resolve()) for name in NAMES if (folder / name).is_file()), "")
