"""Files that a Python project's build wrote into its own packages: its version, its compiled modules.

An environment that has a project installed for editing relies on them, and no commit has them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from milepost.sandbox.read_plain import plain_text
from milepost.sources.compiled_modules import is_compiled_module
from milepost.sources.parse_documents import at, toml_of

MOST_FOLDERS = 2_000

# Where a manifest says which file its build writes the version to.
_VERSION_FILES = (
    ("hatch", "build", "hooks", "vcs", "version-file"),
    ("setuptools_scm", "write_to"),
    ("setuptools_scm", "version_file"),
    ("setuptools-git-versioning", "version_file"),
    ("pdm", "version", "write_to"),
    ("versioningit", "write", "file"),
    ("scikit-build", "generate", "path"),
)
_VERSION_NAME = re.compile(r"_*version\w*\.py|__about__\.py", re.IGNORECASE)
_IN_SETUP = re.compile(r"(?:write_to|version_file)[\"']?\s*[:=]\s*[\"']?([\w./\-]+)")
_ROOTS = ("", "src", "lib", "python")


def built_files(top: Path) -> tuple[str, ...]:
    """The paths of those that are in a working tree."""
    return tuple(dict.fromkeys((*_version_files(top), *_compiled(top))))


def _version_files(top: Path) -> Iterator[str]:
    """The version modules that the manifests name; no other file, whatever they name."""
    tool = at(toml_of(_text(top / "pyproject.toml")), "tool")
    named = [(names[0], at(tool, *names)) for names in _VERSION_FILES]
    named += [("setup", path) for name in ("setup.py", "setup.cfg") for path in _IN_SETUP.findall(_text(top / name))]
    for by, path in named:
        if isinstance(path, str) and _VERSION_NAME.fullmatch(path.rpartition("/")[2]):
            places = (path, f"src/{path}") if by == "pdm" else (path,)
            yield from (os.path.normpath(place) for place in places if (top / place).is_file())


def _compiled(top: Path) -> Iterator[str]:
    """The compiled modules in the packages of the tree."""
    roots = [top / root for root in _ROOTS if (top / root).is_dir()]
    todo = [folder for root in roots for folder in _folders(root) if (folder / "__init__.py").is_file()]
    seen = 0
    while todo and seen < MOST_FOLDERS:
        folder = todo.pop()
        seen += 1
        todo += _folders(folder)
        yield from sorted(
            entry.relative_to(top).as_posix() for entry in _files(folder) if is_compiled_module(entry.name)
        )
    yield from sorted(
        entry.relative_to(top).as_posix() for root in roots for entry in _files(root) if is_compiled_module(entry.name)
    )


def _text(path: Path) -> str:
    try:
        return plain_text(path)
    except OSError:
        return ""


def _folders(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]


def _files(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in _entries(folder) if entry.is_file(follow_symlinks=False)]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry in found if not entry.name.startswith(".")]
    except OSError:
        return []
