"""What the page may ask for, and nothing else: each body is read strictly and is bounded."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

import milepost

Digest = Annotated[str, Field(min_length=12, max_length=128, pattern="^[0-9a-f]+$")]
TaskId = Annotated[str, Field(max_length=300)]
Verb = Literal["pause", "go_on", "stop", "finish", "drop", "agent", "parallel", "note", "retry", "resume"]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GateAnswerBody(Body):
    """A person's answer to what they were shown under `digest`."""

    answer: Literal["approve", "reject", "edit", "skip", "delegate", "accept"]
    text: Annotated[str, Field(max_length=10_000)] = ""
    digest: Digest


class Steer(Body):
    """Something asked of a run: `text` is the agent, the number or the words that a verb needs."""

    verb: Verb
    task: TaskId = ""
    text: Annotated[str, Field(max_length=8_000)] = ""


class TaskEditBody(Body):
    """Other lines for a task, in the place of those that were shown under `digest`; `commit` to commit them, too."""

    task: Annotated[str, Field(min_length=1, max_length=300)]
    text: Annotated[str, Field(max_length=50_000)]
    digest: Digest
    commit: bool = False


B = TypeVar("B", bound=Body)


async def body_of(request: Request, kind: type[B]) -> B:
    """The body of a request; one that is none is told by the first thing that is wrong with it."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:80]
        raise milepost.Misuse(
            f"this request is invalid{f': {where}' if where else ''}: {first['msg']}", "load the page again"
        ) from None
