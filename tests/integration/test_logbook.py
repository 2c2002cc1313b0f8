"""The logbook: each call of an attempt is made once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from milepost.core.calls import Call, Reply, Usage
from milepost.core.errors import MachineFailed
from milepost.core.events import Event, ModelCalled, ToolUsed
from milepost.engine.records.call_log import AttemptKey, CallLog, RecordedCall
from milepost.engine.records.call_recorder import CallHooks, CallRecorder, Diverged, resumable, session_of
from milepost.store.database import Database

KEY = AttemptKey(run="7f3a", task="1.1", attempt=1)


class Till:
    """Counts what is held and what is paid."""

    def __init__(self) -> None:
        self.held: list[int] = []
        self.paid: dict[int, float] = {}

    def reserve(self, number: int, model: str, most: Usage) -> None:
        self.held.append(number)

    def settle(self, number: int, model: str, usage: Usage) -> None:
        self.paid[number] = usage.cost_usd


class Life:
    """One life of an attempt, from its start or from what was recorded before."""

    def __init__(self, database: Database, trees: tuple[str, ...] = (), refused: str = "") -> None:
        self.log, self.till, self.told = CallLog(database), Till(), list[Event]()
        self.made: list[str] = []
        self.known = resumable(self.log, KEY)
        kept = iter(trees)
        refusing = refused
        watch = CallHooks(
            purse=self.till,
            veto=type("Veto", (), {"refusal": lambda _, number, call: refusing if call.argv else ""})(),
            keep=lambda: next(kept),
            tell=lambda event, _: self.told.append(event),
            begin=lambda: None,
            require=lambda: None,
            redact=lambda text: text.replace("hunter2", "•"),
        )
        self.book = CallRecorder(self.log, KEY, self.known, "base-tree", watch)

    def ask(self, request: str, cost_usd: float = 0.01) -> Reply:
        return self.book.once(Call(kind="model", name="m", request=request), self._making(request, cost_usd))

    def use(self, request: str, *, changes: bool = True, argv: tuple[str, ...] = ()) -> Reply:
        call = Call(kind="tool", name="t", summary=f"uses {request}", request=request, changes=changes, argv=argv)
        return self.book.once(call, self._making(request, 0.0))

    def _making(self, request: str, cost_usd: float) -> Callable[[], Reply]:
        def make() -> Reply:
            self.made.append(request)
            return Reply(body={"text": f"answer to {request}"}, usage=Usage(output_tokens=3, cost_usd=cost_usd))

        return make


def test_a_second_life_is_told_the_same_and_makes_only_what_is_missing(database: Database) -> None:
    first = Life(database, trees=("t1", "t2"))
    answers = [first.ask("a"), first.use("b"), first.ask("c")]
    second = Life(database, trees=("t3",))
    assert second.known[-1].tree == "t1"
    assert [second.ask("a"), second.use("b"), second.ask("c")] == answers
    assert second.made == []
    second.use("d")
    assert second.made == ["d"]
    assert second.till.held == [] and second.till.paid == {1: 0.01, 3: 0.01}, "nothing is held again, all is settled"


def test_an_agent_that_asks_for_something_else_goes_on_from_where_it_does(database: Database) -> None:
    first = Life(database, trees=("t1", "t2"))
    first.ask("a"), first.use("b"), first.use("c")
    second = Life(database)
    second.ask("a")
    with pytest.raises(Diverged):
        second.use("other")
    third = Life(database, trees=("t9",))
    assert [call.number for call in third.known] == [1]
    third.ask("a"), third.use("other")
    assert third.made == ["other"]


def test_calls_after_a_workspace_that_cannot_be_told_are_made_again(database: Database) -> None:
    first = Life(database, trees=("t1", ""))
    first.use("a"), first.use("b"), first.ask("c")
    second = Life(database)
    assert [call.number for call in second.known] == [1]


def test_a_second_writer_of_a_call_is_refused(database: Database) -> None:
    log = CallLog(database)
    call = RecordedCall(number=1, kind="tool", name="t", request="r", tree="", reply=Reply(), duration_ms=1)
    log.keep(KEY, call)
    log.keep(KEY, call)
    with pytest.raises(MachineFailed, match="another engine"):
        log.keep(KEY, RecordedCall(number=1, kind="tool", name="t", request="x", tree="", reply=Reply(), duration_ms=1))


def test_what_a_person_refuses_is_not_made_and_stays_refused(database: Database) -> None:
    first = Life(database, refused="not that")
    assert first.use("rm", argv=("rm", "-rf", "/")).refused == "not that"
    assert first.made == []
    second = Life(database)
    assert second.use("rm", argv=("rm", "-rf", "/")).refused == "not that"


def test_each_call_is_told_without_secrets(database: Database) -> None:
    life = Life(database, trees=("t1",))
    life.ask("a"), life.use("hunter2")
    asked, used = life.told
    assert isinstance(asked, ModelCalled) and (asked.number, asked.output_tokens) == (1, 3)
    assert isinstance(used, ToolUsed) and "hunter2" not in used.summary + used.printed


def test_a_session_is_noted_with_the_workspace_of_that_moment(database: Database) -> None:
    life = Life(database, trees=("t1", "t2"))
    life.book.note_session("s-1")
    life.book.note_session("s-2")
    found = session_of(CallLog(database), KEY)
    assert (found.name, found.tree) == ("s-2", "t2")
