"""What the routes of the page need to know: whose roadmap it is, its stream of events, where previews are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class Row(Protocol):
    """An event as it is stored: its place in the stream, when it was written, and its JSON."""

    @property
    def seq(self) -> int: ...
    @property
    def at(self) -> float: ...
    @property
    def body(self) -> str: ...


class Opening(Protocol):
    """What a page begins with: all rows but older output; `floor` is the place below which output was left out."""

    @property
    def rows(self) -> tuple[Row, ...]: ...
    @property
    def floor(self) -> int: ...


class RunGlance(Protocol):
    """A run in a few words."""

    @property
    def run(self) -> str: ...


class EventStream(Protocol):
    """Reads the events of runs; threads may share it."""

    @property
    def epoch(self) -> str: ...
    def runs(self) -> tuple[RunGlance, ...]: ...
    def last(self, run: str) -> int: ...
    def after(self, run: str, seq: int, *, most: int = 500, most_bytes: int = 200_000) -> tuple[Row, ...]: ...
    def opening(self, run: str, lines: int = 5000) -> Opening: ...
    def printed_before(self, run: str, seq: int, lines: int = 5000) -> tuple[Row, ...]: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One served page. `database` is the server that runs are submitted to, None for what the settings say.

    `run` is the run that the page opens with, None for the newest. `preview` and `app` are the addresses of the other
    name, where the report and the built app are shown; empty where there is none.
    """

    roadmap: Path
    stream: EventStream
    database: str | None = field(default=None, repr=False)
    run: str | None = None
    preview: str = ""
    app: str = ""
