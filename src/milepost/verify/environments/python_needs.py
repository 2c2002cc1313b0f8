"""What the Python side of a checkout needs: the packages it asks for, and how it is imported itself."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from milepost.sandbox.read_plain import read_plain
from milepost.sources.manifests.python import normalised
from milepost.sources.parse_documents import json_of, table, tables, toml_of
from milepost.verify.environments.pyproject import declared_in
from milepost.verify.environments.python_project import FOR_TESTING, Declared, is_requirement, name_of
from milepost.verify.environments.requirement_files import (
    LocalProject,
    Requirements,
    files_in,
    requirements_of,
    sources_in,
)
from milepost.verify.suites.python_project import find_test_files, import_folder

LOCKS = ("uv.lock", "poetry.lock", "Pipfile.lock")
DECLARING = ("pyproject.toml", "setup.cfg", "setup.py", "Pipfile.lock")

_USES_PYTEST = re.compile(rb"^\s*(?:import pytest|from pytest\b|(?:async )?def test_\w+\()", re.MULTILINE)
_USES_UNITTEST = re.compile(rb"^\s*(?:import unittest|from unittest\b)", re.MULTILINE)
_CONFIGURES_PYTEST = {
    "pytest.ini": rb"",
    "conftest.py": rb"",
    "pyproject.toml": rb"\[tool\.pytest",
    "setup.cfg": rb"\[tool:pytest\]",
    "tox.ini": rb"\[pytest\]",
    "ROADMAP.md": rb"(?i)\bverify:.*\bpytest\b",  # its lines are run with what the environment has
}
_SOURCE_IN_LOCK = re.compile(r"(?:registry|git|url)\s*=\s*\"([a-z0-9+]+://[^\"]+)\"", re.IGNORECASE)
_USUAL_HOSTS = ("pypi.org", "files.pythonhosted.org")
_MOST_FILES_LOOKED_AT = 500


@dataclass(frozen=True, kw_only=True)
class PythonNeeds:
    """`asked` is what requirements files say, `declared` what a manifest does, `locks` the lock files as they are.

    `sources` are places that packages come from, `archives` files of the checkout that are installed, with their hash.
    `packages` are the checkout's own, `imports` the folders they are imported from.
    """

    top: Path
    asked: Requirements
    declared: tuple[str, ...] = ()
    locks: tuple[tuple[str, bytes], ...] = ()
    archives: tuple[tuple[str, str], ...] = ()
    sources: frozenset[str] = frozenset()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    packages: tuple[Declared, ...] = ()
    imports: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def anything(self) -> bool:
        return bool(self.asked.lines or self.declared or self.locks)

    @cached_property
    def uses_pytest(self) -> bool:
        """Whether pytest is called: by its settings, a line of the roadmap, an import of it, or plain functions."""
        return _uses_pytest(self.top)

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """Versions that a lock file holds, for an installer that cannot read it."""
        pins = [pin for name, content in self.locks if not name.endswith("Pipfile.lock") for pin in pins_in(content)]
        return tuple(dict.fromkeys((*self.asked.constraints, *filter(is_requirement, pins))))

    @cached_property
    def digest(self) -> str:
        """A hash over all that decides which packages there are."""
        return digest_of(
            *self.asked.lines, "|", *self.asked.constraints, "|", *self.declared, "|", *self.extras, "|",
            *(f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in self.locks), "|",
            *(" ".join(archive) for archive in self.archives),
        )  # fmt: skip

    @cached_property
    def identity(self) -> str:
        """A hash over what the packages of the checkout say about themselves."""
        return digest_of(*(f"{p.name} {p.version} {json.dumps(p.entry_points, sort_keys=True)}" for p in self.packages))


def python_needs(top: Path) -> PythonNeeds:
    """What the manifests at the top of a tree ask for; where the top has none, those of the folders in it."""
    folders = [""] if _has_manifest(top, "") else [name for name in _folders(top) if _has_manifest(top, name)]
    asked = sum((requirements_of(top, folder) for folder in folders), start=Requirements())
    seen: dict[str, Declared] = {}
    todo = [*(LocalProject(folder=folder) for folder in folders), *asked.local]
    for local in todo:
        seen[local.folder] = declared_in(top / local.folder, local.extras)
    locks = tuple(_locks(top, folders))
    pipfile = tuple(line for name, content in locks if name.endswith("Pipfile.lock") for line in pipfile_lines(content))
    stated = (*pipfile, *(line for each in seen.values() for line in each.requirements))
    lines = tuple(line for line in stated if is_requirement(line))
    own = {normalised(each.name) for each in seen.values() if each.name}
    missing = tuple(f"{path} is required but not in the checkout" for path in asked.missing)
    missing += tuple(f"{line!r} is not a valid requirement" for line in stated if not is_requirement(line))
    return PythonNeeds(
        top=top,
        asked=asked,
        declared=tuple(dict.fromkeys(line for line in lines if name_of(line) not in own)),
        locks=locks,
        archives=tuple((path, _hash(top / path)) for path in asked.archives),
        sources=asked.sources | _declared_sources(lines) | _locked_sources(locks),
        extras=_for_testing(extra for each in seen.values() for extra in each.extras),
        groups=_for_testing(group for each in seen.values() for group in each.groups),
        packages=tuple(each for each in seen.values() if each.is_package and each.name),
        imports=tuple(_imports(top, seen)),
        notes=(*missing, *(note for each in seen.values() for note in each.notes)),
    )


def pins_in(lock: bytes) -> Iterator[str]:
    """`name==version` for every package that a uv or Poetry lock holds in one version, from an index."""
    versions: dict[str, set[str]] = {}
    for package in tables(toml_of(lock).get("package")):
        source = package.get("source")
        elsewhere = isinstance(source, dict) and not {"registry", "legacy"} & {*source, str(source.get("type", ""))}
        if isinstance(package.get("name"), str) and isinstance(package.get("version"), str) and not elsewhere:
            versions.setdefault(package["name"], set()).add(package["version"])
    for name, found in versions.items():
        if len(found) == 1:
            yield f"{name}=={found.pop()}"


def pipfile_lines(lock: bytes) -> Iterator[str]:
    """What a Pipfile.lock holds, as requirements."""
    whole = json_of(lock)
    for name, package in (*table(whole, "default").items(), *table(whole, "develop").items()):
        if isinstance(package, dict) and isinstance(package.get("version"), str):
            extras = f"[{','.join(map(str, package['extras']))}]" if package.get("extras") else ""
            marker = f"; {package['markers']}" if package.get("markers") else ""
            yield f"{name}{extras}{package['version']}{marker}"


def digest_of(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _has_manifest(top: Path, folder: str) -> bool:
    return any((top / folder / name).is_file() for name in DECLARING) or bool(files_in(top, folder))


def _folders(top: Path) -> list[str]:
    try:
        found = [path for path in top.iterdir() if path.is_dir() and not path.is_symlink()]
    except OSError:
        return []
    return sorted(path.name for path in found if not path.name.startswith((".", "node_modules", "venv")))


def _locks(top: Path, folders: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for folder in folders:
        for name in LOCKS:
            path = top / folder / name
            if not path.is_symlink() and (content := _bytes(path)) is not None:
                yield f"{folder}/{name}".lstrip("/"), content


def _imports(top: Path, projects: dict[str, Declared]) -> Iterator[str]:
    for folder, declared in projects.items():
        if declared.is_package:
            source = import_folder(top / folder, declared.source)
            if source is not None and source.resolve().is_relative_to(top.resolve()):
                yield source.resolve().relative_to(top.resolve()).as_posix()


def _declared_sources(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(source for line in lines for source in sources_in(line))


def _locked_sources(locks: Iterable[tuple[str, bytes]]) -> frozenset[str]:
    """The hosts that a lock fetches from; the index that everybody uses is none to name."""
    texts = (content.decode("utf-8", "replace") for _, content in locks)
    places = (place for text in texts for address in _SOURCE_IN_LOCK.findall(text) for place in sources_in(address))
    return frozenset(host for host in (place.partition("/")[0] for place in places) if host not in _USUAL_HOSTS)


def _uses_pytest(top: Path) -> bool:
    for name, sign in _CONFIGURES_PYTEST.items():
        content = _bytes(top / name)
        if content is not None and re.search(sign, content):
            return True
    for file in find_test_files(top)[:_MOST_FILES_LOOKED_AT]:
        content = _bytes(top / file) or b""
        if _USES_PYTEST.search(content) and (b"pytest" in content or not _USES_UNITTEST.search(content)):
            return True
    return False


def _for_testing(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if normalised(name) in FOR_TESTING))


def _hash(path: Path) -> str:
    return hashlib.sha256(_bytes(path) or b"").hexdigest()


def _bytes(path: Path) -> bytes | None:
    try:
        return read_plain(path)
    except OSError:
        return None
