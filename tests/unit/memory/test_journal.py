"""What is kept of episodes: within bounds, without secrets, each step once; and who is known to be gone."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import EpisodeDiverged, EpisodeFull, EpisodeInvalid, Misuse, StateUnwritable
from milepost.core.memories import (
    Assessment,
    Circumstances,
    Episode,
    EpisodeEnd,
    EpisodeStart,
    EpisodeStep,
    Exhibit,
    Lesson,
    Reflection,
)
from milepost.core.secrets.redact import Redactor
from milepost.core.verdict import Verdict
from milepost.memory.memory import StoredMemory
from milepost.memory.store import bounds, owners
from milepost.memory.store.bounds import cut, cut_characters, fewer, without_middle
from milepost.memory.store.rows import digest_of, row_of
from milepost.memory.store.sanitise import Sanitiser
from milepost.memory.transfer.forget import Forgetting
from milepost.store.database import Database, open_database
from milepost.store.group_commit import Convoy

START = EpisodeStart(id="a1", project="clock", title="Parse hours", started_at=10.0)
END = EpisodeEnd(kind="success", ended_at=20.0, verdict=Verdict.PASSED)
STEP = EpisodeStep(tool="shell", action="run tests", number=1)
SECRET = "hunter2-hunter2"


@pytest.fixture
def database() -> Iterator[Database]:
    with closing(open_database(":memory:")) as opened:
        yield opened


@pytest.fixture
def memory(database: Database) -> StoredMemory:
    return StoredMemory(database, redact=Redactor([SECRET]))


def kept(memory: StoredMemory, episode: str = "a1") -> Episode:
    found = memory.journal.episode(episode)
    assert found is not None
    return found


@pytest.mark.parametrize("text", ["x" * 5000, "ä" * 3000, "€\n" * 2000, "\udcff" * 4000])
def test_a_text_that_is_cut_says_how_much_and_is_no_longer_than_it_may_be(text: str) -> None:
    found = cut(text, 1000)
    assert len(found.encode()) <= 1000
    assert "bytes cut …" in found
    assert cut(found, 1000) == found
    assert cut("x" * 1000, 1000) == "x" * 1000
    assert cut("x" * 1001, 1000).count("x") + 44 > 1000 - 44


def test_characters_are_counted_where_characters_are_bounded() -> None:
    assert cut_characters("ä" * 10_000, 10_000) == "ä" * 10_000
    found = cut_characters("ä" * 10_001, 10_000)
    assert len(found) <= 10_000
    told = int(found.split("… ")[1].split(" ")[0].replace(",", ""))
    assert found.count("ä") + told == 10_001


def test_a_list_keeps_its_first_entries_and_says_how_many_more_there_were() -> None:
    assert fewer(["a"] * 1000, 10) == ("a",) * 1000
    assert fewer(["a"] * 1002, 10)[-2:] == ("a", "… 3 more")
    long = fewer(["b" * 60_000] * 3, 60_000)
    assert (len(long), long[-1]) == (2, "… 2 more")
    assert fewer([], 10) == ()


def test_of_too_many_steps_those_in_the_middle_are_left_out_and_one_says_so() -> None:
    steps = [replace(STEP, number=0, action=str(number)) for number in range(1, 1501)]
    found = without_middle(steps, [10] * 1500, 1_000_000)
    assert len(found) == 1000
    assert [step.action for step in found[:500]] == [str(number) for number in range(1, 501)]
    assert (found[500].tool, found[500].action, found[500].number) == ("milepost", "501 steps left out", 501)
    assert [step.action for step in found[501:]] == [str(number) for number in range(1002, 1501)]
    assert len({step.number for step in found}) == 1000
    few = without_middle(steps[:10], [400] * 10, 1_000)
    assert [step.action for step in few] == ["1", "8 steps left out", "10"]
    assert [step.number for step in without_middle(steps[:3], [1] * 3, 100)] == [1, 2, 3]


def test_no_secret_is_in_any_row_wherever_it_was_said(memory: StoredMemory, database: Database) -> None:
    token = "ghp_" + "a1B2" * 9
    nested = {SECRET: [{"x": (f"--token={SECRET}", {token: 1})}], "password": "swordfish-1", "n": 3}
    memory.journal.start(
        replace(
            START,
            title=SECRET,
            text=f"use {SECRET}",
            agent=token,
            circumstances=Circumstances(tags=(SECRET,), domain=SECRET),
            files=(f"{SECRET}.py",),
        )
    )
    memory.journal.log("a1", replace(STEP, tool=SECRET, action=token, parameters=nested, observation=SECRET * 900))
    memory.journal.complete(
        "a1",
        replace(END, reason=SECRET, evidence=(SECRET,), signals=(token,), exhibits=(exhibit(SECRET), exhibit(token))),
        Assessment(reflection=Reflection(insights=(SECRET,))),
    )
    lesson = Lesson(id="l1", kind="usage", project="clock", subject=SECRET, text=token, made_at=1.0, terms=(SECRET,))
    memory.lessons.keep(lesson, ["a1"])
    memory.lessons.move("l1", "retired", f"it says {SECRET}")
    for table in ("episodes", "steps", "endings", "lessons", "states"):
        for row in database.read(f"select * from memory_{table}"):
            assert not [part for part in map(str, row) if SECRET in part or token in part or "swordfish" in part]
    parameters = kept(memory).steps[0].parameters
    assert parameters == {"[secret]": [{"x": ["--token=[secret]", {"[secret]": 1}]}], "password": "[secret]", "n": 3}


def exhibit(text: str) -> Exhibit:
    return Exhibit(name="a log", kind="log", text=text)


def test_a_secret_is_taken_out_before_the_text_around_it_is_cut() -> None:
    fitting = Sanitiser(Redactor([SECRET]))
    for shift in range(0, 40, 3):
        step = replace(STEP, observation="x" * (4960 + shift) + SECRET + "y" * 20_000 + SECRET + "z" * (4960 + shift))
        assert "hunter2" not in fitting.step(step).observation


class Odd:
    def __repr__(self) -> str:
        return "odd " * 5000


def deep(levels: int) -> Any:
    return {"in": deep(levels - 1)} if levels else "bottom"


@pytest.mark.parametrize(
    "parameters",
    [
        {"n": float("nan"), "i": float("inf"), "big": 10**400},
        {"b": b"\xff\0", "p": Path("/x"), "o": Odd(), "s": {1, 2}},
        {f"key {number}": "v" * 3000 for number in range(500)},
        {"deep": deep(200)},
        {"k" * 9000: ["x"] * 5000, 7: "seven", None: None},
        {"text": "a\0b\udcff"},
    ],
)
def test_whatever_the_parameters_are_they_are_kept_within_their_bound(
    memory: StoredMemory, parameters: dict[Any, Any]
) -> None:
    memory.journal.start(START)
    for _ in range(2):
        assert memory.journal.log("a1", replace(STEP, parameters=parameters)) == 1
    (step,) = kept(memory).steps
    assert 0 < len(json.dumps(step.parameters)) <= bounds.PARAMETERS_BYTES + 1_000


def test_numbers_that_no_database_takes_are_no_reason_to_lose_a_step(memory: StoredMemory) -> None:
    odd: Any = float("nan")
    memory.journal.start(replace(START, started_at=float("inf"), attempt=2**70))
    memory.journal.log("a1", replace(STEP, latency_ms=odd, tokens=10**400, at=float("nan")))
    memory.journal.complete("a1", replace(END, cost_usd=float("nan"), duration_ms=2**90), Assessment())
    assert kept(memory).passed


def test_each_part_of_an_episode_has_its_bound(memory: StoredMemory) -> None:
    memory.journal.start(replace(START, title="t" * 9000, text="ä" * 20_000, files=("f" * 900,) * 3000))
    memory.journal.log("a1", replace(STEP, observation="o" * 30_000, tool="t" * 900, signature="s" * 9000))
    memory.journal.complete("a1", replace(END, exhibits=(exhibit("e" * 1_100_000),)), Assessment())
    found = kept(memory)
    assert found.end is not None
    assert len(found.start.text) <= 10_000 and "characters cut" in found.start.text
    assert len(found.start.title) <= 2_000
    assert found.start.files[-1].endswith(" more")
    assert len(found.steps[0].observation) <= 10_000 and "20,0" in found.steps[0].observation
    (kept_exhibit,) = found.end.exhibits
    assert len(kept_exhibit.text) <= 1_000_000 and "bytes cut …" in kept_exhibit.text


def test_exhibits_share_the_room_that_the_steps_left() -> None:
    end = Sanitiser().end(replace(END, exhibits=(exhibit("e" * 1_000),) * 4), 2_500)
    assert [len(one.text.encode()) for one in end.exhibits[:2]] == [1_000, 1_000]
    assert len(end.exhibits[2].text.encode()) <= 500
    assert end.exhibits[3].text.strip() == "… 1,000 bytes cut …"


def test_a_step_too_many_is_refused_and_the_episode_ends_all_the_same(
    memory: StoredMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milepost.memory.store.episodes.STEPS", 3)
    memory.journal.start(START)
    for _ in range(3):
        memory.journal.log("a1", replace(STEP, number=0))
    with pytest.raises(EpisodeFull, match="3 steps"):
        memory.journal.log("a1", replace(STEP, number=0))
    assert memory.journal.log("a1", replace(STEP, number=2)) == 2, "what is kept already may be said again"
    memory.journal.complete("a1", END, Assessment())
    assert len(kept(memory).steps) == 3 and kept(memory).passed


def test_steps_that_are_too_large_together_are_refused_also_after_another_process_wrote_some(
    memory: StoredMemory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milepost.memory.store.episodes.STEPS_BYTES", 35_000)
    memory.journal.start(START)
    other = StoredMemory(database).journal
    for journal in (memory.journal, other, memory.journal):
        journal.log("a1", replace(STEP, number=0, observation="x" * 10_000))
    for journal in (memory.journal, other):
        with pytest.raises(EpisodeFull, match="35,000 bytes"):
            journal.log("a1", replace(STEP, number=0, observation="x" * 10_000))


def test_a_whole_episode_is_kept_however_many_steps_it_has(memory: StoredMemory) -> None:
    memory.journal.start(START)
    memory.journal.log("a1", replace(STEP, action="told before"))
    steps = tuple(replace(STEP, number=0) for _ in range(1200))
    memory.record(Episode(start=START, steps=steps, end=END))
    found = kept(memory)
    assert found.passed and len(found.steps) == 1000
    assert found.steps[0].action == "told before"
    assert [step.action for step in found.steps if step.tool == "milepost"] == ["201 steps left out"]


def test_the_first_step_of_a_number_stays_and_who_says_another_is_told(memory: StoredMemory) -> None:
    memory.journal.start(START)
    assert [memory.journal.log("a1", STEP) for _ in range(2)] == [1, 1]
    for other in (replace(STEP, action="other"), replace(STEP, at=5.0)):
        with pytest.raises(EpisodeDiverged, match="another step 1"):
            memory.journal.log("a1", other)
    assert memory.journal.log("a1", replace(STEP, number=0)) == 2
    assert [step.action for step in kept(memory).steps] == ["run tests", "run tests"]
    memory.journal.complete("a1", END, Assessment())
    assert memory.journal.log("a1", STEP) == 1


@pytest.mark.parametrize("name", ["", "x" * 501, f"a/{SECRET}", "a\0b"])
def test_an_id_that_cannot_be_kept_as_it_is_is_refused(memory: StoredMemory, name: str) -> None:
    with pytest.raises(EpisodeInvalid) as raised:
        memory.journal.start(replace(START, id=name))
    assert SECRET not in str(raised.value)
    with pytest.raises(EpisodeInvalid):
        memory.journal.log("a1", replace(STEP, number=-1))


def test_nothing_is_forgotten_for_a_source_without_a_name(memory: StoredMemory) -> None:
    memory.record(Episode(start=START, end=END))
    with pytest.raises(Misuse):
        Forgetting(memory.rows).grown_from(" ", "by mistake")
    assert kept(memory).passed


def test_a_row_has_the_digest_that_it_has_when_it_is_read_again(memory: StoredMemory, database: Database) -> None:
    memory.journal.start(replace(START, started_at=10, title="a\0b\udcff"))
    names = ("id", "project", "run", "task", "attempt", "agent", "title", "kind", "owner", "at", "body", "digest")
    (row,) = database.read(f"select {', '.join(names)} from memory_episodes")
    told = dict(zip(names, row, strict=True))
    assert told["digest"] == digest_of(told) == row_of(told)["digest"]


def test_acts_that_come_while_one_is_committed_share_the_next_commit() -> None:
    commits: list[int] = []
    under_way, may_go_on = threading.Event(), threading.Event()

    def commit(act: Callable[[], Any]) -> Any:
        done = act()
        commits.append(len(done) if isinstance(done, list) else 1)
        under_way.set()
        may_go_on.wait()
        return done

    convoy, results = Convoy(commit), list[int]()
    first = threading.Thread(target=lambda: results.append(convoy.carry(lambda: 0)))
    first.start()
    under_way.wait()

    def come(number: int) -> None:
        results.append(convoy.carry(lambda: number))

    others = [threading.Thread(target=come, args=(number,)) for number in range(1, 6)]
    for other in others:
        other.start()
    while len(convoy._waiting) < 5:
        pass
    may_go_on.set()
    for thread in (first, *others):
        thread.join()
    assert commits == [1, 5]
    assert sorted(results) == [0, 1, 2, 3, 4, 5]


def test_an_act_that_fails_takes_no_other_with_it_and_a_commit_that_fails_is_told_to_all() -> None:
    kept: list[str] = []
    entered, gathered = threading.Event(), threading.Event()
    full = False

    def commit(act: Callable[[], Any]) -> Any:
        entered.set()
        gathered.wait()
        before = list(kept)
        try:
            done = act()
            if full:
                raise StateUnwritable("the disk is full", "free some space")
            return done
        except BaseException:
            kept[:] = before
            raise

    convoy, told = Convoy(commit), dict[str, object]()

    def come(name: str) -> None:
        def act() -> str:
            kept.append(name)
            if name == "bad":
                raise ZeroDivisionError
            return name

        try:
            told[name] = convoy.carry(act)
        except (ZeroDivisionError, StateUnwritable) as error:
            told[name] = type(error)

    def all_at_once(*names: str) -> None:
        first = threading.Thread(target=come, args=("first",))
        first.start()
        entered.wait()
        threads = [threading.Thread(target=come, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        while len(convoy._waiting) < len(names):
            pass
        gathered.set()
        for thread in (first, *threads):
            thread.join()

    all_at_once("good", "bad", "fine")
    assert told == {"first": "first", "good": "good", "fine": "fine", "bad": ZeroDivisionError}
    assert sorted(kept) == ["fine", "first", "good"]
    kept.clear()
    entered.clear()
    gathered.clear()
    full = True
    all_at_once("good", "fine")
    assert {told["first"], told["good"], told["fine"]} == {StateUnwritable}
    assert kept == []


def test_only_a_process_of_this_machine_that_is_no_more_is_known_to_be_gone() -> None:
    here = owners.owner_here()
    kind, machine, boot, space, pid, began = here.split(" ")
    child = subprocess.Popen(["sleep", "60"])
    theirs = owners._owner(owners._place(), child.pid)
    assert not owners.is_gone(theirs)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it ended, and nobody has asked how yet
    assert owners.is_gone(theirs)
    child.wait()
    assert owners.is_gone(theirs)
    gone = {
        here: False,
        " ".join((kind, machine, boot, space, pid, "1")): True,  # another process had this number
        " ".join((kind, machine, "earlier", space, pid, began)): True,
        " ".join((kind, machine, "-", space, pid, began)): False,
        " ".join((kind, "other", "earlier", space, pid, began)): False,
        " ".join((kind, machine, boot, "4026530000", "999999999", began)): False,  # in another container
        " ".join((kind, machine, boot, space, "9" * 30, began)): False,
        "run 7f3a": False,
        "process of nobody": False,
        "": False,
    }
    assert {owner: owners.is_gone(owner) for owner in gone} == gone
