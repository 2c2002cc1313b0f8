"""A run that remembers: what one task taught is told to the next, counted back, and taken back with the work."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import places
from tests.e2e.conftest import Answer, Sandbox
from tests.environment import YES
from tests.fakes.model_server import ModelServer
from tests.slow import slow

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
    with sqlite3.connect(places.database(sandbox.repo)) as database:
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

    (places.state(house.repo) / "recall.db").write_bytes(b"no database at all" * 999)
    second = house.milepost("run", "--json")
    assert second.code == 0, second.stdout
    assert verdicts(second) == ["passed"]
    (event,) = told(second)
    assert any("Coin.of" in line for line in event["lines"]) and not event["held_out"]
    assert event["lessons"], "a user can ask where each comes from"
    assert rows(house, "select distinct arm from memory_showings") == [("shown",)]
    assert ("helped",) in rows(house, "select effect from memory_votes")
    assert "told 1 lesson" in house.milepost("events").stdout.replace("\n", "") or len(event["lessons"]) > 1

    undone = house.milepost("undo", "T2", "T1")
    assert undone.code == 0, undone.stderr
    newest = """
        select state, why from memory_states where (lesson, number) in (select lesson, max(number) from memory_states
        where lesson in (select id from memory_lessons where kind = 'usage') group by lesson)
    """
    assert {(state, why.split(":")[0]) for state, why in rows(house, newest)} == {("quarantined", "undone")}


def test_a_run_without_memory_neither_opens_one_of_a_newer_version_nor_changes_it(house: Sandbox) -> None:
    house.roadmap(roadmap(("T1", "apple", 3)))
    places.made_state(house.repo)
    newer = (
        "create table memory_versions (version bigint primary key, at real); insert into memory_versions values (99, 1)"
    )
    with sqlite3.connect(places.database(house.repo)) as database:
        database.executescript(newer)
    ended = house.milepost("run", "--json", "--memory", "off")
    assert ended.code == 0, ended.stderr
    assert rows(house, "select name from sqlite_master where name like 'memory!_%' escape '!'") == [
        ("memory_versions",)
    ]
    assert rows(house, "select version from memory_versions") == [(99,)]


@pytest.mark.parametrize("mode", ["off", "read-only"])
def test_a_run_that_may_not_learn_leaves_no_lesson(house: Sandbox, mode: str) -> None:
    house.roadmap(roadmap(("T1", "apple", 3)))
    ended = house.milepost("run", "--json", "--memory", mode)
    assert ended.code == 0, ended.stderr
    named = "select name from sqlite_master where type = 'table' and name like 'memory!_%' escape '!'"
    tables = [name for (name,) in rows(house, named)]
    counts = {name: rows(house, f"select count(*) from {name}")[0][0] for name in tables}
    kept = {"memory_versions", "memory_episodes", "memory_steps", "memory_endings"} if mode == "read-only" else set()
    assert {name for name, count in counts.items() if count} == kept, counts


def test_a_killed_attempt_has_each_call_as_a_step_once_and_is_one_episode(sandbox: Sandbox) -> None:
    sandbox.roadmap("# Roadmap\n\n- [ ] T1 Write\n  - Verify: test -f end.txt\n")
    calls = [{"name": "write_file", "arguments": {"path": name, "content": "x\n"}} for name in ("a.txt", "end.txt")]
    answers = [*({"calls": [call]} for call in calls), {"text": "Done."}]
    cassette = sandbox.home / "cassette.json"
    cassette.write_text(json.dumps({"version": 1, "answers": {"T1": [answers]}}))
    seen = sandbox.home / "seen"
    lives = 0
    while not seen.exists() or sum(" tool" in line for line in seen.read_text().splitlines()) < 2:
        life = sandbox.milepost("run", "--agent", f"replay:{cassette}", MILEPOST_CHAOS_SEEN=str(seen))
        assert life.code == -9, life.stderr
        lives += 1
    assert lives > 3
    assert rows(sandbox, "select count(*) from memory_endings") == [(0,)], "it is open while its run can go on"
    ended = sandbox.milepost("resume")
    assert ended.code == 0, ended.stderr
    assert rows(sandbox, "select count(*) from memory_episodes") == [(1,)]
    made = rows(sandbox, "select number, kind from calls order by number")
    steps = rows(sandbox, "select number, tool from memory_steps order by number")
    assert [(number, kind) for number, kind in made] == [
        (number, "model" if tool == "model" else "tool") for number, tool in steps[: len(made)]
    ]
    assert len(steps) == len(made) + 1, "and how it ended"
    assert rows(sandbox, "select kind, verdict from memory_endings") == [("success", "passed")]


@slow
def test_what_a_left_run_had_begun_is_closed_as_interrupted_and_teaches_nothing(house: Sandbox) -> None:
    house.roadmap(roadmap(("T1", "apple", 3)))
    seen = house.home / "seen"
    while not seen.exists() or not any(line.endswith(" act") for line in seen.read_text().splitlines()):
        assert house.milepost("run", MILEPOST_CHAOS_SEEN=str(seen)).code == -9
    anew = house.milepost("run", "--new", "--json")
    assert anew.code == 0, anew.stderr
    assert rows(house, "select kind, verdict from memory_endings order by rowid") == [
        ("interrupted", ""),
        ("failure", "failed"),
        ("success", "passed"),
    ]


def test_a_primary_is_told_what_is_learnt_once_a_person_agreed_and_one_that_is_away_stops_nobody(
    house: Sandbox,
) -> None:
    set_up(house, 'holdout = 0.0\nprimary = "../shared.db"\n')
    house.roadmap(roadmap(("T0", "fig", 5)))
    for words in (("memory", "sync"), ("run",)):
        refused = house.milepost(*words, **{YES: ""})
        assert refused.code == 2 and "memory.primary" in refused.stderr, refused
    assert not (house.home / "shared.db").exists(), "what comes with a repository sends nothing anywhere by itself"
    taught(house)
    assert house.milepost("memory", "sync").code == 0
    house.roadmap(roadmap(("T2", "pear", 5)))
    assert house.milepost("run", "--json").code == 0
    assert house.milepost("status", "--json").json["unsynced"] == 0
    with sqlite3.connect(house.home / "shared.db") as shared:
        assert shared.execute("select count(*) from memory_lessons").fetchone()[0] > 0
        assert shared.execute("select count(*) from memory_endings").fetchone()[0] > 2
    set_up(house, 'holdout = 0.0\nprimary = "http://127.0.0.1:9"\n')
    assert house.milepost("memory", "sync").code == 1
    house.roadmap(roadmap(("T3", "plum", 5)))
    away = house.milepost("run", "--json")
    assert away.code == 0, away.stderr
    (waits,) = [event for event in away.events if event["event"] == "memory_waits"]
    assert house.milepost("status", "--json").json["unsynced"] == waits["rows"] > 0


def test_a_model_chooses_lines_that_passed_once_for_each_task_and_its_cost_is_counted(
    house: Sandbox, tmp_path: Path
) -> None:
    answer = {"calls": [{"name": "answer", "arguments": {"choices": [{"kind": "usage", "lines": [1, 2]}]}}]}
    with ModelServer({"tasks": {"*": [[answer] * 3]}}, tmp_path / "log") as server:
        set_up(house, 'distil_with = "openai:scripted-1"\n' + server.settings(patience_s=0))
        taught(house)
        assert len(server.questions) == 1
    (body,) = [json.loads(text) for (text,) in rows(house, "select body from memory_lessons where kind = 'distilled'")]
    assert "from house import Coin" in body["text"], "it answered with numbers; the words are those of the change"
    ((usd,),) = rows(house, "select sum(usd) from spending where agent = 'memory'")
    assert usd > 0
    house.roadmap(roadmap(("T2", "pear", 5)))
    alone = house.milepost("run", "--json")
    assert alone.code == 0, "a model that does not answer stops nobody"
    said = [event["text"] for event in alone.events if event["event"] == "agent_said"]
    assert any(text.startswith("nothing is learnt: ") for text in said), said
