"""Asking: stand-ins, what is said while an answer comes, and what a logbook keeps of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

import pytest

from milepost.agents.asking import Asker
from milepost.agents.fallback import Chain
from milepost.agents.faults import Fault
from milepost.agents.model import Answer, Conversation, Model, Prompt
from milepost.agents.recorded import answer_of
from milepost.core.calls import Call, Reply, Usage
from milepost.core.ports import Logbook, Unrecorded

TALK = Conversation(messages=(Prompt(text="do it"),), tools=(), timeout_s=1000)
BUSY = Fault("limited", "HTTP 429", 3600)
NO_KEY = Fault("rejected", "HTTP 401")


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def check(self) -> None:
        pass


class Scripted:
    """Does one thing after the other: raises a fault, or answers; the last one stays."""

    price_known = True

    def __init__(self, name: str, *deeds: Fault | str, clock: Clock | None = None, seconds: float = 0.0) -> None:
        self.name = name
        self._deeds = list(deeds)
        self._clock = clock or Clock()
        self._seconds = seconds
        self.asked: list[Conversation] = []

    def most(self, conversation: Conversation) -> Usage:
        return Usage(cost_usd=len(self.name))

    def answer(self, conversation: Conversation) -> Answer:
        self.asked.append(conversation)
        self._clock.now += self._seconds
        deed = self._deeds.pop(0) if len(self._deeds) > 1 else self._deeds[0]
        if isinstance(deed, Fault):
            raise deed
        for line in deed.splitlines():
            if conversation.hear is not None:
                conversation.hear(line)
        return Answer(text=deed, usage=Usage(output_tokens=1))


class Paper:
    """A logbook on paper: a new life begins with `again`."""

    session = ""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str]] = []
        self._given = 0

    def again(self) -> None:
        self._given = 0

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        if self._given == len(self.kept):
            reply = make()
            self.kept.append((call.name, json.dumps([dict(reply.body), reply.failed])))
        name, body = self.kept[self._given]
        assert name == call.name, "a life asks as the one before it did"
        self._given += 1
        kept, failed = json.loads(body)
        return Reply(body=kept, failed=failed)

    def note_session(self, session: str) -> None:
        raise AssertionError("no model has sessions")


def asker(
    *models: Model, clock: Clock | None = None, book: Logbook | None = None, said: list[str] | None = None
) -> Asker:
    time = clock or Clock()
    model = models[0] if len(models) == 1 else Chain(models=models)
    say = (said if said is not None else []).append
    return Asker(model, patience_s=5, clock=time, stops=time, say=say, logbook=book or Unrecorded(), aloud=True)


def text_of(reply: Reply) -> str:
    return answer_of(reply.body, reply.usage).text


def test_the_next_model_is_asked_and_recorded_under_its_own_name_and_stays_for_the_attempt() -> None:
    book, said = Paper(), list[str]()
    first, second = Scripted("a", BUSY), Scripted("bb", "yes")
    asking = asker(first, second, book=book, said=said)

    assert [text_of(asking.reply(TALK)) for _ in range(2)] == ["yes", "yes"]
    assert [name for name, _ in book.kept] == ["a", "bb", "bb"]
    assert said[0] == "a does not answer (HTTP 429): asking bb"
    assert [talk.number for talk in second.asked] == [1, 2] and len(first.asked) == 1

    book.again()
    again = asker(Scripted("a", "never asked"), Scripted("bb", "never asked"), book=book)
    assert [text_of(again.reply(TALK)) for _ in range(2)] == ["yes", "yes"]


def test_silence_is_waited_for_before_a_stand_in_is_asked_and_the_time_of_both_counts() -> None:
    clock = Clock()
    first = Scripted("a", Fault("silent", "down"), clock=clock, seconds=10)
    reply = asker(first, Scripted("b", "yes", clock=clock, seconds=7), clock=clock).reply(TALK)

    assert len(first.asked) > 1, "it is patient first"
    assert reply.body["seconds"] == clock.now > 17

    with pytest.raises(TimeoutError):
        asker(Scripted("a", BUSY, clock=clock, seconds=2000), Scripted("b", "late"), clock=clock).reply(TALK)


def test_when_all_fail_the_one_that_will_be_there_first_is_waited_for_and_all_are_asked_again() -> None:
    book, later = Paper(), Fault("limited", "HTTP 429", 7200)
    with pytest.raises(Fault, match="HTTP 429") as end:
        asker(Scripted("a", later), Scripted("b", NO_KEY), Scripted("c", BUSY), book=book).reply(TALK)
    assert end.value.wait_s == 3600

    book.again()
    models = Scripted("a", BUSY), Scripted("b", "never asked"), Scripted("c", "yes")
    assert text_of(asker(*models, book=book).reply(TALK)) == "yes"
    assert [name for name, _ in book.kept] == ["a", "b", "c", "a", "c"], "who rejects is not asked again"

    with pytest.raises(Fault) as end:
        asker(Scripted("a", NO_KEY), Scripted("b", NO_KEY), book=Paper()).reply(TALK)
    assert end.value.kind == "rejected"


def test_a_model_without_stand_ins_fails_as_it_is_and_nothing_is_recorded() -> None:
    book = Paper()
    with pytest.raises(Fault, match="HTTP 401"):
        asker(Scripted("a", NO_KEY), book=book).reply(TALK)
    assert book.kept == []


def test_who_asks_a_chain_itself_gets_the_first_answer_there_is() -> None:
    assert Chain(models=(Scripted("a", NO_KEY), Scripted("b", "yes"))).answer(TALK).text == "yes"
    with pytest.raises(Fault, match="HTTP 429"):
        Chain(models=(Scripted("a", BUSY), Scripted("b", NO_KEY))).answer(TALK)


def test_each_line_is_said_once_as_it_comes_or_at_the_end_and_again_when_it_is_told_anew() -> None:
    said: list[str] = []
    asking = asker(Scripted("a", "one\ntwo"), said=said)
    answer = answer_of(asking.reply(TALK).body, Usage())
    assert said == ["one", "two"]
    asking.tell(answer)
    assert said == ["one", "two"]
    asking.tell(answer)  # what comes from the logbook was not said by this asker
    assert said == ["one", "two"] * 2


def test_an_attempt_that_has_to_leave_does_not_wait_for_the_answer_and_says_nothing_more() -> None:
    go_on, said = threading.Event(), list[str]()

    class Slow(Scripted):
        def answer(self, conversation: Conversation) -> Answer:
            assert conversation.hear is not None
            conversation.hear("thinking")
            go_on.wait(60)
            conversation.hear("too late")
            return Answer(text="too late")

    class Leave(Exception):
        pass

    class Leaving(Clock):
        def check(self) -> None:
            raise Leave

    with pytest.raises(Leave):
        asker(Slow("a", ""), clock=Leaving(), said=said).reply(TALK)
    go_on.set()
    assert said == ["thinking"]
