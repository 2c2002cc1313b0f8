"""What commands print, from the process to the journal: as it is printed, once, also when the engine is killed."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

from milepost import events
from tests import places
from tests.e2e.conftest import Sandbox

SECRET = "sk-abcdefghijklmnopqrstuvwx"

# Prints until it is told to go on.
AGENT = f"""\
import pathlib, sys, time

print("\\x1b[31mred\\x1b[0m", flush=True)
print("a complaint", file=sys.stderr, flush=True)
print("the key is {SECRET}", flush=True)
pathlib.Path("a.txt").write_text("hello\\n")
number = 0
while True:
    number += 1
    print("line", number, flush=True)
    if number >= 200 and pathlib.Path(__file__).read_text().endswith("# go on\\n"):
        break
    time.sleep(0.002)
"""
LINE = re.compile(r'"line (\d+)"')
TASK = "- [ ] 1.1 Print much\n  - Verify: sh -c 'echo checked by milepost; echo and told >&2; grep -q hello a.txt'\n"


def test_every_line_is_told_once_and_a_command_that_is_killed_has_no_end(sandbox: Sandbox) -> None:
    Path(sandbox.agent.split()[-1]).write_text(AGENT)
    sandbox.roadmap(TASK)
    engine = sandbox.start("run", "--agent", sandbox.agent)
    with events.open_stream(sandbox.repo / "ROADMAP.md") as stream:
        wait_for_lines(stream, 100)
        os.killpg(engine.pid, signal.SIGKILL)
        engine.communicate()
        (run,) = stream.runs()
    follower = sandbox.start("events", "--follow", "--json")
    sandbox.let_go()
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert "line 1" not in resumed.stderr and "checked by" not in resumed.stderr, "the live view stays quiet"
    told, _ = follower.communicate(timeout=60)
    assert '"run_finished"' in told.splitlines()[-1] and "command_printed" not in told

    entries = sandbox.milepost("events", "--json", "--printed").events
    assert SECRET not in str(entries)
    kinds = [event["event"] for event in entries]
    assert kinds.count("run_resumed") == 1
    first, second = [event for event in entries if event["event"] == "command_started" and event["by"] == "agent"]
    assert kinds.index("run_resumed") in range(entries.index(first), entries.index(second))
    ended = {event["command"]: event for event in entries if event["event"] == "command_finished"}
    assert first["command"] not in ended and ended[second["command"]]["ending"] == "exit 0"

    for command, whole in ((first, False), (second, True)):
        lines, errors = printed(entries, command["command"])
        assert lines[0] == "\x1b[31mred\x1b[0m" and "a complaint" in lines and errors == ["a complaint"]
        counted = [line for line in lines if line.startswith("line ")]
        assert counted == [f"line {number}" for number in range(1, len(counted) + 1)], "each once, in order"
        assert len(counted) >= (200 if whole else 100)
    checks = [event for event in entries if event["event"] == "command_started" and "checked by" in event["argv"]]
    assert printed(entries, checks[0]["command"]) == (["checked by milepost", "and told"], ["and told"])
    for check in checks:  # the others ask the same where a user would run it, also at a terminal
        assert (check["by"], check["task"], check["attempt"]) == ("milepost", "1.1", 1)
        assert printed(entries, check["command"])[0] == ["checked by milepost", "and told"]
        assert str(sandbox.home) not in check["argv"]

    shown = sandbox.milepost("events", "--printed").stdout
    assert "| red\n" in shown and "! a complaint\n" in shown and f"[{second['command']}] exit 0" in shown
    assert run.run in shown
    log = (places.state(sandbox.repo) / f"logs/{run.run}.jsonl").read_text()
    assert "command_finished" in log and "command_printed" not in log


def printed(entries: list[dict[str, Any]], command: str) -> tuple[list[str], list[str]]:
    """The lines of a command, and those of them that came on stderr."""
    rows = [event for event in entries if event["event"] == "command_printed" and event["command"] == command]
    lines = [line for row in rows for line in row["lines"]]
    return lines, [row["lines"][place] for row in rows for place in row["errors"]]


def wait_for_lines(stream: events.EventStream, many: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        rows = [row for run in stream.runs() for row in stream.printed_before(run.run, stream.last(run.run) + 1)]
        if any(int(number) >= many for row in rows for number in LINE.findall(row.body)):
            return
        time.sleep(0.05)
    raise AssertionError(f"line {many} was not told")
