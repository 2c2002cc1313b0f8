"""What a live model is sent, what its answers mean, and what they cost."""

from __future__ import annotations

import json
import re

import pytest
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.messages import ModelRequest as Request
from pydantic_ai.usage import RequestUsage

from milepost.agents.models.as_json import answer_of, plain_answer
from milepost.agents.models.fallback import Chain
from milepost.agents.models.faults import Fault
from milepost.agents.models.live import LiveModel, ModelSetup, at_address, live_model
from milepost.agents.models.live_messages import answer_in, messages_of, sendable_messages
from milepost.agents.models.live_stream import SpokenLines
from milepost.agents.models.model import Answer, Conversation, Message, Prompt, Results, ToolCall, ToolResult
from milepost.agents.models.prices import Price
from milepost.agents.models.providers import KEYS, advice_on_names
from milepost.core.calls import Usage
from milepost.core.errors import SettingInvalid

PRICE = Price(provider="openai", model="local", input_usd_per_mtok=1, output_usd_per_mtok=100)
LOCAL = LiveModel(setup=ModelSetup(name="openai:local"), price=PRICE)


def talk(*messages: Message) -> Conversation:
    return Conversation(messages=(Prompt(text="do it"), *messages), tools=(), timeout_s=9)


def test_what_a_model_wants_back_with_its_words_survives_the_logbook() -> None:
    thought = ThinkingPart(content="hm", signature="signed", provider_name="anthropic")
    call = ToolCallPart(tool_name="ls", args="{}", tool_call_id="c1")
    answer = answer_in(ModelResponse(parts=[thought, TextPart(content="I look."), call]), Usage(input_tokens=7))

    kept = answer_of(json.loads(json.dumps(plain_answer(answer))), answer.usage)
    _, back, results = messages_of(talk(kept, Results(results=(ToolResult(call="c1", text="a.py"),))))

    assert kept == answer and answer.text == "I look."
    assert isinstance(back, ModelResponse) and back.parts[0] == thought and back.tool_calls == [call]
    assert isinstance(results, Request) and results.parts[0].part_kind == "tool-return"


@pytest.mark.parametrize(
    ("response", "flaw"),
    [
        (ModelResponse(parts=[]), "it was empty"),
        (ModelResponse(parts=[TextPart(content=" \n")]), "it was empty"),
        (ModelResponse(parts=[ThinkingPart(content="hm")]), "it was empty"),
        (ModelResponse(parts=[TextPart(content="I wr")], finish_reason="length"), "it was cut off after 5 tokens"),
        (ModelResponse(parts=[], finish_reason="content_filter"), "the service withheld it"),
        (ModelResponse(parts=[TextPart(content="Done.")], finish_reason="stop"), ""),
    ],
)
def test_an_answer_that_is_none_is_not_taken_for_the_end(response: ModelResponse, flaw: str) -> None:
    found = answer_in(response, Usage(output_tokens=5)).flaw

    assert found.startswith(flaw) and bool(found) == bool(flaw)


@pytest.mark.parametrize("args", ['{"path": ', "[1]", "7", '{"n": NaN}', '{"a":' * 100_000])
def test_arguments_that_cannot_be_read_are_a_problem_for_the_model(args: str) -> None:
    [call] = answer_in(ModelResponse(parts=[ToolCallPart(tool_name="read_file", args=args)]), Usage()).calls

    assert call.arguments == {} and call.problem.startswith("the arguments are not")


@pytest.mark.parametrize("stream", [True, False], ids=["text", "dict"])
def test_half_a_character_is_a_problem_for_the_model_and_can_be_kept_said_and_sent(stream: bool) -> None:
    given = {"path": "a", "half\ud83d": ["\ud83d", "\U0001f600"]}
    call = ToolCallPart(tool_name="ls\ud83d", args=json.dumps(given) if stream else given, tool_call_id="c\ud83d")
    thought = ThinkingPart(content="hm \ud83d", signature="signed")
    response = ModelResponse(parts=[thought, TextPart(content="\ud83d, \ud83d\ude00"), call])
    for by in ("openai:a", "anthropic:b"):
        answer = answer_in(response, Usage(), by="openai:a")
        asked = talk(answer, Results(results=(ToolResult(call=answer.calls[0].id, text="\udcff"),)))
        json.dumps(plain_answer(answer), ensure_ascii=False).encode()
        assert ModelMessagesTypeAdapter.dump_json(sendable_messages(asked, by))

    assert answer.text == "\\ud83d, \U0001f600" and answer.calls[0].problem.startswith("the arguments have half")
    assert answer.calls[0].arguments == {"path": "a", "half\\ud83d": ["\\ud83d", "\U0001f600"]}
    heard: list[str] = []
    SpokenLines(heard.append).add(PartStartEvent(index=0, part=TextPart(content="\ud83d, \ud83d\ude00\n")))
    assert heard == [answer.text]


def test_arguments_that_are_nested_too_deep_to_be_sent_back_are_a_problem_for_the_model() -> None:
    deep: dict[str, object] = {}
    for _ in range(400):
        deep = {"a": deep}
    call = ToolCallPart(tool_name="ls", args=deep, id="an id of its own")
    answer = answer_in(ModelResponse(parts=[call]), Usage(), by="openai:a")

    assert answer.calls[0].problem == "the arguments are nested deeper than 100 levels"
    assert sendable_messages(talk(answer), "openai:a")


def test_a_conversation_that_cannot_be_sent_is_not_asked_and_not_paid() -> None:
    kept = Answer(raw={"kind": "response", "parts": [{"part_kind": "text", "content": "\ud83d", "id": "x"}]})
    with pytest.raises(Fault, match="the conversation cannot be sent") as end:
        LOCAL.answer(talk(kept))
    assert (end.value.kind, end.value.usage) == ("rejected", Usage())


def test_calls_that_are_named_alike_stay_what_they_were() -> None:
    def step(*calls: tuple[str, str]) -> tuple[Message, ...]:
        made = tuple(ToolCall(id="call_0", name=name, arguments={"path": path}) for name, path in calls)
        return Answer(calls=made), Results(results=tuple(ToolResult(call="call_0", text=path) for _, path in calls))

    asked = talk(*step(("ls", "src")), *step(("read_file", "a"), ("write_file", "b")), *step(("delete", "c")))
    parts = [part for message in messages_of(asked, by="openai:local") for part in message.parts][1:]

    steps = [("ls", "src"), ("read_file", "a"), ("write_file", "b"), ("delete", "c")]
    made = [(part.tool_name, part.args) for part in parts if isinstance(part, ToolCallPart)]
    assert made == [(name, {"path": path}) for name, path in steps]
    assert [(part.tool_name, part.content) for part in parts if isinstance(part, ToolReturnPart)] == steps


def test_where_a_server_does_not_say_what_an_answer_took_calls_and_thoughts_are_words_too() -> None:
    size = 20_000
    parts = (
        TextPart(content="x" * size),
        ThinkingPart(content="x" * size),
        ToolCallPart(tool_name="write_file", args={"content": "\xe9" * (size // 2)}),
        ToolCallPart(tool_name="write_file", args=json.dumps({"content": "x" * size})),
    )
    for part in parts:
        took = LOCAL._taken(ModelResponse(parts=[part], usage=RequestUsage()), talk())
        assert size / 2 <= took.output_tokens < size / 2 + 300 and took.cost_usd >= took.output_tokens / 10_000


def test_an_answer_with_nothing_in_it_is_left_out_of_what_is_sent() -> None:
    sent = messages_of(talk(Answer(flaw="it was empty"), Prompt(text="go on")))

    assert [message.kind for message in sent] == ["request", "request"]


def test_a_stated_price_goes_before_the_list_and_a_bound_is_never_below_what_is_paid() -> None:
    listed = Price(provider="anthropic", model="claude-sonnet-4-5")
    stated = Price(provider="openai", model="gpt-5", input_usd_per_mtok=2, output_usd_per_mtok=0)
    mixed = Price(provider="openai", model="gpt-5", input_usd_per_mtok=0)
    unknown = Price(provider="openai", model="nobody-knows-it", input_usd_per_mtok=2)

    assert stated.known and stated.of(input_tokens=500_000, output_tokens=9, read=400_000) == 1
    assert mixed.known and mixed.of(input_tokens=500_000, output_tokens=1000) > 0
    assert not unknown.known and unknown.of(input_tokens=500_000, output_tokens=9) == 1
    plain = listed.of(input_tokens=100_000, output_tokens=1000)
    assert listed.of(input_tokens=100_000, output_tokens=1000, read=90_000) < plain
    assert plain < listed.most(input_tokens=100_000, output_tokens=1000)


THOUGHT = ThinkingPart(content="hm", signature="signed", provider_name="anthropic")


def test_what_one_model_wants_back_is_given_to_no_other_and_its_calls_are_named_as_the_other_takes_them() -> None:
    call = ToolCallPart(tool_name="read file!", args='{"path": "a"}', tool_call_id="functions.ls:0")
    answer = answer_in(ModelResponse(parts=[THOUGHT, TextPart(content="I look."), call]), Usage(), by="anthropic:a")
    asked = talk(answer, Results(results=(ToolResult(call="functions.ls:0", text="a.py"),)))

    own, others, strict = (messages_of(asked, by=name) for name in ("anthropic:a", "openai:b", "anthropic:c"))

    assert own[1].parts == [THOUGHT, TextPart(content="I look."), call]
    assert [part.part_kind for part in others[1].parts] == ["text", "tool-call"]
    for sent, pattern in ((others, r"functions\.ls:0"), (strict, "call_[0-9a-f]{24}")):
        made, returned = sent[1].parts[1], sent[2].parts[0]
        assert isinstance(made, ToolCallPart) and isinstance(returned, ToolReturnPart)
        assert (made.tool_name, made.args) == (returned.tool_name, {"path": "a"}) == ("read_file_", {"path": "a"})
        assert made.tool_call_id == returned.tool_call_id and re.fullmatch(pattern, made.tool_call_id)


def test_lines_are_told_when_they_are_whole_and_are_those_of_the_answer() -> None:
    heard: list[str] = []
    spoken = SpokenLines(heard.append)
    steps: list[tuple[ModelResponseStreamEvent, int]] = [
        (PartStartEvent(index=0, part=TextPart(content="\n  I wr")), 0),
        (PartDeltaEvent(index=0, delta=TextPartDelta(content_delta="ite.\nThen")), 1),
        (PartStartEvent(index=1, part=ToolCallPart(tool_name="ls")), 1),
        (PartDeltaEvent(index=0, delta=TextPartDelta(content_delta=" more\n\n\n")), 2),
        (PartStartEvent(index=2, part=TextPart(content="Done.\n")), 6),
    ]
    for piece, lines in steps:
        spoken.add(piece)
        assert len(heard) == lines
    response = ModelResponse(parts=[TextPart(content="\n  I write.\nThen more\n\n\n"), TextPart(content="Done.\n")])

    assert heard == answer_in(response, Usage()).text.splitlines()


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({}, "its key is taken from the environment"),
        (
            {"ANTHROPIC_API_KEY": "k"},
            r"ANTHROPIC_API_KEY is set, so anthropic:\S+ or anthropic:\S+ or anthropic:\S+ would",
        ),
        ({"OPENROUTER_API_KEY": "k"}, "OPENROUTER_API_KEY is set, so openrouter:MODEL would work"),
        ({"GEMINI_API_KEY": "k", "GOOGLE_API_KEY": "k"}, "is set, so google:"),
        ({"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"}, "keys are set for groq, openai"),
    ],
)
def test_without_a_name_the_keys_that_are_set_tell_which_would_work(environ: dict[str, str], says: str) -> None:
    assert re.search(says, advice_on_names(environ))


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        (ModelSetup(), "no model is named"),
        (ModelSetup(name="gpt-5"), "[model] name is 'gpt-5', not provider:model"),
        (ModelSetup(name="nobody:gpt-5"), "'nobody:gpt-5' cannot be used: "),
        (ModelSetup(name="anthropic:claude-sonnet-5"), "ANTHROPIC_API_KEY is not set"),
        (ModelSetup(name="ollama:qwen3", fallback=("anthropic:claude-sonnet-5",)), "ANTHROPIC_API_KEY is not set"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused_before_anything_is_asked(
    setup: ModelSetup, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(SettingInvalid) as refusal:
        live_model(setup, {})

    assert says in refusal.value.message


def test_models_on_this_machine_need_no_key_and_stated_prices_are_those_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (*KEYS, "OLLAMA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    local = live_model(ModelSetup(name="openai:any", base_url="http://127.0.0.1:1/v1", input_usd_per_mtok=0), {})
    chain = live_model(ModelSetup(name="openai:any", base_url="http://127.0.0.1:1/v1", fallback=("ollama:qwen3",)), {})

    assert isinstance(local, LiveModel) and local.open().base_url == "http://127.0.0.1:1/v1/"
    assert isinstance(chain, Chain) and (chain.name, chain.price_known) == ("openai:any", False)
    stand_in = chain.models[1]
    assert isinstance(stand_in, LiveModel) and stand_in.open().base_url == "http://localhost:11434/v1/"


@pytest.mark.parametrize(
    ("base_url", "said"),
    [
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1: refused"),
        ("https://ada:secret@gateway.example/v1", "https://gateway.example/v1: refused"),
        (None, "refused"),
    ],
)
def test_a_server_that_does_not_answer_is_told_by_its_address_without_a_password(
    base_url: str | None, said: str
) -> None:
    assert at_address(Fault("silent", "refused"), base_url).what == said
    assert at_address(Fault("limited", "HTTP 429"), base_url).what == "HTTP 429"
