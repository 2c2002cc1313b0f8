"""What of a run's calls and attempts goes on a cassette."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from milepost.agents.models.as_json import plain_answer
from milepost.agents.models.fallback import plain_fault
from milepost.agents.models.faults import Fault
from milepost.agents.models.model import Answer
from milepost.agents.replay.cassette import RecordedDiff, RecordedEnd, RecordedTalk
from milepost.core.attempt import Attempt, Outcome
from milepost.core.calls import CallKind, Reply, Usage
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.records.call_log import BEGINNING, AttemptKey, CallLog, RecordedCall
from milepost.engine.records.journal import Journal
from milepost.engine.replay.record import recording_of
from milepost.store.database import Database, open_database
from milepost.workspace.mileposts import Mileposts

SAID = Answer(text="I look.")


@pytest.fixture
def database() -> Iterator[Database]:
    with closing(open_database(Path(":memory:"))) as opened:
        yield opened


class Git:
    """Has the commits that were not removed, and what changed from one to another."""

    def __init__(self, *commits: str) -> None:
        self._commits = commits

    def resolve(self, name: str) -> str | None:
        return name if name in self._commits else None

    def patch(self, old: str, new: str) -> bytes:
        return f"{old}..{new}".encode()


def recorded(database: Database, *commits: str) -> Any:
    return recording_of(database, cast(Mileposts, Git(*commits)), "r1")


def call(number: int, body: dict[str, Any], *, kind: CallKind = "model", name: str = "openai:gpt-5") -> RecordedCall:
    reply = Reply(body=body, usage=Usage(output_tokens=number))
    return RecordedCall(number=number, kind=kind, name=name, request="", tree="", reply=reply, duration_ms=1)


def tried(database: Database, number: int, agent: str, *calls: RecordedCall, task: str = "1.1") -> None:
    """An attempt that is over, with its calls; without the note of its beginning where it was removed with them."""
    outcome = Outcome(status="gave_up", said=f"end {number}", usage=Usage(cost_usd=1))
    evidence = Evidence(tree="", checks=(), verdict=Verdict.FAILED)
    attempt = Attempt(
        number=number, agent=agent, base="b", commit=f"c{number}", outcome=outcome, evidence=evidence, duration_ms=1
    )
    Journal(database).keep_attempt("r1", task, attempt)
    log, key = CallLog(database), AttemptKey(run="r1", task=task, attempt=number)
    for one in calls:
        log.keep(key, one)


def test_answers_are_kept_in_their_order_without_what_stand_ins_were_asked_for_and_without_recipes(
    database: Database,
) -> None:
    fault = call(1, plain_fault(Fault("limited", "HTTP 429", 9)))
    tool = call(3, {"text": "a.py"}, kind="tool", name="ls")
    tried(
        database, 1, "tool", fault, call(2, plain_answer(SAID), name="anthropic:a"), tool, call(4, plain_answer(SAID))
    )
    tried(database, 2, "recipe:lint")
    tried(database, 3, "code", call(1, plain_answer(SAID)))
    tried(database, 4, "replay:x", call(1, plain_answer(SAID), name="replay:code"))
    tried(database, 1, "tool", call(1, plain_answer(SAID)), task="1.1/review/tree")
    CallLog(database).keep(AttemptKey(run="r1", task="1.2", attempt=1), call(1, plain_answer(SAID)))

    found = recorded(database)

    first, second, third = found.cassette.attempts["1.1"]
    assert [(one.model, one.answer.usage.output_tokens) for one in first.answers] == [
        ("anthropic:a", 2),
        ("openai:gpt-5", 4),
    ]
    assert first.end == RecordedEnd(status="gave_up", said="end 1")
    assert [one.agent for one in (first, second, third)] == ["tool", "code", "code"]
    [unfinished] = found.cassette.attempts["1.2"]
    assert (unfinished.end, len(unfinished.answers)) == (None, 1)
    assert found.cassette.attempts.keys() == {"1.1", "1.2"} and found.missing == ()


def test_what_is_not_answered_by_models_is_kept_as_its_change_and_what_is_gone_is_named(database: Database) -> None:
    for number, agent in enumerate(("command:x", "claude", "command:x", "tool", "tool"), start=1):
        tried(database, number, agent)
    CallLog(database).note(AttemptKey(run="r1", task="1.1", attempt=5), BEGINNING, {})

    found = recorded(database, "c1", "c2", "c4", "c5")

    first, second, *others = found.cassette.attempts["1.1"]
    end = RecordedEnd(status="gave_up", said="end 1")
    assert first == RecordedDiff(diff=b"b..c1", end=end, usage=Usage(cost_usd=1))
    assert second.diff == b"b..c2"
    assert others == [
        RecordedTalk(answers=()),
        RecordedTalk(answers=()),
        RecordedTalk(answers=(), end=RecordedEnd(status="gave_up", said="end 5")),
    ], "the last one was asked for and never answered"
    assert found.missing == ("1.1 attempt 3", "1.1 attempt 4")
