"""The parsers of the languages that a project may hold, each asked for many files at once."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.commands import CommandResult
from milepost.sources.parse_documents import json_of
from milepost.sources.paths import folders_above, joined
from milepost.verify.checks.tool_findings import ToolFinding, clipped
from milepost.verify.command_runner import Bench
from milepost.verify.programs.project_tools import node_program, text_of, why_not

PYTHON_DRIVER = Path(__file__).with_name("parse_driver.py")
NODE_DRIVER = Path(__file__).with_name("parse_driver.mjs")
AT_ONCE = 1000
LONGEST_LINE = 2_000

_BY_INTERPRETER = ("python", "json", "jsonc", "toml", "yaml", "xml")
_BY_NODE = ("esm", "cjs", "either")
_SUFFIXES = {
    ".py": "python",
    ".pyi": "python",
    ".json": "json",
    ".ipynb": "json",
    ".jsonc": "jsonc",
    ".toml": "toml",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".xml": "xml",
    ".svg": "xml",
    ".mjs": "esm",
    ".cjs": "cjs",
    ".js": "either",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescript",
    ".sh": "shell",
    ".bash": "shell",
}
_TOML_LOCKS = ("Cargo.lock", "poetry.lock", "uv.lock")
_COMMENTED_JSON = re.compile(
    r"(^|/)(tsconfig|jsconfig)[^/]*\.json$|(^|/)\.(vscode|devcontainer|zed)/|(^|/)\.?(eslintrc|devcontainer)\.json$"
    r"|(^|/)(deno|api-extractor|wrangler|biome|turbo|nx|rush|lerna|typedoc|tslint|babel\.config)\.json$|\.code-workspace$"
    r"|(^|/)\.([a-z]+rc|markdownlint|jscpd|changeset/config)\.json$"
)
_SHELL = re.compile(rb"#!\s*\S*/(?:env\s+(?:-S\s+)?)?(?:bash|sh|dash)\b")
_OTHER_SHELL = re.compile(rb"#!")
_COMPLAINT_OF_TSC = re.compile(r"^(?P<path>.+?)\((?P<line>\d+),\d+\): error TS(?P<code>\d+): (?P<message>.*)$")
# Of the parser, whatever the settings; the others of this range are about modules and targets.
_TSC_SYNTAX = frozenset(range(1002, 1192)) | {1351, 1353, 1357, 1359, 1381, 1382, 1389, 1434, 1435, 1436, 1440, 1490}
_TSC_JSX = frozenset({17002, 17008, 17014})
_SHELL_LOOP = """
number=0
for file; do
    said=$(bash -n -- "$file" 2>&1) || printf '%s\\t%s\\n' "$number" "${said//$'\\n'/ }"
    number=$((number + 1))
done
"""
_EXTENSION = re.compile(r"<[A-Za-z>]|@[A-Za-z(]")  # of JavaScript: no mistake, and nothing that Node can parse
_COMPLAINT_OF_BASH = re.compile(r"line (\d+): (.*?)(?= /?\S*: line \d+: |$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to parse: the path it is known by, where it lies, and as what it is read."""

    path: str
    file: Path
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What the parsers said. `unread` is why some files were not parsed; `crash` why a parser gave no answer."""

    broken: tuple[ToolFinding, ...] = ()
    read: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    crash: str = ""
    argv: tuple[str, ...] = ()
    results: tuple[CommandResult, ...] = ()


def kind_of(path: str, content: bytes, checkout: Path) -> str:
    """As what a file is read, by its name and its first line; empty when nobody knows."""
    name = path.rpartition("/")[2]
    if name in _TOML_LOCKS:
        return "toml"
    kind = _SUFFIXES.get(Path(name).suffix.lower(), "")
    if kind == "json" and _COMMENTED_JSON.search(path):
        return "jsonc"
    if kind == "either":
        return "" if b"@flow" in content[:2000] else _module_kind(path, checkout)
    if kind == "shell":
        return "" if _OTHER_SHELL.match(content) and not _SHELL.match(content) else kind
    return "shell" if not kind and "." not in name and _SHELL.match(content) else kind


def parse(sources: tuple[SourceFile, ...], bench: Bench, workspace: Workspace, change: Change) -> Parsed:
    """Parse all of them, a process for each kind of parser."""
    groups = (
        (_parse_with_interpreter, _BY_INTERPRETER),
        (_parse_with_node, _BY_NODE),
        (_parse_with_bash, ("shell",)),
    )
    parts: list[Parsed] = []
    for ask, kinds in groups:
        mine = [source for source in sources if source.kind in kinds]
        for start in range(0, len(mine), AT_ONCE):
            parts.append(ask(mine[start : start + AT_ONCE], bench, workspace))
    if typed := [source for source in sources if source.kind == "typescript"]:
        parts.append(_parse_with_tsc(typed, bench, workspace, change))
    return _together(parts)


def _parse_with_interpreter(sources: list[SourceFile], bench: Bench, workspace: Workspace) -> Parsed:
    if bench.interpreter is None:
        return Parsed(unread=("there is no Python interpreter",))
    argv = (str(bench.interpreter.path), "-I", "-B", str(PYTHON_DRIVER))
    return _ask_driver(argv, PYTHON_DRIVER, sources, bench, workspace)


def _parse_with_node(sources: list[SourceFile], bench: Bench, workspace: Workspace) -> Parsed:
    argv = ("node", "--experimental-vm-modules", "--no-warnings", str(NODE_DRIVER))
    return _ask_driver(argv, NODE_DRIVER, sources, bench, workspace)


def _ask_driver(
    argv: tuple[str, ...], driver: Path, sources: list[SourceFile], bench: Bench, workspace: Workspace
) -> Parsed:
    listing = json.dumps([[source.kind, str(source.file)] for source in sources])
    result = bench.run(argv, workspace, stdin=listing, readable=(driver,))
    if result.termination == "not_started":
        return Parsed(unread=(why_not(result, argv[0], bench.timeout_s),), results=(result,))
    try:
        answer = json.loads(result.stdout) if result.succeeded else None
    except ValueError:
        answer = None
    if answer is None:
        return Parsed(crash=f"the parser {why_not(result, argv[0], bench.timeout_s)}", results=(result,))
    unread = {sources[index].path: sources[index].kind for index in answer.get("unread", ())}
    broken: list[ToolFinding] = []
    for index, line, message, *signs in answer["broken"]:
        if signs and _EXTENSION.match(signs[0]):
            unread[sources[index].path] = "JSX and decorators"
        else:
            broken.append(ToolFinding(path=sources[index].path, line=line, message=clipped(message)))
    return Parsed(
        broken=tuple(broken),
        read=frozenset(source.path for source in sources) - unread.keys(),
        unread=tuple(f"there is no parser for {kind}" for kind in sorted(set(unread.values()))),
        argv=argv,
        results=(result,),
    )


def _parse_with_bash(sources: list[SourceFile], bench: Bench, workspace: Workspace) -> Parsed:
    files = tuple(str(source.file) for source in sources)
    argv = ("bash", "-c", _SHELL_LOOP, "bash", *files)
    result = bench.run(argv, workspace)
    if result.termination == "not_started":
        return Parsed(unread=(why_not(result, "bash", bench.timeout_s),), results=(result,))
    broken: list[ToolFinding] = []
    for line in result.stdout.splitlines():
        number, _, said = line.partition("\t")
        if number.isdecimal() and int(number) < len(sources):
            hit = _COMPLAINT_OF_BASH.search(said.removeprefix(files[int(number)])[:LONGEST_LINE])
            place, message = (int(hit[1]), hit[2]) if hit else (0, said)
            broken.append(ToolFinding(path=sources[int(number)].path, line=place, message=clipped(message)))
    crash = "" if result.succeeded else f"bash {why_not(result, 'bash', bench.timeout_s)}"
    return Parsed(
        broken=tuple(broken), read=frozenset(source.path for source in sources), crash=crash, results=(result,)
    )


def _parse_with_tsc(sources: list[SourceFile], bench: Bench, workspace: Workspace, change: Change) -> Parsed:
    """By the project's own compiler, with nothing of its settings: only what no setting could allow is told."""
    folder = folders_above(sources[0].path)[0]
    program = node_program(bench, workspace.folder, "tsc", folder, change)
    if program is None:
        return Parsed(unread=("typescript is not installed in node_modules",))
    options = {"noEmit": True, "noResolve": True, "noLib": True, "skipLibCheck": True, "types": []}
    settings = {
        "compilerOptions": {**options, "jsx": "preserve", "target": "esnext", "module": "esnext"},
        "files": [str(source.file) for source in sources],
    }
    place = Path(tempfile.mkdtemp(dir=workspace.scratch, prefix="syntax-"))
    (place / "tsconfig.json").write_text(json.dumps(settings))
    argv = (str(program), "--pretty", "false", "-p", str(place / "tsconfig.json"))
    result = bench.run(argv, workspace)
    shutil.rmtree(place, ignore_errors=True)
    if result.termination == "not_started":
        return Parsed(unread=(why_not(result, "tsc", bench.timeout_s),), results=(result,))
    if result.termination != "exited" or result.exit_code not in (0, 1, 2):
        return Parsed(crash=f"tsc {why_not(result, 'tsc', bench.timeout_s)}", results=(result,))
    by_file = {(workspace.folder / source.file).resolve(): source.path for source in sources}
    broken: dict[str, ToolFinding] = {}
    for line in result.stdout.splitlines():
        hit = _COMPLAINT_OF_TSC.match(line[:LONGEST_LINE])
        path = by_file.get((workspace.folder / hit["path"]).resolve()) if hit else None
        if hit and path and int(hit["code"]) in _TSC_SYNTAX | _TSC_JSX:
            broken.setdefault(path, ToolFinding(path=path, line=int(hit["line"]), message=clipped(hit["message"])))
    return Parsed(broken=tuple(broken.values()), read=frozenset(by_file.values()), argv=argv, results=(result,))


def _module_kind(path: str, checkout: Path) -> str:
    """Module or script, as the nearest package.json says; where it says nothing, Node and bundlers find out."""
    for folder in folders_above(path):
        text = text_of(checkout, joined(folder, "package.json"))
        if text is not None:
            kind = json_of(text).get("type")
            return {"module": "esm", "commonjs": "cjs"}.get(kind, "either") if isinstance(kind, str) else "either"
    return "either"


def _together(parts: Iterable[Parsed]) -> Parsed:
    found = tuple(parts)
    return Parsed(
        broken=tuple(finding for part in found for finding in part.broken),
        read=frozenset(path for part in found for path in part.read),
        unread=tuple(dict.fromkeys(reason for part in found for reason in part.unread)),
        crash="; ".join(dict.fromkeys(part.crash for part in found if part.crash)),
        argv=next((part.argv for part in found if part.argv), ()),
        results=tuple(result for part in found for result in part.results),
    )
