"""The entry points of a project, read from its files; nothing of it is run."""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from milepost.core.errors import Misuse

LONGEST = 1_000_000

Way = Literal[
    "console script", "package script", "module", "bin", "main file", "task",
    "main guard", "main call", "main function", "conventional file", "file",
]  # fmt: skip
PythonEntry = Literal["main guard", "main call", "main function", "async main function"]

# The names of files that projects are started with, the most usual first.
_USUAL_NAMES = ("main", "__main__", "app", "server", "run", "cli", "manage", "index", "start")
_NEVER_STARTED = re.compile(r"(setup|conftest|noxfile|test_.*|.*_test)\.py")
_TARGET = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<function>[A-Za-z_]\w*)(?P<rest>\s*\[.*)?$")
_DENO_RUN = ("deno", "run", "--quiet", "--no-prompt", "--allow-all")
_PROGRAMS: dict[str, tuple[str, ...]] = {
    ".py": ("python3",),
    **dict.fromkeys((".js", ".mjs", ".cjs"), ("node",)),
    **dict.fromkeys((".ts", ".mts", ".tsx"), _DENO_RUN),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A way to start a project: its name, the file that declares it, and the command."""

    way: Way
    name: str
    source: str
    argv: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why this is an entry point."""
        match self.way:
            case "console script" | "package script" | "bin" | "main file" | "task":
                return f"{self.way} in {self.source}"
            case "module":
                return f"package with {self.source}"
            case "main guard" | "main function":
                return f"{self.source} has a {self.way}"
            case "main call":
                return f"{self.source} calls main()"
            case "conventional file" | "file":
                return f"the file {self.source}"


def entry_points(folder: Path) -> tuple[EntryPoint, ...]:
    """The entry points of the project in a folder, the best first; files that cannot be read have none.

    Two that run the same command are one.
    """
    found = (
        *_declared_by_python(folder),
        *_modules(folder),
        *_python_files(folder),
        *_node(folder),
        *_deno(folder),
        *_conventional_files(folder),
    )
    by_command: dict[tuple[str, ...], EntryPoint] = {}
    for entry in sorted(found, key=_rank):
        by_command.setdefault(entry.argv, entry)
    return tuple(by_command.values())


def best_entry(entries: Sequence[EntryPoint], project: str) -> EntryPoint | None:
    """The entry point to start where none is named; None where several are equally good.

    Of several in the best rank, the one named like the project is taken, then the one with the most usual name.
    """
    first = [entry for entry in entries if _rank(entry) == _rank(entries[0])]
    if len(first) == 1:
        return first[0]
    for name in (project, *_USUAL_NAMES):
        named = [entry for entry in first if entry.name == name]
        if named:
            return named[0] if len(named) == 1 else None
    return None


def entry_named(folder: Path, entries: Sequence[EntryPoint], name: str) -> EntryPoint:
    """The entry point of that name, of `SOURCE:NAME`, or any script file of the project; Misuse where it is not one."""
    found = [entry for entry in entries if name in (entry.name, entry.source, f"{entry.source}:{entry.name}")]
    if len(found) == 1:
        return found[0]
    if found:
        choices = " or ".join(f"--entry {entry.source}:{entry.name}" for entry in found)
        raise Misuse(f"{len(found)} entry points are called {name!r}", f"say which: {choices}")
    file = folder / name
    if not file.is_file():
        listed = f"choose one of {', '.join(names_of(entries))}" if entries else "name a file of the project"
        raise Misuse(f"there is no entry point {name!r}", listed)
    if not _is_inside(folder, file):
        raise Misuse(f"{name!r} points outside of the project", "name a file of the project")
    program = _PROGRAMS.get(file.suffix)
    if program is None:
        raise Misuse(f"{name!r} is not a script that can be started", f"its name must end with {', '.join(_PROGRAMS)}")
    source = Path(name).as_posix()
    return EntryPoint(way="file", name=file.stem, source=source, argv=(*program, source))


def names_of(entries: Sequence[EntryPoint]) -> tuple[str, ...]:
    """What each entry point is called on the command line: its name, with its source where several have that name."""
    names = [entry.name for entry in entries]
    return tuple(entry.name if names.count(entry.name) == 1 else f"{entry.source}:{entry.name}" for entry in entries)


def project_name(folder: Path) -> str:
    """What the project calls itself in its manifest, else the name of its folder."""
    project = _table(_toml(folder, "pyproject.toml"), "project")
    declared = project.get("name") or _json(folder, "package.json").get("name")
    return declared.rpartition("/")[2] if isinstance(declared, str) else folder.name


def _rank(entry: EntryPoint) -> int:
    match entry.way:
        case "console script" | "package script":
            return 0
        case "task":
            return 0 if entry.name == "start" else 4
        case "module":
            return 1
        case "bin" | "main file":
            return 2
        case "main guard" | "main call" | "main function" | "conventional file" | "file":
            return 3


def python_entry(source: str) -> PythonEntry | None:
    """How a Python file is started; None where it is only imported."""
    try:
        statements = _statements(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(isinstance(one, ast.If) and _is_main_guard(one.test) for one in statements):
        return "main guard"
    if any(isinstance(one, ast.Expr | ast.Raise) and _calls_main(one) for one in statements):
        return "main call"
    for one in statements:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == "main" and not _needs_arguments(one):
            return "main function" if isinstance(one, ast.FunctionDef) else "async main function"
    return None


def _statements(source: str) -> list[ast.stmt]:
    with warnings.catch_warnings(action="ignore"):
        return ast.parse(source).body


def _calls_main(statement: ast.stmt) -> bool:
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == "main" for call in calls)


def _is_main_guard(test: ast.expr) -> bool:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = (test.left, test.comparators[0])
    names = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def _needs_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function cannot be called without arguments."""
    given = function.args
    required = len(given.posonlyargs) + len(given.args) > len(given.defaults)
    return required or any(default is None for default in given.kw_defaults)


def _declared_by_python(folder: Path) -> Iterator[EntryPoint]:
    project = _toml(folder, "pyproject.toml")
    for table in (_table(project, "project", "scripts"), _table(project, "tool", "poetry", "scripts")):
        for name, target in table.items():
            yield from _console_script(folder, str(name), target, "pyproject.toml")
    config = configparser.ConfigParser(interpolation=None)
    try:
        config.read_string(_text(folder, "setup.cfg"))
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
        for file in _listed(folder, place, "*/__main__.py"):
            package = file.parent.name
            code = f"import runpy, sys; sys.path.insert(0, 'src'); runpy.run_module({package!r}, alter_sys=True)"
            started = ("python3", "-m", package) if place == folder else ("python3", "-c", code)
            if package.isidentifier():
                yield EntryPoint(way="module", name=package, source=file.relative_to(folder).as_posix(), argv=started)


def _python_files(folder: Path) -> Iterator[EntryPoint]:
    for file in (*_listed(folder, folder, "*.py"), *_listed(folder, folder / "src", "*.py")):
        if _NEVER_STARTED.fullmatch(file.name):
            continue
        source = file.relative_to(folder).as_posix()
        match python_entry(_text(folder, source)):
            case "main guard" | "main call" as way:
                yield EntryPoint(way=way, name=file.stem, source=source, argv=("python3", source))
            case "main function":
                code = f"import runpy; raise SystemExit(runpy.run_path({source!r})['main']())"
                yield EntryPoint(way="main function", name=file.stem, source=source, argv=("python3", "-c", code))
            case "async main function":
                code = f"import asyncio, runpy; raise SystemExit(asyncio.run(runpy.run_path({source!r})['main']()))"
                yield EntryPoint(way="main function", name=file.stem, source=source, argv=("python3", "-c", code))
            case None:
                pass


def _node(folder: Path) -> Iterator[EntryPoint]:
    package, source = _json(folder, "package.json"), "package.json"
    name = str(package.get("name") or folder.name).rpartition("/")[2]
    scripts = _table(package, "scripts")
    if isinstance(scripts.get("start"), str):
        yield EntryPoint(way="package script", name="start", source=source, argv=("npm", "run", "start"))
    given = package.get("bin")
    for program, file in (given if isinstance(given, dict) else {name: given}).items():
        if isinstance(file, str) and _is_inside(folder, folder / file):
            yield EntryPoint(way="bin", name=str(program), source=source, argv=("node", file))
    main = package.get("main")
    if isinstance(main, str) and _is_inside(folder, folder / main):
        yield EntryPoint(way="main file", name=name, source=source, argv=("node", main))


def _deno(folder: Path) -> Iterator[EntryPoint]:
    for source in ("deno.json", "deno.jsonc"):
        for name in _table(_json(folder, source), "tasks"):
            yield EntryPoint(way="task", name=str(name), source=source, argv=("deno", "task", str(name)))


def _conventional_files(folder: Path) -> Iterator[EntryPoint]:
    """Files with a usual name that are started as they are; a Python file that only defines things is none."""
    for file in _listed(folder, folder, "*"):
        program = _PROGRAMS.get(file.suffix)
        if program is None or file.stem not in _USUAL_NAMES or not file.is_file():
            continue
        if file.suffix != ".py" or _does_something(_text(folder, file.name)):
            argv = (*program, file.name)
            yield EntryPoint(way="conventional file", name=file.stem, source=file.name, argv=argv)


def _does_something(source: str) -> bool:
    """Whether a Python file without an entry of its own runs statements when it is started."""
    if python_entry(source) is not None:
        return False
    try:
        statements = _statements(source)
    except SyntaxError:
        return bool(source.strip())  # starting it shows the error
    except (ValueError, RecursionError, MemoryError):
        return False
    runs = (ast.For, ast.While, ast.With, ast.Try, ast.If, ast.Raise)
    acts = (one.value for one in statements if isinstance(one, ast.Expr))
    return any(isinstance(one, runs) for one in statements) or any(not isinstance(one, ast.Constant) for one in acts)


def _is_inside(folder: Path, file: Path) -> bool:
    """Whether a path leads to a place in the folder, whatever links are on the way."""
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def _text(folder: Path, name: str) -> str:
    file = folder / name
    try:
        if not file.is_file() or file.stat().st_size > LONGEST or not _is_inside(folder, file):
            return ""
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _listed(folder: Path, place: Path, pattern: str) -> list[Path]:
    try:
        return sorted(file for file in place.glob(pattern) if _is_inside(folder, file))
    except OSError:
        return []


def _toml(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_text(folder, name))
    except (ValueError, RecursionError):
        return {}


def _json(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads(_text(folder, name) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _table(given: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """A nested table; empty where there is none."""
    for name in names:
        inner = given.get(name)
        if not isinstance(inner, dict):
            return {}
        given = inner
    return given
