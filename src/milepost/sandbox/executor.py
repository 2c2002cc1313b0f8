"""The executor of the isolated level: Python code with variables that stay, in a process of its own."""

from __future__ import annotations

import json
import keyword
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.core.commands import Command, ExecutionLimits, ExecutionResult
from milepost.sandbox.capture import Capture
from milepost.sandbox.guests import Warden
from milepost.sandbox.launch import Launch, Surroundings, launch_of, users_home
from milepost.sandbox.reach import Missing
from milepost.sandbox.report import ENFORCED_BY_HOST, HowItEnded
from milepost.sandbox.session import Reply, Session

_GUEST = Path(__file__).parent / "walls/guest.py"
_MEBIBYTE = 1 << 20
_LONGEST_INJECTION = 4_000_000


class IsolatedExecutor:
    """Runs code behind Landlock. One run at a time; `kill` from any thread, at any time.

    `workspace` is the folder the code works in and may change; without one it gets an empty folder that goes with it.
    """

    def __init__(self, limits: ExecutionLimits | None = None, *, workspace: Path | None = None) -> None:
        self._limits = limits or ExecutionLimits()
        self._own_folder = Path(tempfile.mkdtemp(prefix="milepost-"))
        self._workspace = workspace or self._own_folder / "work"
        self._around = Surroundings(home=users_home())
        self._warden = Warden()
        self._turn = threading.Lock()
        self._session_lock = threading.Lock()
        self._session: Session | None = None
        self._injected: dict[str, Any] = {}
        self._not_yet_sent: dict[str, Any] = {}

    def run(self, code: str) -> ExecutionResult:
        """Run code to its end, in the session of the runs before it or in a new one if that has ended."""
        with self._turn:
            started = time.monotonic()
            session = self._open_session()
            if isinstance(session, Missing):
                return ExecutionResult(output="", error=session.reason, termination="not_started")
            output = Capture(self._limits.output_bytes)
            question = {"code": code, "inject": self._not_yet_sent, "cpu_s": self._limits.cpu_s}
            reply = session.ask(question, timeout_s=self._limits.timeout_s, output=output)
            self._not_yet_sent = {}
            if reply.ending is not None:
                self._end_session()
            return _result(reply, output, started)

    def kill(self) -> None:
        """End the session now, with whatever it runs; the next run starts a new one."""
        with self._session_lock:
            if self._session is not None:
                self._session.end(HowItEnded("killed", "killed while it ran"))

    def inject(self, name: str, value: Any) -> None:
        """Give the code a variable, from the next run on and in every session until `reset`."""
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} cannot be the name of a variable")
        _require_plain(value, name)
        if len(json.dumps(value)) > _LONGEST_INJECTION:
            raise ValueError(f"{name} is longer than {_LONGEST_INJECTION} bytes: write it to a file of the workspace")
        with self._turn:
            self._injected[name] = value
            self._not_yet_sent[name] = value

    def reset(self) -> None:
        """Forget all variables, injected ones too."""
        with self._turn:
            self._end_session()
            self._injected = {}
            self._not_yet_sent = {}

    def close(self) -> None:
        """End everything and remove the executor's own folder."""
        self.kill()
        with self._turn:
            self._end_session()
            self._warden.close()
            shutil.rmtree(self._own_folder, ignore_errors=True)

    def __enter__(self) -> IsolatedExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_session(self) -> Session | Missing:
        if self._session is not None and self._session.is_over():
            self._end_session()
        if self._session is None:
            launch = self._launch()
            if isinstance(launch, Missing):
                return launch
            with self._session_lock:
                self._session = Session(self._warden, launch)
            self._not_yet_sent = dict(self._injected)
        return self._session

    def _end_session(self) -> None:
        with self._session_lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def _launch(self) -> Launch | Missing:
        self._workspace.mkdir(parents=True, exist_ok=True)
        command = Command(
            argv=(sys.executable, "-I", "-X", "utf8", str(_GUEST)),
            cwd=self._workspace,
            scratch=self._own_folder / "scratch",
            readable=(_GUEST,),
        )
        launch = launch_of(command, self._around)
        if isinstance(launch, Missing):
            return launch
        return replace(launch, timeout_s=None, rlimits=_rlimits(self._limits))


def _rlimits(limits: ExecutionLimits) -> Mapping[str, int]:
    # RLIMIT_DATA rather than RLIMIT_AS: the latter counts what is only mapped, and breaks threads.
    return {
        "core": 0,
        "data": limits.memory_mb * _MEBIBYTE,
        "fsize": limits.file_mb * _MEBIBYTE,
        "nofile": limits.open_files,
    }


def _result(reply: Reply, output: Capture, started: float) -> ExecutionResult:
    facts = ExecutionResult(
        output=output.text(),
        truncated=output.truncated,
        duration_ms=round((time.monotonic() - started) * 1000),
        memory_used_bytes=reply.memory_bytes,
        enforced=(*reply.report.applied, *ENFORCED_BY_HOST) if reply.report.applied else (),
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
    how = reply.ending or HowItEnded("killed")
    error = how.error or f"the code ended its own process with exit code {reply.report.exit_code}"
    return replace(facts, error=error, termination=how.termination, timeout=how.termination == "timeout")


def _require_plain(value: Any, name: str, depth: int = 0) -> None:
    """Refuse what would not arrive in the session as it is here."""
    if depth > 100:
        raise TypeError(f"{name} is nested too deeply to be given to the code")
    if isinstance(value, list | tuple):
        for item in value:
            _require_plain(item, name, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{name} holds the key {key!r}: only strings can be keys of what is given to the code")
            _require_plain(item, name, depth + 1)
    elif callable(value):
        raise TypeError(f"{name} is or holds a function: at the isolated level only plain values can be given")
    elif not isinstance(value, str | int | float | bool | None):
        raise TypeError(
            f"{name} is or holds a {type(value).__name__}: only what JSON can hold can be given to the code"
        )
