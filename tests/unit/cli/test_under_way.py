"""What takes its time, as the command line tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.cli.under_way import WORTH_A_LINE_S, UnderWayLines
from milepost.core.errors import EngineBusy
from milepost.core.under_way import listening, under_way
from milepost.engine.project import state_lock
from milepost.engine.project.state_lock import StateLock
from milepost.verify.environments.package_cache import Entries


class Told:
    """What was said, by a clock that is set by hand."""

    def __init__(self, *, redrawn: bool) -> None:
        self.said: list[str] = []
        self.now_s = 0.0
        self.lines = UnderWayLines(self.said.append, redrawn=redrawn, clock=lambda: self.now_s)


def test_in_a_pipe_the_beginning_is_a_line_and_the_end_of_what_took_long_another() -> None:
    told = Told(redrawn=False)
    with listening(told.lines):
        with under_way("fetching"):
            told.now_s = WORTH_A_LINE_S / 2
        with under_way("installing\x1b[2J"):
            told.now_s += 34
    assert told.said == ["  fetching …", "  installing[2J …", "  installing[2J: 34 s"]
    with under_way("unheard"):
        assert len(told.said) == 3


def test_on_a_terminal_there_is_a_clock_while_it_lasts() -> None:
    told = Told(redrawn=True)
    with listening(told.lines), under_way("installing"):
        told.now_s = 34
        assert told.said == [] and told.lines.now() == [("installing", "34 s")]
    assert told.said == ["  installing: 34 s"] and told.lines.now() == []


def test_an_installation_is_told_once_and_waiting_for_the_one_of_another_process_too(tmp_path: Path) -> None:
    told = Told(redrawn=False)
    with listening(told.lines):
        mine, theirs = Entries(tmp_path), Entries(tmp_path, patience_s=0.1)
        mine.get("a", lambda folder: None, "creating a")
        mine.get("a", lambda folder: None, "creating a")
        with mine._held("b"):
            theirs.get("b", lambda folder: None, "creating b")
    assert told.said == ["  creating a …", "  waiting for another process: creating b …"]


def test_waiting_for_a_lock_that_orphans_hold_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(redrawn=False)
    monkeypatch.setattr(state_lock, "ORPHANS_WAIT_S", 0.0)
    monkeypatch.setattr(state_lock.Holder, "alive", property(lambda self: False))
    with listening(told.lines), StateLock(tmp_path), pytest.raises(EngineBusy), StateLock(tmp_path):
        pass
    assert told.said == ["  waiting for the last processes of an engine that died …"]
