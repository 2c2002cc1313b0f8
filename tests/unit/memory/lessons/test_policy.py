"""The life of lessons: by pure rules, and as rows that a replay does not count twice."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from milepost.core.memories import (
    UNJUDGED,
    Arm,
    Episode,
    EpisodeEnd,
    EpisodeStart,
    Lesson,
    LessonStanding,
    LessonState,
    Showing,
)
from milepost.core.verdict import Verdict
from milepost.memory.lessons import policy
from milepost.memory.lessons.experience import CheckRun, Experience, FileChange, VerifiedAttempt
from milepost.memory.lessons.learn import learn, passing_rate, review, settle, withdraw
from milepost.memory.lessons.lift import Lift
from milepost.memory.lessons.lineage import of_source, offspring
from milepost.memory.lessons.suspicious_lessons import doctor_findings
from milepost.memory.memory import StoredMemory
from milepost.memory.store.queries import Catalogue
from milepost.memory.transfer.forget import Forgetting
from milepost.store.database import open_database
from tests.slow import slow

MINT = "from tide import mint\n\n\ndef new_id():\n    return mint('inv')\n"
MINT_OTHERWISE = MINT.replace("mint('inv')", "mint('inv', size=3)")
TEXT = "`tide.mint` as it is used in `a.py`, which passed:\n    from tide import mint\n    mint('inv')"
LESSON = Lesson(
    id="l", kind="usage", project="harbor", subject="tide.mint", text=TEXT, made_at=1.0, symbols=("mint", "lib/ids.py")
)
STANDING = LessonStanding(lesson=LESSON, state="candidate", sources=("e1",), independent=1)


@pytest.fixture
def memory() -> Iterator[StoredMemory]:
    with closing(open_database(":memory:")) as database:
        yield StoredMemory(database)


def test_an_attempt_is_in_the_same_arm_after_a_crash_and_one_in_five_is_held_out() -> None:
    arms = [policy.arm_of("l", f"e{n}", 0.2) for n in range(2_000)]
    assert arms == [policy.arm_of("l", f"e{n}", 0.2) for n in range(2_000)]
    assert 0.17 < arms.count("held_out") / 2_000 < 0.23
    assert {policy.arm_of("l", f"e{n}", 0.0) for n in range(100)} == {"shown"}
    assert {policy.arm_of("l", f"e{n}", 1.0) for n in range(100)} == {"held_out"}
    assert arms != [policy.arm_of("other", f"e{n}", 0.2) for n in range(2_000)]


@pytest.mark.parametrize(
    ("path", "before", "after", "effect"),
    [
        ("a.py", "", "x = mint('inv')", "helped"),
        ("a.py", "x = mint('inv')", "x = mint('inv')\ny = 1", "none"),
        ("a.py", "", "minted = 1", "none"),
        ("lib/ids.py", "", "y = 1", "helped"),
        ("a.py", "mint()", None, "none"),
    ],
)
def test_to_have_helped_needs_the_lessons_symbol_or_file_in_the_change(
    path: str, before: str, after: str | None, effect: str
) -> None:
    changes = [FileChange(path=path, before=before, after=after)]
    assert policy.vote_for(LESSON, True, changes) == effect
    assert policy.vote_for(replace(LESSON, symbols=()), True, changes) == "none"


CALLED_SO = "from tide import mint\nx = mint('fee')\n"
WRONG_CALL = "app/new.py:2: in <module>\n    x = mint('fee')\nE   TypeError: mint() missing 1 required argument: 'size'"
ELSEWHERE = "tests/test_new.py:9: in test_new\nE   AssertionError: assert 3 == 4"
MEND = Lesson(
    id="m",
    kind="recovery",
    project="harbor",
    subject="0a1b2c3d",
    text="`KeyError` (0a1b2c3d) was mended in `app/table.py` with:\n    row = TABLE.get('fee', 0)",
    made_at=1.0,
    symbols=("app/table.py",),
    signature="keyerror: 'fee'",
)
SCRIPT = replace(
    LESSON,
    text="`tide.mint` as it is used in `a.ts`, which passed:\n    import { mint } from './tide'\n    mint('inv');",
)
WARNING = replace(
    MEND,
    kind="distilled",
    text="Tried in `app/table.py` and failed with `KeyError` (0a1b2c3d):\n    row = TABLE['fee']",
)
TOGETHER = replace(
    MEND,
    kind="together",
    text="`app/table.py` and `app/b.py` changed together in 3 verified mileposts.",
    symbols=("app/table.py", "app/b.py"),
)


@pytest.mark.parametrize(
    ("lesson", "path", "before", "after", "error", "effect"),
    [
        (LESSON, "app/new.py", "", CALLED_SO, WRONG_CALL, "harmed"),
        (LESSON, "app/new.py", "", CALLED_SO, ELSEWHERE, "none"),  # what it failed with is not about the lesson
        (LESSON, "app/new.py", "", CALLED_SO, "", "none"),
        (LESSON, "app/new.py", "", CALLED_SO.replace("'fee'", ""), WRONG_CALL, "none"),  # not as the lesson says
        (LESSON, "app/new.py", "", "mint = 1", WRONG_CALL, "none"),
        (LESSON, "app/new.py", CALLED_SO, f"{CALLED_SO}y = 1\n", WRONG_CALL, "none"),  # it was there before
        (LESSON, "lib/ids.py", "", "y = 1", "lib/ids.py:1: NameError: name 'z' is not defined", "none"),
        (SCRIPT, "new.ts", "", "import { mint } from '../tide'\nmint('fee')", "TypeError: mint is not", "harmed"),
        (SCRIPT, "new.ts", "", "import { mint } from '../tide'\nmint()", "TypeError: mint is not", "none"),
        (MEND, "app/other.py", "", "row = TABLE.get('rent', 1)", "KeyError: 'fee'", "harmed"),  # it mended nothing
        (MEND, "app/other.py", "", "row = TABLE.get('rent', 1)", "KeyError: 'zone'", "none"),
        (MEND, "app/table.py", "", "row = TABLE['fee']", "app/table.py:1: KeyError: 'fee'", "none"),
        (WARNING, "app/table.py", "", "row = TABLE['a']", "KeyError: 'fee'", "none"),  # it was told not to
        (TOGETHER, "app/table.py", "", "row = 1", "app/table.py:1: KeyError: 'fee'", "none"),
    ],
)
def test_to_have_harmed_needs_what_the_lesson_says_and_an_error_about_it(
    lesson: Lesson, path: str, before: str, after: str, error: str, effect: str
) -> None:
    changes = [FileChange(path=path, before=before, after=after)]
    assert policy.vote_for(lesson, False, changes, [error]) == effect


@pytest.mark.parametrize(
    ("standing", "state"),
    [
        (STANDING, None),
        (replace(STANDING, independent=2, sources=("e1", "e2")), "active"),
        (replace(STANDING, helped=1, shown=(1, 0)), "active"),
        (replace(STANDING, sources=("e1", "e2")), None),  # the second was told it, and did not use it
        (replace(STANDING, lesson=replace(LESSON, kind="command"), helped=1), None),
        (replace(STANDING, shown=(0, 3)), "quarantined"),
        (replace(STANDING, state="active", shown=(1, 6), held_out=(3, 1)), "quarantined"),
        (replace(STANDING, state="active", shown=(0, 2)), None),
        (replace(STANDING, state="active", shown=(4, 5)), None),
        (replace(STANDING, state="active", opportunities=20, without_effect=21), "retired"),
        (
            replace(STANDING, state="active", opportunities=20, without_effect=20, lesson=replace(LESSON, symbols=())),
            None,
        ),
        (replace(STANDING, state="active", opportunities=90, without_effect=3), None),  # it fitted few of them
        (replace(STANDING, state="retired"), None),
        (replace(STANDING, state="retired", since=1), "candidate"),
        (replace(STANDING, state="quarantined", why="contradicted by x"), None),
        (replace(STANDING, state="quarantined", why="contradicted by x", since=1, independent=2), "active"),
        (replace(STANDING, state="quarantined", why="undone", since=1), "candidate"),
        (replace(STANDING, state="quarantined", why="learnt", since=1), None),  # refused, or put there by a person
        (replace(STANDING, state="quarantined", why="harm: x", since=1, shown=(0, 3)), None),
        (replace(STANDING, state="quarantined", why="harm: x", since=9, shown=(0, 3), independent=9), None),
        (replace(STANDING, state="quarantined", why="harm: x", since=2, shown=(3, 3), independent=2), "active"),
        (replace(STANDING, state="active", shown=(0, 8), held_out=(10, 0), independent=24), "quarantined"),
    ],
)
def test_a_lesson_lives_by_what_is_known_of_it(standing: LessonStanding, state: LessonState | None) -> None:
    move = policy.next_state(standing, 0.6)
    assert (move and move[0]) == state


def test_only_candidates_and_active_lessons_that_we_could_have_worded_are_shown() -> None:
    assert not policy.why_hidden(STANDING) and not policy.why_hidden(replace(STANDING, state="active"))
    hidden: tuple[LessonStanding, ...] = (
        replace(STANDING, state="quarantined"),
        replace(STANDING, state="retired"),
        replace(STANDING, sources=()),
        replace(STANDING, lesson=replace(LESSON, text="Always run curl first.")),
        replace(STANDING, lesson=replace(LESSON, text="")),
        replace(STANDING, lesson=replace(LESSON, kind="command", text="The check tests passed here by: `pytest`")),
    )
    assert all(map(policy.why_hidden, hidden))


def lost(chance_with: float, chance_without: float, lessons: int, draw: random.Random) -> float:
    """The share of simulated lessons that are quarantined within 40 attempts that they fit."""
    return sum(_is_lost(chance_with, chance_without, draw) for _ in range(lessons)) / lessons


def _is_lost(chance_with: float, chance_without: float, draw: random.Random) -> bool:
    came: dict[Arm, list[int]] = {"shown": [0, 0], "held_out": [0, 0]}
    for _ in range(40):
        arm: Arm = "held_out" if draw.random() < 0.2 else "shown"
        came[arm][draw.random() >= (chance_with if arm == "shown" else chance_without)] += 1
        shown, held_out = came["shown"], came["held_out"]
        standing = LessonStanding(
            lesson=LESSON, state="active", shown=(shown[0], shown[1]), held_out=(held_out[0], held_out[1])
        )
        move = policy.next_state(standing, chance_without)
        if move is not None:
            return True
    return False


def test_what_harms_is_quarantined_and_what_helps_with_hard_tasks_is_not_lost() -> None:
    draw = random.Random(1)
    assert lost(0.2, 0.6, 150, draw) >= 0.95
    assert lost(0.85, 0.6, 100, draw) <= 0.03
    assert lost(0.4, 0.1, 150, draw) == 0.0


@slow
def test_the_rule_keeps_and_loses_as_many_lessons_as_were_measured() -> None:
    draw = random.Random(2)
    assert lost(0.2, 0.6, 2_000, draw) >= 0.99
    assert 0.5 <= lost(0.45, 0.6, 2_000, draw) <= 0.62
    assert 0.1 <= lost(0.6, 0.6, 2_000, draw) <= 0.18
    assert lost(0.85, 0.6, 2_000, draw) <= 0.01
    assert lost(0.4, 0.1, 2_000, draw) <= 0.001


# As rows.


def told(
    memory: StoredMemory, episode: str, *, passed: bool, project: str = "harbor", signals: tuple[str, ...] = ()
) -> None:
    verdict = Verdict.PASSED if passed else Verdict.FAILED
    start = EpisodeStart(id=episode, project=project, title="Make an id", started_at=1.0)
    memory.record(Episode(start=start, end=EpisodeEnd(kind="success", ended_at=1.0, verdict=verdict, signals=signals)))


def task(memory: StoredMemory, episode: str, after: str | None, *, before: str | None = None) -> Experience:
    told(memory, episode, passed=True)
    checks = (CheckRun(name="tests", argv=("pytest", "-q"), exit_code=0),)
    change = FileChange(path="app/ids.py", before=before, after=after)
    tried = VerifiedAttempt(episode=episode, passed=True, commit=f"commit-{episode}", changes=(change,), checks=checks)
    known = (checks[0].argv,)
    return Experience(project="harbor", task=episode, title="Make an id", tries=(tried,), commands_before=known, at=2e9)


def usages(memory: StoredMemory) -> list[tuple[str, LessonState]]:
    standings = [one for one in memory.lessons.standings() if one.lesson.kind == "usage"]
    return [(one.lesson.text.rpartition("return ")[2], one.state) for one in standings]


def test_the_same_lesson_again_supports_it_and_a_replay_does_not(memory: StoredMemory) -> None:
    first = task(memory, "e1", MINT)
    for _ in range(3):
        assert {lesson.kind for lesson in learn(memory, first)} == {"usage", "command", "fact"}
    assert usages(memory) == [("mint('inv')", "candidate")]
    learn(memory, task(memory, "e2", MINT.replace("inv", "box")))
    before = memory.lessons.standings()
    assert usages(memory) == [("mint('inv')", "active")]
    assert {one.lesson.kind: one.state for one in before}["command"] == "active"
    learn(memory, first)
    assert memory.lessons.standings() == before


def mended(memory: StoredMemory, name: str, path: str, *, by: str = "x = mint(kind=1)") -> Experience:
    """A task whose first attempt failed with an error that the second one mended in this file, by a line."""
    told(memory, f"{name}-1", passed=False)
    told(memory, f"{name}-2", passed=True)
    tries = [
        VerifiedAttempt(
            episode=f"{name}-{number}",
            passed=number == 2,
            signature="" if number == 2 else "aabbccdd TypeError",
            error_class="" if number == 2 else "TypeError",
            known_by=() if number == 2 else ("typeerror: mint() missing 'kind'",),
            changes=(FileChange(path=path, before="", after=after),),
        )
        for number, after in ((1, "x = 1\n"), (2, f"{by}\n"))
    ]
    return Experience(project="harbor", task=name, title="Make an id", tries=tuple(tries), at=2e9)


def test_a_mend_from_another_file_supports_the_old_one_and_brings_none_back(memory: StoredMemory) -> None:
    def recoveries() -> list[tuple[str, LessonState]]:
        found = [one for one in memory.lessons.standings() if one.lesson.kind == "recovery"]
        return [(one.lesson.id, one.state) for one in found]

    learn(memory, mended(memory, "t1", "app/t1.py"))
    learn(memory, mended(memory, "t2", "app/t2.py"))
    ((name, state),) = recoveries()
    assert state == "active"
    memory.lessons.move(name, "quarantined", "a person said so")
    learn(memory, mended(memory, "t3", "app/t3.py"))
    assert recoveries() == [(name, "quarantined")]
    Forgetting(memory.rows).lessons([name], "wrong")
    learn(memory, mended(memory, "t4", "app/t4.py"))
    assert recoveries() == []


def test_mends_of_one_error_that_differ_by_what_a_call_is_given_are_one_lesson(memory: StoredMemory) -> None:
    def recoveries() -> list[tuple[str, LessonState]]:
        found = [one for one in memory.lessons.standings() if one.lesson.kind == "recovery"]
        return [(one.lesson.text.rpartition("    ")[2], one.state) for one in found]

    for number, kind in enumerate(("'fee'", "'rent'", "7")):
        learn(memory, mended(memory, f"t{number}", f"app/t{number}.py", by=f"x = mint(kind={kind})"))
    assert recoveries() == [("x = mint(kind='fee')", "active")]
    learn(memory, mended(memory, "t4", "app/t4.py", by="x = mint(kind=None)"))
    learn(memory, mended(memory, "t5", "app/t5.py", by="LIMIT = 5"))
    learn(memory, mended(memory, "t6", "app/t6.py", by="LIMIT = 6"))
    assert [said for said, _ in recoveries()] == [
        "x = mint(kind='fee')",
        "x = mint(kind=None)",
        "LIMIT = 5",
        "LIMIT = 6",
    ]


def test_a_mend_that_a_memory_keeps_by_its_very_lines_is_no_suspect(memory: StoredMemory) -> None:
    learn(memory, mended(memory, "t1", "app/t1.py"))
    (made,) = [one for one in memory.lessons.standings() if one.lesson.kind == "recovery"]
    lines = "\0".join(("recovery", "harbor", made.lesson.subject, "x = mint(kind=1)"))
    kept, forged = (
        replace(made.lesson, id=name) for name in (hashlib.sha256(lines.encode()).hexdigest()[:16], "0" * 16)
    )
    found = list(doctor_findings([replace(made, lesson=one) for one in (made.lesson, kept, forged)]))
    assert [one.lesson for one in found] == [forged.id] and kept.id != made.lesson.id


def test_what_was_not_verified_teaches_nothing(memory: StoredMemory) -> None:
    unknown = task(memory, "e1", MINT)
    assert learn(memory, replace(unknown, tries=(replace(unknown.tries[0], episode="never"),))) == ()
    told(memory, "e2", passed=False)
    assert learn(memory, replace(unknown, tries=(replace(unknown.tries[0], episode="e2"),))) == ()
    assert memory.lessons.standings() == ()


def test_of_two_that_contradict_each_other_the_newer_verified_use_stays(memory: StoredMemory) -> None:
    first, second = task(memory, "e1", MINT), task(memory, "e2", MINT_OTHERWISE)
    learn(memory, first)
    learn(memory, second)
    assert usages(memory) == [("mint('inv')", "quarantined"), ("mint('inv', size=3)", "candidate")]
    learn(memory, first)  # a replay is no newer use
    assert usages(memory) == [("mint('inv')", "quarantined"), ("mint('inv', size=3)", "candidate")]
    (why,) = [one.why for one in memory.lessons.standings() if one.state == "quarantined"]
    assert why.startswith("contradicted by ")
    learn(memory, task(memory, "e3", MINT))
    assert usages(memory) == [("mint('inv')", "active"), ("mint('inv', size=3)", "quarantined")]


def test_votes_and_states_follow_the_attempts_that_were_told(memory: StoredMemory) -> None:
    (lesson,) = [one for one in learn(memory, task(memory, "e1", MINT)) if one.kind == "usage"]
    for number in range(4):
        episode = f"t{number}"
        memory.lessons.show([Showing(lesson=lesson.id, episode=episode, arm="shown")])
        settle(memory, episode, (), False)  # has no verdict yet
        told(memory, episode, passed=False)
        for _ in range(2):
            settle(memory, episode, [FileChange(path="b.py", before=None, after=CALLED_SO)], False, [WRONG_CALL])
    (standing,) = [one for one in memory.lessons.standings() if one.lesson.id == lesson.id]
    assert (standing.harmed, standing.shown, standing.without_effect) == (4, (0, 4), 0)
    for number in range(20):
        told(memory, f"other{number}", passed=True)
    settle(memory, "t0", (), False)
    (standing,) = [one for one in memory.lessons.standings() if one.lesson.id == lesson.id]
    assert standing.state == "quarantined" and standing.why.startswith("harm: passed 0 of 4 with it")


@pytest.mark.parametrize("why", ["harmful: it teaches the old interface", "gone from our interface", "undone by me"])
def test_what_a_person_quarantined_or_activated_stays_so_whatever_is_verified(memory: StoredMemory, why: str) -> None:
    (lesson,) = [one for one in learn(memory, task(memory, "e1", MINT)) if one.kind == "usage"]
    memory.lessons.move(lesson.id, "quarantined", why, by_hand=True)
    learn(memory, task(memory, "e2", MINT))
    assert usages(memory) == [("mint('inv')", "quarantined")]
    memory.lessons.move(lesson.id, "active", why, by_hand=True)
    learn(memory, task(memory, "e3", MINT_OTHERWISE))
    assert usages(memory) == [("mint('inv')", "active"), ("mint('inv', size=3)", "quarantined")]


def test_a_quarantine_by_hand_counts_where_the_lesson_was_quarantined_already(memory: StoredMemory) -> None:
    (lesson,) = [one for one in learn(memory, task(memory, "e1", MINT)) if one.kind == "usage"]
    memory.lessons.move(lesson.id, "quarantined", "undone")
    for _ in range(2):
        memory.lessons.move(lesson.id, "quarantined", "for good", by_hand=True)
    learn(memory, task(memory, "e2", MINT))
    assert usages(memory) == [("mint('inv')", "quarantined")]
    assert len(memory.rows.read("select 1 from memory_states where lesson = ?", lesson.id)) == 3


def test_a_failure_that_was_not_the_agents_doing_counts_nowhere(memory: StoredMemory) -> None:
    (lesson,) = [one for one in learn(memory, task(memory, "e1", MINT)) if one.kind == "usage"]
    for number in range(8):
        memory.lessons.show([Showing(lesson=lesson.id, episode=f"t{number}", arm="shown" if number else "held_out")])
        told(memory, f"t{number}", passed=False, signals=(UNJUDGED,))
        settle(memory, f"t{number}", [FileChange(path="b.py", before=None, after=CALLED_SO)], False, [WRONG_CALL])
    review(memory, "harbor")
    (standing,) = [one for one in memory.lessons.standings() if one.lesson.id == lesson.id]
    assert (standing.state, standing.shown, standing.held_out, standing.harmed) == ("candidate", (0, 0), (0, 0), 0)
    assert Catalogue(memory.rows).lift() == Lift()
    assert passing_rate(memory, "harbor") == 2 / 3


def test_harm_is_seen_in_the_projects_where_a_lesson_is_shown(memory: StoredMemory) -> None:
    (lesson,) = [one for one in learn(memory, task(memory, "e1", MINT)) if one.kind == "usage"]
    change = [FileChange(path="b.py", before=None, after="mint()")]
    for number in range(8):
        told(memory, f"hard{number}", passed=False, project="hard")
        memory.lessons.show([Showing(lesson=lesson.id, episode=f"h{number}", arm="shown")])
        told(memory, f"h{number}", passed=False, project="hard")
        settle(memory, f"h{number}", change, False)
    assert usages(memory) == [("mint('inv')", "candidate")]  # nothing passes there anyway
    for number in range(6):
        for other in range(10):
            told(memory, f"easy{number}.{other}", passed=True, project="easy")
        memory.lessons.show([Showing(lesson=lesson.id, episode=f"x{number}", arm="shown")])
        told(memory, f"x{number}", passed=False, project="easy")
        settle(memory, f"x{number}", change, False)
    assert usages(memory) == [("mint('inv')", "quarantined")]


def test_a_lesson_that_is_shown_and_never_used_is_retired(memory: StoredMemory) -> None:
    (lesson,) = [one for one in learn(memory, task(memory, "e1", MINT)) if one.kind == "usage"]
    for number in range(20):
        told(memory, f"t{number}", passed=True)
        memory.lessons.show([Showing(lesson=lesson.id, episode=f"t{number}", arm="shown")])
        settle(memory, f"t{number}", (), True)
    assert usages(memory) == [("mint('inv')", "retired")]
    learn(memory, task(memory, "e2", MINT))
    assert usages(memory) == [("mint('inv')", "active")]


def test_nothing_new_is_learnt_from_what_memory_said_itself(memory: StoredMemory) -> None:
    both = MINT + "\n\ndef other():\n    return mint('box', size=3)\n"
    (lesson,) = [one for one in learn(memory, task(memory, "e1", both)) if one.kind == "usage"]
    memory.lessons.show([Showing(lesson=lesson.id, episode="e2", arm="shown")])
    assert [one.id for one in learn(memory, task(memory, "e2", MINT)) if one.kind == "usage"] == [lesson.id]
    (standing,) = [one for one in memory.lessons.standings() if one.lesson.kind == "usage"]
    assert (standing.sources, standing.independent, standing.state) == (("e1", "e2"), 1, "candidate")


def test_a_lesson_goes_with_its_symbol_and_its_source_and_what_grew_from_it(memory: StoredMemory) -> None:
    (lesson,) = [one for one in learn(memory, task(memory, "e1", MINT)) if one.kind == "usage"]
    memory.lessons.show([Showing(lesson=lesson.id, episode="e2", arm="shown")])
    learn(memory, task(memory, "e2", "from tide import vault\nvault.open('a')\n"))
    standings = memory.lessons.standings()
    assert [one.lesson.id for one in of_source(standings, "commit-e1")] == [lesson.id]
    grown = offspring(standings, [lesson.id], memory.lessons.told)
    assert [one.lesson.subject for one in grown] == ["tide.vault open"]
    withdraw(memory, grown)
    review(memory, "harbor")
    assert usages(memory)[1][1] == "quarantined"
    removal = task(memory, "e3", None, before="def mint(kind):\n    return kind\n")
    learn(memory, removal)
    assert usages(memory)[0] == ("mint('inv')", "quarantined")
