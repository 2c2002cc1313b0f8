"""Code in the sandbox, once, with limits; how it ended is said in one word."""

from __future__ import annotations

import ast
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

import milepost
from milepost import executors
from milepost.mcp.progress import ticking
from milepost.mcp.project_folder import ServerProject
from milepost.mcp.tool import Brief
from milepost.serving.threads import aside

_TYPESCRIPT = re.compile(
    r"^\s*(?:export\s|import\s.*\sfrom\s|(?:async\s+)?function\b|interface\s+\w+|type\s+\w+\s*=|(?:const|let|var)\s+[\w{\[])"
    r"|=>|\bnew\s+\w+\(|===|;\s*$|\bconsole\.\w+\(|\bfinalAnswer\(",
    re.MULTILINE,
)
_CONSOLE = re.compile(r"^\s*(?:console\.\w+|finalAnswer)\(", re.MULTILINE)
LONGEST_CODE = 100_000
LONGEST_VALUE = 10_000  # as much as is kept of what it prints
LONGEST_ERROR = 2_000
MOST_REFUSED = 20
SeenFolder = Annotated[str, Field(max_length=4096, description="Folder it sees (Python); default: an empty one")]


class Executed(Brief):
    """`termination`: exited, timeout, memory, output, killed, not_started … `ok`: it ended without an error."""

    ok: bool
    termination: str
    output: str = ""
    value: Any = None
    error: str = ""
    duration_ms: int = 0
    truncated: bool = False
    refused: tuple[str, ...] = Field(default=(), description="what the sandbox blocked")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeWish:
    """Code to run, and what it may use."""

    code: str
    context: dict[str, Any]
    lang: str
    trust: str | None
    limits: milepost.ExecutionLimits
    workspace: Path | None


@dataclass(slots=True)
class Execution:
    """One execution, which can be ended from another thread at any time."""

    wish: CodeWish
    _executor: executors.LocalExecutor | executors.WalledExecutor | executors.TypeScriptExecutor | None = None
    _ended: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> milepost.ExecutionResult:
        wish = self.wish
        with milepost.open_executor(
            lang=wish.lang, trust=wish.trust, limits=wish.limits, workspace=wish.workspace
        ) as executor:
            if wish.workspace is not None and not getattr(executor, "holds_changes", False):
                raise milepost.Misuse(
                    "a workspace is available only at trust level 'sandboxed', which keeps changes apart",
                    "leave the workspace or the level out",
                )
            with self._lock:
                self._executor = executor
                if self._ended:
                    return milepost.ExecutionResult(output="", error="was cancelled", termination="killed")
            try:
                executor.inject("context", wish.context)
            except (TypeError, ValueError) as problem:
                raise milepost.Misuse(f"the context cannot be given to the code: {problem}", "give less") from problem
            return executor.run(wish.code)

    def end(self) -> None:
        """Kill the code, or keep it from beginning."""
        with self._lock:
            self._ended = True
            if self._executor is not None:
                self._executor.kill()


def execute_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    async def execute_agent_code(
        ctx: Context[Any, Any],
        code: Annotated[str, Field(min_length=1, max_length=LONGEST_CODE)],
        context: Annotated[
            dict[str, Any] | None, Field(max_length=1_000, description="The code's variable `context`")
        ] = None,
        language: Annotated[
            Literal["python", "typescript"] | None, Field(description="Default: what the code looks like")
        ] = None,
        timeout_s: Annotated[float, Field(gt=0, le=50)] = 10,
        memory_mb: Annotated[int, Field(ge=16, le=4096)] = 256,
        trust: Annotated[
            Literal["local", "isolated", "sandboxed"] | None, Field(description="Default: the strongest available here")
        ] = None,
        workspace: SeenFolder = "",
    ) -> Executed:
        """Run code in the sandbox: no network, changes are dropped. The value is that of the last expression, or of
        final_answer(x)."""
        wish = CodeWish(
            code=code,
            context=context or {},
            lang=language or language_of(code),
            trust=trust,
            limits=milepost.ExecutionLimits(timeout_s=timeout_s, memory_mb=memory_mb),
            workspace=place.named(workspace) if workspace else None,
        )
        execution = Execution(wish)
        result = await ticking(ctx, "running", timeout_s, lambda: aside(execution.run, end=execution.end))
        return _brief(result)

    return (execute_agent_code,)


def language_of(code: str) -> Literal["python", "typescript"]:
    """What code is written in, by its looks; what could be both is Python."""
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "typescript" if _TYPESCRIPT.search(code) else "python"
    return "typescript" if _CONSOLE.search(code) else "python"


def _brief(result: milepost.ExecutionResult) -> Executed:
    error, too_long = result.error or "", len(json.dumps(result.final_value, default=str)) > LONGEST_VALUE
    if too_long:
        error = error or f"the value is longer than {LONGEST_VALUE} characters: give a smaller one"
    return Executed(
        ok=result.succeeded and result.termination == "exited" and not too_long,
        termination=result.termination,
        output=result.output,
        value=None if too_long else result.final_value,
        error=error[:LONGEST_ERROR],
        duration_ms=result.duration_ms,
        truncated=result.truncated or too_long or len(error) > LONGEST_ERROR,
        refused=list(result.refused[:MOST_REFUSED]),
    )
