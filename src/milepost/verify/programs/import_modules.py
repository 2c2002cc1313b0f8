"""Importing modules in fresh processes of the project's interpreter, and how that ended."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult, Line
from milepost.sources.python_modules import Module
from milepost.verify.checks.files import listed
from milepost.verify.checks.tool_findings import ToolFinding, clipped
from milepost.verify.command_runner import Bench
from milepost.verify.programs.project_tools import is_file, why_not
from milepost.verify.programs.python_modules import import_cycle

DRIVER = Path(__file__).with_name("import_driver.py")
MODULE_TIMEOUT_S = 60.0
RESERVE_S = 5.0

_SURROUNDINGS = frozenset({"OSError", "SystemExit", "KeyboardInterrupt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """How the import of a module ended: `problem` is empty when it came to its end.

    `number` is its place among those that were asked for. `missing` is the module that was not found.
    `of_surroundings` means that the problem may be with where it was imported: a file or a variable that is not here,
    a framework that is not set up. `elsewhere` means that another file was imported than the checkout's.
    """

    module: Module
    number: int = 0
    problem: str = ""
    missing: str = ""
    place: tuple[str, int] = ("", 0)
    traceback: str = ""
    timed_out: bool = False
    elsewhere: bool = False
    of_surroundings: bool = False

    @property
    def finding(self) -> ToolFinding:
        path, line = self.place if self.place[0] else (self.module.path, 0)
        cycle = import_cycle(self.traceback)
        why = f"circular import: {' → '.join(cycle)}" if cycle else self.problem
        return ToolFinding(path=path, line=line, message=f"{self.module.name} cannot be imported: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """What came of importing: an answer for each module that was reached, and why others were not."""

    answers: tuple[Imported, ...] = ()
    argv: tuple[str, ...] = ()
    results: tuple[CommandResult, ...] = ()
    not_asked: str = ""

    @property
    def broken(self) -> tuple[Imported, ...]:
        return tuple(one for one in self.answers if one.problem)


def import_modules(
    modules: tuple[Module, ...],
    bench: Bench,
    workspace: Workspace,
    *,
    timeout_s: float = MODULE_TIMEOUT_S,
    attributes: tuple[str, ...] = (),
) -> Imports:
    """Import each module in a process of its own; of `attributes`, one a module, each must be there and callable."""
    if not modules or bench.interpreter is None:
        return Imports(not_asked="" if bench.interpreter else "there is no Python interpreter")
    nonce = secrets.token_hex(16)
    time_s = max(RESERVE_S, bench.timeout_s - RESERVE_S)
    wanted = attributes or ("",) * len(modules)
    asked = {
        "nonce": nonce,
        "timeout_s": timeout_s,
        "time_s": time_s,
        "modules": [_entry(module, workspace.folder, attr) for module, attr in zip(modules, wanted, strict=True)],
    }
    lines: list[str] = []
    argv = (str(bench.interpreter.path), "-I", "-B", str(DRIVER))
    result = bench.run(argv, workspace, stdin=json.dumps(asked), readable=(DRIVER,), on_line=_collecting(lines))
    if result.termination == "not_started":
        return Imports(not_asked=why_not(result, argv[0], bench.timeout_s), results=(result,))
    found = _read(lines, nonce, len(modules))
    answers = [
        replace(_imported(modules[number], told, workspace.folder, timeout_s), number=number)
        for number, told in found.items()
    ]
    unreached = [number for number in range(len(modules)) if number not in found]
    in_time = result.termination != "timeout" and result.duration_ms < 1000 * time_s
    if unreached and in_time:
        first = unreached.pop(0)
        why = f"importing it crashed the process: {why_not(result, 'python', bench.timeout_s)}"
        answers.append(Imported(module=modules[first], number=first, problem=why))
    notes = [f"{len(unreached)} of {len(modules)} modules were not reached in time"] if unreached else []
    elsewhere = [one.module.name for one in answers if one.elsewhere]
    notes += [f"imported from outside the checkout: {listed(tuple(elsewhere))}"] if elsewhere else []
    here = tuple(one for one in answers if not one.elsewhere)
    return Imports(answers=here, argv=argv, results=(result,), not_asked="; ".join(notes))


def exists_in(checkout: Path) -> Callable[[str], bool]:
    """Whether a path of the checkout is a file."""
    return lambda path: is_file(checkout, path)


def _entry(module: Module, checkout: Path, attribute: str) -> dict[str, Any]:
    return {
        "name": module.name,
        "attr": attribute,
        "first": [str(checkout / root) for root in module.roots],
        "last": [] if module.folder is None else [str(checkout / module.folder)],
    }


def _collecting(lines: list[str]) -> Callable[[Line], None]:
    """All lines of the output: what is kept of it otherwise has a bound that many modules may pass."""

    def collect(line: Line) -> None:
        if line.stream == "stdout":
            lines.append(line.text)

    return collect


def _read(lines: list[str], nonce: str, count: int) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and told.get("nonce") == nonce and told.get("number") in range(count):
            found.setdefault(told["number"], told)
    return found


def _imported(module: Module, told: dict[str, Any], checkout: Path, timeout_s: float) -> Imported:
    if told.get("ok"):
        file = str(told.get("file") or "")
        is_here = not file or not module.path.endswith(".py") or bool(_within(file, checkout))
        return Imported(module=module, elsewhere=not is_here)
    if told.get("timed_out"):
        return Imported(module=module, problem=f"its import did not finish within {timeout_s:g} s", timed_out=True)
    if "ended" in told:
        code = told["ended"]
        how = f"exit {code}" if isinstance(code, int) and code >= 0 else f"signal {-code}"
        return Imported(module=module, problem=f"importing it ends the process ({how})")
    kind, message = str(told.get("kind", "")), clipped(str(told.get("message", "")))
    file, line = told.get("place") or ("", 0)
    bases = frozenset(told.get("bases", ()))
    return Imported(
        module=module,
        problem=f"{kind}: {message}" if message else kind,
        missing=str(told.get("missing", "")) if "ModuleNotFoundError" in bases else "",
        place=(_within(str(file), checkout), int(line)),
        traceback=str(told.get("traceback", "")),
        of_surroundings=_is_of_surroundings(told, bases),
    )


def _within(file: str, checkout: Path) -> str:
    """The path relative to the checkout, empty for a file elsewhere."""
    path = Path(file)
    return path.relative_to(checkout).as_posix() if path.is_relative_to(checkout) else ""


def _is_of_surroundings(told: dict[str, Any], bases: frozenset[str]) -> bool:
    """Whether it is not plainly the code's own mistake: see `Imported`."""
    unset = told.get("kind") == "KeyError" and str(told.get("raised_in", "")).endswith(("<frozen os>", "/os.py"))
    by_hand = "ImportError" in bases and not told.get("missing")  # the module itself says that it belongs elsewhere
    return not told.get("builtin") or bool(bases & _SURROUNDINGS) or unset or by_hand
