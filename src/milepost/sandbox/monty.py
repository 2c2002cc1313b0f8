"""One session of the monty interpreter: a worker process that knows Python but no files, no network and no programs."""

from __future__ import annotations

import contextlib
import math
import os
import re
import resource
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from milepost.core.commands import ExecutionLimits
from milepost.core.errors import MilepostError
from milepost.sandbox.capture_output import FLOOD_BYTES, Capture
from milepost.sandbox.json_values import require_plain
from milepost.sandbox.level_report import HowItEnded
from milepost.sandbox.refused_code import USE_ISOLATED

if TYPE_CHECKING:
    from pydantic_monty import FunctionSnapshot, Monty, MontyRuntimeError, MontySyntaxError, NameLookupSnapshot

_MEBIBYTE = 1 << 20
_NO_LIMIT = 1_000_000_000
# The interpreter counts what the code holds; what it needs itself to hand a value over comes on top.
_WALL_FACTOR, _WALL_EXTRA_MB = 2, 64
# A worker that computes does not notice that the host died: it ends by itself this long after its time.
_ORPHANS_GRACE_S = 1.0
_LONGEST_ERROR = 2_000
_MOST_REFUSED = 100
_UNKNOWN = re.compile(r"NotImplementedError: The monty syntax parser does not yet support (?P<what>.*)", re.DOTALL)
_INTERNAL = re.compile(r"RuntimeError: Internal error in monty: (?P<what>.*)", re.DOTALL)
_OUT_OF_MEMORY = re.compile(r"MemoryError: (memory limit exceeded|the worker exceeded its memory limit)")
_OUT_OF_TIME = "TimeoutError: feed time limit exceeded"

Tool = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MontyOutcome:
    """What one run came to: done, an error of the code, or `ending`, with which the session is over."""

    error: str | None = None
    ending: HowItEnded | None = None
    not_supported: bool = False


@dataclass(slots=True, kw_only=True)
class Run:
    """One run on its way: what it is given, and where what it says goes."""

    code: str
    values: Mapping[str, Any]
    tools: Mapping[str, Tool]
    output: Capture
    refused: list[str] = field(default_factory=list)


class MontyInterpreter:
    """A worker and the variables in it. `end` is for any thread, the rest for one."""

    def __init__(self, pool: Monty, limits: ExecutionLimits) -> None:
        self._limits = limits
        self._ended = threading.Event()
        self._ended_for: HowItEnded | None = None
        self._memory_bytes = 0
        self._session = pool.checkout(
            limits={
                "max_memory": limits.memory_mb * _MEBIBYTE,
                "max_feed_duration_secs": min(limits.timeout_s + _ORPHANS_GRACE_S, limits.cpu_s or _NO_LIMIT),
                "max_suspensions": _NO_LIMIT,
            },
            os_policy={"sleep": "call_host"},
        )
        self._session.__enter__()
        self._worker = _Worker(self._session.worker_pid)
        self._worker.bound(limits)

    def run(self, run: Run) -> MontyOutcome:
        """Run code to its end, or until somebody ends the session."""
        from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

        if self.is_over():  # a dead worker might never answer
            return MontyOutcome(ending=self._ended_for)
        self._worker.allow_cpu(self._limits.timeout_s + _ORPHANS_GRACE_S)
        try:
            self._follow(run)
            outcome = MontyOutcome()
        except (MontyRuntimeError, MontySyntaxError) as problem:
            outcome = self._judged(problem)
        except MontyCrashedError as problem:
            how = self._out_of_time() if problem.timed_out else HowItEnded("signalled", f"the interpreter: {problem}")
            outcome = MontyOutcome(ending=how)
        except MontyError as problem:
            outcome = MontyOutcome(error=_short(f"{type(problem).__name__}: {problem}"))
        if self._ended_for is not None:
            return MontyOutcome(ending=self._ended_for)
        if outcome.ending is not None:
            self.end(outcome.ending)
        return outcome

    def end(self, reason: HowItEnded) -> None:
        """End the worker now, whatever it does; the first reason given is the one that counts."""
        if self._ended_for is None:
            self._ended_for = reason
            self._memory_bytes = max(self._memory_bytes, self._worker.peak_memory())
            self._ended.set()
            self._worker.kill()

    def is_over(self) -> bool:
        return self._ended_for is not None

    def memory_bytes(self) -> int:
        """The most memory the worker ever held."""
        self._memory_bytes = max(self._memory_bytes, self._worker.peak_memory())
        return self._memory_bytes

    def close(self) -> None:
        self.end(HowItEnded("killed", "the session was closed"))
        with contextlib.suppress(Exception):  # the worker is gone, which is what was wanted
            self._session.__exit__(None, None, None)
        self._worker.close()

    def _follow(self, run: Run) -> None:
        from pydantic_monty import FunctionSnapshot, MontyComplete, NameLookupSnapshot

        def hear(_stream: Literal["stdout", "stderr"], text: str) -> None:
            run.output.feed(text.encode(errors="backslashreplace"))
            if run.output.total > FLOOD_BYTES:
                self.end(HowItEnded("output", f"wrote more than {FLOOD_BYTES} bytes"))

        # The value of a last expression would come back to the host, however large it is.
        code = run.code + "\nNone"
        turn = self._session.feed_start(code, inputs=dict(run.values), print_callback=hear)
        while not isinstance(turn, MontyComplete):
            if isinstance(turn, NameLookupSnapshot):
                turn = _look_up(turn, run)
            elif not isinstance(turn, FunctionSnapshot):
                raise AssertionError("unreachable: no tool of ours answers later")
            elif turn.is_os_function:
                turn = self._ask_system(turn, run)
            else:
                turn = _call(turn, run)

    def _ask_system(self, call: FunctionSnapshot, run: Run) -> Any:
        """Sleeping is all that the code is given of the system."""
        if call.function_name in ("time.sleep", "asyncio.sleep"):
            self._ended.wait(min(float(call.args[0]), threading.TIMEOUT_MAX))
            return call.resume({"return_value": call.args[1] if len(call.args) > 1 else None})
        if len(run.refused) < _MOST_REFUSED:
            run.refused.append(" ".join([str(call.function_name), *(str(value)[:200] for value in call.args[:1])]))
        return call.resume_not_handled()

    def _judged(self, problem: MontyRuntimeError | MontySyntaxError) -> MontyOutcome:
        from pydantic_monty import MontySyntaxError

        text = problem.display("type-msg")
        if _OUT_OF_MEMORY.match(text):
            return MontyOutcome(ending=HowItEnded("memory", f"needed more than {self._limits.memory_mb} MB of memory"))
        if text.startswith(_OUT_OF_TIME):
            return MontyOutcome(ending=self._out_of_time())
        where = _line(problem)
        unknown = _UNKNOWN.fullmatch(text) or _INTERNAL.fullmatch(text)
        if unknown or isinstance(problem, MontySyntaxError):
            what = unknown["what"] if unknown else str(problem)
            error = f"NotSupported: {_short(what)}; trust level 'local' runs a part of Python: {USE_ISOLATED}{where}"
            return MontyOutcome(error=error, not_supported=_INTERNAL.fullmatch(text) is None)
        return MontyOutcome(error=_short(text) + where)

    def _out_of_time(self) -> HowItEnded:
        if self._limits.cpu_s is not None and self._limits.cpu_s < self._limits.timeout_s:
            return HowItEnded("cpu", f"used more than {self._limits.cpu_s:g} s of processor time")
        return HowItEnded("timeout", f"ran longer than {self._limits.timeout_s:g} s")


class _Worker:
    """The process of an interpreter, as far as it is ours to bound and to end."""

    def __init__(self, pid: int | None) -> None:
        assert pid is not None, "an idle session has a worker"
        self._pid = pid
        self._lock = threading.Lock()
        # A number may be given to another process once this one is gone; a descriptor never stands for another.
        self._descriptor: int | None = os.pidfd_open(pid) if sys.platform == "linux" else None
        self._closed = False

    def bound(self, limits: ExecutionLimits) -> None:
        if sys.platform != "linux":
            return
        data = (limits.memory_mb * _WALL_FACTOR + _WALL_EXTRA_MB) * _MEBIBYTE
        for kind, most in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
            resource.prlimit(self._pid, kind, (most, most))

    def allow_cpu(self, seconds: float) -> None:
        """Let it compute so long from now on, even within one call that looks at no clock."""
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                times = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()[11:13]
                used = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
                resource.prlimit(self._pid, resource.RLIMIT_CPU, (math.ceil(used + seconds), resource.RLIM_INFINITY))

    def kill(self) -> None:
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._closed:
                return
            if self._descriptor is not None:
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            else:
                os.kill(self._pid, signal.SIGKILL)

    def peak_memory(self) -> int:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self._pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        return 0

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None and not self._closed:
                os.close(self._descriptor)
            self._closed = True


def _look_up(asked: NameLookupSnapshot, run: Run) -> Any:
    tool = run.tools.get(asked.variable_name)
    return asked.resume() if tool is None else asked.resume(value=tool)


def _call(call: FunctionSnapshot, run: Run) -> Any:
    """Let the host do what the code asked of a tool; what the tool raises is raised in the code."""
    tool = run.tools.get(str(call.function_name))
    if tool is None:
        return call.resume({"exc_type": "NameError", "message": f"name {call.function_name!r} is not defined"})
    try:
        value = tool(*call.args, **call.kwargs)
        require_plain(value, f"what {call.function_name} returned")
    except MilepostError:  # for whoever runs the code
        raise
    except Exception as problem:
        return call.resume({"exception": problem})
    return call.resume({"return_value": value})


def _line(problem: MontyRuntimeError | MontySyntaxError) -> str:
    """Where it happened: the last line of this run's own code."""
    frames = problem.traceback()
    lines = [frame.line for frame in frames if frame.filename == frames[0].filename]
    return f" (line {lines[-1]})" if lines else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else text[:_LONGEST_ERROR] + " …"
