"""The executor behind walls: Python code with variables that stay, in a process of its own."""

from __future__ import annotations

import io
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.core.commands import NO_NETWORK, Command, ExecutionLimits, ExecutionResult, Network, TrustLevel
from milepost.sandbox import fork_servers
from milepost.sandbox.capture_output import Capture
from milepost.sandbox.executor_base import CodeInputs, Current, bounds_of, ended, no_more_runs, require_givable
from milepost.sandbox.launch import Launch, Overlay, Prepare, Surroundings, launch_of, users_home
from milepost.sandbox.level_report import ENFORCED_BY_HOST, HowItEnded
from milepost.sandbox.pool import Pool
from milepost.sandbox.protected_paths import Guard
from milepost.sandbox.remove_folder import new_folder, remove
from milepost.sandbox.session import CodeReply, CodeSession, Glance, asked
from milepost.sandbox.visible_paths import Missing
from milepost.sandbox.warden_client import Launcher
from milepost.sandbox.workspace_changes import Changes


class WalledExecutor:
    """Runs code behind walls, the kernel's or a container's. One run at a time; `kill` from any thread, at any time.

    `workspace` is the folder the code works in and may change; without one it gets an empty folder that goes with it.
    A sandboxed session holds its changes to a workspace back until they are accepted (`holds_changes`), unless it is
    `direct`, for a checkout. What is injected may be a function: the code calls it, and it runs in this process, in
    another thread. Such a call is not interrupted, and a run ends only when it has returned. `spares` sessions are
    kept ready for when one is over.
    """

    def __init__(
        self,
        limits: ExecutionLimits | None = None,
        *,
        workspace: Path | None = None,
        trust: TrustLevel = TrustLevel.ISOLATED,
        direct: bool = False,
        network: Network = NO_NETWORK,
        interpreter: Path | None = None,
        spares: int = 0,
        launcher: Launcher | None = None,
        prepare: Prepare = launch_of,
    ) -> None:
        self._limits = limits or ExecutionLimits()
        self._own_folder = new_folder()
        self._workspace = workspace or self._own_folder / "work"
        self.holds_changes = trust is TrustLevel.SANDBOXED and workspace is not None and not direct
        self._around = Surroundings(home=users_home(), trust=trust, in_checkouts=direct or workspace is None)
        self._guard: Guard | None = None
        self._network = network
        self._interpreter = interpreter or Path(sys.executable)
        # The warm process is not behind walls: a link or a file of the workspace must not decide what it is.
        self._real_interpreter = self._interpreter.resolve()
        self._own_launcher = launcher
        self._launcher = launcher or fork_servers.borrow(self._real_interpreter)
        self._prepare = prepare
        self._pool = Pool(self._make_session, spares)
        self._turn = threading.Lock()
        self._current: Current[CodeSession] = Current()
        self._given = CodeInputs()
        self._steps = 0
        self._closed = False

    def run(self, code: str, *, timeout_s: float | None = None, glance: Glance | None = None) -> ExecutionResult:
        """Run code to its end, in the session of the runs before it or in a new one if that has ended.

        `timeout_s` shortens the time that the limits give it. `glance` is called all the while in this thread; what it
        raises ends the session, and is raised.
        """
        with self._turn:
            kills = self._current.kills
            if self._closed:
                raise ValueError("this executor was closed")
            if self._steps >= self._limits.steps:
                return ExecutionResult(output="", error=no_more_runs(self._limits), termination="steps")
            started = time.monotonic()
            session = self._open_session()
            if isinstance(session, Missing):
                return ExecutionResult(output="", error=session.reason, termination="not_started")
            self._current.end_if_killed_since(kills)
            question = asked(code, self._given.unsent, self._given.functions)
            if isinstance(question, Missing):
                return ExecutionResult(output="", error=question.reason, termination="not_started")
            self._steps += 1
            output = Capture(self._limits.output_bytes)
            reply = self._ask(session, question, timeout_s, output, glance)
            self._given.unsent = {}
            if reply.ending is not None:
                self._current.end()
            result = _result(reply, output, started)
            self._pool.refill()
            return replace(result, refused=(*result.refused, *self._take_away()))

    def open(self) -> None:
        """Have a session ready behind its walls before the first run."""
        with self._turn:
            session = self._open_session()
            if isinstance(session, CodeSession):
                session.wait_until_open()

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
        """Forget all variables, injected ones and changes that were not accepted too."""
        with self._turn:
            self._current.end()
            self._given.forget()
            self._steps = 0

    def changes(self) -> Changes:
        """What the session has changed in its workspace and holds back; their `accept` brings them there.

        Changes of a session that is over are gone with it.
        """
        if not self.holds_changes:
            raise ValueError("only a sandboxed executor with a workspace keeps changes apart")
        with self._turn:
            session = self._current.session
            if session is None or session.is_over():
                return Changes((), io.BytesIO())
            with session.changes() as collected:
                return Changes.read(collected)

    def close(self) -> None:
        """End everything and remove the executor's own folder."""
        self.kill()
        with self._turn:
            self._current.end()
            self._pool.close()
            self._take_away()
            if not self._closed:
                self._closed = True
                if self._own_launcher is None:
                    fork_servers.give_back(self._real_interpreter)
                else:
                    self._own_launcher.close()
            remove(self._own_folder)

    def __enter__(self) -> WalledExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_away(self) -> tuple[str, ...]:
        """Take away what the code put under a protected name in its workspace, and say so."""
        return () if self._guard is None else self._guard.clear()

    def _ask(
        self, session: CodeSession, question: bytes, timeout_s: float | None, output: Capture, glance: Glance | None
    ) -> CodeReply:
        limit_s = self._limits.timeout_s
        try:
            return session.ask(
                question,
                cpu_s=self._limits.cpu_s,
                timeout_s=limit_s if timeout_s is None else min(timeout_s, limit_s),
                output=output,
                tools=self._given.functions,
                glance=glance,
            )
        except BaseException:  # of a tool's, or at a glance: what the code waits for will not come
            self._current.end()
            raise

    def _open_session(self) -> CodeSession | Missing:
        if (session := self._current.alive()) is not None:
            return session
        try:
            session = self._current.begin(self._pool.take())
        except _NotLaunched as problem:
            return problem.missing
        self._given.send_all()
        return session

    def _make_session(self) -> CodeSession:
        launch = self._launch()
        if isinstance(launch, Missing):
            raise _NotLaunched(launch)
        return CodeSession(self._launcher, launch)

    def _launch(self) -> Launch | Missing:
        self._workspace.mkdir(parents=True, exist_ok=True)
        if self._real_interpreter.is_relative_to(self._workspace.resolve()):
            return Missing(
                f"the interpreter {str(self._real_interpreter)!r} is in a folder that its own code could change"
            )
        command = Command(
            argv=(str(self._interpreter),),
            cwd=self._workspace,
            scratch=self._own_folder / "scratch",
            network=self._network,
            bounds=bounds_of(self._limits),
        )
        launch = self._prepare(command, self._around)
        if isinstance(launch, Missing):
            return launch
        overlay = None
        if not self.holds_changes:
            self._guard = self._guard or launch.guard
        else:
            overlay = Overlay(folder=launch.cwd, size_mb=self._limits.disk_mb, inodes=self._limits.inodes)
        reach = launch.reach.without_other_processes()
        return replace(launch, program=None, timeout_s=None, overlay=overlay, reach=reach)


class _NotLaunched(Exception):
    """There is nothing to start a session with."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing.reason)
        self.missing = missing


def _result(reply: CodeReply, output: Capture, started: float) -> ExecutionResult:
    facts = ExecutionResult(
        output=output.text(),
        truncated=output.truncated,
        duration_ms=round((time.monotonic() - started) * 1000),
        memory_used_bytes=reply.memory_bytes,
        forged=reply.forged,
        enforced=(*reply.report.applied, *ENFORCED_BY_HOST) if reply.report.applied else (),
        refused=reply.report.refused,
    )
    if reply.answer is not None:
        said = reply.answer
        return replace(
            facts,
            error=said.error,
            is_final=said.is_final,
            final_value=said.final_value,
            verified_by=said.verified_by,
        )
    return ended(facts, reply.ending or HowItEnded("killed"), reply.report.exit_code)
