"""Whose the parts of a manifest are: the product's, the judge's, or both in one table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

Whose = Literal["product", "judge", "both"]
Way = tuple[str, ...]
Rule = Callable[[Way, Any, Any], Whose]

# Groups of entry points that are loaded into a test run without anybody asking for it.
RUNNERS = frozenset({"pytest11", "hypothesis", "tox", "nox", "nose.plugins", "nose.plugins.0.10", "coverage"})

# What a package manager of Node takes from a folder, an archive, an address or under another package's name.
_ELSEWHERE = re.compile(
    r"(file|link|portal|patch|npm|https?|git|github|gitlab|bitbucket|gist|ssh)[:+@].*|[./~].*|[\w.-]+/[\w.-]+(#.*)?"
    r"|.*\.(tgz|tar|tar\.gz)",
    re.DOTALL,
)
_PACKAGE_JSON = frozenset(
    {"name", "version", "description", "keywords", "homepage", "bugs", "license", "author", "contributors", "funding"}
    | {"files", "exports", "imports", "main", "module", "types", "typings", "typesVersions", "browser", "bin", "man"}
    | {"directories", "repository", "type", "sideEffects", "unpkg", "jsdelivr", "engines", "os", "cpu", "libc"}
    | {"private", "publishConfig", "workspaces", "bundleDependencies", "bundledDependencies", "peerDependenciesMeta"}
)
_DEPENDENCIES = frozenset(
    {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "overrides", "resolutions"}
)
_COMPOSER = frozenset(
    {"name", "version", "description", "type", "keywords", "homepage", "readme", "license", "authors", "support"}
    | {"autoload", "bin", "conflict", "replace", "provide", "suggest", "minimum-stability", "prefer-stable", "funding"}
)
_TOOLS = frozenset({"setuptools", "setuptools_scm", "setuptools-scm", "flit", "maturin", "scikit-build"})
_POETRY_JUDGES = frozenset({"build", "plugins", "requires-plugins"})
_UV = frozenset(
    {"dev-dependencies", "constraint-dependencies", "override-dependencies", "build-constraint-dependencies", "package"}
    | {"workspace", "default-groups", "dependency-groups", "conflicts", "build-backend"}
)
_CARGO_PACKAGE_JUDGES = frozenset({"build", "autotests", "autobenches"})
_CARGO_RUN = frozenset({"harness", "test", "doctest", "bench"})
_CARGO_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


def package_json(way: Way, old: Any, new: Any) -> Whose:
    """Scripts and the settings of tools judge; so does where a dependency comes from, when it came from a registry."""
    if way[0] in _DEPENDENCIES:
        return "both" if len(way) == 1 else _dependency(old, new, known=way[0] not in ("overrides", "resolutions"))
    return "product" if way[0] in _PACKAGE_JSON else "judge"


def composer(way: Way, old: Any, new: Any) -> Whose:
    """As package.json, of PHP."""
    if way[0] in ("require", "require-dev"):
        return "both" if len(way) == 1 else _dependency(old, new)
    return "product" if way[0] in _COMPOSER else "judge"


def pyproject(way: Way, old: Any, new: Any) -> Whose:
    """The project's metadata, its dependencies and how it is packed are the product's; all else of `tool` judges."""
    match way:
        case ("project",) | ("project", "entry-points") | ("build-system",) | ("tool",):
            return "both"
        case ("project", "entry-points", group) if group in RUNNERS:
            return "judge"
        case ("build-system", "backend-path"):
            return "judge"
        case ("project" | "build-system" | "dependency-groups", *_):
            return "product"
        case ("tool", name, *rest):
            return _python_tool(name, tuple(rest), old, new)
        case _:
            return "judge"


def cargo(way: Way, old: Any, new: Any) -> Whose:
    """What says which tests are built and how they are run judges, and so do build scripts, profiles and patches."""
    match way:
        case ("package" | "lib" | "workspace" | "target",) | ("target", _) | ("workspace", "dependencies"):
            return "both"
        case ("package", key):
            return "judge" if key in _CARGO_PACKAGE_JUDGES else "product"
        case ("lib", key):
            return "judge" if key in _CARGO_RUN else "product"
        case ("workspace", "lints" | "metadata"):
            return "judge"
        case ("workspace", "dependencies", _):
            return _dependency(old, new)
        case ("bin" | "example",):
            return "judge" if _says_how_it_is_tested(new) or _says_how_it_is_tested(old) else "product"
        case ("features" | "workspace", *_):
            return "product"
        case (*_, table) if table in _CARGO_DEPENDENCIES:
            return "both"
        case (*_, table, _) if table in _CARGO_DEPENDENCIES:
            return _dependency(old, new)
        case _:
            return "judge"


def _python_tool(name: str, rest: Way, old: Any, new: Any) -> Whose:
    if name == "poetry":
        return "judge" if rest and rest[0] in _POETRY_JUDGES else "product" if rest else "both"
    if name == "uv":
        if rest[:1] == ("sources",):
            return "both" if len(rest) == 1 else "judge" if old is None and _is_elsewhere(new) else "product"
        return "both" if not rest else "product" if rest[0] in _UV else "judge"
    if name in ("pdm", "rye"):
        return "both" if not rest else "product" if rest[0] in ("dev-dependencies", "version") else "judge"
    if name == "hatch":
        return "both" if rest in ((), ("build",)) else "judge" if rest[0] == "envs" or "hooks" in rest else "product"
    if name in _TOOLS:
        return "both" if not rest else "judge" if rest[0] == "cmdclass" else "product"
    return "judge"


def _dependency(old: Any, new: Any, *, known: bool = True) -> Whose:
    """One that is new, or goes on coming from where it came from, is the product's."""
    if new is None or not _is_elsewhere(new):
        return "product"
    return "judge" if (old is not None or not known) and not _is_elsewhere(old) else "product"


def _is_elsewhere(value: Any) -> bool:
    """Whether a package comes from a folder or an address of the author's choice, not from the registry."""
    if isinstance(value, dict):
        return bool({"path", "git", "url"} & value.keys()) or any(map(_is_elsewhere, value.values()))
    if isinstance(value, list):
        return any(_is_elsewhere(one) for one in value if isinstance(one, dict))
    return isinstance(value, str) and _ELSEWHERE.fullmatch(value.strip()) is not None


def _says_how_it_is_tested(targets: Any) -> bool:
    return isinstance(targets, list) and any(isinstance(one, dict) and _CARGO_RUN & one.keys() for one in targets)
