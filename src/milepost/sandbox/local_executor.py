"""The executor of the local level: expressions and glue in an interpreter that knows nothing outside itself."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from milepost.core.commands import ExecutionLimits, ExecutionResult
from milepost.core.errors import SandboxRefused
from milepost.sandbox import look_around
from milepost.sandbox.capture_output import Capture
from milepost.sandbox.executor_base import CodeInputs, Current, no_more_runs, require_givable
from milepost.sandbox.json_values import LONGEST_INJECTION
from milepost.sandbox.level_report import HowItEnded
from milepost.sandbox.monty import MontyInterpreter, MontyOutcome, Run
from milepost.sandbox.refused_code import HARMLESS_MODULES, objection
from milepost.sandbox.time_limit import Alarm
from milepost.sandbox.walls.frames import LONGEST_VALUE

if TYPE_CHECKING:
    from pydantic_monty import Monty

ENFORCED = ("interpreter", "no-files", "no-network", "no-imports", "memory", "wall-clock", "output-cap")


class LocalExecutor:
    """Runs code in a part of Python without files, network or programs. `kill` from any thread, at any time.

    What is injected may be a function: the code's only way out, called in this process with what the code gives it.
    Such a call is not interrupted, and ends the run only when it returns.
    """

    def __init__(self, limits: ExecutionLimits | None = None, *, modules: Collection[str] = HARMLESS_MODULES) -> None:
        self._limits = limits or ExecutionLimits()
        self._modules = modules
        self._alarm = Alarm()
        self._turn = threading.Lock()
        self._pool: Monty | None = None
        self._current: Current[MontyInterpreter] = Current()
        self._given = CodeInputs()
        self._steps = 0
        self._tried: set[str] = set()  # what its objects could have as attributes

    def run(self, code: str, *, timeout_s: float | None = None) -> ExecutionResult:
        """Run code to its end, in the session of the runs before it or in a new one if that has ended.

        `timeout_s` shortens the time that the limits give it.
        """
        with self._turn:
            started, kills = time.monotonic(), self._current.kills
            if self._steps >= self._limits.steps:
                return _not_run(no_more_runs(self._limits), "steps")
            self._steps += 1
            if refused := objection(code, self._modules):
                return _not_run(refused.error, refused.termination)
            limit_s = self._limits.timeout_s
            return self._run(code, started, kills, limit_s if timeout_s is None else min(timeout_s, limit_s))

    def kill(self) -> None:
        """End the session now, with whatever it runs; the next run starts a new one."""
        self._current.kill()

    def inject(self, name: str, value: Any) -> None:
        """Give the code a variable or a function, from the next run on and in every session until `reset`.

        What a function raises is raised in the code, but a MilepostError, or what is no Exception, by `run`.
        """
        require_givable(name, value)
        with self._turn:
            self._given.give(name, value)

    def reset(self) -> None:
        """Forget all variables, injected ones too."""
        with self._turn:
            self._current.end()
            self._given.forget()
            self._steps = 0

    def close(self) -> None:
        """End everything."""
        self.kill()
        with self._turn:
            self._current.end()
            self._alarm.close()
            if self._pool is not None:
                self._pool.__exit__(None, None, None)
                self._pool = None

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, code: str, started: float, kills: int, timeout_s: float) -> ExecutionResult:
        session = self._open_session()
        self._current.end_if_killed_since(kills)
        answer = _Answer()
        tools = {
            **self._given.functions,
            "final_answer": answer.final_answer,
            look_around.LAST: answer.last_value,
        }
        values = dict(self._given.unsent)
        self._tried.update(look_around.tried_in(code))
        if any(name in code for name in ("dir", "vars")):
            values[look_around.TRIED] = sorted(self._tried)
            code = look_around.with_own_names(code)
        code = look_around.with_last_value(code)
        run = Run(code=code, values=values, tools=tools, output=Capture(self._limits.output_bytes))
        late = HowItEnded("timeout", f"ran longer than {timeout_s:g} s")
        outcome: MontyOutcome | None = None
        try:
            with self._alarm.set(timeout_s, partial(session.end, late)):
                outcome = session.run(run)
            self._given.unsent = {}
            return _result(outcome, run, answer, started, session.memory_bytes())
        finally:
            if outcome is None or outcome.ending is not None:
                self._current.end()

    def _open_session(self) -> MontyInterpreter:
        session = self._current.alive()
        if session is None:
            session = self._current.begin(MontyInterpreter(self._open_pool(), self._limits))
            self._given.send_all()
            hidden = [f"del {name}" for name in look_around.NAMES if name in self._given.functions]
            source = "\n".join([look_around.prelude(), *hidden])
            session.run(Run(code=source, values={}, tools={}, output=Capture(0)))
        return session

    def _open_pool(self) -> Monty:
        if self._pool is None:
            try:
                from pydantic_monty import Monty

                pool = Monty(min_processes=1, max_processes=1, max_checkouts_per_worker=1)
                pool.__enter__()
            except (ImportError, OSError) as problem:
                why = f"trust level 'local' is not available here: {problem}"
                raise SandboxRefused(why, "pip install pydantic-monty, or use trust level 'isolated'") from problem
            self._pool = pool
        return self._pool


class _Answer:
    """What the code called its final answer, and how often."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self.verified_by: str | None = None
        self.problem: str | None = None
        self.last: Any = None

    def final_answer(self, value: Any, verified_by: Any = None) -> None:
        """Name the result of the whole work, and what has verified it if anything did; once in a run."""
        try:
            text = json.dumps(value)
        except (TypeError, ValueError, RecursionError) as problem:
            text = json.dumps(repr(value))
            self.problem = f"TypeError: the final answer cannot be written as JSON, so its repr was kept: {problem}"
        if len(text) > LONGEST_INJECTION:
            raise ValueError(f"the final answer is longer than {LONGEST_INJECTION} bytes")
        self.values.append(text)
        self.verified_by = None if verified_by is None else str(verified_by)
        if len(self.values) > 1:
            raise RuntimeError("final_answer was called twice in one run")

    def last_value(self, value: Any) -> None:
        """Keep the value of the last expression, where it can be written as JSON and is not long."""
        text = json.dumps(value)
        self.last = json.loads(text) if len(text) <= LONGEST_VALUE else None


def _not_run(error: str, termination: Any) -> ExecutionResult:
    return ExecutionResult(output="", error=error, termination=termination, enforced=ENFORCED)


def _result(outcome: MontyOutcome, run: Run, answer: _Answer, started: float, memory_bytes: int) -> ExecutionResult:
    error = outcome.error
    if len(answer.values) > 1:
        error = error or "RuntimeError: final_answer was called twice in one run"
    is_final = error is None and outcome.ending is None and len(answer.values) == 1
    ending = outcome.ending or HowItEnded("not_started" if outcome.not_supported else "exited")
    return ExecutionResult(
        output=run.output.text(),
        truncated=run.output.truncated,
        is_final=is_final,
        final_value=json.loads(answer.values[0]) if is_final else answer.last if error is None else None,
        verified_by=answer.verified_by if is_final else None,
        error=ending.error or error or (answer.problem if is_final else None),
        timeout=ending.termination == "timeout",
        termination=ending.termination,
        duration_ms=round((time.monotonic() - started) * 1000),
        memory_used_bytes=memory_bytes,
        enforced=ENFORCED,
        refused=tuple(run.refused),
    )
