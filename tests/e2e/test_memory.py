"""A run that remembers: what one task taught is told to the next, counted back, and taken back with the work."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Answer, Sandbox

# Knows the house's own way only from its second attempt on, or when it is told.
WORKER = """\
import json, os, pathlib
asked = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
told = "\\n".join(asked["lessons"])
(name,) = [file for file in asked["files"] if not file.startswith("tests/")]
amount = asked["title"].split()[-1]
knows = "Coin.of" in told or asked["attempt"] > 1
body = f"Coin.of({amount}, 'house')" if knows else f"Coin({amount})"
pathlib.Path(name).write_text(f"from house import Coin\\n\\n\\ndef price():\\n    return {body}\\n")
"""
HOUSE = """\
class Coin:
    def __init__(self, amount, vault=None):
        if vault != "house":
            raise TypeError("no vault")
        self.amount = amount

    @classmethod
    def of(cls, amount, vault):
        return cls(amount, vault)
"""


def roadmap(*tasks: tuple[str, str, int]) -> str:
    lines = (
        f"- [ ] {name} Add the price of a {what} as a Coin of {amount}\n  - Files: {what}.py\n"
        f'  - Verify: python -c "import {what}; assert {what}.price().amount == {amount}"\n'
        for name, what, amount in tasks
    )
    return "# Roadmap\n\n" + "".join(lines)


@pytest.fixture
def house(sandbox: Sandbox) -> Sandbox:
    """A project with a library of its own, whose use cannot be guessed, and an agent that must be told."""
    (sandbox.home / "worker.py").write_text(WORKER)
    set_up(sandbox)
    sandbox.write("house.py", HOUSE)
    return sandbox


def set_up(sandbox: Sandbox, memory: str = "holdout = 0.0\n", *, attempts: int = 2) -> None:
    agent = json.dumps(f"command:{sys.executable} {sandbox.home}/worker.py")
    head = f"[run]\nagent = {agent}\nparallel = 1\n[limits]\nattempts = {attempts}\n"
    sandbox.write("milepost.toml", f"{head}[memory]\n{memory}")


def rows(sandbox: Sandbox, sql: str) -> list[Any]:
    with sqlite3.connect(Path(sandbox.repo, ".milepost/milepost.db")) as database:
        return database.execute(sql).fetchall()


def verdicts(answer: Answer) -> list[str]:
    return [event["verdict"] for event in answer.events if event["event"] == "attempt_finished"]


def told(answer: Answer) -> list[dict[str, Any]]:
    return [event for event in answer.events if event["event"] == "lessons_told"]


def taught(house: Sandbox) -> None:
    """A first run, which learns the hard way how the house's coins are made."""
    house.roadmap(roadmap(("T1", "apple", 3)))
    first = house.milepost("run", "--json")
    assert first.code == 0, first.stderr
    assert verdicts(first) == ["failed", "passed"] and not told(first)


def test_what_one_run_learnt_the_hard_way_the_next_one_is_told(house: Sandbox) -> None:
    taught(house)
    set_up(house, attempts=1)
    house.roadmap(roadmap(("T2", "pear", 5)))
    without = house.milepost("run", "--json", "--memory", "off")
    assert without.code == 1 and verdicts(without) == ["failed"] and not told(without)
    known = rows(house, "select count(*) from memory_episodes")
    assert known == [(2,)], "what ran with its memory off left nothing in it"

    second = house.milepost("run", "--json")
    assert second.code == 0, second.stdout
    assert verdicts(second) == ["passed"]
    (event,) = told(second)
    assert any("Coin.of" in line for line in event["lines"]) and not event["held_out"]
    assert event["lessons"], "a user can ask where each comes from"
    assert rows(house, "select distinct arm from memory_showings") == [("shown",)]
    assert ("helped",) in rows(house, "select effect from memory_votes")
    assert "told 1 lesson" in house.milepost("events").stdout.replace("\n", "") or len(event["lessons"]) > 1

    undone = house.milepost("undo", "T1")
    assert undone.code == 0, undone.stderr


@pytest.mark.parametrize("mode", ["off", "read-only"])
def test_a_run_that_may_not_learn_leaves_no_lesson(house: Sandbox, mode: str) -> None:
    house.roadmap(roadmap(("T1", "apple", 3)))
    ended = house.milepost("run", "--json", "--memory", mode)
    assert ended.code == 0, ended.stderr
    tables = [name for (name,) in rows(house, "select name from sqlite_master where name like 'memory!_%' escape '!'")]
    counts = {name: rows(house, f"select count(*) from {name}")[0][0] for name in tables if "_by_" not in name}
    counts.pop("memory_versions", None)
    kept = {"memory_episodes", "memory_steps", "memory_endings"} if mode == "read-only" else set()
    assert {name for name, count in counts.items() if count} == kept, counts
