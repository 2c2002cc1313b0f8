"""A cassette as it stands in a file, checked as it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from milepost.agents.model import Answer, ToolCall
from milepost.agents.replay import Cassette, RecordedAnswer
from milepost.core.calls import Usage
from milepost.core.errors import SettingInvalid

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _WrittenCall(_Written):
    name: str
    arguments: dict[str, Any] = {}


class _WrittenAnswer(_Written):
    text: str = ""
    calls: list[_WrittenCall] = []
    cost_usd: Amount = 0.0
    input_tokens: Count = 0
    output_tokens: Count = 0
    seconds: Amount = 0.0


class _WrittenCassette(_Written):
    version: Literal[1]
    answers: dict[str, list[list[_WrittenAnswer]]]


def read(path: Path) -> Cassette:
    """The cassette in `path`, or SettingInvalid with every problem and where it is."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SettingInvalid(
            f"the cassette {str(path)!r} cannot be read: {error.strerror}", "name a file after replay:"
        ) from error
    try:
        written = _WrittenCassette.model_validate_json(content)
    except ValidationError as error:
        problems = "; ".join(f"{_place(problem['loc'])}: {problem['msg']}" for problem in error.errors()[:5])
        raise SettingInvalid(
            f"the cassette {str(path)!r} cannot be used: {problems}", "correct the file, or record it again"
        ) from error
    return Cassette(
        attempts={
            task: tuple(
                tuple(_recorded(answer, f"{number}.{step}") for step, answer in enumerate(answers, start=1))
                for number, answers in enumerate(attempts, start=1)
            )
            for task, attempts in written.answers.items()
        }
    )


def _recorded(written: _WrittenAnswer, place: str) -> RecordedAnswer:
    calls = tuple(
        ToolCall(id=f"{place}.{number}", name=call.name, arguments=call.arguments)
        for number, call in enumerate(written.calls, start=1)
    )
    usage = Usage(input_tokens=written.input_tokens, output_tokens=written.output_tokens, cost_usd=written.cost_usd)
    return RecordedAnswer(answer=Answer(text=written.text, calls=calls, usage=usage), seconds=written.seconds)


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the file, such as `answers['1.1'][0][2].calls`; attempts and answers count from 0, as in JSON."""
    if not location:
        return "the file"
    first, *rest = location
    return str(first) + "".join(
        f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]" for part in rest
    )
