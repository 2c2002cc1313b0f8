"""The porter: answers for a guest those system calls that depend on an address, a path or a process.

The guest's call waits; the porter does it for the guest where the rules let it, and else lets it fail and keeps a note.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..syscall_rules import SIGNALS
from . import files as porter_files
from . import processes as porter_processes
from .files import Places
from .refusal import SyscallRefused
from .requests import SyscallRequest, receive
from .sockets import Connecting, Sockets

_LONGEST_TURN_S = 0.005
_MOST_WAITING = 256
_MOST_NOTES = 50
_OF_ANOTHER_PROCESS = {
    **dict.fromkeys(("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"), 0),
    **dict.fromkeys(("setpriority", "ioprio_set"), 1),
    **dict.fromkeys(SIGNALS, 0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a guest may do through its porter.

    `writable` and what is `protected` in them are real paths (see `real`), `ports` those of the loopback that it may
    connect to beside its own, and `abstract_names` says that this process has `confine.scope_abstract_names`.
    """

    writable: tuple[str, ...]
    protected: tuple[str, ...] = ()
    network: Literal["none", "loopback", "hosts", "open"]
    ports: tuple[int, ...] = ()
    abstract_names: bool = False


def real(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths without links; to be asked before the guest runs, who could put a link there."""
    return tuple(map(os.path.realpath, paths))


class Porter:
    """Answers one guest's questions. `fileno` is readable when there are some, and hangs up when nobody can ask."""

    def __init__(self, listener: int, *, rules: Rules) -> None:
        self._listener = listener
        places = Places(rules.writable, rules.protected)
        self._places = places
        self._sockets = Sockets(
            network=rules.network, ports=rules.ports, abstract_names=rules.abstract_names, places=places
        )
        self._refused: dict[str, None] = {}
        self._waiting = threading.BoundedSemaphore(_MOST_WAITING)
        self._poller = select.poll()
        self._poller.register(listener, select.POLLIN)
        self._answers: dict[str, Callable[[SyscallRequest], None]] = {
            **dict.fromkeys(_OF_ANOTHER_PROCESS, self._reach_another),
            **dict.fromkeys(porter_files.CALLS, self._change_file),
            "connect": self._connect,
            "bind": self._bind,
            "listen": self._listen,
        }

    @property
    def refused(self) -> tuple[str, ...]:
        """What was not done, each once."""
        return tuple(self._refused)

    def fileno(self) -> int:
        return self._listener

    def answer(self) -> None:
        """Answer what is being asked, without waiting for anything, and not so long that others have to."""
        end = time.monotonic() + _LONGEST_TURN_S
        while time.monotonic() < end:
            if not any(events & select.POLLIN for _, events in self._poller.poll(0)):
                return
            question = receive(self._listener)
            if question is not None:
                self._settle(question, self._answers.get(question.call, _unknown))

    def close(self) -> None:
        """Answer nothing any more; what is asked from now on fails."""
        os.close(self._listener)

    def _settle(self, question: SyscallRequest, act: Callable[[SyscallRequest], None]) -> None:
        """Let an act answer, or let the call fail with what the act ran into."""
        try:
            act(question)
        except OSError as problem:
            if isinstance(problem, SyscallRefused):
                self._note(problem.words)
            question.fails(problem.errno or errno.EPERM)
        except Exception:  # whatever a guest may provoke here, it must not end who watches over it
            question.fails(errno.EPERM)

    def _note(self, words: str) -> None:
        if len(self._refused) < _MOST_NOTES:
            self._refused[words] = None

    def _reach_another(self, question: SyscallRequest) -> None:
        """Let a call on a process go on when that belongs to the guest; the number cannot change any more."""
        pid = question.number(_OF_ANOTHER_PROCESS[question.call])
        if not porter_processes.is_ours(pid):
            if pid > 0 and not os.path.exists(f"/proc/{pid}"):  # noqa: PTH110
                raise OSError(errno.ESRCH, "there is no such process")
            raise SyscallRefused(errno.EPERM, f"{question.call} {pid}")
        question.goes_on()

    def _change_file(self, question: SyscallRequest) -> None:
        question.returns(porter_files.change(question, self._places))

    def _bind(self, question: SyscallRequest) -> None:
        if self._sockets.bind(question):
            question.returns(0)
        else:
            question.goes_on()

    def _listen(self, question: SyscallRequest) -> None:
        question.returns(self._sockets.listen(question))

    def _connect(self, question: SyscallRequest) -> None:
        # Never here: whether it waits is a flag that the guest shares, and could set between a look and the call.
        with contextlib.ExitStack() as unless_handed_over:
            needed = unless_handed_over.enter_context(contextlib.ExitStack())
            connecting = needed.enter_context(self._sockets.connecting(question))
            if not self._waiting.acquire(blocking=False):
                raise OSError(errno.EAGAIN, "too many connections are being made")
            needed.callback(self._waiting.release)
            threading.Thread(target=self._wait_for, args=(connecting, needed), daemon=True).start()
            unless_handed_over.pop_all()

    def _wait_for(self, connecting: Connecting, needed: contextlib.ExitStack) -> None:
        with needed:
            self._settle(connecting.question, lambda question: question.returns(connecting.finish()))


def _unknown(question: SyscallRequest) -> None:
    raise OSError(errno.ENOSYS, f"nobody here answers {question.call!r}")
