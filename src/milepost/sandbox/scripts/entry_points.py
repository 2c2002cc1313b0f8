"""Where a project begins to run: what its files say of themselves, read and not run."""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

LONGEST = 1_000_000

Way = Literal["console script", "module", "main guard", "main function", "package script", "bin", "main file", "task"]

_TARGET = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<function>[A-Za-z_]\w*)(?P<rest>\s*\[.*)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A way to start a project: its name there, where that is said, and the command."""

    way: Way
    name: str
    source: str
    argv: tuple[str, ...]


def entry_points(folder: Path) -> tuple[EntryPoint, ...]:
    """The ways to start the project in a folder, those first that it declares; none of a file that cannot be read."""
    found = (*_declared_by_python(folder), *_modules(folder), *_python_files(folder), *_node(folder), *_deno(folder))
    return tuple(found)


def python_entry(source: str) -> Literal["main guard", "main function", "async main function"] | None:
    """How a Python file begins to run, if it is meant to be run at all."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(isinstance(node, ast.If) and _asks_for_main(node.test) for node in tree.body):
        return "main guard"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "main" and not _needs(node):
            return "main function" if isinstance(node, ast.FunctionDef) else "async main function"
    return None


def _asks_for_main(test: ast.expr) -> bool:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = (test.left, test.comparators[0])
    names = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def _needs(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function cannot be called without arguments."""
    given = function.args
    required = len(given.posonlyargs) + len(given.args) > len(given.defaults)
    return required or any(default is None for default in given.kw_defaults)


def _declared_by_python(folder: Path) -> Iterator[EntryPoint]:
    project = _toml(folder / "pyproject.toml")
    for table in (_table(project, "project", "scripts"), _table(project, "tool", "poetry", "scripts")):
        for name, target in table.items():
            yield from _console_script(folder, str(name), target, "pyproject.toml")
    config = configparser.ConfigParser(interpolation=None)
    try:
        config.read_string(_text(folder / "setup.cfg"))
        lines = config.get("options.entry_points", "console_scripts", fallback="").splitlines()
    except configparser.Error:
        return
    for line in lines:
        name, equals, target = line.partition("=")
        if equals:
            yield from _console_script(folder, name.strip(), target.strip(), "setup.cfg")


def _console_script(folder: Path, name: str, target: object, source: str) -> Iterator[EntryPoint]:
    found = _TARGET.match(target) if isinstance(target, str) else None
    if found is None:
        return
    code = f"from {found['module']} import {found['function']} as main; raise SystemExit(main())"
    top = found["module"].partition(".")[0]
    in_source = (folder / "src" / top).is_dir() or (folder / "src" / f"{top}.py").is_file()
    code = f"import sys; sys.path.insert(0, 'src'); {code}" if in_source else code
    yield EntryPoint(way="console script", name=name, source=source, argv=("python3", "-c", code))


def _modules(folder: Path) -> Iterator[EntryPoint]:
    for place in (folder, folder / "src"):
        for file in _listed(place, "*/__main__.py"):
            package = file.parent.name
            code = f"import runpy, sys; sys.path.insert(0, 'src'); runpy.run_module({package!r}, alter_sys=True)"
            started = ("python3", "-m", package) if place == folder else ("python3", "-c", code)
            if package.isidentifier():
                yield EntryPoint(way="module", name=package, source=file.relative_to(folder).as_posix(), argv=started)


def _python_files(folder: Path) -> Iterator[EntryPoint]:
    for file in (*_listed(folder, "*.py"), *_listed(folder / "src", "*.py")):
        source = file.relative_to(folder).as_posix()
        match python_entry(_text(file)):
            case "main guard":
                yield EntryPoint(way="main guard", name=file.stem, source=source, argv=("python3", source))
            case "main function":
                code = f"import runpy; raise SystemExit(runpy.run_path({source!r})['main']())"
                yield EntryPoint(way="main function", name=file.stem, source=source, argv=("python3", "-c", code))
            case "async main function":
                code = f"import asyncio, runpy; raise SystemExit(asyncio.run(runpy.run_path({source!r})['main']()))"
                yield EntryPoint(way="main function", name=file.stem, source=source, argv=("python3", "-c", code))
            case None:
                pass


def _node(folder: Path) -> Iterator[EntryPoint]:
    package, source = _json(folder / "package.json"), "package.json"
    name = str(package.get("name") or folder.name)
    scripts = _table(package, "scripts")
    if isinstance(scripts.get("start"), str):
        yield EntryPoint(way="package script", name="start", source=source, argv=("npm", "run", "start"))
    given = package.get("bin")
    programs = given if isinstance(given, dict) else {name.rpartition("/")[2]: given}
    for program, file in programs.items():
        if isinstance(file, str):
            yield EntryPoint(way="bin", name=str(program), source=source, argv=("node", file))
    if isinstance(main := package.get("main"), str):
        yield EntryPoint(way="main file", name=name, source=source, argv=("node", main))


def _deno(folder: Path) -> Iterator[EntryPoint]:
    for source in ("deno.json", "deno.jsonc"):
        for name in _table(_json(folder / source), "tasks"):
            yield EntryPoint(way="task", name=str(name), source=source, argv=("deno", "task", str(name)))


def _text(file: Path) -> str:
    try:
        if not file.is_file() or file.stat().st_size > LONGEST:
            return ""
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _listed(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _toml(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_text(file))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _json(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(_text(file) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _table(given: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """A table inside of others; empty where there is none."""
    for name in names:
        inner = given.get(name)
        if not isinstance(inner, dict):
            return {}
        given = inner
    return given
