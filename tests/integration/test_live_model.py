"""The tool agent and a live model, against a server on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.models.live import ModelSetup, live_model
from milepost.agents.tool_agent.agent import ToolAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Tools, Unrecorded
from tests.e2e.conftest import make_machine
from tests.fakes.model_server import ModelServer, paid_twice, read_log


def writing(name: str, text: str) -> list[dict[str, Any]]:
    call = {"name": "write_file", "arguments": {"path": name, "content": text}}
    return [{"text": f"I write {name}.", "calls": [call]}, {"text": "Done."}]


WORK = {"1.1": [writing("a.txt", "x\n")]}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class NoTerminal:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError("nothing should be run here")


class Counting(Unrecorded):
    """Makes every call, and adds up what the model's calls could take and took."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Call, Usage]] = []

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        reply = make()
        if call.kind == "model":
            self.calls.append((call, reply.usage))
        return reply


@dataclass
class Trial:
    """One attempt at task 1.1 with the model of a server; pauses are short, and counted, and no time passes."""

    server: ModelServer
    folder: Path
    said: list[str] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    book: Counting = field(default_factory=Counting)
    clock: Callable[[], float] = lambda: 0.0

    def act(self, *, time_s: float = 60, **setup: Any) -> Outcome:
        stated: dict[str, Any] = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 10.0, "patience_s": 5.0} | setup
        model = live_model(ModelSetup(name="openai:scripted-1", base_url=self.server.base_url, **stated), {})
        agent = ToolAgent(model, patience_s=stated["patience_s"], stops=self, clock=self.clock)
        tools = Tools(terminal=NoTerminal(), say=self.said.append, timeout_s=time_s, logbook=self.book)
        assignment = Assignment(run="7f3a", task="1.1", title="Write", text="", attempt=1)
        return agent.act(assignment, Workspace(folder=self.folder, scratch=self.folder, base="0" * 40), tools)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        time.sleep(0.1)

    def check(self) -> None:
        pass


def test_a_model_does_a_task_and_what_it_took_is_counted(tmp_path: Path) -> None:
    with ModelServer({"tasks": WORK}, tmp_path / "log") as server:
        trial = Trial(server, tmp_path)
        outcome = trial.act()

        assert (outcome.status, outcome.said) == ("finished", "Done.")
        assert outcome.cost_usd == pytest.approx(0.004)
        assert (tmp_path / "a.txt").read_text() == "x\n"
        assert [(usage.input_tokens, usage.output_tokens) for _, usage in trial.book.calls] == [(1000, 100)] * 2
        assert all(call.most.cost_usd >= usage.cost_usd for call, usage in trial.book.calls)
        first, second = (question.body for question in server.questions)
        assert first["max_completion_tokens"] == 8192
        assert {tool["function"]["name"] for tool in first["tools"]} >= {"write_file", "execute", "give_up"}
        assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool"]
        assert second["messages"][2]["content"] == "wrote a.txt"
        assert [question.key.rpartition("-")[0] for question in server.questions] == ["7f3a/1.1/1/1", "7f3a/1.1/1/2"]


RATE = {"kind": "status", "status": 429}


@pytest.mark.parametrize(
    ("fault", "status", "pauses", "paid"),
    [
        ({**RATE, "headers": {"Retry-After": "2"}}, "finished", [2], 2),
        ({**RATE, "headers": {"Retry-After": "3600"}}, "limited", [], 0),
        ({**RATE, "headers": {"x-ratelimit-reset-tokens": "20m0s"}, "answer": 2}, "limited", [], 1),
        ({"kind": "status", "status": 500, "times": 2}, "finished", [1, 2], 2),
        ({"kind": "status", "status": 503, "times": None}, "limited", [1, 2, 4], 0),
        ({"kind": "status", "status": 503, "headers": {"Retry-After": "600"}}, "limited", [], 0),
        ({"kind": "status", "status": 401}, "gave_up", [], 0),
        ({"kind": "status", "status": 400}, "gave_up", [], 0),
        ({"kind": "drop", "times": 2}, "finished", [1, 2], 2),
        ({"kind": "lose", "answer": 2}, "finished", [1], 2),
        ({"kind": "hang", "seconds": 60}, "finished", [1], 2),
        ({"kind": "garbage"}, "finished", [], 2),
        ({"kind": "garbage", "times": None}, "gave_up", [], 0),
        ({"kind": "invalid"}, "finished", [], 2),
        ({"kind": "invalid", "times": None}, "gave_up", [], 0),
        ({"kind": "empty"}, "finished", [], 2),
        ({"kind": "empty", "times": None}, "gave_up", [], 0),
        ({"kind": "cut", "answer": 2}, "finished", [], 3),
        ({"kind": "cut", "times": None}, "gave_up", [], 2),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_whatever_a_server_does_the_attempt_is_finished_or_waits_or_gives_up_and_is_charged_once(
    fault: dict[str, Any], status: str, pauses: list[float], paid: int, tmp_path: Path
) -> None:
    with ModelServer({"tasks": WORK, "faults": [fault]}, tmp_path / "log") as server:
        trial = Trial(server, tmp_path)
        outcome = trial.act(**({"timeout_s": 3} if fault["kind"] == "hang" else {}))

        assert (outcome.status, trial.pauses) == (status, pauses), outcome.said
        assert len(server.paid) == paid and not server.paid_twice()
        assert server.repeated == (1 if fault["kind"] == "lose" else 0)
        if status == "finished":
            assert (tmp_path / "a.txt").read_text() == "x\n"
        if status == "limited":
            stated = ": try again in" if "headers" in fault else ""
            limit = "limit reached" if fault["status"] == 429 else "the server does not answer"
            assert f"{limit}{stated}" in outcome.said
            assert (server.base_url in outcome.said) == (fault["status"] != 429)


def test_a_server_that_is_down_for_a_while_is_waited_for(tmp_path: Path) -> None:
    with ModelServer({"tasks": WORK, "faults": [{"kind": "refuse", "seconds": 0.3}]}, tmp_path / "log") as server:
        trial = Trial(server, tmp_path)
        outcome = trial.act(patience_s=600.0)

        assert outcome.status == "finished"
        assert any("does not answer" in line and "trying again in 1 s" in line for line in trial.said)
        assert not server.paid_twice()


def test_time_that_is_up_while_the_model_thinks_ends_the_attempt(tmp_path: Path) -> None:
    with ModelServer({"tasks": WORK, "faults": [{"kind": "hang", "seconds": 60}]}, tmp_path / "log") as server:
        assert Trial(server, tmp_path, clock=time.monotonic).act(time_s=0.5).status == "timed_out"


def test_many_attempts_may_ask_one_model_at_once(tmp_path: Path) -> None:
    with ModelServer({"tasks": WORK}, tmp_path / "log", honours_keys=False) as server:
        trials = [Trial(server, tmp_path) for _ in range(6)]
        ends: list[str] = []
        threads = [threading.Thread(target=lambda one=one: ends.append(one.act().status)) for one in trials]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

        assert ends == ["finished"] * 6
        assert len(server.paid) == 12 and set(server.paid_twice().values()) == {6}


def test_the_server_goes_on_with_its_accounts_after_it_was_killed(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log"
    script.write_text(json.dumps({"tasks": WORK}))
    argv = [sys.executable, "-m", "tests.fakes.model_server", "--script", str(script), "--log", str(log), "--port"]

    def serve(port: int) -> tuple[subprocess.Popen[str], int]:
        process = subprocess.Popen(
            [*argv, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
        assert process.stdout is not None
        return process, int(process.stdout.readline())

    class Remote(ModelServer):
        """Only an address: the server is another process."""

    first, port = serve(0)
    with first:
        here = Trial(Remote({}, tmp_path / "unused", port=port), tmp_path)
        assert here.act().status == "finished"
        first.kill()
    with log.open("a") as stream:
        stream.write('{"sequence": 3, "na')
    second, _ = serve(port)
    with second:
        assert here.act().status == "finished"
        assert second.stdin is not None
        second.stdin.close()
        assert second.wait(60) == 0

    assert [paid["sequence"] for paid in read_log(log)] == [1, 2] and not paid_twice(log)


@pytest.mark.usefixtures("nursed")
def test_a_killed_run_with_the_tool_agent_goes_on_to_its_mileposts_and_asks_nothing_again(tmp_path: Path) -> None:
    tasks = {"1.1": [writing("one.txt", "1\n")], "1.2": [writing("two.txt", "wrong\n"), writing("two.txt", "2\n")]}
    fault = {"kind": "hang", "seconds": 60, "task": "1.2", "answer": 2}
    machine = make_machine(tmp_path)
    with ModelServer({"tasks": tasks, "faults": [fault]}, tmp_path / "log", honours_keys=False) as server:
        machine.write("milepost.toml", server.settings())
        machine.roadmap(
            "- [ ] 1.1 Write one\n  - Verify: `grep -qx 1 one.txt`\n"
            "- [ ] 1.2 Write two\n  - Verify: `grep -qx 2 two.txt`\n"
        )
        with machine.start("run", "--agent", "tool", "--parallel", "1") as run:
            deadline = time.monotonic() + 180
            while not any((one.task, one.answer) == ("1.2", 2) for one in server.questions):
                assert time.monotonic() < deadline and run.poll() is None
                time.sleep(0.05)
            os.killpg(run.pid, signal.SIGKILL)
        answer = machine.milepost("resume", "--json")

        assert answer.code == 0, answer.stderr
        finished = answer.events[-1]
        assert finished["event"] == "run_finished"
        assert finished["cost_usd"] == pytest.approx(6 * 0.0011)
        assert sorted(machine.mileposts()) == ["1.1", "1.2"]
        assert (machine.repo / "two.txt").read_text() == "2\n"
        assert len(server.paid) == 6 and not server.paid_twice()
        assert len(server.questions) == 7  # the one that was never answered was asked again


@pytest.mark.usefixtures("nursed")
def test_a_killed_run_goes_on_with_the_model_that_stood_in_and_each_is_paid_under_its_name(tmp_path: Path) -> None:
    first, second = (writing(f"{name}.txt", "1\n")[0] for name in ("one", "two"))
    tasks = {"1.1": [[first, second, {"text": "Done."}]]}
    rejects = {"kind": "status", "status": 403, "answer": 2, "times": None}
    hangs = {"kind": "hang", "seconds": 60, "answer": 3}
    machine = make_machine(tmp_path)
    with (
        ModelServer({"tasks": tasks, "faults": [rejects]}, tmp_path / "log", honours_keys=False) as server,
        ModelServer({"tasks": tasks, "faults": [hangs]}, tmp_path / "other", honours_keys=False) as stand_in,
    ):
        env = {"ANTHROPIC_BASE_URL": stand_in.url, "ANTHROPIC_API_KEY": "a key of some length"}
        machine.write("milepost.toml", server.settings(fallback=["anthropic:claude-sonnet-5"]))
        machine.roadmap("- [ ] 1.1 Write both\n  - Verify: `grep -qx 1 one.txt two.txt`\n")
        with machine.start("run", "--agent", "tool", **env) as run:
            deadline = time.monotonic() + 180
            while not any(one.answer == 3 for one in stand_in.questions):
                assert time.monotonic() < deadline and run.poll() is None
                time.sleep(0.05)
            os.killpg(run.pid, signal.SIGKILL)
        answer = machine.milepost("resume", "--json", **env)

        assert answer.code == 0, answer.stderr
        assert machine.mileposts() == ["1.1"]
        assert [one.answer for one in server.questions] == [1, 2]
        assert [one.answer for one in stand_in.questions] == [2, 3, 3]
        assert not server.paid_twice() and not stand_in.paid_twice()
        expenses = machine.milepost("costs", "--json").json["expenses"]
        paid = {one["model"]: one["input_tokens"] for one in expenses if one["model"]}
        assert paid == {"openai:scripted-1": 1000, "anthropic:claude-sonnet-5": 2000}
        events = machine.milepost("events", "--json").events
        said = [event["text"] for event in events if event["event"] == "agent_said"]
        assert any("asking anthropic:claude-sonnet-5" in line and "403" in line for line in said)
