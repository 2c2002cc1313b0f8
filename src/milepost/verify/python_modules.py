"""Python modules as a checkout holds them: what they are called, from where they are imported, who imports them."""

from __future__ import annotations

import ast
import keyword
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.verify.project import SKIPPED_FOLDERS, source_folder
from milepost.verify.tools import folders_above, joined, table, text_of, toml_of

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")

_TEST_PATH = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")
_FRAME = re.compile(r'^\s*File "(.+)", line \d+, in <module>$', re.MULTILINE)
_PARTIAL = re.compile(r"partially initialized module '([\w.]+)'")
_SUBMODULE = re.compile(
    r"cannot access submodule '(\w+)' of module '([\w.]+)' \(most likely due to a circular import\)"
)


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


def import_roots(checkout: Path, imports: Iterable[str] = ()) -> tuple[str, ...]:
    """The folders of a checkout that modules are imported from, its top last; `imports` are those already known."""
    found = list(imports)
    if source_folder(checkout) is not None:
        found.append("src")
    found.extend(_told_roots(toml_of(text_of(checkout, "pyproject.toml"))))
    plain = [entry.rstrip("/").removeprefix("./") for entry in found]
    return tuple(dict.fromkeys([entry for entry in plain if entry not in ("", ".")] + [""]))


def module_at(path: str, roots: tuple[str, ...], exists: Callable[[str], bool]) -> Module | None:
    """The module that a file is, None for what nobody imports: tests, `__main__`, and names that are no names.

    A package is the way of `__init__.py` files above it; where that way starts is a place to import from. A file in a
    folder without one is imported by its whole name from a root, and may find its neighbours as a script would.
    """
    name = path.rpartition("/")[2]
    if not path.endswith(".py") or name in ("__main__.py", "setup.py") or is_test_path(path):
        return None
    folder = folders_above(path)[0]
    top = folder
    while top and exists(f"{top}/__init__.py"):
        top = top.rpartition("/")[0]
    is_package = top != folder
    home = top if is_package else _longest_root(path, roots)
    parts = path.removeprefix(f"{home}/" if home else "").removesuffix(".py").split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    if not parts or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        return None
    around = _manifest_folders(path, exists)
    return Module(
        name=".".join(parts),
        path=path,
        roots=tuple(dict.fromkeys((home, *around, *roots))),
        folder=None if is_package or home else folder,
    )


def is_test_path(path: str) -> bool:
    """Whether a file belongs to the tests, by its name or its folder."""
    return _TEST_PATH.search(path) is not None


def does_work(text: str) -> bool:
    """Whether a file does more at its top level than define things: a script, not to be run by importing it."""
    tree = _tree(text)
    try:
        return tree is not None and any(map(_works, tree.body))
    except RecursionError:
        return True


def imported_names(text: str, package: str) -> frozenset[str]:
    """The modules that a text imports, and what it imports from them as if those were modules, too.

    `package` is the package that the text is in, for its relative imports.
    """
    tree = _tree(text)
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


def import_cycle(traceback: str) -> tuple[str, ...]:
    """The modules of a circular import, the first again at the end; empty when the traceback tells of none."""
    if submodule := _SUBMODULE.search(traceback):
        target = f"{submodule[2]}.{submodule[1]}"
    elif partial := list(_PARTIAL.finditer(traceback)):
        target = partial[-1][1]
    else:
        return ()
    files = _FRAME.findall(traceback)
    ends = tuple(f"/{target.replace('.', '/')}{ending}" for ending in (".py", "/__init__.py"))
    starts = [index for index, file in enumerate(files) if f"/{file}".endswith(ends)]
    if not starts:
        return ()
    ending = next(end for end in ends if f"/{files[starts[-1]]}".endswith(end))
    root = f"/{files[starts[-1]]}".removesuffix(ending)
    way = [target, *(_dotted(file, root) for file in files[starts[-1] + 1 :]), target]
    return tuple(name for index, name in enumerate(way) if index == 0 or name != way[index - 1])


def python_files(checkout: Path) -> Iterator[str]:
    """The Python files of a checkout, none of its environments and none behind a link."""
    todo = [""]
    while todo:
        folder = todo.pop()
        with suppress(OSError), os.scandir(checkout / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in SKIPPED_FOLDERS:
                        todo.append(joined(folder, entry.name))
                elif entry.name.endswith(".py") and entry.is_file(follow_symlinks=False):
                    yield joined(folder, entry.name)


def _told_roots(manifest: dict[str, object]) -> Iterator[str]:
    """The folders that a pyproject.toml tells its tools to import from."""
    told = (
        table(manifest, "tool", "setuptools", "packages", "find").get("where"),
        table(manifest, "tool", "setuptools", "package-dir").get(""),
        table(manifest, "tool", "pytest", "ini_options").get("pythonpath"),
    )
    for entry in told:
        names = [entry] if isinstance(entry, str) else entry if isinstance(entry, list) else []
        yield from (name for name in names if isinstance(name, str) and not name.startswith("/") and ".." not in name)


def _longest_root(path: str, roots: tuple[str, ...]) -> str:
    return max((root for root in roots if not root or path.startswith(f"{root}/")), key=len, default="")


def _manifest_folders(path: str, exists: Callable[[str], bool]) -> Iterator[str]:
    """The folders above a file that are projects of their own, each with its `src`."""
    for folder in folders_above(path):
        if folder and any(exists(f"{folder}/{name}") for name in MANIFESTS):
            yield from (f"{folder}/src", folder)


def _tree(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _works(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call() | ast.Await()):
            return True
        case ast.For() | ast.While() | ast.With() | ast.AsyncFor() | ast.AsyncWith() | ast.Raise() | ast.Assert():
            return True
        case ast.If(test=test, body=body, orelse=orelse):
            guarded = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)} & {"__name__", "TYPE_CHECKING"}
            return any(map(_works, orelse if guarded else [*body, *orelse]))
        case ast.Try(body=body, orelse=orelse, finalbody=finalbody):
            return any(map(_works, [*body, *orelse, *finalbody]))
    return False


def _dotted(file: str, root: str) -> str:
    plain = f"/{file}".removeprefix(root).removesuffix(".py").removesuffix("/__init__")
    return plain.strip("/").replace("/", ".")
