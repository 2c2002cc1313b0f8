"""The tools of a model: files and commands of one workspace.

What is wrong with a call is the result that the model reads; only a failure of the machine is raised.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from milepost.agents.clip import clip
from milepost.agents.confined import ConfinedFolder, Refused
from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.model import ToolCall, ToolResult, ToolSpec
from milepost.agents.schema import object_of, problems_of
from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, ending_in_words
from milepost.core.ports import Terminal, ten_minutes

LONGEST_RESULT = 30_000
LONGEST_LINE = 2_000
LINES_AT_ONCE = 1_000
FILES_AT_ONCE = 1_000

_PATH = {"type": "string", "minLength": 1, "description": "a path below the workspace, such as src/app.py"}

SPECS = (
    ToolSpec(
        name="read_file",
        description="Read a text file; each line comes with its number. Lines are counted from 1.",
        parameters=object_of(
            {
                "path": _PATH,
                "offset": {"type": "integer", "minimum": 1, "description": "the first line to read"},
                "limit": {"type": "integer", "minimum": 1, "description": "how many lines to read"},
            },
            required=("path",),
        ),
    ),
    ToolSpec(
        name="write_file",
        description="Write a whole file. Folders on the way are made; what the file held before is replaced.",
        parameters=object_of({"path": _PATH, "content": {"type": "string"}}, required=("path", "content")),
    ),
    ToolSpec(
        name="edit_file",
        description="Replace text in a file. `old` must be in the file exactly once, unless replace_all is true.",
        parameters=object_of(
            {
                "path": _PATH,
                "old": {"type": "string", "minLength": 1},
                "new": {"type": "string"},
                "replace_all": {"type": "boolean"},
            },
            required=("path", "old", "new"),
        ),
    ),
    ToolSpec(
        name="delete",
        description="Delete a file.",
        parameters=object_of({"path": _PATH}, required=("path",)),
    ),
    ToolSpec(
        name="ls",
        description="List the files below a folder; without a path, those of the whole workspace.",
        parameters=object_of({"path": _PATH}),
    ),
    ToolSpec(
        name="execute",
        description="Run a program in the workspace and read what it prints. There is no shell: argv is a list.",
        parameters=object_of(
            {"argv": {"type": "array", "items": {"type": "string"}, "minItems": 1}}, required=("argv",)
        ),
    ),
)

# Whatever may leave the workspace another one.
CHANGING = frozenset({"write_file", "edit_file", "delete", "execute"})

_SPEC_OF = {spec.name: spec for spec in SPECS}


def argv_of(call: ToolCall) -> tuple[str, ...]:
    """The command that a call would run; empty when it runs none."""
    argv = call.arguments.get("argv") if call.name == "execute" else None
    return tuple(map(str, argv)) if isinstance(argv, list) else ()


def narration(call: ToolCall) -> str:
    """What a call is about to do, in one short line for people."""
    path = call.arguments.get("path", ".")
    match call.name:
        case "read_file":
            line = f"reading {path}"
        case "write_file":
            line = f"writing {path}"
        case "edit_file":
            line = f"editing {path}"
        case "delete":
            line = f"deleting {path}"
        case "ls":
            line = f"listing {path}"
        case "execute":
            argv = call.arguments.get("argv")
            line = f"running {shlex.join(map(str, argv)) if isinstance(argv, list) else argv}"
        case _:
            line = f"calling {call.name}"
    return " ".join(line.split())[:200]


class WorkspaceTools:
    """Runs the calls of one attempt."""

    def __init__(
        self,
        workspace: Workspace,
        terminal: Terminal,
        *,
        idle_timeout_s: float | None = None,
        seconds_for: Callable[[Sequence[str]], float] = ten_minutes,
    ) -> None:
        self._workspace = workspace
        self._files = ConfinedFolder(workspace.folder)
        self._terminal = terminal
        self._idle_timeout_s = idle_timeout_s
        self._seconds_for = seconds_for

    def run(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        """What came of a call; `timeout_s` is all the time that a command may take."""
        try:
            if call.problem:
                raise Refused(call.problem)
            text, enforced = self._run(call.name, call.arguments, timeout_s)
        except Refused as refusal:
            return ToolResult(call=call.id, text=clip(f"error: {refusal}", LONGEST_RESULT), failed=True)
        return ToolResult(call=call.id, text=clip(text, LONGEST_RESULT), enforced=enforced)

    def _run(self, name: str, arguments: Mapping[str, Any], timeout_s: float) -> tuple[str, tuple[str, ...] | None]:
        if name not in _SPEC_OF:
            raise Refused(f"there is no tool {name!r:.100}; there are {', '.join(_SPEC_OF)}")
        if problems := problems_of(_SPEC_OF[name].parameters, arguments):
            raise Refused("; ".join(problems))
        if name == "execute":
            return self._command(arguments["argv"], timeout_s)
        return self._use_files(name, arguments), None

    def _use_files(self, name: str, arguments: Mapping[str, Any]) -> str:
        match name:
            case "read_file":
                return self._read(**arguments)
            case "write_file":
                return self._write(**arguments)
            case "edit_file":
                return self._edit(**arguments)
            case "delete":
                self._files.delete(arguments["path"])
                return f"deleted {arguments['path']}"
            case _:
                return self._list(**arguments)

    def _read(self, path: str, offset: int = 1, limit: int = LINES_AT_ONCE) -> str:
        return numbered(_decoded(path, self._files.read(path)), offset=offset, limit=min(limit, LINES_AT_ONCE))

    def _write(self, path: str, content: str) -> str:
        self._files.write(path, _encoded(content))
        return f"wrote {path}"

    def _edit(self, path: str, old: str, new: str, replace_all: bool = False) -> str:
        before = _decoded(path, self._files.read(path))
        self._files.write(path, _encoded(replaced(before, old, new, everywhere=replace_all)))
        return f"edited {path}"

    def _list(self, path: str = ".") -> str:
        files = self._files.listing(path, at_most=FILES_AT_ONCE + 1)
        more = f"\n… more than {FILES_AT_ONCE} files: list one folder" if len(files) > FILES_AT_ONCE else ""
        return "\n".join(files[:FILES_AT_ONCE]) + more or "no files"

    def _command(self, argv: list[str], timeout_s: float) -> tuple[str, tuple[str, ...]]:
        if any("\0" in word for word in argv):
            raise Refused("argv holds a NUL character")
        command = Command(
            argv=tuple(argv),
            cwd=self._workspace.folder,
            scratch=self._workspace.scratch,
            env=GIT_IDENTITY,
            timeout_s=min(timeout_s, self._seconds_for(argv)),
            idle_timeout_s=self._idle_timeout_s,
        )
        result = self._terminal.run(command)
        return described(result, command), result.enforced


def numbered(text: str, *, offset: int, limit: int) -> str:
    """Lines of `text` with their numbers, from `offset`, and where to go on when there are more."""
    if not text:
        return "the file is empty"
    # Only newlines end a line: compilers and test runners count no others.
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").removesuffix("\n").split("\n")]
    if offset > len(lines):
        raise Refused(f"the file has only {len(lines)} lines")
    shown: list[str] = []
    room = LONGEST_RESULT - 100
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], start=offset):
        row = f"{number:6}\t{clip(line, LONGEST_LINE)}"
        room -= len(row) + 1
        if room < 0:
            break
        shown.append(row)
    after = offset + len(shown)
    more = [f"… {len(lines) - after + 1} more lines: go on with offset {after}"] if after <= len(lines) else []
    return "\n".join(shown + more)


def replaced(text: str, old: str, new: str, *, everywhere: bool) -> str:
    """`text` with `old` replaced. A line end matches either kind, and those of `new` become the file's own."""
    line_end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    pattern = r"\r?\n".join(re.escape(line) for line in old.replace("\r\n", "\n").split("\n"))
    new = new.replace("\r\n", "\n").replace("\n", line_end)
    # Looking ahead also finds matches that overlap, of which a plain search would see only the first.
    count = sum(1 for _ in re.finditer(f"(?={pattern})", text))
    if count == 0:
        raise Refused("the old text is not in the file; read the file and copy it exactly, without line numbers")
    if count > 1 and not everywhere:
        raise Refused(f"the old text is in the file {count} times; add lines around it, or set replace_all")
    return re.sub(pattern, lambda _: new, text)


def described(result: CommandResult, command: Command) -> str:
    """How a command ended and what it printed, for the model."""
    parts = [ending_in_words(result, program=command.argv[0], timeout_s=command.timeout_s)]
    if result.stdout.strip():
        parts.append(f"stdout:\n{clip(result.stdout.rstrip(), LONGEST_RESULT // 2 - 200)}")
    if result.stderr.strip():
        parts.append(f"stderr:\n{clip(result.stderr.rstrip(), LONGEST_RESULT // 2 - 200)}")
    return "\n".join(parts)


def _decoded(path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not a text file in UTF-8") from error


def _encoded(content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"the text cannot be written as UTF-8: {error.reason}") from error
