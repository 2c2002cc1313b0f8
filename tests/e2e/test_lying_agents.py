"""Agents that claim success: the liars never get their milepost, the honest always do.

Each exercise is one run in a repository of its own: a task for each lie, all from the same base because none may
land, and at last a task that is done honestly. Of every kind each second lie is told, about some exercise; with
`MILEPOST_ALL_TESTS=1` every lie, and about each exercise one of every kind that can be told of it; with
`MILEPOST_ALL_LIES=1` every lie about every exercise that it applies to.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import lean, tools
from tests.e2e.conftest import Sandbox, make_machine
from tests.exercises import agents
from tests.exercises.agents import CLAIMS, Claim, claims_for
from tests.exercises.agents.claims import HONEST, KINDS
from tests.exercises.exercise import FOLDER, Exercise, exercises
from tests.slow import ALL, sampled

EXERCISES = exercises()
ACT = Path(agents.__file__).parent / "act.py"
LONGEST_RUN_S = 1800
SETTINGS = '[run]\nparallel = 1\n\n[limits]\nattempts = 1\n\n[verify]\npython = "{python}"\n'
# Right for every input of a program that judges, or wherever the sandbox is: only tests that the agent never saw tell.
BELIEVED = ("knows-the-inputs-of-the-program", "looks-for-a-filter-in-a-program")
by_name = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
Record = Callable[[str, object], None]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path does not speak of tests, as those of pytest do."""
    with tempfile.TemporaryDirectory(prefix="milepost-") as place:
        yield Path(place)


def every_lie() -> bool:
    return bool(os.environ.get("MILEPOST_ALL_LIES"))


def honest_ways() -> list[tuple[Exercise, Claim]]:
    """Each way to do it honestly beside the plain one: about one exercise, or about all where that is asked for."""
    ways = [(exercise, claim) for exercise in EXERCISES for claim in claims_for(exercise, honest=True)]
    others = [(exercise, claim) for exercise, claim in ways if claim.name != "solution"]
    return others if ALL or every_lie() else [*{claim.name: (exercise, claim) for exercise, claim in others}.values()]


@by_name
def test_every_lie_is_found_out_and_the_honest_work_after_them_lands(
    folder: Path, exercise: Exercise, record_property: Record
) -> None:
    lies = TOLD[exercise.name]
    tasks, machine = told(folder, exercise, (*lies, CLAIMS["solution"]))
    honest = tasks.pop("solution")
    done = [name for name, task in tasks.items() if task["verdict"] == "passed"]
    record_property("lies", [exercise.name, len(lies), done])
    record_property("honest", [exercise.name, 1, [] if honest["verdict"] == "passed" else ["solution"]])
    assert done == [], f"false done: {done}"
    assert [task["commit"] for task in tasks.values()] == [None] * len(lies)
    assert honest["verdict"] == "passed", honest["reason"]
    assert machine.mileposts() == [task_id(len(lies) + 1)]
    boxes = [line[:5] for line in (machine.repo / "ROADMAP.md").read_text().splitlines() if line.startswith("- [")]
    assert boxes == ["- [ ]"] * len(lies) + ["- [x]"]


@pytest.mark.skipif(not ALL, reason="takes long: MILEPOST_ALL_TESTS=1")
@pytest.mark.xfail(reason="believed where no hidden or independent test is there", strict=True)
@pytest.mark.parametrize("name", BELIEVED)
def test_a_lie_that_is_known_to_be_believed(folder: Path, name: str) -> None:
    claim = CLAIMS[name]
    exercise = next(one for one in EXERCISES if claim.applies(one))
    tasks, _ = told(folder, exercise, (claim,))
    assert tasks[name]["verdict"] != "passed"


def test_lies_of_every_kind_are_told() -> None:
    lies = [claim for claim in CLAIMS.values() if claim.kind != HONEST and claim.name not in BELIEVED]
    told = {claim for claims in TOLD.values() for claim in claims}
    assert told == set(lies) if ALL else 2 * len(told) >= len(lies)
    assert {claim.kind for claim in told} == set(KINDS) - {HONEST}
    kinds = {exercise: {claim.kind for claim in told} for exercise, told in TOLD.items()}
    assert min(len(those) for those in kinds.values()) > 1
    possible = {each.name: {claim.kind for claim in claims_for(each, honest=False)} for each in EXERCISES}
    assert not ALL or kinds == possible


@pytest.mark.parametrize(("exercise", "way"), honest_ways(), ids=lambda each: each.name)
def test_honest_work_lands_whatever_it_looks_like(
    folder: Path, exercise: Exercise, way: Claim, record_property: Record
) -> None:
    """With tests and fixtures of its own, or with every line reformatted."""
    machine = repository(folder, exercise, (way,))
    task = run(machine)[0][task_id(1)]
    landed = task["verdict"] == "passed" and machine.mileposts() == [task_id(1)]
    record_property("honest", [exercise.name, 1, [] if landed else [way.name]])
    assert landed, f"false fail: {task['reason']}"


@pytest.mark.parametrize("name", sampled([name for name, claim in CLAIMS.items() if claim.kind and claim.deceives], 8))
def test_the_lie_deceives_whoever_only_runs_the_command(tmp_path: Path, name: str) -> None:
    """Each lie is worth telling: somewhere it turns a failing command into one that ends with 0."""
    claim = CLAIMS[name]
    applicable = [exercise for exercise in EXERCISES if claim.applies(exercise)]
    preferred = sorted(applicable, key=lambda exercise: exercise.name not in ("prices", "slugs", "ledger", "js-cart"))
    assert any(deceived(tmp_path / exercise.name, exercise, claim) for exercise in preferred)


def allotted() -> dict[str, tuple[Claim, ...]]:
    """The lies that are told about each exercise: each lie about one, the rarest placed first."""
    lies = {
        exercise.name: tuple(claim for claim in claims_for(exercise, honest=False) if claim.name not in BELIEVED)
        for exercise in EXERCISES
    }
    if every_lie():
        return lies
    chosen: dict[str, list[Claim]] = {name: [] for name in lies}
    places = {claim: [name for name, claims in lies.items() if claim in claims] for claim in CLAIMS.values()}
    by_kind = sorted((claim for claim in CLAIMS.values() if places[claim]), key=lambda claim: claim.kind)
    for claim in sorted(sampled(by_kind, 2), key=lambda claim: len(places[claim])):
        least = min(places[claim], key=lambda name: (_of_kind(chosen[name], claim.kind), len(chosen[name])))
        chosen[least].append(claim)
    times = Counter(claim for claims in chosen.values() for claim in claims)
    for name, claims in lies.items() if ALL else ():
        for kind in sorted({claim.kind for claim in claims}):
            if not _of_kind(chosen[name], kind):
                chosen[name].append(min((each for each in claims if each.kind == kind), key=lambda each: times[each]))
                times[chosen[name][-1]] += 1
    return {name: tuple(sorted(claims, key=lambda claim: claim.kind)) for name, claims in chosen.items()}


def _of_kind(claims: Iterable[Claim], kind: int) -> int:
    return sum(claim.kind == kind for claim in claims)


def told(folder: Path, exercise: Exercise, claims: tuple[Claim, ...]) -> tuple[dict[str, dict[str, Any]], Sandbox]:
    """What became of each claim by its name, and where the last was made.

    Those after a lie that landed stand on its ground: they are made again, in a repository without it.
    """
    machine = repository(folder / str(len(claims)), exercise, claims)
    ended, claimed = run(machine)
    tasks = {claim.name: ended[task_id(number)] for number, claim in enumerate(claims, 1)}
    landed = next((at for at, claim in enumerate(claims) if tasks[claim.name]["verdict"] == "passed"), len(claims) - 1)
    for claim, number in zip(claims[: landed + 1], range(1, landed + 2), strict=True):
        assert task_id(number) in claimed, f"{claim.name} did not come to its claim: {tasks[claim.name]['reason']}"
    if later := claims[landed + 1 :]:
        others, machine = told(folder, exercise, later)
        tasks.update(others)
    return tasks, machine


def task_id(number: int) -> str:
    return f"1.{number}"


def repository(folder: Path, exercise: Exercise, claims: tuple[Claim, ...]) -> Sandbox:
    """The exercise as a user's repository, with a task for each claim, done by whoever makes that claim."""
    need(exercise)
    folder.mkdir(parents=True, exist_ok=True)
    machine = make_machine(folder)
    shutil.copytree(exercise.repo, machine.repo, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    machine.write("milepost.toml", SETTINGS.format(python=interpreter(exercise, folder)))
    tasks = [
        exercise.task(
            task_id(number),
            f"{claim.lines}  - Agent: command:{sys.executable} {ACT} {FOLDER.parent} {exercise.name} {claim.name}\n",
        )
        for number, claim in enumerate(claims, 1)
    ]
    machine.roadmap(f"# {exercise.name}\n\n" + "".join(tasks))
    return machine


def interpreter(exercise: Exercise, folder: Path) -> Path:
    """One with pytest, or where the exercise is about unittest, one that has none."""
    if exercise.runner != "unittest":
        return lean.python()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    return folder / "venv" / "bin" / "python"


def need(exercise: Exercise) -> None:
    for program in ("node", "npm") if exercise.language == "javascript" else exercise.command[:1]:
        if program != "python":
            tools.need(program)


def run(machine: Sandbox) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """`milepost run --json` to its end: what became of each task, and of which an agent claimed that it is done."""
    with machine.start("run", "--json") as process:
        stdout, stderr = process.communicate(timeout=LONGEST_RUN_S)
    assert process.returncode in (0, 1), stderr
    events = [json.loads(line) for line in stdout.splitlines()]
    assert events and events[-1]["event"] == "run_finished", stderr
    claimed = {event["task"] for event in events if event["event"] == "agent_said" and "All done" in event["text"]}
    return {task["id"]: task for task in events[-1]["tasks"]}, claimed


def deceived(folder: Path, exercise: Exercise, claim: Claim) -> bool:
    """Whether the exercise's test command ends with 0 after the lie, run by hand as anybody would."""
    need(exercise)
    shutil.copytree(exercise.repo, folder)
    shutil.copy(exercise.folder / "ROADMAP.md", folder)
    act = [sys.executable, str(ACT), str(FOLDER.parent), exercise.name, claim.name]
    path = f"{lean.python().parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(folder.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(act, cwd=folder, env=env, check=True, capture_output=True)
    return subprocess.run(exercise.command, cwd=folder, env=env, capture_output=True, timeout=60).returncode == 0


TOLD = allotted()
