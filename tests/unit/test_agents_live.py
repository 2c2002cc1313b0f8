"""What a live model is sent, what its answers mean, and what they cost."""

from __future__ import annotations

import json

import pytest
from pydantic_ai.messages import ModelRequest as Request
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from milepost.agents.live_messages import answer_in, messages_of
from milepost.agents.model import Answer, Conversation, Message, Prompt, Results, ToolResult
from milepost.agents.prices import Price
from milepost.agents.recorded import answer_of, plain_answer
from milepost.core.calls import Usage


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
