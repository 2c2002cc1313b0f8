"""Python modules by the text of files: what they are called, from where they are imported, what they import."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from milepost.sources.parse_documents import table, toml_of
from milepost.sources.paths import folders_above

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")

_TEST_PATH = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of the checkout. `roots` go before the rest of the import path; `folder`, for a file that belongs to
    no package, after it. `in_package` tells the two apart."""

    name: str
    path: str
    roots: tuple[str, ...] = ("",)
    folder: str | None = None

    @property
    def in_package(self) -> bool:
        return self.folder is None


def module_at(path: str, roots: tuple[str, ...], exists: Callable[[str], bool]) -> Module | None:
    """The module that a file is, None for what nobody imports: tests, `__main__`, and names that are no names.

    A package is the way of `__init__.py` files above it; where that way starts is a place to import from. A file in a
    folder without one is imported by its whole name from a root, and may find its neighbours as a script would.
    """
    name = path.rpartition("/")[2]
    if not path.endswith(".py") or name in ("__main__.py", "setup.py") or is_test_path(path):
        return None
    home, is_package = home_of(path, roots, exists)
    parts = path.removeprefix(f"{home}/" if home else "").removesuffix(".py").split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    if not parts or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        return None
    return Module(
        name=".".join(parts),
        path=path,
        roots=roots_for(path, roots, exists),
        folder=None if is_package or home else folders_above(path)[0],
    )


def home_of(path: str, roots: tuple[str, ...], exists: Callable[[str], bool]) -> tuple[str, bool]:
    """The folder that a file is imported from, and whether it is part of a package."""
    folder = top = folders_above(path)[0]
    while top and exists(f"{top}/__init__.py"):
        top = top.rpartition("/")[0]
    return (top, True) if top != folder else (_longest_root(path, roots), False)


def roots_for(path: str, roots: tuple[str, ...], exists: Callable[[str], bool]) -> tuple[str, ...]:
    """The folders that a file imports from: its own home, those of the projects around it, the roots."""
    home, _ = home_of(path, roots, exists)
    return tuple(dict.fromkeys((home, *_manifest_folders(path, exists), *roots)))


def is_test_path(path: str) -> bool:
    """Whether a file belongs to the tests, by its name or its folder."""
    return _TEST_PATH.search(path) is not None


def imported_names(text: str, package: str) -> frozenset[str]:
    """The modules that a text imports, and what it imports from them as if those were modules, too.

    `package` is the package that the text is in, for its relative imports.
    """
    tree = syntax_tree(text)
    found: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found.add(source)
            found.update(f"{source}.{alias.name}" for alias in node.names)
    return frozenset(found)


def told_roots(manifest: str | None) -> Iterator[str]:
    """The folders that a pyproject.toml tells its tools to import from."""
    document = toml_of(manifest)
    told = (
        table(document, "tool", "setuptools", "packages", "find").get("where"),
        table(document, "tool", "setuptools", "package-dir").get(""),
        table(document, "tool", "pytest", "ini_options").get("pythonpath"),
    )
    for entry in told:
        names = [entry] if isinstance(entry, str) else entry if isinstance(entry, list) else []
        yield from (name for name in names if isinstance(name, str) and not name.startswith("/") and ".." not in name)


def syntax_tree(text: str) -> ast.Module | None:
    """The tree of a text, None where it is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _longest_root(path: str, roots: tuple[str, ...]) -> str:
    return max((root for root in roots if not root or path.startswith(f"{root}/")), key=len, default="")


def _manifest_folders(path: str, exists: Callable[[str], bool]) -> Iterator[str]:
    """The folders above a file that are projects of their own, each with its `src`."""
    for folder in folders_above(path):
        if folder and any(exists(f"{folder}/{name}") for name in MANIFESTS):
            yield from (f"{folder}/src", folder)
