"""What commands print, told as they print it: in batches, within bounds, without secrets, before their end."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import milepost
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.errors import StateUnwritable
from milepost.core.events import CommandFinished, CommandPrinted, CommandStarted, Event
from milepost.core.secrets.redact import MASK, Redactor
from milepost.engine.records.check_logs import LoggingTerminal, Logs
from milepost.engine.records.journal import Journal
from milepost.engine.terminals.command_events import CUT_SHORT, CommandTeller, argv_shown
from milepost.engine.terminals.output_writer import (
    BATCH_BYTES,
    LAST_BYTES,
    LAST_LINES,
    LONGEST_LINE,
    MOST_LINES,
    Output,
    Printed,
    batches,
    fit,
)
from milepost.store.database import Database, open_database

SECRET = "hunter2-hunter2"
FOLDER = Path("/var/cache/milepost/7f3a-1.1-act/tree")


class Printing:
    """A terminal whose commands print some lines and exit with 3."""

    def __init__(self, *lines: Line | Callable[[], None]) -> None:
        self.lines = lines

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        for line in self.lines:
            if not isinstance(line, Line):
                line()
            elif on_line is not None:
                on_line(line)
        return CommandResult(termination="exited", exit_code=3, stdout="", stderr="", duration_ms=7, enforced=())


def out(text: str) -> Line:
    return Line(stream="stdout", text=text)


def err(text: str) -> Line:
    return Line(stream="stderr", text=text)


def command(*argv: str, parsed: bool = False, signed: bool = False) -> Command:
    return Command(
        argv=argv or ("make",),
        cwd=FOLDER,
        scratch=FOLDER.parent / "scratch",
        lines_are_parsed=parsed,
        lines_are_signed=signed,
    )


@contextmanager
def told(pause_s: float = 0.01) -> Iterator[tuple[Journal, CommandTeller]]:
    with Journal(":memory:") as journal, Output(journal, Redactor([SECRET]), pause_s) as output:
        yield (
            journal,
            CommandTeller(run="r1", task="1.1", attempt=2, by="agent", output=output, emit=journal.append),
        )


def events(journal: Journal) -> list[Event]:
    return [entry.event for entry in journal.events("r1", printed=True)]


def printed(journal: Journal) -> list[str]:
    return [line for event in events(journal) if isinstance(event, CommandPrinted) for line in event.lines]


def test_a_command_is_told_from_its_start_to_its_end_with_its_lines_between() -> None:
    lines = (out("\x1b[32mgreen\x1b[0m"), err(f"token={SECRET}"), out("\0 and \ud800"))
    with told() as (journal, teller):
        result = teller.around(Printing(*lines)).run(command(f"{FOLDER}/go", "a b", SECRET))
        started, *rows, finished = events(journal)
    assert isinstance(started, CommandStarted) and isinstance(finished, CommandFinished)
    assert (started.argv, started.by, started.task, started.attempt) == (f"./go 'a b' {MASK}", "agent", "1.1", 2)
    assert len(started.command) == 8 and result.exit_code == finished.exit_code == 3
    assert (finished.ending, finished.duration_ms, finished.unshown) == ("exit 3", 7, 0)
    told_lines = [line for row in rows if isinstance(row, CommandPrinted) for line in row.lines]
    assert told_lines == ["\x1b[32mgreen\x1b[0m", f"token={MASK}", "\\x00 and \\ud800"]
    assert {event.command for event in (started, *rows, finished)} == {started.command}  # type: ignore[union-attr]


def test_a_line_that_is_followed_by_silence_is_told_while_the_command_goes_on() -> None:
    with told(pause_s=600) as (journal, teller):
        seen: list[list[str]] = []

        def wait() -> None:
            until = threading.Event()
            while not printed(journal):
                until.wait(0.005)
            seen.append(printed(journal))

        teller.around(Printing(out("one"), wait, err("two"), out("three"))).run(command())
        *_, last, _ = events(journal)
    assert seen == [["one"]], "at once, though rows are far apart"
    assert isinstance(last, CommandPrinted) and (last.lines, last.errors) == (("two", "three"), (0,))


def test_what_is_parsed_as_it_comes_tells_its_start_its_end_and_what_it_complains_of() -> None:
    heard: list[Line] = []
    with told() as (journal, teller):
        teller.around(Printing(out('{"a": 1}'), err("oh"))).run(command(parsed=True), heard.append)
        assert printed(journal) == ["oh"]
    assert heard == [out('{"a": 1}'), err("oh")]


def test_lines_that_are_signed_are_left_out_only_where_a_runner_signs(tmp_path: Path) -> None:
    lines = (out("0" * 32 + ".said"), err("0" * 32 + ".said"), out("0" * 32 + " sum"), out("0" * 32 + "+more"))
    with told() as (journal, teller):
        teller.around(Printing(*lines)).run(command(signed=True))
        assert printed(journal) == ["0" * 32 + ".said", "0" * 32 + " sum"]
    with told() as (journal, teller):
        teller.around(Printing(*lines)).run(command())
        assert printed(journal) == [line.text for line in lines]


def test_rows_are_small_and_of_too_much_the_first_and_the_last_lines_wait() -> None:
    many = Printed(most_lines=5000)
    for number in range(6000):
        many.add((err if number % 2 else out)(f"\x1b[3{number % 8}mline {number} ☃"))
    taken = many.take()
    places = [place for place, line in enumerate(taken) if line.stream == "stderr"]
    rows, rest = [*batches([line.text for line in taken], places)], many.rest()
    assert many.take() == [] and many.rest().lines == []
    assert [line for row in rows for line in row.lines][-1].endswith("line 4999 ☃")
    assert all(len(json.dumps(row.lines)) <= row.size <= BATCH_BYTES for row in rows) and len(rows) < 20
    assert rows[0].errors == tuple(range(1, len(rows[0].lines), 2))
    assert rest.lines[rest.before].text.endswith("line 5500 ☃") and rest.left_out + rest.before == 500


@pytest.mark.parametrize("sign", ["x", "\x1b", "é", "☃", "\U0001f600"])
def test_bounds_count_what_a_row_takes(sign: str) -> None:
    large = Printed(most_bytes=1_000_000)
    for _ in range(1_000):
        large.add(out(sign * 3_000))
    rows = json.dumps([said.text for said in large.take()])
    assert 1_000_000 < len(rows) <= 1_000_000 + 12 * 3_000
    rest = large.rest()
    assert len(json.dumps([said.text for said in rest.lines[rest.before :]])) <= LAST_BYTES


def test_the_last_lines_of_a_command_that_prints_too_much_are_told_at_its_end() -> None:
    with told() as (journal, teller):
        teller.around(Printing(*(out(f"{n}") for n in range(MOST_LINES + 9_000)))).run(command())
        lines = printed(journal)
        *_, finished = events(journal)
    assert isinstance(finished, CommandFinished) and finished.unshown == 9_000 - LAST_LINES
    assert lines[: MOST_LINES + 1] == [*map(str, range(MOST_LINES)), "… 8,500 lines are not shown …"]
    assert lines[MOST_LINES + 1 :] == [*map(str, range(MOST_LINES + 8_500, MOST_LINES + 9_000))]


@pytest.mark.parametrize("more", [10, 1_000])
def test_a_key_that_begins_before_the_last_lines_is_not_told(more: int) -> None:
    key = ["-----BEGIN RSA PRIVATE KEY-----", *["MIIEowIBAAKCAQEA"] * 50, "-----END RSA PRIVATE KEY-----"]
    lines = [*["line"] * (MOST_LINES + more - 20), *key, *["line"] * (LAST_LINES - 20)]
    with told() as (journal, teller):
        teller.around(Printing(*map(out, lines))).run(command())
        assert not {*printed(journal)} & {*key} and printed(journal)[-LAST_LINES:].count(MASK) >= 20


def test_a_long_line_is_cut_and_says_so() -> None:
    with told() as (journal, teller):
        teller.around(Printing(out("x" * 9_000), err(""))).run(command())
        assert printed(journal) == ["x" * LONGEST_LINE + "…", ""]


def test_nothing_fails_for_the_sake_of_output_and_what_is_lost_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(event: Event, key: str) -> bool:
        if isinstance(event, CommandPrinted):
            raise StateUnwritable("the disk is full", "free some space")
        return append(event, key)

    with told() as (journal, teller):
        append = journal.append
        monkeypatch.setattr(journal, "append", full)
        assert teller.around(Printing(out("one"), out("two"))).run(command()).exit_code == 3
        *_, finished = events(journal)
    assert isinstance(finished, CommandFinished) and finished.unshown == 2


@pytest.mark.parametrize("full", [CommandStarted, CommandFinished])
def test_a_command_runs_though_its_start_or_its_end_cannot_be_told(full: type[Event]) -> None:
    heard: list[Line] = []
    with told() as (journal, teller):

        def emit(event: Event, key: str) -> bool:
            if isinstance(event, full):
                raise StateUnwritable("the disk is full", "free some space")
            return journal.append(event, key)

        result = replace(teller, emit=emit).around(Printing(out("one"))).run(command(), heard.append)
        assert [type(event) for event in events(journal)] == (
            [] if full is CommandStarted else [CommandStarted, CommandPrinted]
        )
    assert (result.exit_code, heard) == (3, [out("one")])


def test_a_command_that_its_listener_ends_has_an_end_too() -> None:
    def enough(_: Line) -> None:
        raise KeyboardInterrupt

    with told() as (journal, teller):
        with pytest.raises(KeyboardInterrupt):
            teller.around(Printing(out("one"))).run(command(), enough)
        *_, finished = events(journal)
        assert printed(journal) == ["one"]
    assert isinstance(finished, CommandFinished) and (finished.exit_code, finished.ending) == (None, CUT_SHORT)


def test_many_commands_at_once_keep_their_lines_apart_and_in_order() -> None:
    with told(pause_s=0.001) as (journal, teller):

        def go(name: int) -> None:
            teller.around(Printing(*(out(f"{name}/{number}") for number in range(500)))).run(command(str(name)))

        threads = [threading.Thread(target=go, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = events(journal)
    for name in range(4):
        (mine,) = [event.command for event in found if isinstance(event, CommandStarted) and event.argv == str(name)]
        rows = [event for event in found if isinstance(event, CommandPrinted) and event.command == mine]
        assert [line for row in rows for line in row.lines] == [f"{name}/{number}" for number in range(500)]
        (end,) = [place for place, e in enumerate(found) if isinstance(e, CommandFinished) and e.command == mine]
        assert all(found.index(row) < end for row in rows)


def test_checks_are_told_for_the_thread_that_asks_for_it_and_only_meanwhile(tmp_path: Path) -> None:
    with told() as (journal, teller):
        logging = LoggingTerminal(Printing(out("checked")), Logs(tmp_path / "logs"))
        with logging.told_by(teller.around):
            logging.run(command())
            background = threading.Thread(target=logging.run, args=(command("ahead"),))
            background.start()
            background.join()
        logging.run(command("after"))
        assert printed(journal) == ["checked"]
        assert [event.argv for event in events(journal) if isinstance(event, CommandStarted)] == ["make"]


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (("pytest", f"--rootdir={FOLDER}", f"{FOLDER}/t.py"), "pytest --rootdir=. ./t.py"),
        ((f"{FOLDER.parent}/scratch/env/bin/python", "-c", "x\ny"), "../scratch/env/bin/python -c 'x\ny'"),
        (("/opt/elsewhere/bin/python3.12", "-I", "x.py"), "python3.12 -I x.py"),
        (("python3", str(Path(milepost.__file__).with_name("driver.py"))), "python3 milepost/driver.py"),
        (("curl", f"https://u:{SECRET}@h/"), f"curl https://u:{MASK}@h/"),
    ],
)
def test_a_command_is_shown_as_in_its_own_folder(argv: tuple[str, ...], shown: str) -> None:
    assert argv_shown(command(*argv), Redactor([SECRET])) == shown


def test_what_no_database_can_hold_is_written_out(database: Database) -> None:
    journal = Journal(database)
    line = fit("\0\ud800\x1b[31m" + "é" * 5000)
    event = CommandPrinted(run="r1", task="1", attempt=1, command="c", lines=(line,), errors=())
    assert journal.append(event, "printed/c/1")
    ((entry),) = journal.events("r1", printed=True)
    assert entry.event == event and line.startswith("\\x00\\ud800\x1b[31mé")


def test_an_engine_that_ends_leaves_nothing_unwritten(tmp_path: Path) -> None:
    database = open_database(tmp_path / "milepost.db")
    journal = Journal(database)
    with Output(journal, Redactor(), pause_s=60) as output:
        started = CommandStarted(run="r1", task="1", attempt=1, command="c", argv="x", by="agent")
        printing = output.begin(started)
        printing.hear(out("some"))
        printing.hear(out("last words"))
    assert printed(journal) == ["some", "last words"]
    database.close()
