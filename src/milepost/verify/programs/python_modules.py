"""Python modules as a checkout holds them: where they are imported from, what they do when that happens."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from milepost.core.folders import NOT_SOURCE
from milepost.sources.paths import joined
from milepost.sources.python_modules import syntax_tree, told_roots
from milepost.verify.programs.project_tools import text_of
from milepost.verify.suites.python_project import source_folder

_FRAME = re.compile(r'^\s*File "(.+)", line \d+, in <module>$', re.MULTILINE)
_PARTIAL = re.compile(r"partially initialized module '([\w.]+)'")
_SUBMODULE = re.compile(
    r"cannot access submodule '(\w+)' of module '([\w.]+)' \(most likely due to a circular import\)"
)


def import_roots(checkout: Path, imports: Iterable[str] = ()) -> tuple[str, ...]:
    """The folders of a checkout that modules are imported from, its top last; `imports` are those already known."""
    found = list(imports)
    if source_folder(checkout) is not None:
        found.append("src")
    found.extend(told_roots(text_of(checkout, "pyproject.toml")))
    plain = [entry.rstrip("/").removeprefix("./") for entry in found]
    return tuple(dict.fromkeys([entry for entry in plain if entry not in ("", ".")] + [""]))


def does_work(text: str) -> bool:
    """Whether a file does more at its top level than define things: a script, not to be run by importing it."""
    tree = syntax_tree(text)
    try:
        return tree is not None and any(map(_works, tree.body))
    except RecursionError:
        return True


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
    """The Python files of a checkout."""
    return source_files(checkout, (".py",))


def source_files(checkout: Path, endings: tuple[str, ...]) -> Iterator[str]:
    """The files of a checkout with one of these endings, none of its environments and none behind a link."""
    todo = [""]
    while todo:
        folder = todo.pop()
        with suppress(OSError), os.scandir(checkout / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in NOT_SOURCE:
                        todo.append(joined(folder, entry.name))
                elif entry.name.endswith(endings) and entry.is_file(follow_symlinks=False):
                    yield joined(folder, entry.name)


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
