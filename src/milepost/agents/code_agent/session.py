"""A session for the code of an attempt: opened when it is needed, and with variables that outlive it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from milepost.agents.code_agent.restored_state import MOST_KEPT_BYTES, Begun, Past, StepState, begun_of, kept_of
from milepost.core.commands import ExecutionLimits, ExecutionResult
from milepost.core.ports import Interpreter, Stops
from milepost.sandbox.json_values import read_plain

_PARTS = ("file_tools", "variables")
_KEEPER = "__import__('sys').modules['milepost_variables'].keeper"
_NO_KEEPER = "KeyError: 'milepost_variables'"
_RUNS_A_STEP = 4  # at most: to begin a session, to restore, to begin again, and the code


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of the code of a step. `result` is None when it was not run, because it needs names that are `lost`.

    Nothing was kept when the session is over with the step.
    """

    result: ExecutionResult | None
    lost: tuple[str, ...] = ()
    kept: StepState | None = None


class KeptSession:
    """Runs the steps of one attempt. The `lines` that are put down meanwhile are said in the thread that waits."""

    def __init__(
        self,
        open_interpreter: Callable[[Path, ExecutionLimits], Interpreter],
        folder: Path,
        limits: ExecutionLimits,
        stops: Stops,
        say: Callable[[str], None],
    ) -> None:
        self._open = open_interpreter
        self._folder = folder
        self._limits = replace(limits, steps=_RUNS_A_STEP * limits.steps)
        self._stops = stops
        self._say = say
        self.lines: SimpleQueue[str] = SimpleQueue()
        self._executor: Interpreter | None = None
        self._stands = self._stood = False

    def run(self, code: str, past: Past, functions: Mapping[str, Callable[..., Any]], *, timeout_s: float) -> Ran:
        """Run the code of a step, in a session that has what the past left."""
        deadline = time.monotonic() + timeout_s
        executor = self._opened()
        for name, function in functions.items():
            executor.inject(name, function)
        begun = Begun() if self._stands else self._begin(executor, past, code, deadline)
        if isinstance(begun, ExecutionResult):
            return Ran(result=begun)
        if begun.needed:
            return Ran(result=None, lost=begun.lost, kept=begun.kept)
        told = self._run(executor, f"final_answer({_KEEPER}.step({code!r}))", deadline)
        if self._stood and (told.error or "").startswith(_NO_KEEPER):  # the session died since the last step
            self._stood = self._stands = False
            return self.run(code, past, functions, timeout_s=max(0.1, deadline - time.monotonic()))
        result, kept = stepped(told)
        self._stood = self._stands = kept is not None
        if not self._stands:
            executor.kill()  # one that still lives is broken: the next step gets a new one
        return Ran(result=result, lost=begun.lost, kept=kept)

    def close(self) -> None:
        """End the session; returns when nothing of it runs any more."""
        if self._executor is not None:
            self._executor.close()

    def _opened(self) -> Interpreter:
        if self._executor is None:
            self._executor = self._open(self._folder, self._limits)
        return self._executor

    def _begin(self, executor: Interpreter, past: Past, code: str, deadline: float) -> Begun | ExecutionResult:
        """Have a session with our own part in it and what the past left; or what went wrong with that."""
        begun = self._run(executor, _beginning(), deadline)
        if begun.error is not None:
            return begun
        self._stands = True
        if not past.blocks:
            return Begun()
        given = json.dumps([past.blocks, dict(past.values), past.names, code])
        restoring = f"final_answer({_KEEPER}.restore(*__import__('json').loads({given!r})))"
        restored = self._run(executor, restoring, deadline)
        if restored.is_final and (told := begun_of(restored.final_value)) is not None:
            return told
        executor.kill()  # what the past left is more than a session can bear
        anew = self._begin(executor, Past(), code, deadline)
        return replace(anew, lost=past.names) if isinstance(anew, Begun) else anew

    def _run(self, executor: Interpreter, code: str, deadline: float) -> ExecutionResult:
        left_s = max(0.1, round(deadline - time.monotonic(), 1))
        result = executor.run(code, timeout_s=left_s, glance=self._glance)
        self._say_new()
        return result

    def _glance(self) -> None:
        """Look whether the attempt must be left."""
        self._say_new()
        self._stops.check()

    def _say_new(self) -> None:
        while True:
            try:
                self._say(self.lines.get_nowait())
            except Empty:
                return


def stepped(result: ExecutionResult) -> tuple[ExecutionResult, StepState | None]:
    """What the code of a step says of itself, with the facts of the run that it was in, and what was kept after it."""
    match result.final_value if result.is_final else None:
        case {
            "error": str() | None as error,
            "is_final": bool(is_final),
            "final_json": str(text),
            "verified_by": str() | None as verified_by,
            "kept": kept,
        }:
            try:
                value = read_plain(text)
            except (ValueError, RecursionError):
                error, is_final, value = "the final answer cannot be read", False, None
            said = replace(result, error=error, is_final=is_final, final_value=value, verified_by=verified_by)
            return said, kept_of(kept)
    error = result.error or "the code took apart the session that it ran in"
    return replace(result, error=error, is_final=False, final_value=None, verified_by=None), None


@cache
def _beginning() -> str:
    """Code that brings our own part into a session: modules beside the code's names, and file tools among them."""
    sources = {name: files(__package__).joinpath(f"{name}.py").read_text(encoding="utf-8") for name in _PARTS}
    return f"""\
def _begin(names, sources):
    import sys, types
    sys.dont_write_bytecode = True
    for name, source in sources.items():
        module = sys.modules["milepost_" + name] = types.ModuleType("milepost_" + name)
        exec(compile(source, module.__name__, "exec"), vars(module))
    names.update({{tool.__name__: tool for tool in sys.modules["milepost_file_tools"].TOOLS}})
    module.keeper = module.VariableKeeper(names, {MOST_KEPT_BYTES})
_begin(globals(), {sources!r})
del _begin
"""
