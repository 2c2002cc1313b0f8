"""Logs: kept whole, once, and not for ever."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.verdict import CheckResult
from milepost.engine.records.check_logs import LoggingTerminal, Logs, logs_of


class Saying:
    """A terminal whose every command prints its own name."""

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        return CommandResult(
            termination="exited",
            exit_code=3,
            stdout=f"{command.argv[0]} says so\n",
            stderr="and complains\n",
            duration_ms=7,
            enforced=(),
        )


def command(program: str) -> Command:
    return Command(argv=(program, "a b"), cwd=Path(), scratch=Path())


def test_what_was_run_since_the_last_call_is_one_log(tmp_path: Path) -> None:
    logs = Logs(tmp_path / "logs")
    terminal = LoggingTerminal(Saying(), logs)
    terminal.run(command("one"))
    terminal.run(command("two"))
    text = logs.read(terminal.collect())
    assert text is not None
    assert "$ one 'a b'\none says so\nand complains\n[exit 3, 7 ms]\n\n$ two" in text
    assert terminal.collect() == ""


def test_the_same_log_is_kept_once_and_a_lost_or_damaged_one_is_none(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    name = logs.keep("x" * 100_000)
    assert logs.keep("x" * 100_000) == name
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 1_000
    file.write_bytes(b"not gzip")
    assert logs.read(name) is None
    assert logs.read("../../etc/passwd") is None


def test_the_oldest_logs_go_first_and_halves_always(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    old, new = logs.keep(os.urandom(500).hex()), logs.keep(os.urandom(500).hex())
    os.utime(tmp_path / f"{old}.gz", (1, 1))
    (tmp_path / "half.123-4").write_bytes(b"x")
    logs.sweep(most_bytes=900)
    assert [path.name for path in tmp_path.iterdir()] == [f"{new}.gz"]


def test_a_check_whose_log_is_gone_shows_the_end_that_its_evidence_keeps(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    whole = CheckResult(name="tests", outcome="passed", summary="", log="end", log_id=logs.keep("all of it"))
    gone = CheckResult(name="verify", outcome="passed", summary="", log="end", log_id="0" * 24)
    silent = CheckResult(name="files", outcome="passed", summary="")
    assert logs_of((whole, gone, silent), logs) == (("tests", "all of it"), ("verify", "end"))
