"""What runs a model's calls on one workspace.

What is wrong with a call is the result that the model reads; only a failure of the machine is raised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from milepost.agents.clip import clip
from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.models.model import ToolCall, ToolResult, ToolSpec
from milepost.agents.models.schema import problems_of
from milepost.agents.shell_line import words_of
from milepost.agents.tool_agent.tools.long_results import LongResults
from milepost.agents.tool_agent.tools.search import OUTPUT_BYTES as SEARCH_BYTES
from milepost.agents.tool_agent.tools.search import SECONDS, SearchQuery, lines_found, python_argv, ripgrep_argv
from milepost.agents.tool_agent.tools.search_script import matches
from milepost.agents.tool_agent.tools.specs import EXECUTE_WORDS, FILES, TODOS
from milepost.agents.tool_agent.tools.text import decoded, encoded, numbered, replaced
from milepost.agents.tool_agent.tools.todos import listed
from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, ending_in_words
from milepost.core.ports import Terminal, ten_minutes
from milepost.sandbox.confined import ConfinedFolder, PathRefused

LINES_AT_ONCE = 1_000
FILES_AT_ONCE = 1_000
FILES_LOOKED_AT = 100_000
LONGEST_ERROR = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What came of a call; `seen` are the files that the model knows from it, each with a hash of what was in it."""

    text: str
    failed: bool = False
    enforced: tuple[str, ...] | None = None
    seen: Mapping[str, str] = field(default_factory=dict)

    def result(self, call: str) -> ToolResult:
        return ToolResult(call=call, text=self.text, failed=self.failed, enforced=self.enforced)


class ToolCalls:
    """Runs the calls of one conversation. What `learn` is told of earlier calls is all that it remembers of them."""

    def __init__(
        self,
        workspace: Workspace,
        terminal: Terminal,
        results: LongResults,
        *,
        idle_timeout_s: float | None = None,
        seconds_for: Callable[[Sequence[str]], float] = ten_minutes,
    ) -> None:
        self._workspace = workspace
        self._files = ConfinedFolder(workspace.folder)
        self._results = results
        self._terminal = terminal
        self._idle_timeout_s = idle_timeout_s
        self._seconds_for = seconds_for
        self._seen: dict[str, str] = {}
        self._todos: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return (*FILES, *TODOS)

    @property
    def todos(self) -> tuple[str, ...]:
        """What the model noted last, as lines."""
        return self._todos

    def learn(self, call: ToolCall, *, failed: bool, seen: Mapping[str, str]) -> None:
        """Take note of a call that was made, in this life of the attempt or before."""
        self._seen.update(seen)
        if call.name == "write_todos" and not failed:
            self._todos = listed(call.arguments["todos"])

    def use(self, call: ToolCall, *, timeout_s: float) -> Use:
        """What came of a call; `timeout_s` is all the time that a command may take."""
        try:
            if call.problem:
                raise PathRefused(call.problem)
            return self._use(call.name, call.arguments, timeout_s)
        except PathRefused as refusal:
            return Use(text=clip(f"error: {refusal}", LONGEST_ERROR), failed=True)

    def _use(self, name: str, arguments: Mapping[str, Any], timeout_s: float) -> Use:
        as_words = name == "execute" and "argv" in arguments and "command" not in arguments
        schema = EXECUTE_WORDS if as_words else _SPEC_OF[name].parameters
        if problems := problems_of(schema, arguments):
            raise PathRefused("; ".join(problems))
        match name:
            case "execute":
                return self._execute(
                    tuple(arguments["argv"]) if as_words else words_of(arguments["command"]), timeout_s
                )
            case "grep":
                return self._grep(timeout_s, **arguments)
            case "read_file":
                return self._read(**arguments)
            case "write_file":
                return self._write(arguments["path"], encoded(arguments["content"]), "wrote")
            case "edit_file":
                return self._edit(**arguments)
            case "delete":
                self._files.delete(arguments["path"])
                return Use(text=f"deleted {arguments['path']}")
            case "glob":
                return self._glob(**arguments)
            case "ls":
                return self._list(**arguments)
            case "write_todos":
                return Use(text="\n".join(listed(arguments["todos"])) or "nothing is to do")
            case _:
                return Use(text="\n".join(self._todos) or "nothing is to do")

    def _read(self, path: str, offset: int = 1, limit: int = LINES_AT_ONCE) -> Use:
        kept = self._results.read(path)
        content = self._files.read(path) if kept is None else kept
        text = numbered(decoded(path, content), offset=offset, limit=min(limit, LINES_AT_ONCE))
        return Use(text=text, seen={} if kept is not None else {self._files.name_of(path): _hash(content)})

    def _write(self, path: str, content: bytes, verb: str) -> Use:
        self._files.write(path, content)
        return Use(text=f"{verb} {path}", seen={self._files.name_of(path): _hash(content)})

    def _edit(self, path: str, old: str, new: str, replace_all: bool = False) -> Use:
        before = self._files.read(path)
        known = self._seen.get(self._files.name_of(path))
        if known is None:
            raise PathRefused(f"{path} has not been read yet: read it before you edit it")
        if known != _hash(before):
            raise PathRefused(f"{path} has changed since it was read: read it again before you edit it")
        after = replaced(decoded(path, before), old, new, everywhere=replace_all)
        return self._write(path, encoded(after), "edited")

    def _list(self, path: str = ".") -> Use:
        files = self._files.listing(path, at_most=FILES_AT_ONCE + 1)
        more = f"\n… more than {FILES_AT_ONCE} files: list one folder" if len(files) > FILES_AT_ONCE else ""
        return Use(text="\n".join(files[:FILES_AT_ONCE]) + more or "no files")

    def _glob(self, pattern: str, path: str = ".") -> Use:
        below = self._files.listing(path, at_most=FILES_LOOKED_AT)
        start = len(self._below(path, ""))
        files = [file for file in below if not file.endswith("/") and matches(file[start:], pattern)]
        more = []
        if len(files) > FILES_AT_ONCE:
            more.append(f"… {len(files) - FILES_AT_ONCE} more files: narrow the pattern")
        if len(below) == FILES_LOOKED_AT:
            more.append(f"… only the first {FILES_LOOKED_AT} files were looked at: name a folder")
        return Use(text="\n".join([*files[:FILES_AT_ONCE], *more]) or "no file matches")

    def _grep(self, timeout_s: float, pattern: str, path: str = ".", glob: str = "", ignore_case: bool = False) -> Use:
        where = self._below(path, ".").removesuffix("/")
        question = SearchQuery(pattern=pattern, path=where, glob=glob, ignore_case=ignore_case)
        for argv in (ripgrep_argv(question), python_argv(question)):
            result = self._run(argv, min(timeout_s, SECONDS), output_bytes=SEARCH_BYTES)
            if result.termination != "not_started":
                return Use(text=lines_found(result, timeout_s=min(timeout_s, SECONDS)), enforced=result.enforced)
        raise PathRefused("there is neither rg nor python3 here to search with: run another program that can")

    def _below(self, path: str, whole: str) -> str:
        """How the names of files in a folder begin; `whole` for the workspace itself."""
        name = self._files.name_of(path) if PurePosixPath(path).parts else "."
        return whole if name == "." else f"{name}/"

    def _execute(self, argv: tuple[str, ...], timeout_s: float) -> Use:
        timeout_s = min(timeout_s, self._seconds_for(argv))
        result = self._run(argv, timeout_s)
        return Use(text=described(result, program=argv[0], timeout_s=timeout_s), enforced=result.enforced)

    def _run(self, argv: tuple[str, ...], timeout_s: float, *, output_bytes: int = 1_000_000) -> CommandResult:
        if any("\0" in word for word in argv):
            raise PathRefused("the command holds a NUL character")
        command = Command(
            argv=argv,
            cwd=self._workspace.folder,
            scratch=self._workspace.scratch,
            env=GIT_IDENTITY,
            timeout_s=timeout_s,
            idle_timeout_s=self._idle_timeout_s,
            output_bytes=output_bytes,
        )
        return self._terminal.run(command)


def described(result: CommandResult, *, program: str, timeout_s: float) -> str:
    """How a command ended and what it printed, for the model."""
    parts = [ending_in_words(result, program=program, timeout_s=timeout_s)]
    if result.stdout.strip():
        parts.append(f"stdout:\n{result.stdout.rstrip()}")
    if result.stderr.strip():
        parts.append(f"stderr:\n{result.stderr.rstrip()}")
    return "\n".join(parts)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


_SPEC_OF = {spec.name: spec for spec in (*FILES, *TODOS)}
