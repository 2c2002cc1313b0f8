"""The scripted model's server, asked by the clients that people use, on every wire, whole and streaming."""

from __future__ import annotations

import asyncio
import contextlib
import json
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from tests.fakes.model_server import ModelServer

needs_google = pytest.mark.skipif(
    find_spec("google") is None or find_spec("google.genai") is None, reason="google-genai is not installed"
)
WIRES = ["chat", "responses", "messages", pytest.param("gemini", marks=needs_google)]
CONTENT = "x" * 100 + "…\n"
WORK = {
    "tasks": {
        "1.1": [
            [
                {"text": "I write a.txt, in some words.", "do": [{"create": "a.txt", "content": CONTENT}]},
                {"text": "Done.", "input_tokens": 70, "output_tokens": 7},
            ]
        ]
    }
}
WRITE = ToolDefinition(
    name="write_file",
    description="Write a file.",
    parameters_json_schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
        "additionalProperties": False,
    },
)
PROMPT = ModelRequest(parts=[UserPromptPart(content="# Task 1.1: Write\n\nPlease.\n")])


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def client_of(wire: str, server: ModelServer) -> Model:
    match wire:
        case "chat" | "responses":
            from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider

            openai = OpenAIProvider(base_url=server.base_url, api_key="its-key")
            kind = OpenAIChatModel if wire == "chat" else OpenAIResponsesModel
            return kind("gpt-5.5", provider=openai)
        case "messages":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            provider = AnthropicProvider(base_url=server.url, api_key="its-key")
            return AnthropicModel("claude-scripted-1", provider=provider)
        case _:
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel("gemini-2.5-pro", provider=GoogleProvider(base_url=server.url, api_key="its-key"))


def ask(
    wire: str, streaming: bool, server: ModelServer, messages: list[ModelMessage], *, time_s: float = 30
) -> ModelResponse:
    """One answer; clients try nothing again."""
    parameters = ModelRequestParameters(function_tools=[WRITE], allow_text_output=True)
    settings = ModelSettings(max_retries=0, max_tokens=100)

    async def asked() -> ModelResponse:
        async with asyncio.timeout(time_s), client_of(wire, server) as client:
            if not streaming:
                return await model_request(
                    client, messages, model_settings=settings, model_request_parameters=parameters
                )
            async with model_request_stream(
                client, messages, model_settings=settings, model_request_parameters=parameters
            ) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    return asyncio.run(asked())


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_client_reads_text_calls_and_usage_and_goes_on_with_the_next_answer(
    wire: str, streaming: bool, tmp_path: Path
) -> None:
    with ModelServer(WORK, tmp_path / "log") as server:
        first = ask(wire, streaming, server, [PROMPT])
        (call,) = first.tool_calls
        result = ToolReturnPart(tool_name=call.tool_name, content="wrote a.txt", tool_call_id=call.tool_call_id)
        second = ask(wire, streaming, server, [PROMPT, first, ModelRequest(parts=[result])])

        assert first.text == "I write a.txt, in some words."
        assert (call.tool_name, call.args_as_dict()) == ("write_file", {"path": "a.txt", "content": CONTENT})
        assert (first.usage.input_tokens, first.usage.output_tokens) == (1000, 100)
        assert (second.text, second.tool_calls, second.finish_reason) == ("Done.", [], "stop")
        assert (second.usage.input_tokens, second.usage.output_tokens) == (70, 7)
        assert [(one.wire.name, one.asked.streaming) for one in server.questions] == [(wire, streaming)] * 2
        assert [(one.task, one.answer) for one in server.questions] == [("1.1", 1), ("1.1", 2)]
        assert "wrote a.txt" in server.questions[1].asked.returned[0]
        assert server.keys == {"its-key"}
        assert len(server.paid) == 2


def test_an_answer_of_gemini_that_comes_as_a_list_is_one(tmp_path: Path) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "# Task 1.1: Write\n"}]}]}
    told = {"tasks": {"1.1": [[{"text": "I call it.", "calls": [{"name": "ls", "arguments": {"path": "."}}]}]]}}
    with ModelServer(told, tmp_path / "log") as server:
        address = f"{server.url}/v1beta/models/gemini-2.5-pro:"

        def post(path: str) -> Any:
            request = urllib.request.Request(address + path, json.dumps(body).encode(), {"x-goog-api-key": "its-key"})
            with urllib.request.urlopen(request, timeout=300) as response:
                return response.read().decode()

        whole = json.loads(post("generateContent"))
        listed = json.loads(post("streamGenerateContent"))
        events = [json.loads(line[6:]) for line in post("streamGenerateContent?alt=sse").split("\n\n") if line]

    assert listed == events
    parts = [part for one in listed for part in one["candidates"][0]["content"]["parts"]]
    assert whole["candidates"][0]["content"]["parts"] == [part for part in parts if part != {"text": ""}]
    assert whole["candidates"][0]["finishReason"] == listed[-1]["candidates"][0]["finishReason"] == "STOP"
    assert whole["usageMetadata"] == listed[-1]["usageMetadata"]
    assert server.keys == {"its-key"}


@pytest.mark.parametrize("status", [401, 429, 529])
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_client_reads_a_refusal_and_is_answered_when_it_is_used_up(
    wire: str, streaming: bool, status: int, tmp_path: Path
) -> None:
    fault = {"kind": "status", "status": status, "headers": {"Retry-After": "7"}}
    with ModelServer({**WORK, "faults": [fault]}, tmp_path / "log") as server:
        with pytest.raises(ModelHTTPError) as raised:
            ask(wire, streaming, server, [PROMPT])

        assert raised.value.status_code == status
        assert f"scripted {status}" in str(raised.value)
        if wire != "gemini":  # this library tells no headers there
            assert (raised.value.headers or {}).get("retry-after") == "7"
        assert ask(wire, streaming, server, [PROMPT]).tool_calls
        assert len(server.paid) == 1


def whole(response: ModelResponse | None) -> bool:
    """Whether all of the scripted answer came."""
    made = response.tool_calls if response is not None else []
    return [call.args_as_dict(raise_if_invalid=False) for call in made] == [{"path": "a.txt", "content": CONTENT}]


@pytest.mark.parametrize("kind", ["tear", "garbage", "invalid", "empty", "drop", "lose"])
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("wire", WIRES)
def test_what_is_broken_never_reaches_a_client_as_the_answer_and_the_next_one_is_whole(
    wire: str, streaming: bool, kind: str, tmp_path: Path
) -> None:
    with ModelServer({**WORK, "faults": [{"kind": kind}]}, tmp_path / "log") as server:
        response: ModelResponse | None = None
        # Each library has errors of its own for what is no answer, plain TypeErrors among them.
        with contextlib.suppress(Exception):
            response = ask(wire, streaming, server, [PROMPT])

        assert not whole(response)
        assert len(server.paid) == (1 if kind in ("tear", "lose") else 0)
        assert whole(ask(wire, streaming, server, [PROMPT]))


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_that_was_cut_off_says_so(wire: str, streaming: bool, tmp_path: Path) -> None:
    with ModelServer({**WORK, "faults": [{"kind": "cut"}]}, tmp_path / "log") as server:
        assert ask(wire, streaming, server, [PROMPT]).finish_reason == "length"


@pytest.mark.parametrize(("kind", "streaming"), [("hang", False), ("stall", True)])
@pytest.mark.parametrize("wire", WIRES)
def test_a_client_waits_in_vain_for_a_server_that_is_silent(
    wire: str, streaming: bool, kind: str, tmp_path: Path
) -> None:
    with ModelServer({**WORK, "faults": [{"kind": kind, "seconds": 60}]}, tmp_path / "log") as server:
        with pytest.raises(TimeoutError):
            ask(wire, streaming, server, [PROMPT], time_s=1)

        assert len(server.paid) == (1 if kind == "stall" else 0)


@pytest.mark.parametrize("body", [b"{half", b"[1]", b'{"messages": 3}', b'{"messages": [{"content": "x"}]}'])
def test_a_large_prompt_arrives_whole_and_a_body_that_is_no_request_is_refused(body: bytes, tmp_path: Path) -> None:
    prompt = "# Task 1.1: Write\n" + "".join(f"line {number}\n" for number in range(20_000))
    with ModelServer(WORK, tmp_path / "log") as server:
        ask("chat", True, server, [ModelRequest(parts=[UserPromptPart(content=prompt)])])
        refused = urllib.request.Request(f"{server.base_url}/chat/completions", body, {})
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(refused, timeout=300)

        assert server.questions[0].asked.told == prompt
        assert len(server.questions) == 1
