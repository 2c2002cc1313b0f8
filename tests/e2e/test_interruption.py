"""Stopping, resuming, and two engines at once."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from typing import IO

from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until
from tests.e2e.test_together import wait_for

SLOW = "- [ ] 1.1 Slow\n  - write a.txt a\n  - wait\n  - Verify: test -f a.txt\n"
QUICK = SLOW.replace("  - wait\n", "")
TWO = SLOW + "- [ ] 1.2 Next\n  - write b.txt b\n  - Depends on: 1.1\n  - Verify: test -f b.txt\n"


def acting(machine: Sandbox) -> bool:
    """Whether the agent has written its file."""
    return any((machine.home / ".cache/milepost").glob("*/*/tree/a.txt"))


def heard_until(words: str, stream: IO[str]) -> Iterator[str]:
    """The lines of a stream up to one with these words."""
    for line in stream:
        yield line
        if words in line:
            return
    raise AssertionError(f"never said: {words}")


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=300)
    return process.returncode, stdout, stderr


def test_the_second_engine_says_who_holds_the_state_and_ends(sandbox: Sandbox) -> None:
    sandbox.roadmap(SLOW)
    first = sandbox.start("run", "--agent", sandbox.agent)
    try:
        wait_until(lambda: acting(sandbox))
        for command in (("run", "--agent", sandbox.agent), ("resume",), ("undo", "1.1")):
            second = sandbox.milepost(*command)
            assert second.code == 1
            assert f"pid {first.pid}" in second.stderr and "already in progress" in second.stderr
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        end(first)


def test_stop_lets_the_step_in_flight_end_and_resume_goes_on_without_flags(sandbox: Sandbox) -> None:
    sandbox.roadmap(TWO)
    first = sandbox.start("run", "--agent", sandbox.agent, "--json")
    wait_until(lambda: acting(sandbox))
    stopping = sandbox.start("stop")
    assert first.stdout is not None
    heard = "".join(heard_until("run_stopping", first.stdout))
    sandbox.let_go()
    heard += first.stdout.read()
    assert end(first)[0] == 130
    assert heard.count('"stage": "act"') == 1
    assert "resume it at any time" in end(stopping)[1]
    resumed = sandbox.milepost("resume", "--json")
    assert resumed.code == 0, resumed.stderr
    assert [event["task"] for event in resumed.events if event.get("stage") == "act"] == ["1.2"], (
        "1.1 is not done again"
    )
    assert sandbox.mileposts() == ["1.1", "1.2"]


def test_no_other_run_goes_on_in_the_place_of_the_one_that_is_meant(sandbox: Sandbox) -> None:
    sandbox.write("OTHER.md", QUICK)
    sandbox.roadmap(QUICK)
    asking = ("--agent", sandbox.agent, "--approve", "each", "--json")
    first = sandbox.milepost("run", *asking).events[-1]["run"]
    for words in (("run", "OTHER.md", *asking), ("run", "OTHER.md", "--dry-run"), ("resume", "OTHER.md")):
        refused = sandbox.milepost(*words)
        assert refused.code == 1 and f"run {first} is unfinished, and it belongs to ROADMAP.md" in refused.stderr
    second = sandbox.milepost("run", "--new", *asking).events[-1]["run"]
    for meant, why in ((first, "it was abandoned"), ("ffff-", "there is no such run here")):
        refused = sandbox.milepost("resume", "--run", meant)
        assert refused.code == 1 and f"run {meant} cannot continue: {why}" in refused.stderr
        assert f"continues run {second}" in refused.stderr
    for asked in ("begin", "land"):
        assert sandbox.milepost("approve", "1.1").code == 0, asked
        went_on = sandbox.milepost("resume", "--run", second.upper())
    assert went_on.code == 0 and sandbox.mileposts() == ["1.1"]
    assert f"run {second} cannot continue: it is finished" in sandbox.milepost("resume", "--run", second).stderr


def test_interrupting_twice_stops_at_once_and_loses_nothing(sandbox: Sandbox) -> None:
    sandbox.roadmap(SLOW)
    first = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: acting(sandbox))
    os.kill(first.pid, signal.SIGINT)
    wait_for(first, {"stopping after the running steps"})
    assert first.poll() is None, "the first interrupt waits for the step in flight"
    os.kill(first.pid, signal.SIGINT)
    code, stdout, _ = end(first)
    assert code == 130
    assert "milepost resume" in stdout
    assert sandbox.milepost("status").stdout.startswith("run ")
    assert sandbox.milepost("status", "--json").json["state"] == "interrupted"


def test_stop_now_ends_the_agent(sandbox: Sandbox) -> None:
    sandbox.roadmap(SLOW)
    first = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: acting(sandbox))
    assert sandbox.milepost("stop", "--now").code == 0
    assert end(first)[0] == 130


def test_stopping_now_starts_no_further_command_and_leaves_no_trace_in_the_verdict(sandbox: Sandbox) -> None:
    """The baseline is cut short, too: a test that was always red must not be held against the task afterwards."""
    gates = sandbox.home / "gates"
    gates.mkdir()
    sandbox.write("milepost.toml", f"[sandbox]\nreadable = [{str(gates)!r}]\n")
    sandbox.write(
        "test_red.py",
        "import os\nimport time\nimport unittest\n\n\nclass Red(unittest.TestCase):\n    def test_red(self):\n"
        f"        while not os.path.exists({str(gates / 'open')!r}):\n            time.sleep(0.02)\n"
        "        self.fail('always')\n",
    )
    checks = "".join(f"  - Verify: sh -c 'sleep 0.{number}; test -f a.txt'\n" for number in range(1, 4))
    sandbox.roadmap(f"- [ ] 1.1 One\n  - write a.txt a\n{checks}")
    first = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: "act" in sandbox.milepost("status").stdout)
    assert sandbox.milepost("stop", "--now").code == 0
    assert end(first)[0] == 130
    (gates / "open").touch()
    resumed = sandbox.milepost("resume", "--json")
    assert resumed.code == 0, resumed.stdout
    assert resumed.events[-1]["tasks"][0]["attempts"] == 1
    events = sandbox.milepost("status", "--json").json
    assert events["state"] == "finished"


def test_the_same_command_after_a_kill_goes_on_and_a_smaller_wish_is_refused(sandbox: Sandbox) -> None:
    sandbox.roadmap(SLOW.replace("1.1", "T001") + "- [ ] T002 More\n  - write b.txt b\n  - Verify: true\n")
    words = ("run", "--agent", sandbox.agent, "--task", "t001")
    first = sandbox.start(*words)
    wait_until(lambda: acting(sandbox))
    os.killpg(first.pid, signal.SIGKILL)
    end(first)
    other = sandbox.run("--task", "T002")
    assert other.code == 1 and "--task T002" in other.stderr
    fewer = sandbox.run("--max-tasks", "1")
    assert fewer.code == 1 and "--max-tasks 1" in fewer.stderr
    again = sandbox.start(*words)
    wait_until(lambda: sandbox.milepost("status", "--json").json["state"] == "running")
    os.killpg(again.pid, signal.SIGKILL)
    assert "already in progress" not in end(again)[2]


def test_there_is_nothing_to_resume_or_to_stop_and_both_say_so(sandbox: Sandbox) -> None:
    sandbox.roadmap(SLOW)
    sandbox.let_go()
    assert sandbox.milepost("resume").stdout == "nothing to do: no runs here yet\n"
    assert sandbox.run().code == 0
    assert sandbox.milepost("resume").stdout == "nothing to do: the last run is finished\n"
    assert sandbox.milepost("stop").stdout == "nothing to stop: no run in progress here\n"


def test_an_interrupted_run_is_not_silently_given_other_flags(sandbox: Sandbox) -> None:
    sandbox.roadmap(SLOW)
    first = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: acting(sandbox))
    os.killpg(first.pid, signal.SIGKILL)
    end(first)
    other = sandbox.milepost("run", "--agent", "command:true")
    assert other.code == 1 and "milepost run --new" in other.stderr
    new = sandbox.milepost("run", "--new", "--json", "--agent", "command:touch a.txt")
    assert new.code == 0, new.stderr
    assert sandbox.milepost("resume").stdout == "nothing to do: the last run is finished\n"


def test_a_reader_that_goes_away_ends_the_run_and_loses_nothing(sandbox: Sandbox) -> None:
    sandbox.roadmap(TWO)
    process = sandbox.start("run", "--agent", sandbox.agent)
    assert process.stdout is not None and process.stderr is not None
    process.stderr.readline()
    process.stderr.close()
    process.stdout.close()
    sandbox.let_go()
    assert process.wait(300) == 1
    assert sandbox.run().code == 0
    assert sandbox.mileposts() == ["1.1", "1.2"]


def test_an_engine_that_works_is_not_called_interrupted(sandbox: Sandbox) -> None:
    sandbox.roadmap(SLOW)
    first = sandbox.start("run", "--agent", sandbox.agent)
    try:
        wait_until(lambda: acting(sandbox))
        other = sandbox.milepost("run", "--agent", "command:true")
        assert other.code == 1 and f"pid {first.pid}" in other.stderr
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        end(first)
    # What it had started ends with it, and holds the state until then.
    wait_until(lambda: "was at" in sandbox.milepost("status").stdout)
