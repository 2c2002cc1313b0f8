"""The client's side of the conversation, with a program that is a tape: recorded ones, and a few of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.programs.acp.client import Conversation
from milepost.agents.programs.acp.lines import LineWriter
from milepost.agents.programs.acp.peer import ConversationEnd, Peer

RECORDINGS = Path(__file__).parents[5] / "shared" / "prototypes" / "adapters" / "samples"


class Tape(Peer):
    """Says what was recorded, whatever it is told."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.told: list[dict[str, Any]] = []
        self._messages: Iterator[dict[str, Any]] = iter(messages)

    def send(self, message: dict[str, Any]) -> None:
        self.told.append(message)

    def receive(self, within_s: float | None) -> dict[str, Any] | str:
        message = next(self._messages, None)
        if message is None:
            raise ConversationEnd("died", "the tape is at its end")
        return message


def lines_of(tape: Tape, capsys: pytest.CaptureFixture[str], **order: object) -> list[dict[str, Any]]:
    """What is told of a conversation, its end last."""
    teller = LineWriter()
    given = {"cwd": "/workspace", "prompt": "Do it.", **order}
    with pytest.raises(ConversationEnd) as caught:
        Conversation(given, tape, teller).hold(given)
    teller.ended(caught.value.reason, caught.value.error)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def opened(**new: object) -> tuple[dict[str, Any], ...]:
    capabilities = {"loadSession": True}
    return (
        {"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": capabilities}},
        {"id": 2, "result": {"sessionId": "s1", **new}},
    )


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("acp-gemini", {"input": 2000, "output": 100, "cached": 0}),
        ("acp-goose", {"input": 1000, "output": 50, "cached": 0}),
    ],
)
def test_a_recorded_program_is_followed_to_its_end(
    name: str, used: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    file = RECORDINGS / name / "stdout.txt"
    if not file.is_file():
        pytest.skip(f"the recording {name} is not here")
    recorded = [json.loads(line) for line in file.read_text().splitlines()]
    tape = Tape(*(each["msg"] for each in recorded if each.get("dir") == "in"))

    lines = lines_of(tape, capsys)

    by_name: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by_name.setdefault(line["acp"], []).append(line)
    assert len(by_name["step"]) == 1
    said = [each["text"] for each in by_name["said"]]
    assert said[-2:] == ["I will create hello.py.", "DONE: created hello.py which prints hi."]
    assert by_name["session"][0]["resumable"] is True
    told = {key: value for line in by_name["used"] for key, value in line.items() if key != "acp"}
    assert told == used
    assert lines[-1] == {
        "acp": "ended",
        "reason": "end_turn",
        "error": "",
        "steps": 1,
        "unfinished": 0,
        "last": "DONE: created hello.py which prints hi.",
    }


def test_the_model_is_chosen_in_the_way_that_the_program_offers(capsys: pytest.CaptureFixture[str]) -> None:
    by_option = Tape(*opened(configOptions=[{"id": "m", "category": "model"}]), {"id": 3, "result": {}})
    lines_of(by_option, capsys, model="large")
    assert (by_option.told[2]["method"], by_option.told[2]["params"]["value"]) == ("session/set_config_option", "large")

    by_method = Tape(*opened(models={"availableModels": []}), {"id": 3, "result": {}})
    lines_of(by_method, capsys, model="large")
    assert (by_method.told[2]["method"], by_method.told[2]["params"]["modelId"]) == ("session/set_model", "large")

    none = lines_of(Tape(*opened()), capsys, model="large")
    assert (none[-1]["reason"], "'large'" in none[-1]["error"]) == ("model", True)


def test_a_model_that_the_program_refuses_is_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    tape = Tape(*opened(models={}), {"id": 3, "error": {"code": -32602, "message": "no such model"}})

    lines = lines_of(tape, capsys, model="large")

    assert tape.told[2]["params"]["modelId"] == "large"
    assert (lines[-1]["reason"], lines[-1]["error"]) == ("error", "session/set_model: no such model (-32602)")


def test_tokens_that_come_with_each_answer_are_summed(capsys: pytest.CaptureFixture[str]) -> None:
    usage = {"inputTokens": 1000, "outputTokens": 100, "totalTokens": 1100, "cachedReadTokens": 10}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}, "_meta": {"usage": usage}}
    update = {"method": "session/update", "params": {"update": chunk}}

    lines = lines_of(Tape(*opened(), update, update, {"id": 3, "result": {"stopReason": "end_turn"}}), capsys)

    assert lines[-2] == {"acp": "used", "input": 2000, "output": 200, "cached": 20}


def test_an_error_tells_its_status_and_its_details(capsys: pytest.CaptureFixture[str]) -> None:
    error = {"code": 429, "message": "not now", "data": {"details": "try again in 5 s"}}

    lines = lines_of(Tape(*opened(), {"id": 3, "error": error}), capsys)

    assert lines[-1]["error"] == 'session/prompt: not now (status 429) {"details": "try again in 5 s"}'


@pytest.mark.parametrize(
    ("calls", "unfinished"),
    [
        ([("a", "edit", "pending"), ("a", None, "in_progress")], 1),
        ([("a", "edit", "pending"), ("a", None, "completed"), ("b", "read", "in_progress"), ("b", None, "failed")], 0),
        ([("a", "execute", "in_progress"), ("a", None, "in_progress")], 0),
        ([("a", "edit", None)], 0),
        ([("torn", "edit", "in_progress"), ("again", "edit", "pending"), ("again", None, "completed")], 0),
    ],
)
def test_a_tool_call_that_has_no_end_is_counted_unless_it_is_a_command(
    calls: list[tuple[str, str | None, str | None]], unfinished: int, capsys: pytest.CaptureFixture[str]
) -> None:
    updates = [
        {"sessionUpdate": "tool_call", "toolCallId": number, "kind": kind, "status": status}
        for number, kind, status in calls
    ]
    told = [{"method": "session/update", "params": {"update": update}} for update in updates]

    lines = lines_of(Tape(*opened(), *told, {"id": 3, "result": {"stopReason": "end_turn"}}), capsys)

    assert lines[-1]["unfinished"] == unfinished


def test_a_tool_call_that_was_denied_is_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    call = {"toolCallId": "a", "kind": "edit", "status": "pending", "locations": [{"path": "/etc/passwd"}]}
    told = {"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call", **call}}}
    asked = {"id": 9, "method": "session/request_permission", "params": {"toolCall": call, "options": []}}

    lines = lines_of(Tape(*opened(), told, asked, told, {"id": 3, "result": {"stopReason": "end_turn"}}), capsys)

    assert [line["acp"] for line in lines] == ["session", "step", "denied", "ended"]
    assert lines[-1]["unfinished"] == 0
