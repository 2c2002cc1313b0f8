"""Asking a model for a value of a type: what does not fit is told to the model, which is asked again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from milepost.agents.models.model import Answer, Conversation, Message, Prompt, Results, ToolCall, ToolResult, ToolSpec
from milepost.agents.prompts import filled
from milepost.core.errors import MilepostError

T = TypeVar("T")

TRIES = 3
MOST_PROBLEMS = 10
ANSWER = "answer"
_VALUE = "value"  # what a value is called that is no object by itself
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


class AnswerUnusable(MilepostError):
    """No answer of the model's was of the type that was asked for."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why an answer is not the value that was asked for: a line for each thing."""

    problems: tuple[str, ...]


def ask_for(
    ask: Callable[[Conversation], Answer],
    prompt: str,
    wanted: type[T],
    *,
    timeout_s: float,
    tries: int = TRIES,
    objections: Callable[[T], Sequence[str]] = lambda _: (),
) -> T:
    """The value that a model answers with, of any type that pydantic can check.

    `ask` puts one question: a model's `answer`, or an Asker with its logbook. After so many tries it raises.
    `objections` is what else speaks against a value. The model is told; when it has no better one, that with the fewest
    is given: whoever objects leaves out what it objects to.
    """
    form = Form(wanted)
    messages: tuple[Message, ...] = (Prompt(text=filled("structured", prompt=prompt)),)
    problems: tuple[str, ...] = ()
    doubtful: list[tuple[int, T]] = []
    for _ in range(tries):
        answer = ask(Conversation(messages=messages, tools=(form.tool,), timeout_s=timeout_s))
        read = form.read(answer)
        if isinstance(read, Misfit):
            problems = read.problems
        else:
            found = tuple(objections(read))
            if not found:
                return read
            problems = _bounded(found)
            doubtful.append((len(found), read))
        messages = (*messages, answer, *_told(answer, problems))
    if doubtful:
        return min(reversed(doubtful), key=lambda one: one[0])[1]
    raise AnswerUnusable(
        f"after {tries} answers none could be used: {'; '.join(problems)}", "ask another model, or ask for less"
    )


class Form(Generic[T]):
    """A type as a model is told of it, and as its answers are held against it."""

    def __init__(self, wanted: type[T]) -> None:
        from pydantic import TypeAdapter

        self._values = TypeAdapter(wanted)
        schema = self._values.json_schema()
        self._is_object = schema.get("type") == "object"
        if not self._is_object:
            definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
            schema = {"type": "object", "properties": {_VALUE: schema}, "required": [_VALUE], **definitions}
        self.tool = ToolSpec(name=ANSWER, description="Give the answer.", parameters=schema)

    def read(self, answer: Answer) -> T | Misfit:
        """The value in an answer: in a call, else in its text."""
        if answer.flaw:
            return Misfit((answer.flaw,))
        call = next((one for one in answer.calls if one.name == ANSWER), None)
        if call is not None and call.problem:
            return Misfit((call.problem,))
        if call is not None:
            return self._value(dict(call.arguments))
        if answer.calls:
            return Misfit((f"there is no tool {answer.calls[0].name!r:.100}",))
        return next((self._value(found) for found in _json_in(answer.text)), Misfit(("there is no JSON in it",)))

    def _value(self, given: Any) -> T | Misfit:
        from pydantic import ValidationError

        wrapped = not self._is_object and isinstance(given, dict) and given.keys() == {_VALUE}
        try:
            return self._values.validate_python(given[_VALUE] if wrapped else given)
        except ValidationError as error:
            found = [f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors()]
            return Misfit(_bounded(found))


def _bounded(found: Sequence[str]) -> tuple[str, ...]:
    return (*found[:MOST_PROBLEMS], *(["and more"] if len(found) > MOST_PROBLEMS else ()))


def _json_in(text: str) -> list[Any]:
    """What of a text is JSON, if any of it is: all of it, a fenced block, or what begins at the first bracket."""
    starts = [text[place:] for place in sorted(place for place in map(text.find, "{[") if place >= 0)]
    for candidate in (text, *_FENCED.findall(text), *starts):
        try:
            return [json.JSONDecoder().raw_decode(candidate.strip())[0]]
        except (ValueError, RecursionError):
            continue
    return []


def _told(answer: Answer, problems: tuple[str, ...]) -> tuple[Message, ...]:
    """What the model is told about an answer that does not fit."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    results = tuple(_result(call, listed) for call in answer.calls)
    again = Prompt(text=filled("structured_again", problems=listed))
    return (Results(results=results), again) if results else (again,)


def _result(call: ToolCall, problems: str) -> ToolResult:
    return ToolResult(call=call.id, text=f"error: it could not be used\n{problems}", failed=True)
