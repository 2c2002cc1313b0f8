"""A live model over each wire that the library speaks here, streamed and whole: what is asked, what faults come to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.models.live import ModelSetup, live_model
from milepost.agents.models.model import Conversation, Prompt
from milepost.agents.models.prices import Price
from milepost.agents.tool_agent.agent import ToolAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Tools
from tests.fakes.model_server import ModelServer

WIRES = {
    "chat": ("openai-chat:scripted-1", "base_url"),
    "responses": ("openai-responses:scripted-1", "base_url"),
    "messages": ("anthropic:claude-sonnet-5", "url"),
    "gemini": ("google:gemini-2.5-pro", "url"),
}
KEYS = {
    "OPENAI_API_KEY": "key-of-openai",
    "ANTHROPIC_API_KEY": "key-of-anthropic",
    "GOOGLE_API_KEY": "key-of-google",
}
ABSENT = pytest.mark.skipif(find_spec("google.genai") is None, reason="the package google-genai is not installed")
OVER = ["chat", "responses", "messages", pytest.param("gemini", marks=ABSENT)]
WORK = {
    "1.1": [
        [
            {
                "text": "I write a.txt.\nThen I stop.",
                "calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "x\n"}}],
            },
            {"text": "Done."},
        ]
    ]
}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class NoTerminal:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError("nothing should be run here")


@dataclass
class Trial:
    """One attempt at task 1.1; pauses are short, and counted, and no time passes."""

    server: ModelServer
    folder: Path
    wire: str
    said: list[str] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def setup(self, **setup: Any) -> ModelSetup:
        name, address = WIRES[self.wire]
        return ModelSetup(name=name, base_url=getattr(self.server, address), **setup)

    def act(self, **setup: Any) -> Outcome:
        model = live_model(self.setup(input_usd_per_mtok=1.0, output_usd_per_mtok=10.0, **setup), KEYS)
        agent = ToolAgent(model, patience_s=5.0, stops=self, clock=lambda: 0.0)
        tools = Tools(terminal=NoTerminal(), say=self.said.append, timeout_s=60)
        assignment = Assignment(run="7f3a", task="1.1", title="Write", text="", attempt=1)
        return agent.act(assignment, Workspace(folder=self.folder, scratch=self.folder, base="0" * 40), tools)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        time.sleep(0.1)

    def check(self) -> None:
        pass


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", OVER)
def test_a_task_is_done_over_every_wire_and_what_it_took_is_told(wire: str, stream: bool, tmp_path: Path) -> None:
    with ModelServer({"tasks": WORK}, tmp_path / "log") as server:
        trial = Trial(server, tmp_path, wire)
        outcome = trial.act(stream=stream)

        assert (outcome.status, outcome.said) == ("finished", "Done."), outcome
        assert (tmp_path / "a.txt").read_text() == "x\n"
        assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (2000, 200)
        assert outcome.cost_usd == pytest.approx(0.004)
        assert [line for line in trial.said if "." in line][:2] == ["I write a.txt.", "Then I stop."]
        first, second = server.questions
        assert first.asked.streaming is stream
        assert "wrote a.txt" in "".join(second.asked.returned)
        provider = WIRES[wire][0].partition(":")[0].partition("-")[0]
        assert set(server.keys) == {f"key-of-{provider}"}


RATE = {"kind": "status", "status": 429}
FAULTS = [
    ({**RATE, "headers": {"Retry-After": "2"}}, "finished", [2]),
    ({**RATE, "headers": {"Retry-After": "3600"}}, "limited", []),
    ({"kind": "status", "status": 500, "times": 2}, "finished", [1, 2]),
    ({"kind": "status", "status": 529, "times": None}, "limited", [1, 2, 4]),
    ({"kind": "status", "status": 401}, "gave_up", []),
    ({"kind": "hang", "seconds": 60}, "finished", [1]),
    ({"kind": "stall", "seconds": 60}, "finished", [1]),
    ({"kind": "stall", "seconds": 60, "answer": 2, "times": 2}, "finished", [1, 2]),
    ({"kind": "tear"}, "finished", [1]),
    ({"kind": "tear", "times": None}, "limited", [1, 2, 4]),
    ({"kind": "garbage", "times": None}, "gave_up", []),
    ({"kind": "invalid", "times": None}, "gave_up", []),
    ({"kind": "empty"}, "finished", []),
    ({"kind": "empty", "times": None}, "gave_up", []),
    ({"kind": "cut", "times": None}, "gave_up", []),
]


@pytest.mark.parametrize("wire", OVER)
@pytest.mark.parametrize(
    ("fault", "status", "pauses"),
    FAULTS,
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_whatever_comes_of_a_stream_the_attempt_is_finished_or_waits_or_gives_up(
    fault: dict[str, Any], status: str, pauses: list[float], wire: str, tmp_path: Path
) -> None:
    with ModelServer({"tasks": WORK, "faults": [fault]}, tmp_path / "log") as server:
        trial = Trial(server, tmp_path, wire)
        outcome = trial.act(**({"timeout_s": 3, "stall_s": 2} if fault["kind"] in ("hang", "stall") else {}))

        assert (outcome.status, trial.pauses) == (status, pauses), outcome.said
        assert (tmp_path / "a.txt").exists() or status != "finished"
        assert not server.paid_twice()


@pytest.mark.parametrize("wire", OVER)
def test_text_is_said_as_it_comes_and_once(wire: str, tmp_path: Path) -> None:
    """The stream stalls after some of the text, and is given up: what came of it was said, and is paid for."""
    text = "".join(f"Line {number} of a long answer.\n" for number in range(40)) + "The end."
    tasks = {"1.1": [[{"text": text}]]}
    with ModelServer({"tasks": tasks, "faults": [{"kind": "stall", "seconds": 60}]}, tmp_path / "log") as server:
        trial = Trial(server, tmp_path, wire)
        outcome = trial.act(stall_s=2)

    assert (outcome.status, outcome.said) == ("finished", text)
    assert outcome.usage.input_tokens > 1000 and outcome.usage.output_tokens > 100, "more than the server states"
    stalled = next(number for number, line in enumerate(trial.said) if "no further piece of the answer" in line)
    assert trial.said[stalled + 1 :] == text.splitlines()
    assert trial.said[:stalled] == text.splitlines()[:stalled]


@pytest.mark.parametrize("wire", OVER)
def test_a_model_of_another_provider_goes_on_with_the_conversation(
    wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "chat" if wire == "messages" else "messages"
    fault = {"kind": "status", "status": 401, "answer": 2, "times": None}
    with (
        ModelServer({"tasks": WORK, "faults": [fault]}, tmp_path / "log") as server,
        ModelServer({"tasks": WORK}, tmp_path / "other") as stand_in,
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", stand_in.base_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", stand_in.url)
        trial = Trial(server, tmp_path, wire)
        outcome = trial.act(fallback=(WIRES[other][0],))

        assert (outcome.status, outcome.said) == ("finished", "Done."), trial.said
        assert [question.answer for question in server.questions] == [1, 2]
        [question] = stand_in.questions
        assert question.answer == 2
        assert "wrote a.txt" in "".join(question.asked.returned)
        assert "Then I stop." in json.dumps(question.body)
        assert any("401" in line and f"asking {WIRES[other][0]}" in line for line in trial.said)
        assert not set(server.keys) & set(stand_in.keys)


def test_the_conversation_is_cached_and_cached_tokens_are_counted_and_cheaper(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    usage = {
        "input_tokens": 500,
        "output_tokens": 100,
        "cache_read_input_tokens": 9000,
        "cache_creation_input_tokens": 500,
    }
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "stop_reason": "end_turn",
    }
    message |= {"content": [{"type": "text", "text": "Done."}], "stop_sequence": None, "usage": usage}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(message).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        model = live_model(ModelSetup(name="anthropic:claude-sonnet-5", base_url=address, stream=False), KEYS)
        talk = Conversation(messages=(Prompt(text="do it"),), tools=(), timeout_s=60)
        most, answer = model.most(talk), model.answer(talk)

    assert "cache_control" in json.dumps(asked[0])
    assert (answer.usage.input_tokens, answer.usage.cached_tokens, answer.usage.output_tokens) == (10_000, 9000, 100)
    price = Price(provider="anthropic", model="claude-sonnet-5")
    plain = price.of(input_tokens=10_000, output_tokens=100)
    assert 0 < answer.usage.cost_usd < plain
    assert answer.usage.cost_usd == pytest.approx(
        price.of(input_tokens=10_000, output_tokens=100, read=9000, written=500)
    )
    assert most.cost_usd > 0 and model.price_known
