"""The scratchpad by itself: what a program of one's own stores, observes and says of its confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from milepost.agents.code_agent.scratchpad import Note, Pad, one_line
from milepost.core.attempt import Signal, SignalKind

_collector: ContextVar[Callable[[Signal], object] | None] = ContextVar("collector", default=None)


class AgentMemory:
    """Values, observations and failed approaches of one piece of work, as text for a model or as names for code."""

    def __init__(self) -> None:
        self._pad = Pad()

    @property
    def variables(self) -> dict[str, Any]:
        return dict(self._pad.variables)

    @property
    def observations(self) -> tuple[str, ...]:
        return tuple(note.text for note in self._pad.notes if note.kind == "observation")

    @property
    def failed_approaches(self) -> tuple[str, ...]:
        failed = (note for note in self._pad.notes if note.kind == "failed")
        return tuple(f"{note.name}: {note.text}" if note.text else note.name for note in failed)

    def store(self, name: str, value: Any) -> None:
        """Keep a plain value under a name; ValueError when it is too long."""
        self._pad.add(Note(kind="variable", name=one_line(name), value=value))

    def recall(self, name: str, default: Any = None) -> Any:
        """A value that was stored, else the default."""
        return self._pad.variables.get(one_line(name), default)

    def observe(self, text: str) -> None:
        """Note something that was found out."""
        self._pad.add(Note(kind="observation", text=one_line(text)))

    def fail(self, approach: str, why: str = "") -> None:
        """Note an approach that failed, so that it is not tried again."""
        self._pad.add(Note(kind="failed", name=one_line(approach), text=one_line(why)))

    def clear(self) -> None:
        """Forget everything."""
        self._pad = Pad()

    def to_context(self) -> str:
        """Everything as text for a model; empty when nothing was noted."""
        return self._pad.shown()

    def to_namespace(self) -> dict[str, Any]:
        """The functions and the stored values by their names, for code that is given them."""
        functions = (self.store, self.recall, self.observe, self.fail)
        return {**self._pad.variables, **{each.__name__: each for each in functions}}

    def signalled(self, kind: SignalKind, text: str) -> Signal:
        """Note a signal, and pass it on to whoever collects signals."""
        self._pad.add(Note(kind=kind, text=one_line(text)))
        return _signalled(kind, text)


def uncertain(why: str) -> Signal:
    """Say that you are not sure, and why."""
    return _signalled("uncertain", why)


def explore(what: str) -> Signal:
    """Say what you are about to find out."""
    return _signalled("explore", what)


def commit(plan: str) -> Signal:
    """Say which plan you will follow from now on."""
    return _signalled("commit", plan)


@contextmanager
def collect_signals(collector: Callable[[Signal], object]) -> Iterator[None]:
    """Give all signals of this context to a collector, such as `signals.append`; the innermost one gets them."""
    before = _collector.set(collector)
    try:
        yield
    finally:
        _collector.reset(before)


def _signalled(kind: SignalKind, text: str) -> Signal:
    signal = Signal(kind=kind, text=one_line(text))
    if (collector := _collector.get()) is not None:
        collector(signal)
    return signal
