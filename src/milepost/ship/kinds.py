"""Which kinds of artifact fit a project, by its files, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from milepost.core.errors import NothingToPackage
from milepost.core.shipping import ArtifactKind
from milepost.sources.parse_documents import json_of, table, tables, toml_of

SITE_FOLDERS = ("", "public", "site", "www", "static", "dist", "docs")
_NOT_PACKAGES = frozenset({"tests", "test", "docs", "examples", "scripts", "benchmarks", "tools"})
_NOT_MODULES = re.compile(r"(setup|conftest|noxfile|tasks|test_\w+|\w+_test)\.py")
_SITE_TOOLS = ("vite", "astro", "next", "react-scripts", "parcel", "webpack", "gatsby", "@11ty/eleventy", "esbuild")

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingKind:
    """A kind that fits, and why. A `sure` one is declared by the project itself."""

    kind: ArtifactKind
    reason: str
    sure: bool = True


def fitting_kinds(files: tuple[str, ...], read: Read) -> tuple[MatchingKind, ...]:
    """All kinds that fit, the recommended one first. An image can be made of any, and is never a guess."""
    found = [fit for look in (_rust, _python, _javascript, _site) for fit in look(files, read)]
    unique = {fit.kind: fit for fit in sorted(found, key=lambda fit: fit.sure)}  # what is declared wins
    return tuple(sorted(unique.values(), key=lambda fit: not fit.sure))


def chosen_kind(fits: tuple[MatchingKind, ...]) -> MatchingKind:
    """The one kind that fits; raises where none does, or several do equally well."""
    if not fits:
        raise NothingToPackage(
            "nothing here says what to package: no pyproject.toml, package.json, Cargo.toml or index.html",
            "name a kind: milepost package --as wheel|npm|static|rust|image",
        )
    best = [fit for fit in fits if fit.sure == fits[0].sure]
    if len(best) > 1:
        words = ", ".join(f"{fit.kind} ({fit.reason})" for fit in best)
        raise NothingToPackage(
            f"several kinds fit: {words}", f"choose one; the first is recommended: milepost package --as {best[0].kind}"
        )
    return best[0]


def python_modules(files: tuple[str, ...]) -> tuple[str, ...]:
    """The packages, or else the modules, of a Python project without a manifest, as paths."""
    inits = [PurePosixPath(file).parent for file in files if file.endswith("/__init__.py")]
    tops = [path for path in inits if len(path.parts) == 1 or (len(path.parts) == 2 and path.parts[0] == "src")]
    packages = tuple(sorted(str(path) for path in tops if path.parts[0] not in _NOT_PACKAGES))
    if packages:
        return packages
    return tuple(sorted(f for f in files if f.endswith(".py") and "/" not in f and not _NOT_MODULES.fullmatch(f)))


def rust_binaries(files: tuple[str, ...], read: Read) -> tuple[str, ...]:
    """The names of the programs that a Cargo.toml declares, also in what cargo finds by itself."""
    manifest = toml_of(read("Cargo.toml") or b"")
    package = str(table(manifest, "package").get("name") or "")
    named = [str(one["name"]) for one in tables(manifest.get("bin")) if one.get("name")]
    main = [package] if package and "src/main.rs" in files and not named else []
    found = [PurePosixPath(file).stem for file in files if re.fullmatch(r"src/bin/[^/]+\.rs", file)]
    return tuple(dict.fromkeys((*named, *main, *found)))


def _rust(files: tuple[str, ...], read: Read) -> Iterator[MatchingKind]:
    if names := rust_binaries(files, read):
        yield MatchingKind(kind=ArtifactKind.RUST, reason=f"Cargo.toml declares the program {names[0]}")


def _python(files: tuple[str, ...], read: Read) -> Iterator[MatchingKind]:
    manifest = toml_of(read("pyproject.toml") or b"")
    if "project" in manifest or "build-system" in manifest or table(manifest, "tool", "poetry"):
        yield MatchingKind(kind=ArtifactKind.WHEEL, reason="pyproject.toml declares a project")
    elif "setup.py" in files or b"[metadata]" in (read("setup.cfg") or b""):
        name = "setup.py" if "setup.py" in files else "setup.cfg"
        yield MatchingKind(kind=ArtifactKind.WHEEL, reason=f"{name} declares a project")
    elif modules := python_modules(files):
        reason = f"{modules[0]} is Python; a pyproject.toml is generated"
        yield MatchingKind(kind=ArtifactKind.WHEEL, reason=reason, sure=False)


def _javascript(files: tuple[str, ...], read: Read) -> Iterator[MatchingKind]:
    package = json_of(read("package.json") or b"")
    if not package:
        return
    needs = {**table(package, "dependencies"), **table(package, "devDependencies")}
    tool = next((name for name in _SITE_TOOLS if name in needs), "") if "build" in table(package, "scripts") else ""
    if tool and ("index.html" in files or not _is_library(package)):
        yield MatchingKind(kind=ArtifactKind.STATIC, reason=f"package.json builds a site with {tool}")
        return
    if _is_library(package):
        yield MatchingKind(kind=ArtifactKind.NPM, reason="package.json declares a package")
    elif package.get("name"):
        yield MatchingKind(kind=ArtifactKind.NPM, reason="package.json has a name", sure=False)


def _is_library(package: dict[str, object]) -> bool:
    return bool(package.get("name")) and any(name in package for name in ("main", "exports", "bin", "module"))


def _site(files: tuple[str, ...], read: Read) -> Iterator[MatchingKind]:
    folder = site_folder(files)
    if folder is None:
        return
    declared = any(name in files for name in ("package.json", "pyproject.toml", "Cargo.toml", "setup.py"))
    page = f"{folder}/index.html".lstrip("/")
    yield MatchingKind(kind=ArtifactKind.STATIC, reason=f"{page} is a page", sure=not declared)


def site_folder(files: tuple[str, ...]) -> str | None:
    """The folder with the page of a site, empty for the top; None where there is none."""
    return next((folder for folder in SITE_FOLDERS if f"{folder}/index.html".lstrip("/") in files), None)
