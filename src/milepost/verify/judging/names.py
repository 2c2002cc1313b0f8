"""The check that no added module has the name of one that others import: it would be imported in its place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import Line
from milepost.core.folders import NOT_SOURCE
from milepost.core.verdict import CheckResult
from milepost.sources.paths import folders_above, joined
from milepost.sources.python_modules import MANIFESTS
from milepost.verify.command_runner import Bench
from milepost.verify.judging.paths import is_test_name, name_of
from milepost.verify.judging.program_names import hidden_programs

NAME = "names"

# Names that packages install by mistake, and that belong to every project.
_EVERYBODYS = frozenset({"test", "tests", "docs", "examples", "scripts", "benchmarks", "setup", "conftest", "tasks"})
_SOURCE_ROOTS = ("src", "lib", "python")
_COMPILED = (".so", ".pyd", ".pyc")
_LINK, _SUBMODULE = "120000", "160000"

# Asked of the project's own interpreter. What is installed from a folder is the project itself, or its neighbour.
_ASK = """
import importlib.metadata as metadata, json, sys
for name in sorted({*sys.stdlib_module_names, *sys.builtin_module_names}):
    print("S", name)
for one in metadata.distributions():
    try:
        origin = json.loads(one.read_text("direct_url.json") or "{}")
        if origin.get("url", "").startswith("file:") and "dir_info" in origin:
            continue
        tops = (one.read_text("top_level.txt") or "").split()
        parts = [file.parts for file in one.files or ()]
        tops += [way[0] for way in parts if len(way) == 2 and way[1] == "__init__.py"]
        tops += [way[0][:-3] for way in parts if len(way) == 1 and way[0].endswith(".py")]
        for top in sorted(set(tops)):
            if top.isidentifier():
                print("I", top, one.metadata["Name"])
    except Exception:
        continue
print("END")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The modules of an interpreter: those of its standard library, and those of packages by who installed them."""

    standard: frozenset[str] = frozenset(sys.stdlib_module_names)
    packages: Mapping[str, str] = field(default_factory=dict)

    def whose(self, module: str) -> str:
        """Whose module of this name is, in words; empty when there is none."""
        if module in _EVERYBODYS:
            return ""
        if module in self.standard:
            return "Python's own"
        return f"that of {self.packages[module]}, which is installed" if module in self.packages else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesCheck:
    """`installed` is asked only when a module was added, and answers None where it cannot be known. `files` are the
    entries of the task's `Files:`: a name that these ask for is the user's choice."""

    change: Change
    base_files: frozenset[str]
    installed: Callable[[Workspace], Installed | None]
    files: tuple[str, ...] = ()

    def run(self, workspace: Workspace) -> CheckResult:
        brought = installed_by_hand(self.change, self.base_files)
        modules = {
            path: module
            for path, module in added_modules(self.change, self.base_files).items()
            if path not in {entry.strip().removeprefix("./") for entry in self.files}
        }
        hidden = hidden_programs(self.change, self.base_files)
        if not modules and not brought and not hidden:
            return CheckResult(name=NAME, outcome="absent", summary="no module was added where others are imported")
        known = self.installed(workspace) if modules else None
        asked = known or Installed()
        problems = [*hidden]
        problems += [f"{path}: what is below {name_of(folder)} is installed, not written" for path, folder in brought]
        problems += [
            f"{path} would be imported in place of the module {module}, {whose}: give it another name"
            for path, module in modules.items()
            if (whose := asked.whose(module))
        ]
        if problems:
            return CheckResult(name=NAME, outcome="failed", summary=problems[0], log="\n".join(problems))
        unknown = "" if known else "; which packages are installed could not be asked"
        return CheckResult(name=NAME, outcome="passed", summary=f"no added module hides another one{unknown}")


def asking(bench: Bench) -> Callable[[Workspace], Installed | None]:
    """Asks the interpreter of a bench, in isolated mode: nothing of the checkout takes part in the answer."""

    def ask(workspace: Workspace) -> Installed | None:
        if bench.interpreter is None:
            return None
        lines: list[str] = []

        def keep(line: Line) -> None:
            if line.stream == "stdout":
                lines.append(line.text)

        bench.run((str(bench.interpreter.path), "-I", "-c", _ASK), workspace, on_line=keep)
        return read_answer(lines)

    return ask


def read_answer(lines: Iterable[str]) -> Installed | None:
    """What the interpreter said; None where it did not come to its end."""
    said = [line.strip().split(" ", 2) for line in lines]
    if ["END"] not in said:
        return None
    return Installed(
        standard=frozenset(words[1] for words in said if words[0] == "S" and len(words) > 1),
        packages={words[1]: words[2] for words in said if words[0] == "I" and len(words) > 2},
    )


def added_modules(change: Change, base_files: frozenset[str]) -> dict[str, str]:
    """The top-level modules and packages that a change adds where something is imported from, by path.

    A name that the base has as a module in one of these places is not new.
    """
    roots = import_roots(base_files)
    there = {module for path in base_files if (module := _module(path, roots))}
    found = {file.path: _added(file, roots) for file in change.files if file.path not in base_files}
    return {path: module for path, module in found.items() if module and module not in there}


def import_roots(base_files: frozenset[str]) -> frozenset[str]:
    """The folders that are on the import path: the root, source roots, those of projects, those that tests run in."""
    projects = {folders_above(path)[0] for path in base_files if name_of(path) in MANIFESTS} | {""}
    sources = {joined(project, name) for project in projects for name in _SOURCE_ROOTS}
    sources = {folder for folder in sources if f"{folder}/__init__.py" not in base_files}
    tests = {
        next(folder for folder in folders_above(path) if joined(folder, "__init__.py") not in base_files or not folder)
        for path in base_files
        if path.endswith(".py") and is_test_name(name_of(path))
    }
    return frozenset((*projects, *sources, *tests))


def installed_by_hand(change: Change, base_files: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """The added files below a folder of installed packages that the base does not have, each with that folder."""
    tracked = {folder for path in base_files for folder in _installed_above(path)}
    return tuple(
        (file.path, folder)
        for file in change.files
        if file.after is not None and file.path not in base_files
        for folder in list(_installed_above(f"{file.path}/"))[-1:]
        if folder not in tracked
    )


def _installed_above(path: str) -> Iterator[str]:
    return (folder for folder in folders_above(path) if name_of(folder) in NOT_SOURCE)


def _added(file: ChangedFile, roots: frozenset[str]) -> str:
    """The module that an added path is; a link or a submodule may be a package, whatever is in it."""
    if file.after is None and file.mode != _SUBMODULE:
        return ""
    name = name_of(file.path)
    if file.mode in (_LINK, _SUBMODULE) and name.isidentifier() and folders_above(file.path)[0] in roots:
        return name
    return _module(file.path, roots)


def _module(path: str, roots: frozenset[str]) -> str:
    """The top-level module that a path is, empty when it is none."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if not (name == f"{stem}.py" or name.endswith(_COMPILED)):
        return ""
    if stem == "__init__":
        folder, _, stem = folder.rpartition("/")
    return stem if stem.isidentifier() and folder in roots else ""
