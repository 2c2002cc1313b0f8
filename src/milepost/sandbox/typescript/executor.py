"""The executor for TypeScript and JavaScript: Deno sessions with variables that stay, each in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.core.commands import Command, ExecutionLimits, ExecutionResult, TrustLevel
from milepost.core.errors import SandboxRefused
from milepost.sandbox.capture_output import Capture
from milepost.sandbox.executor_base import CodeInputs, Current, bounds_of, ended, no_more_runs, require_givable
from milepost.sandbox.launch import Launch, Surroundings, launch_of, users_home
from milepost.sandbox.level_report import ENFORCED_BY_HOST, HowItEnded
from milepost.sandbox.typescript.deno import RUNNER, WORKER, deno_command, deno_environment, find_deno
from milepost.sandbox.typescript.session import ScriptReply, ScriptSession
from milepost.sandbox.typescript.source import Lang, as_script
from milepost.sandbox.visible_paths import Missing
from milepost.sandbox.warden_client import Warden

_MEBIBYTE = 1 << 20
# What Deno's two isolates reserve before any code runs: most of it is address space for compiled code, and then the
# stacks of its threads, of which it starts more where there are more cores.
_DENO_MB, _STACK_MB, _MOST_THREADS = 1180, 8, 16
# How V8 ends the process when its heap is full.
_V8_GAVE_UP = (signal.SIGTRAP, signal.SIGILL, signal.SIGABRT)


class TypeScriptExecutor:
    """Runs code in Deno without permissions, behind the kernel's walls. `kill` from any thread, at any time.

    The value of the last expression is the result's `final_value`; `finalAnswer(value, {verifiedBy})` makes it final.
    A session is started before it is asked for: when the executor opens, and when the one before it has ended.
    `modules` is a cache of Deno's: what is in it may be imported, by `await import(…)`; without one nothing may.
    """

    def __init__(
        self,
        limits: ExecutionLimits | None = None,
        *,
        lang: Lang = "typescript",
        trust: TrustLevel = TrustLevel.ISOLATED,
        modules: Path | None = None,
    ) -> None:
        self._limits = limits or ExecutionLimits()
        self._around = Surroundings(home=users_home(), trust=trust, in_checkouts=True)
        self._lang = lang
        self._deno = find_deno()
        self._modules = modules
        self._own_folder = Path(tempfile.mkdtemp(prefix="milepost-"))
        self._warden = Warden()
        self._turn = threading.Lock()
        self._current: Current[ScriptSession] = Current()
        self._given = CodeInputs()
        self._steps = 0
        self._begin_session()

    def run(self, code: str) -> ExecutionResult:
        """Run code to its end, in the session of the runs before it or in a new one if that has ended."""
        with self._turn:
            started, kills = time.monotonic(), self._current.kills
            if self._steps >= self._limits.steps:
                return ExecutionResult(output="", error=no_more_runs(self._limits), termination="steps")
            self._steps += 1
            session = self._current.alive() or self._begin_session()
            self._current.end_if_killed_since(kills)
            output = Capture(self._limits.output_bytes)
            script = as_script(code, self._lang)
            question = {"script": script, "typed": self._lang == "typescript", "inject": self._given.unsent}
            limits = self._limits
            reply = session.ask(question, cpu_s=limits.cpu_s, timeout_s=limits.timeout_s, output=output)
            self._given.unsent = {}
            if reply.ending is not None:
                self._current.end()
                self._begin_session()
            return _result(reply, output, started, limits)

    def kill(self) -> None:
        """End the session now, with whatever it runs; the next run starts a new one."""
        self._current.kill()

    def inject(self, name: str, value: Any) -> None:
        """Give the code a variable, from the next run on and in every session until `reset`."""
        require_givable(name, value, functions=False)
        with self._turn:
            self._given.give(name, value)

    def reset(self) -> None:
        """Forget all variables, injected ones too."""
        with self._turn:
            self._current.end()
            self._given.forget()
            self._steps = 0
            self._begin_session()

    def close(self) -> None:
        """End everything and remove the executor's own folder."""
        self.kill()
        with self._turn:
            self._current.end()
            self._warden.close()
            shutil.rmtree(self._own_folder, ignore_errors=True)

    def __enter__(self) -> TypeScriptExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin_session(self) -> ScriptSession:
        session = self._current.begin(ScriptSession(self._warden, self._launch()))
        self._given.send_all()
        return session

    def _launch(self) -> Launch:
        work = self._own_folder / "work"
        work.mkdir(exist_ok=True)
        command = Command(
            argv=deno_command(self._deno, memory_mb=self._limits.memory_mb, modules=self._modules),
            cwd=work,
            scratch=self._own_folder / "scratch",
            env=deno_environment(self._modules),
            readable=(self._deno, RUNNER, WORKER, *([self._modules] if self._modules else [])),
            bounds=bounds_of(self._limits, runtime_mb=_DENO_MB + _STACK_MB * min(os.cpu_count() or 1, _MOST_THREADS)),
        )
        launch = launch_of(command, self._around)
        if isinstance(launch, Missing):
            raise SandboxRefused(f"TypeScript cannot be run here: {launch.reason}", "milepost doctor shows more")
        return replace(launch, timeout_s=None)


def _result(reply: ScriptReply, output: Capture, started: float, limits: ExecutionLimits) -> ExecutionResult:
    facts = ExecutionResult(
        output=output.text(),
        truncated=output.truncated,
        duration_ms=round((time.monotonic() - started) * 1000),
        memory_used_bytes=reply.answer.memory_bytes if reply.answer else reply.report.memory_bytes,
        forged=reply.forged,
        refused=reply.report.refused,
        enforced=("no-permissions", *reply.report.applied, *ENFORCED_BY_HOST) if reply.report.applied else (),
    )
    if reply.answer is not None:
        said = reply.answer
        return replace(
            facts,
            error=said.error,
            is_final=said.is_final,
            final_value=said.value,
            verified_by=said.verified_by,
        )
    return ended(facts, _ending(reply, limits), reply.report.exit_code)


def _ending(reply: ScriptReply, limits: ExecutionLimits) -> HowItEnded:
    how = reply.ending or HowItEnded("killed")
    was_full = reply.report.memory_bytes > limits.memory_mb * _MEBIBYTE // 2
    if how.termination == "signalled" and reply.report.signal in _V8_GAVE_UP and was_full:
        return HowItEnded("memory", f"needed more than {limits.memory_mb} MB of memory")
    return how
