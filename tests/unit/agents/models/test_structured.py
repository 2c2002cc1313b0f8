"""Values of a type from a model. What it is told is in golden/prompts; written anew with

MILEPOST_WRITE_GOLDEN=1 python -m pytest tests/unit/agents/models/test_structured.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from milepost.agents.models.model import Answer, Conversation, Prompt, Results, ToolCall
from milepost.agents.models.structured import AnswerUnusable, ask_for


class Step(BaseModel):
    title: str
    files: list[str] = []
    size: int = Field(ge=1)


class Plan(BaseModel):
    steps: list[Step]


class Scripted:
    def __init__(self, *answers: Answer) -> None:
        self._answers = answers
        self.asked: list[Conversation] = []

    def answer(self, conversation: Conversation) -> Answer:
        self.asked.append(conversation)
        return self._answers[conversation.answered]


def call(**arguments: object) -> Answer:
    return Answer(calls=(ToolCall(id="c1", name="answer", arguments=arguments),))


GOOD = {"steps": [{"title": "one", "size": 2}]}


@pytest.mark.parametrize(
    "answer",
    [
        call(**GOOD),
        Answer(text='{"steps": [{"title": "one", "size": 2}]}'),
        Answer(text='Here it is:\n```json\n{"steps": [{"title": "one", "size": 2}]}\n```\nGood luck {with} it.'),
        Answer(text='I think {"steps": [{"title": "one", "size": 2}]} will do.'),
    ],
)
def test_a_value_is_taken_from_a_call_or_from_the_words(answer: Answer) -> None:
    model = Scripted(answer)

    assert ask_for(model.answer, "Plan it.", Plan, timeout_s=9) == Plan(steps=[Step(title="one", size=2)])
    [asked] = model.asked
    assert asked.tools[0].parameters["properties"].keys() == {"steps"}
    assert isinstance(asked.messages[0], Prompt) and asked.messages[0].text.startswith("Plan it.\n")


def test_what_does_not_fit_is_told_and_asked_for_again() -> None:
    model = Scripted(
        Answer(text="I would rather not."),
        call(steps=[{"title": 7, "size": 0}]),
        Answer(calls=(ToolCall(id="c2", name="write_file"),)),
        Answer(flaw="it was cut off"),
        call(**GOOD),
    )

    assert ask_for(model.answer, "Plan it.", Plan, timeout_s=9, tries=5).steps[0].title == "one"
    *_, second, results, again = model.asked[2].messages
    assert second == call(steps=[{"title": 7, "size": 0}])
    assert isinstance(results, Results) and results.results[0].call == "c1"
    assert isinstance(again, Prompt)
    assert "steps.0.title: Input should be a valid string" in again.text
    assert "steps.0.size: Input should be greater than or equal to 1" in again.text
    assert "there is no tool 'write_file'" in str(model.asked[3].messages[-1])
    assert "it was cut off" in str(model.asked[4].messages[-1])


def test_a_model_that_never_fits_is_asked_no_more_often_than_was_said() -> None:
    model = Scripted(*[Answer(text="{" * 100_000)] * 9)

    with pytest.raises(AnswerUnusable, match="after 2 answers none could be used: there is no JSON in it"):
        ask_for(model.answer, "Plan it.", Plan, timeout_s=9, tries=2)

    assert len(model.asked) == 2


def test_what_else_speaks_against_a_value_is_told_and_the_least_doubtful_is_given_in_the_end() -> None:
    def objections(plan: Plan) -> list[str]:
        return [f"{step.title} is too large" for step in plan.steps if step.size > 5]

    large, larger = {"title": "one", "size": 9}, {"title": "two", "size": 8}
    model = Scripted(call(steps=[large, larger]), call(**GOOD))
    assert ask_for(model.answer, "Plan it.", Plan, timeout_s=9, objections=objections) == Plan.model_validate(GOOD)
    again = model.asked[1].messages[-1]
    assert isinstance(again, Prompt) and "- one is too large\n- two is too large\n" in again.text

    model = Scripted(call(steps=[large, larger]), call(steps=[large]), Answer(text="no"))
    insisted = ask_for(model.answer, "Plan it.", Plan, timeout_s=9, objections=objections)
    assert [step.title for step in insisted.steps] == ["one"] and len(model.asked) == 3


@pytest.mark.parametrize("answer", [call(value=[1, 2]), Answer(text="[1, 2]"), Answer(text='{"value": [1, 2]}')])
def test_a_type_that_is_no_object_is_asked_for_inside_of_one(answer: Answer) -> None:
    model = Scripted(answer)

    assert ask_for(model.answer, "Count.", list[int], timeout_s=9) == [1, 2]
    assert model.asked[0].tools[0].parameters["type"] == "object"


def test_what_the_model_is_told_reads_as_its_golden_file() -> None:
    model = Scripted(Answer(text="no"), call(steps=[{"title": 7}]), call(**GOOD))
    ask_for(model.answer, "Plan the work.", Plan, timeout_s=9)
    told = "\n".join(message.text for message in model.asked[-1].messages if isinstance(message, Prompt))

    path = Path(__file__).parents[2] / "golden" / "prompts" / "structured.txt"
    if os.environ.get("MILEPOST_WRITE_GOLDEN"):
        path.write_text(told, encoding="utf-8")
    assert told == path.read_text(encoding="utf-8"), (
        "write it anew with MILEPOST_WRITE_GOLDEN=1, and read the difference"
    )
