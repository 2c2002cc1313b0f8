"""The logbook of an attempt: each of its calls is made once, whatever happens to the process that makes it.

A call is recorded together with the tree of the workspace after it, on a hidden ref. An attempt that was cut short
gets a workspace as it was after its last recorded call, and its agent goes through the recorded calls again without
making them: it comes to the point where it was, and nothing that was answered is paid for again.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from milepost.core.calls import Call, Reply, Usage
from milepost.core.events import Event, ModelCalled, ToolUsed
from milepost.engine.records.call_log import AttemptKey, CallLog, RecordedCall
from milepost.store.kill_points import reached, trace

LONGEST_PRINTED = 2_000
SESSION = "session"


class Purse(Protocol):
    """Pays for the calls of one attempt: nothing is asked for that could break the wall."""

    def reserve(self, number: int, model: str, most: Usage) -> None: ...
    def settle(self, number: int, model: str, usage: Usage) -> None: ...


class Veto(Protocol):
    """Says whether a call may be made: raises when a person must be asked first, gives their refusal."""

    def refusal(self, number: int, call: Call) -> str: ...


class Diverged(BaseException):
    """The agent asks for something else than it did before it was cut short; the calls from there on are void.

    Not an error of the agent's, which must not take it for one.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHooks:
    """What the engine does around each call: asks, pays, keeps the workspace, tells, and makes sure it still may.

    `begin` is asked before a call is made, `require` before it is recorded; both raise when it may not be. `keep`
    gives the tree of the workspace as it is now. `remember` is told each call once, as a part of its record.
    """

    purse: Purse
    veto: Veto
    keep: Callable[[], str]
    tell: Callable[[Event, str], None]
    begin: Callable[[], None]
    require: Callable[[], None]
    redact: Callable[[str], str]
    remember: Callable[[Call, RecordedCall], None] = lambda _, __: None


class CallRecorder:
    """The calls of one attempt."""

    def __init__(
        self, log: CallLog, key: AttemptKey, known: tuple[RecordedCall, ...], base_tree: str, watch: CallHooks
    ) -> None:
        self._log, self._key, self._watch, self._known = log, key, watch, known
        self._tree = base_tree
        self._made = 0
        self._recorded = 0
        self._lock = threading.RLock()

    @property
    def spent_s(self) -> float:
        """How long the recorded calls took."""
        return sum(call.duration_ms for call in self._known) / 1000

    @property
    def recorded(self) -> int:
        """How many calls were answered, in this life of the attempt and before."""
        return self._recorded

    @property
    def replaying(self) -> bool:
        """True while the agent is told what it was told before."""
        return self._made < len(self._known)

    @property
    def session(self) -> str:
        return session_of(self._log, self._key).name

    def note_session(self, session: str) -> None:
        """Note where an agent with sessions of its own can go on, together with the workspace as it is now."""
        self._watch.require()
        tree = self._watch.keep()
        self._log.note(self._key, SESSION, {"name": self._watch.redact(session), "tree": tree})
        reached(f"{self._key} session {session}")

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        """What came of a call: from the record where it was made before, else by making it."""
        with self._lock:
            request = fingerprint(call)
            if self.replaying:
                known = self._known[self._made]
                if known.request != request:
                    self._log.cut(self._key, self._made)
                    raise Diverged
                self._made += 1
                self._tree = known.tree
                self._settle(call, known)
                return known.reply
            self._made += 1
            return self._make(call, request, self._made, make)

    def _make(self, call: Call, request: str, number: int, make: Callable[[], Reply]) -> Reply:
        watch = self._watch
        watch.begin()
        refused = watch.veto.refusal(number, call)
        if call.kind == "model":
            watch.purse.reserve(number, call.name, call.most)
        boundary = f"{self._key} {number} {call.kind}"
        trace(boundary)
        started = time.monotonic()
        reply = Reply(refused=refused, failed=True) if refused else make()
        duration_ms = int((time.monotonic() - started) * 1000)
        if call.changes and not refused:
            self._tree = watch.keep()
        watch.require()
        recorded = RecordedCall(
            number=number,
            kind=call.kind,
            name=call.name,
            request=request,
            tree=self._tree,
            reply=reply,
            duration_ms=duration_ms,
        )
        self._log.together(self._key, partial(self._write_down, call, recorded))
        reached(boundary)
        self._tell(call, recorded)
        return reply

    def _write_down(self, call: Call, made: RecordedCall) -> None:
        self._log.keep(self._key, made)
        self._pay(call, made)
        self._watch.remember(call, made)

    def _settle(self, call: Call, made: RecordedCall) -> None:
        """Pay and tell; harmless when repeated, for a call after whose record the process died."""
        self._pay(call, made)
        self._tell(call, made)

    def _pay(self, call: Call, made: RecordedCall) -> None:
        if call.kind == "model":
            self._watch.purse.settle(made.number, call.name, made.reply.usage)

    def _tell(self, call: Call, made: RecordedCall) -> None:
        self._recorded = made.number
        self._watch.tell(self._event(call, made), f"{self._key.task}/{self._key.attempt}/call/{made.number}")

    def _event(self, call: Call, made: RecordedCall) -> Event:
        key, usage = self._key, made.reply.usage
        if call.kind == "model":
            return ModelCalled(
                run=key.run,
                task=key.task,
                attempt=key.attempt,
                number=made.number,
                model=call.name,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                cost_usd=usage.cost_usd,
                duration_ms=made.duration_ms,
            )
        return ToolUsed(
            run=key.run,
            task=key.task,
            attempt=key.attempt,
            number=made.number,
            tool=call.name,
            summary=self._watch.redact(call.summary),
            failed=made.reply.failed,
            duration_ms=made.duration_ms,
            printed=self._watch.redact(str(made.reply.body.get("text", ""))[-LONGEST_PRINTED:]),
        )


def fingerprint(call: Call) -> str:
    """What tells a call from others."""
    words = "\0".join((call.kind, call.name, call.request))
    return hashlib.sha256(words.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class AgentSession:
    """A session of an agent's own, and the workspace when it was last heard of; empty without one."""

    name: str = ""
    tree: str = ""


def session_of(log: CallLog, key: AttemptKey) -> AgentSession:
    """The session that the agent of an attempt noted last."""
    noted = log.noted(key, SESSION)
    return AgentSession(**noted) if noted and noted["tree"] else AgentSession()


def resumable(log: CallLog, key: AttemptKey) -> tuple[RecordedCall, ...]:
    """The calls of an attempt up to the last one after which its workspace is known; the others are forgotten."""
    calls = log.of(key)
    last = max((call.number for call in calls if call.tree), default=0)
    if last < len(calls):
        log.cut(key, last)
    return calls[:last]
