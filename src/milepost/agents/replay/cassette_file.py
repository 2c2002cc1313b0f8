"""A cassette as it stands in a file, checked as it is read."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from milepost.agents.models.model import Answer, ToolCall
from milepost.agents.replay.cassette import (
    Cassette,
    Loop,
    RecordedAnswer,
    RecordedAttempt,
    RecordedDiff,
    RecordedEnd,
    RecordedTalk,
)
from milepost.core.attempt import OutcomeStatus
from milepost.core.calls import Usage
from milepost.core.errors import SettingInvalid
from milepost.sandbox.read_plain import read_plain

LARGEST_CASSETTE = 200_000_000

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Version = Literal[1, 2]


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _WrittenUsage(_Written):
    cost_usd: Amount = 0.0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0

    @property
    def usage(self) -> Usage:
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_tokens=self.cached_tokens,
            cost_usd=self.cost_usd,
        )


class _WrittenCall(_Written):
    name: str
    arguments: dict[str, Any] = {}
    problem: str = ""


class _WrittenAnswer(_WrittenUsage):
    text: str = ""
    calls: list[_WrittenCall] = []
    flaw: str = ""
    seconds: Amount = 0.0
    model: str = ""


class _WrittenAttempt(_WrittenUsage):
    agent: Loop = "tool"
    answers: list[_WrittenAnswer] | None = None
    diff: str | None = None
    diff_base64: str | None = None
    outcome: OutcomeStatus | None = None
    said: str = ""

    @field_validator("diff_base64")
    @classmethod
    def _can_be_decoded(cls, given: str | None) -> str | None:
        if given is not None:
            base64.b64decode(given, validate=True)
        return given

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if sum(one is not None for one in (self.answers, self.diff, self.diff_base64)) != 1:
            raise ValueError("it must have either answers or a diff")
        return self


class _First(_Written):
    version: Version
    answers: dict[str, list[list[_WrittenAnswer]]]


class _Second(_Written):
    version: Version
    tasks: dict[str, list[_WrittenAttempt]]


def read(path: Path) -> Cassette:
    """The cassette in `path`, or SettingInvalid with every problem and where it is."""
    try:
        content = read_plain(path, LARGEST_CASSETTE)
    except OSError as error:
        raise SettingInvalid(
            f"the cassette {str(path)!r} cannot be read: {error.strerror}", "name a file after replay:"
        ) from error
    try:
        return Cassette(attempts=_attempts(content))
    except ValidationError as error:
        problems = "; ".join(f"{_place(problem['loc'])}: {problem['msg']}" for problem in error.errors()[:5])
        raise SettingInvalid(
            f"the cassette {str(path)!r} cannot be used: {problems}", "correct the file, or record it again"
        ) from error


def _attempts(content: bytes) -> dict[str, tuple[RecordedAttempt, ...]]:
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        given = None  # what is wrong with it is said below
    if isinstance(given, dict) and given.get("version") == 2:
        second = _Second.model_validate_json(content).tasks
        return {
            task: tuple(_attempt(one, number) for number, one in enumerate(attempts, start=1))
            for task, attempts in second.items()
        }
    first = _First.model_validate_json(content).answers
    return {
        task: tuple(RecordedTalk(answers=_answers(answers, number)) for number, answers in enumerate(attempts, start=1))
        for task, attempts in first.items()
    }


def _attempt(written: _WrittenAttempt, number: int) -> RecordedAttempt:
    end = None if written.outcome is None else RecordedEnd(status=written.outcome, said=written.said)
    if written.answers is not None:
        return RecordedTalk(answers=_answers(written.answers, number), agent=written.agent, end=end)
    diff = written.diff.encode() if written.diff is not None else base64.b64decode(written.diff_base64 or "")
    return RecordedDiff(diff=diff, end=end or RecordedEnd(said=written.said), usage=written.usage)


def _answers(written: list[_WrittenAnswer], number: int) -> tuple[RecordedAnswer, ...]:
    return tuple(_recorded(answer, f"{number}.{step}") for step, answer in enumerate(written, start=1))


def _recorded(written: _WrittenAnswer, place: str) -> RecordedAnswer:
    calls = tuple(
        ToolCall(id=f"{place}.{number}", name=call.name, arguments=call.arguments, problem=call.problem)
        for number, call in enumerate(written.calls, start=1)
    )
    answer = Answer(text=written.text, calls=calls, usage=written.usage, flaw=written.flaw)
    return RecordedAnswer(answer=answer, seconds=written.seconds, model=written.model)


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the file, such as `answers['1.1'][0][2].calls`; attempts and answers count from 0, as in JSON."""
    if not location:
        return "the file"
    first, *rest = location
    return str(first) + "".join(
        f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]" for part in rest
    )
