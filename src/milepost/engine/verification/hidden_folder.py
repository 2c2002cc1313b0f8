"""The user's folder of hidden tests: read for verification alone, and refused where agents could read it."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import HiddenTestsInGit, SettingInvalid
from milepost.engine.project.project import Project
from milepost.verify.judging.paths import CODE, suffix
from milepost.verify.laid_tests import Material, material_in
from milepost.workspace.git import Git


def hidden_folder(setting: str, beside: Path) -> Path | None:
    """The folder that the setting names, None where it names none."""
    return beside / Path(setting).expanduser() if setting else None


def hidden_material(folder: Path | None, git: Git, head: str) -> Material:
    """What is in the folder. Raises where git has any of it: every workspace can read the objects of its repository."""
    if folder is None:
        return Material()
    if not folder.is_dir():
        raise SettingInvalid(
            f"the folder of hidden tests {str(folder)!r} is not there", "create it, or remove hidden from [verify]"
        )
    found = material_in(Path(os.path.realpath(folder)))
    known = _known_to_git(found, git, head)
    if known:
        raise HiddenTestsInGit(
            f"{known} is in git, where every agent can read it: hidden tests must stay out of git",
            "move the folder out of the repository or git-ignore it, with tests that were never committed",
        )
    return found


def refuse_known_tests(setting: str, project: Project) -> None:
    """Raise where hidden tests are not hidden, before a run is begun with them."""
    folder = hidden_folder(setting, project.roadmap.parent)
    if folder is not None:
        with TemporaryDirectory() as own:
            hidden_material(folder, project.repository.git(Path(own)), project.repository.position().commit)


def _known_to_git(material: Material, git: Git, head: str) -> str:
    """The first source file whose content is among git's objects, whatever its name there; one that stands elsewhere in
    the repository on purpose is nobody's secret."""
    sources = {path: content for path, content in material.files.items() if suffix(path) in CODE and content.strip()}
    names = {path: git.plumb("hash-object", "--no-filters", "--stdin", stdin=text) for path, text in sources.items()}
    asked = "".join(f"{name}\n" for name in names.values()).encode()
    rows = git.plumb("cat-file", "--batch-check", stdin=asked).splitlines() if asked else []
    there = {row.split()[0] for row in rows if not row.endswith(" missing")}
    if not there:
        return ""
    listing = git.plumb("ls-tree", "-r", "-z", "--full-tree", head).split("\0")
    entries = (row.partition("\t") for row in listing if row)
    public = {facts.split()[2] for facts, _, path in entries if not any(path.endswith(own) for own in sources)}
    return next((path for path, name in names.items() if name in there - public), "")
