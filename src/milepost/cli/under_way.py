"""What takes its time, with a clock: redrawn on a terminal, in plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from milepost.cli.format_text import duration, safe
from milepost.cli.output import print_lines
from milepost.events import UnderWay, listening

if TYPE_CHECKING:
    from rich.text import Text

WORTH_A_LINE_S = 2.0  # what ended sooner leaves no line of its end


class UnderWayLines:
    """Says when something begins, where nothing is redrawn, and how long it took where that was long."""

    def __init__(
        self, say: Callable[[str], None], *, redrawn: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._redrawn, self._clock = say, redrawn, clock
        self._since: dict[int, tuple[str, float]] = {}

    def __call__(self, told: UnderWay) -> None:
        if not told.ended:
            self._since[told.number] = (told.what, self._clock())
            if not self._redrawn:
                self._say(f"  {safe(told.what)} …")
            return
        _, since = self._since.pop(told.number, (told.what, self._clock()))
        if (took_s := self._clock() - since) >= WORTH_A_LINE_S:
            self._say(f"  {safe(told.what)}: {duration(int(took_s * 1000))}")

    def now(self) -> list[tuple[str, str]]:
        """What is under way, and for how long."""
        clock = self._clock()
        return [(safe(what), duration(int((clock - since) * 1000))) for what, since in list(self._since.values())]


@contextmanager
def told_on_stderr() -> Iterator[None]:
    """Tell on stderr what takes its time during the block."""
    if not sys.stderr.isatty():
        with listening(UnderWayLines(lambda line: print_lines(line, err=True), redrawn=False)):
            yield
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    lines = UnderWayLines(lambda line: console.print(line, style="dim", markup=False, highlight=False), redrawn=True)
    redrawn = Live(get_renderable=lambda: _text(lines.now()), console=console, refresh_per_second=4, transient=True)
    with redrawn, listening(lines):
        yield


def _text(rows: list[tuple[str, str]]) -> Text:
    from rich.text import Text

    return Text("\n".join(f"┃ {what}  {clock}" for what, clock in rows), style="cyan", no_wrap=True)
