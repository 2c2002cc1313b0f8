"""The log of a run for machines: every event as one line of JSON, with its time and level, secrets taken out."""

from __future__ import annotations

import json
import logging
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, assert_never

from milepost.core.events import (
    EVENTS_VERSION,
    AgentChosen,
    AgentSaid,
    AgentSignalled,
    AttemptFinished,
    BudgetReached,
    CheckFinished,
    CommandFinished,
    CommandPrinted,
    CommandStarted,
    Event,
    EventsTakenBack,
    ForecastMade,
    GateAnswered,
    GateOpened,
    LessonsTold,
    MemoryWaits,
    MilepostMade,
    ModelCalled,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopping,
    ServiceWaits,
    StageStarted,
    Steered,
    TaskFinished,
    ToolUsed,
    WorkerChanged,
)
from milepost.core.secrets.redact import Redactor
from milepost.core.verdict import Verdict
from milepost.engine.records.journal import event_to_json

Level = Literal["debug", "info", "warning", "error"]

MOST_BYTES = 10_000_000
LONGEST_TEXT = 20_000

_log = logging.getLogger("milepost.log")


def log_line(event: Event, at: float, redact: Redactor) -> str:
    """An event as a line of the log."""
    time = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    head = {"time": time, "level": level_of(event), "version": EVENTS_VERSION}
    return json.dumps(head | _clean(event_to_json(event), redact))


def level_of(event: Event) -> Level:
    """How much an event asks for attention."""
    match event:
        case AgentSaid() | ModelCalled() | StageStarted():
            return "debug"
        case CommandStarted() | CommandPrinted() | CommandFinished() | EventsTakenBack():
            return "debug"
        case ToolUsed():
            return "info" if event.failed else "debug"
        case CheckFinished():
            return "info" if event.outcome == "failed" else "debug"
        case AttemptFinished():
            return "info" if event.verdict is Verdict.PASSED else "warning"
        case TaskFinished():
            return "info" if event.verdict is Verdict.PASSED else "error"
        case RunFinished():
            return "info" if event.passed else "error"
        case GateOpened() | BudgetReached() | ServiceWaits() | RunStopping():
            return "warning"
        case RunStarted() | RunResumed() | MilepostMade() | GateAnswered() | Steered() | ForecastMade():
            return "info"
        case WorkerChanged() | AgentChosen() | AgentSignalled() | LessonsTold() | MemoryWaits():
            return "info"
        case _ as never:
            assert_never(never)


class LogFile:
    """Hears events and writes them down; never raises. A full file becomes the older one, of which there is one.

    A line is written whole, at the end of the file as it is: several processes may write one log.
    """

    def __init__(self, folder: Path, run: str, redact: Redactor, most_bytes: int = MOST_BYTES) -> None:
        self._path = folder / f"{run}.jsonl"
        self._older = folder / f"{run}.1.jsonl"
        self._redact = redact
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._failed = False

    def tell(self, event: Event, at: float) -> None:
        try:
            line = log_line(event, at, self._redact).encode() + b"\n"
            with self._lock:
                self._write(line)
        except Exception as error:
            if not self._failed:
                self._failed = True
                _log.warning("the log %s is not complete: %s", self._path.name, error)

    def _write(self, line: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = self._open()
        try:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                line = b"\n" + line  # the line before was cut short by a crash
            if size and size + len(line) > self._most_bytes:
                self._path.replace(self._older)
                os.close(fd)
                fd = self._open()
                line = line.lstrip(b"\n")
            os.write(fd, line)
        finally:
            os.close(fd)

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(self._path, flags, 0o644)


def _clean(value: Any, redact: Redactor) -> Any:
    """A plain value with secrets taken out of its texts, and long ones cut."""
    if isinstance(value, str):
        text = redact(value)
        return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"
    if isinstance(value, dict):
        return {key: _clean(one, redact) for key, one in value.items()}
    if isinstance(value, list):
        return [_clean(one, redact) for one in value]
    return value
