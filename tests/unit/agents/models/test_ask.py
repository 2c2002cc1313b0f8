"""Asking: stand-ins, what is said while an answer comes, and what a logbook keeps of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, replace

import pytest

from milepost.agents.models.as_json import answer_of
from milepost.agents.models.ask import Asker
from milepost.agents.models.fallback import Chain
from milepost.agents.models.faults import Fault
from milepost.agents.models.model import Answer, Conversation, Model, Prompt
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
            self.kept.append((call.name, json.dumps([dict(reply.body), asdict(reply.usage), reply.failed])))
        name, body = self.kept[self._given]
        assert name == call.name, "a life asks as the one before it did"
        self._given += 1
        kept, usage, failed = json.loads(body)
        return Reply(body=kept, usage=Usage(**usage), failed=failed)

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


def test_time_lost_to_faults_costs_no_attempt_and_is_the_same_in_every_life() -> None:
    clock, book = Clock(), Paper()
    slow = Scripted("a", BUSY, clock=clock, seconds=2000)
    with pytest.raises(Fault, match="no answer in time"):
        asker(slow, Scripted("b", "never asked"), clock=clock, book=book).reply(TALK)

    book.again()
    down, there = Scripted("b", BUSY, clock=clock, seconds=300), Scripted("a", "yes", clock=clock, seconds=7)
    with pytest.raises(Fault, match="HTTP 429"):
        asker(there, down, clock=clock, book=book).reply(TALK)
    assert down.asked[0].timeout_s == 1000, "what an earlier life lost is not taken from this one"

    lives: list[Reply] = []
    for _ in range(2):
        book.again()
        down = Scripted("a", BUSY, clock=clock, seconds=40)
        lives.append(asker(down, Scripted("b", "yes", clock=clock, seconds=7), clock=clock, book=book).reply(TALK))
    assert [reply.body["seconds"] for reply in lives] == [47, 47]
    assert [name for name, _ in book.kept] == ["a", "b", "a", "b"]


def test_a_stand_in_that_had_only_the_rest_of_the_time_does_not_cost_the_attempt() -> None:
    class Thinking(Scripted):
        def answer(self, conversation: Conversation) -> Answer:
            if conversation.timeout_s < 1000:
                raise TimeoutError
            return super().answer(conversation)

    clock, book = Clock(), Paper()
    models = Scripted("a", BUSY, clock=clock, seconds=900), Thinking("b", "yes")
    with pytest.raises(Fault, match="no answer in time"):
        asker(*models, clock=clock, book=book).reply(TALK)
    book.again()
    assert text_of(asker(*models, clock=clock, book=book).reply(TALK)) == "yes"
    with pytest.raises(TimeoutError):
        asker(models[1], clock=clock).reply(replace(TALK, timeout_s=900))


def test_what_answers_that_broke_off_took_is_paid_with_the_answer_or_with_the_fault_that_is_recorded() -> None:
    torn = Fault("silent", "it broke off", usage=Usage(output_tokens=100))
    assert asker(Scripted("a", torn, torn, "yes")).reply(TALK).usage.output_tokens == 201
    assert Chain(models=(Scripted("a", torn), Scripted("b", "yes"))).answer(TALK).usage.output_tokens == 101

    for models in ([Scripted("a", torn)], [Scripted("a", torn), Scripted("b", BUSY)]):
        book = Paper()
        with pytest.raises(Fault) as end:
            asker(*models, book=book).reply(TALK)
        lost = sum(json.loads(kept)[1]["output_tokens"] for _, kept in book.kept)
        assert lost == end.value.usage.output_tokens == 100 * len(models[0].asked) > 100

        book.again()
        later = [Scripted(model.name, "yes") for model in models]
        assert asker(*later, book=book).reply(TALK).usage.output_tokens == lost + 1
    assert torn.usage.output_tokens == 100


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
