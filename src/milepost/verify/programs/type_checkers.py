"""The type checkers of a project: mypy, pyright and tsc, and what they write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.commands import CommandResult
from milepost.sources.parse_documents import table, toml_of
from milepost.sources.paths import folders_above, joined
from milepost.verify.checks.tool_findings import ToolFinding, clipped
from milepost.verify.command_runner import Bench
from milepost.verify.programs.project_tools import is_file, node_program, python_program, relative, text_of, why_not
from milepost.verify.walk_checkout import folders_below

PYTHON = (".py", ".pyi")
TYPESCRIPT = (".ts", ".mts", ".cts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", "tsconfig.json")
MOST_PROJECTS = 40
LONGEST_LINE = 2_000

MYPY_FILES = ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg")
PYRIGHT_FILES = ("pyrightconfig.json", "pyproject.toml")
_OF_MYPY = re.compile(r"^(?P<path>.+?):(?P<line>\d+)(?::\d+)*: error: (?P<message>.*?)(?:  \[(?P<code>[\w-]+)\])?$")
_OF_TSC = re.compile(r"^(?:(?P<path>.+?)\((?P<line>\d+),\d+\): )?error (?P<code>TS\d+): (?P<message>.*)$")
# Of projects that refer to others which were not built: nothing that the code is to blame for.
_NOT_BUILT = frozenset({"TS6305", "TS6306", "TS6310"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Typing:
    """What one type checker said; `problem` is why it gave no answer though the project has it and has set it up."""

    tool: str
    findings: tuple[ToolFinding, ...] = ()
    problem: str = ""
    argv: tuple[str, ...] = ()
    results: tuple[CommandResult, ...] = ()


def ask(bench: Bench, workspace: Workspace, change: Change | None = None) -> tuple[Typing, ...]:
    """Ask each type checker that the project has and has set up: all of them, or those that a change is about."""
    parts: list[Typing | None] = []
    if change is None or any(path.endswith((*PYTHON, *MYPY_FILES)) for path in change.paths):
        if uses_mypy(workspace.folder):
            parts.append(_ask_mypy(bench, workspace))
        if uses_pyright(workspace.folder):
            parts.append(_ask_pyright(bench, workspace, change or Change()))
    paths = all_settings(workspace.folder) if change is None else change.paths
    projects = tuple(typescript_projects(paths, workspace.folder))[:MOST_PROJECTS]
    compiled = [_ask_tsc(folder, settings, bench, workspace, change or Change()) for folder, settings in projects]
    parts.append(_together([part for part in compiled if part is not None]))
    return tuple(part for part in parts if part is not None)


def uses_mypy(checkout: Path) -> bool:
    """Whether the project has settings for mypy."""
    if any(is_file(checkout, name) for name in ("mypy.ini", ".mypy.ini")):
        return True
    manifest = toml_of(text_of(checkout, "pyproject.toml"))
    return "mypy" in table(manifest, "tool") or "[mypy]" in (text_of(checkout, "setup.cfg") or "")


def uses_pyright(checkout: Path) -> bool:
    """Whether the project has settings for pyright."""
    manifest = toml_of(text_of(checkout, "pyproject.toml"))
    return is_file(checkout, "pyrightconfig.json") or "pyright" in table(manifest, "tool")


def all_settings(checkout: Path) -> tuple[str, ...]:
    """The settings of all TypeScript projects of a checkout."""
    found = ((folder / "tsconfig.json").relative_to(checkout).as_posix() for folder in folders_below(checkout))
    return tuple(path for path in found if is_file(checkout, path))


def typescript_projects(paths: tuple[str, ...], checkout: Path) -> Iterator[tuple[str, str]]:
    """The folder and the settings of each TypeScript project above these paths.

    One that only refers to others stands for those, as far as they are there.
    """
    folders = dict.fromkeys(
        folder
        for path in paths
        if path.endswith(TYPESCRIPT)
        for folder in folders_above(path)
        if is_file(checkout, joined(folder, "tsconfig.json"))
    )
    for folder in folders:
        settings = joined(folder, "tsconfig.json")
        references = re.findall(r'"path"\s*:\s*"([^"]+)"', text_of(checkout, settings) or "")
        if not references or not re.search(r'"files"\s*:\s*\[\s*\]', text_of(checkout, settings) or ""):
            yield folder, settings
            continue
        for reference in references:
            place = joined(folder, reference.removeprefix("./").rstrip("/"))
            named = place if place.endswith(".json") else f"{place}/tsconfig.json"
            if ".." not in named.split("/") and is_file(checkout, named):
                yield folder, named


def read_mypy(output: str) -> tuple[ToolFinding, ...]:
    """The errors in what mypy wrote, one a line."""
    hits = filter(None, map(_OF_MYPY.match, _lines(output)))
    return tuple(
        ToolFinding(path=hit["path"], line=int(hit["line"]), message=clipped(hit["message"]), code=hit["code"] or "")
        for hit in hits
    )


def read_tsc(output: str, folder: str = "") -> tuple[ToolFinding, ...]:
    """The errors in what tsc wrote, one a line, the paths relative to the folder it ran in."""
    hits = filter(None, map(_OF_TSC.match, _lines(output)))
    return tuple(
        ToolFinding(
            path=joined(folder, hit["path"]) if hit["path"] else "",
            line=int(hit["line"] or 0),
            message=clipped(hit["message"]),
            code=hit["code"],
        )
        for hit in hits
        if hit["code"] not in _NOT_BUILT
    )


def read_pyright(output: str, checkout: Path) -> tuple[ToolFinding, ...] | None:
    """The errors in pyright's JSON; None when it is none."""
    try:
        remarks = json.loads(output)["generalDiagnostics"]
        errors = [remark for remark in remarks if remark["severity"] == "error"]
        return tuple(
            ToolFinding(
                path=relative(remark.get("file", ""), checkout),
                line=remark["range"]["start"]["line"] + 1 if "range" in remark else 0,
                message=clipped(remark["message"]),
                code=remark.get("rule", ""),
            )
            for remark in errors
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _lines(output: str) -> list[str]:
    """The lines that a tool may have meant to be read; a longer one costs more than it tells."""
    return [line for line in output.splitlines() if len(line) <= LONGEST_LINE]


def _ask_mypy(bench: Bench, workspace: Workspace) -> Typing | None:
    """In isolated mode: a `mypy.py` that an agent wrote into the checkout is not the answer."""
    if bench.interpreter is None:
        return None
    options = ("--no-error-summary", "--no-pretty", "--hide-error-context", "--no-color-output", "--show-error-codes")
    cache = ("--cache-dir", str(workspace.scratch / "mypy-cache"))
    targets = () if _names_targets(workspace.folder) else ("src",) if (workspace.folder / "src").is_dir() else (".",)
    argv = (str(bench.interpreter.path), "-I", "-m", "mypy", *options, *cache, *targets)
    result = bench.run(argv, workspace)
    if "No module named mypy" in result.stderr or result.termination == "not_started":
        return None
    return _answer("mypy", argv, result, read_mypy(result.stdout), bench)


def _ask_pyright(bench: Bench, workspace: Workspace, change: Change) -> Typing | None:
    program = python_program(bench, "pyright") or node_program(bench, workspace.folder, "pyright", "", change)
    if program is None:
        return None
    argv = (str(program), "--outputjson")
    result = bench.run(argv, workspace)
    findings = read_pyright(result.stdout, workspace.folder)
    if findings is None:
        problem = f"pyright {why_not(result, 'pyright', bench.timeout_s)}"
        return Typing(tool="pyright", problem=problem, argv=argv, results=(result,))
    return Typing(tool="pyright", findings=findings, argv=argv, results=(result,))


def _ask_tsc(folder: str, settings: str, bench: Bench, workspace: Workspace, change: Change) -> Typing | None:
    program = node_program(bench, workspace.folder, "tsc", folder, change)
    if program is None:
        return None
    argv = (str(program), "--noEmit", "--pretty", "false", "-p", str(workspace.folder / settings))
    result = bench.run(argv, workspace, cwd=folder)
    return _answer("tsc", argv, result, read_tsc(result.stdout, folder), bench)


def _answer(
    tool: str, argv: tuple[str, ...], result: CommandResult, findings: tuple[ToolFinding, ...], bench: Bench
) -> Typing:
    if result.termination == "exited" and (result.exit_code == 0 or findings):
        return Typing(tool=tool, findings=findings, argv=argv, results=(result,))
    return Typing(tool=tool, problem=f"{tool} {why_not(result, tool, bench.timeout_s)}", argv=argv, results=(result,))


def _together(parts: list[Typing]) -> Typing | None:
    """What one type checker said of several projects; a file that two of them hold is told of once."""
    if not parts:
        return None
    return Typing(
        tool=parts[0].tool,
        findings=tuple(dict.fromkeys(finding for part in parts for finding in part.findings)),
        problem="; ".join(dict.fromkeys(part.problem for part in parts if part.problem)),
        argv=parts[0].argv,
        results=tuple(result for part in parts for result in part.results),
    )


def _names_targets(checkout: Path) -> bool:
    """Whether the settings of mypy say what it is to look at."""
    section = table(toml_of(text_of(checkout, "pyproject.toml")), "tool", "mypy")
    if any(name in section for name in ("files", "packages", "modules")):
        return True
    texts = (text_of(checkout, name) or "" for name in ("mypy.ini", ".mypy.ini", "setup.cfg"))
    return any(re.search(r"(?ms)^\[mypy\][^\[]*^(files|packages|modules)\s*=", text) for text in texts)
