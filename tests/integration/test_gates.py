"""Questions to a person, on both databases: asked once, answered once, and only about what was shown."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
import milepost.gates
from milepost.cli.show.gates import gates_lines
from milepost.core.errors import AgentUnknown, GateChanged, GateClosed, GateUnknown, Misuse, SettingInvalid
from milepost.core.events import GateAnswer, GateKind, RunFinished
from milepost.core.task import Approve, Task
from milepost.engine.gates.answer import meant
from milepost.engine.gates.rules import approval_named, may_need_gate, needs_gate
from milepost.engine.records.gates import (
    Again,
    Consequence,
    EndTask,
    Gate,
    Gates,
    GoAhead,
    Hand,
    Refuse,
    consequence,
    gate_of,
)
from milepost.engine.records.journal import Journal
from milepost.plan.advice.risk import Risk, risk_of
from milepost.sandbox.command_risk import Danger
from milepost.store.database import Database, open_database
from tests import places

RUN = "7f3a"

# Asks or answers as another process, and dies right after the row is there when told to.
OTHER = """
import os, signal, sys
from milepost.engine.records.gates import Gates, gate_of
from milepost.store.database import open_database

place, what, text = sys.argv[1:]
gates = Gates(open_database(place))
if what == "ask":
    gates.open_gate(gate_of(run="7f3a", task="1.1", attempt=1, kind="after", question="Well?", shown=text))
    os.kill(os.getpid(), signal.SIGKILL)
try:
    print(gates.answer("7f3a", "1.1/1/after", what, text).answer)
except Exception as error:
    print(type(error).__name__)
"""


def gate(task: str = "1.1", kind: GateKind = "after", shown: str = "+ a line", call: int = 0) -> Gate:
    return gate_of(run=RUN, task=task, attempt=1, kind=kind, question="Well?", shown=shown, call=call)


@pytest.fixture
def gates(database: Database) -> Iterator[Gates]:
    yield Gates(database)


def test_a_question_is_asked_once_and_its_answer_stands(gates: Gates) -> None:
    asked = gates.open_gate(gate())
    assert gates.open_gate(gate()) == asked
    assert [one.gate for one in gates.waiting(RUN)] == ["1.1/1/after"]
    kept = gates.answer(RUN, asked.gate, "reject", "too long", by="ada")
    assert gates.answer(RUN, asked.gate, "reject", "too long") == gates.find(RUN, asked.gate) == kept
    assert (kept.answer, kept.text, kept.answered_by) == ("reject", "too long", "ada")
    with pytest.raises(GateClosed, match="by ada, with reject: too long"):
        gates.answer(RUN, asked.gate, "approve")
    assert gates.waiting(RUN) == ()
    assert gates.open_gate(gate()).answer == "reject", "a step that runs again finds the answer"
    with pytest.raises(GateUnknown):
        gates.answer(RUN, "1.2/before", "approve")
    with pytest.raises(GateUnknown):
        gates.answer("0000", asked.gate, "approve")


def test_an_answer_is_to_what_was_shown_and_to_nothing_else(gates: Gates) -> None:
    first = gates.open_gate(gate(shown="+ safe"))
    second = gates.open_gate(gate(shown="+ rm -rf /"))
    assert second.digest != first.digest
    for digest in (first.digest, first.digest[:12], second.digest[:3], "zz" * 20):
        with pytest.raises(GateChanged, match="has changed since it was shown"):
            gates.answer(RUN, first.gate, "approve", digest=digest)
    assert gates.answer(RUN, first.gate, "approve", digest=second.digest[:12]).answer == "approve"
    assert gates.open_gate(gate(shown="+ something new")).answer is None, "the approval was of another change"


@pytest.mark.parametrize("answer", ["reject", "edit", "delegate"])
def test_an_answer_that_needs_words_is_refused_without_them(database: Database, answer: GateAnswer) -> None:
    gates = Gates(database)
    gates.open_gate(gate())
    with pytest.raises(Misuse):
        gates.answer(RUN, "1.1/1/after", answer, "  ")
    with pytest.raises(Misuse):
        gates.answer(RUN, "1.1/1/after", "perhaps")  # type: ignore[arg-type]
    assert len(gates.waiting(RUN)) == 1


def test_what_no_database_could_keep_is_kept_readable(gates: Gates) -> None:
    asked = gates.open_gate(gate(kind="destructive", shown="a\0b \udcff ü " + "x" * 300_000, call=3))
    assert asked.gate == "1.1/1/call/3"
    assert asked.shown.startswith("a\\x00b \\udcff ü x") and len(asked.shown) < 210_000
    assert "more characters" in asked.shown
    longer = gate(kind="destructive", shown="a\0b \udcff ü " + "x" * 300_001, call=3)
    assert longer.digest != asked.digest, "the digest is of all of it"
    assert gates.answer(RUN, asked.gate, "reject", "no \0 \udcfe").text == "no \\x00 \\udcfe"


def test_a_question_survives_the_process_that_asked_and_of_two_who_answer_at_once_one_wins(place: Path | str) -> None:
    command = [sys.executable, "-c", OTHER, str(place)]
    assert subprocess.run([*command, "ask", "+ a"]).returncode == -signal.SIGKILL
    answers = [("approve", ""), ("reject", "no"), ("skip", ""), ("edit", "do it otherwise")]
    people = [subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True) for words in answers]
    said = sorted(person.communicate(timeout=60)[0].strip() for person in people)
    assert said.count("GateClosed") == 3, said
    store = open_database(place)
    (kept,) = Gates(store).asked(RUN)
    store.close()
    assert kept.answer in said


def test_what_is_over_by_other_means_is_not_asked_any_more(gates: Gates) -> None:
    gates.open_gate(gate("1.1"))
    gates.open_gate(gate("1.2"))
    gates.answer(RUN, "1.1/1/after", "approve")
    gates.open_gate(gate("1.1", "destructive", call=2))
    gates.withdraw(RUN, "1.1")
    assert [one.gate for one in gates.waiting(RUN)] == ["1.2/1/after"]
    assert [one.answer for one in gates.asked(RUN) if one.task == "1.1"] == ["approve", "skip"]


CONSEQUENCES: list[tuple[GateKind, GateAnswer, Consequence]] = [
    ("before", "approve", GoAhead()),
    ("before", "reject", EndTask(reason="refused by a person: TEXT")),
    ("before", "edit", GoAhead(text="TEXT")),
    ("before", "skip", EndTask(reason="skipped by a person: TEXT")),
    ("before", "delegate", Hand(agent="TEXT")),
    ("after", "approve", GoAhead()),
    ("after", "reject", Again(text="TEXT")),
    ("after", "edit", Again(text="TEXT")),
    ("after", "skip", EndTask(reason="skipped by a person: TEXT")),
    ("after", "delegate", Hand(agent="TEXT")),
    ("destructive", "approve", GoAhead()),
    ("destructive", "reject", Refuse(text="refused by a person: TEXT")),
    ("destructive", "edit", Refuse(text="refused by a person, who asks for this instead: TEXT")),
    ("destructive", "skip", EndTask(reason="skipped by a person: TEXT")),
    ("destructive", "delegate", Hand(agent="TEXT")),
]


@pytest.mark.parametrize(("kind", "answer", "meaning"), CONSEQUENCES)
def test_what_an_answer_means(kind: GateKind, answer: GateAnswer, meaning: Consequence) -> None:
    assert consequence(kind, answer, "TEXT") == meaning


HARM = (Danger(kind="git", why="overwrites what others have pushed", what="git push -f"),)
# rule of the run, the task's own word, what it is about, then who asks: before, after, after with a dangerous diff,
# a dangerous command
POLICY = [
    ("never", "", "Add a page", "----"),
    ("never", "", "Add a login", "----"),
    ("never", "before", "Add a page", "b---"),
    ("never", "after", "Add a page", "-ad-"),
    ("never", "each", "Add a page", "badc"),
    ("risky", "", "Add a page", "--dc"),
    ("risky", "", "Add a login", "-adc"),
    ("risky", "before", "Add a login", "b-dc"),
    ("risky", "never", "Add a login", "----"),
    ("each", "", "Add a page", "badc"),
    ("each", "before", "Add a page", "b-dc"),
    ("each", "never", "Add a login", "----"),
    ("autonomous", "", "Add a login", "----"),
    ("supervised", "", "Add a login", "-adc"),
    ("step", "", "Add a page", "badc"),
]


@pytest.mark.parametrize(("rule", "word", "title", "asked"), POLICY)
def test_who_is_asked_when(rule: str, word: Approve, title: str, asked: str) -> None:
    task = Task(id="1.1", title=title, status="open", line=1, approve=word)
    cases: list[tuple[GateKind, tuple[Danger, ...]]] = [
        ("before", ()),
        ("after", ()),
        ("after", HARM),
        ("destructive", HARM),
    ]
    questions = [needs_gate(kind, task, risk_of(task), dangers, rule) for kind, dangers in cases]
    assert "".join(sign if one else "-" for sign, one in zip("badc", questions, strict=True)) == asked
    for (kind, _), question in zip(cases, questions, strict=True):
        assert not question or may_need_gate(kind, task, rule)
        assert not question or "1.1 “Add a" in question
    assert needs_gate("destructive", task, Risk(), (), rule) is None
    if rule in ("never", "autonomous") and not word:
        assert not any(may_need_gate(kind, task, rule) for kind, _ in cases)


def test_a_question_says_what_is_risky_about_it() -> None:
    task = Task(id="1.1", title="Add a login", status="open", line=1)
    question = needs_gate("after", task, risk_of(task), HARM, "risky")
    assert question == (
        "May the work on 1.1 “Add a login” be merged? It overwrites what others have pushed: git push -f. "
        "It is about access (login)."
    )
    with pytest.raises(SettingInvalid, match="sometimes"):
        approval_named("sometimes")


def test_which_gate_a_name_means() -> None:
    asked = (gate("1.1"), gate("1.2", "before"), gate("1.2", "destructive", call=4))
    assert meant(asked, "1.1").gate == meant(asked, "1.1/1/after").gate == "1.1/1/after"
    assert meant(asked, "1.2/before").gate == "1.2/before"
    assert meant(asked[:1], None).gate == "1.1/1/after"
    for name in ("1.2", None):
        with pytest.raises(Misuse, match="questions wait for you"):
            meant(asked, name)
    for none in ("1.3", "1.1/2/after", ""):
        with pytest.raises(GateUnknown):
            meant(asked, none)


def test_the_library_lists_and_answers_what_unfinished_runs_ask(place: Path | str, tmp_path: Path) -> None:
    store = open_database(place)
    journal, gates = Journal(store), Gates(store)
    for run in ("aaaa", RUN, "bbbb"):
        journal.open_run(run, "3", {})
        gates.open_gate(gate_of(run=run, task="1.1", attempt=1, kind="after", question="Well?", shown=run))
    journal.leave_run("bbbb")
    done = RunFinished(
        run="aaaa", branch="", tasks=(), cost_usd=0, duration_ms=0, head="", fast_forwarded="", by_hand=""
    )
    journal.close_run("aaaa", done)
    (waits,) = milepost.waiting_gates(database=str(place))
    assert (waits.run, waits.shown) == (RUN, RUN)
    assert milepost.gates.to_json(waits)["gate"] == "1.1/1/after"
    kept = milepost.answer_gate("1.1", "approve", digest=waits.digest, by="ada", database=str(place))
    assert kept == gates.find(RUN, "1.1/1/after")
    assert milepost.waiting_gates(database=str(place)) == ()
    with pytest.raises(GateClosed):
        milepost.answer_gate("1.1", "skip", database=str(place))
    with pytest.raises(GateUnknown):
        milepost.answer_gate(None, "approve", database=str(place))
    with pytest.raises(SettingInvalid):
        milepost.waiting_gates(database="mysql://ada:secret@host/shop")
    store.close()


def test_a_task_is_delegated_only_to_an_agent_that_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "ROADMAP.md").write_text("- [ ] 1.1 Thing\n")
    monkeypatch.chdir(tmp_path)
    assert milepost.waiting_gates() == ()
    assert not places.state(tmp_path).exists(), "looking makes nothing"
    with pytest.raises(AgentUnknown):
        milepost.answer_gate("1.1", "delegate", "nobody:there")
    with pytest.raises(GateUnknown):
        milepost.answer_gate("1.1", "delegate", "pattern:module_creation")


def test_nothing_is_hidden_from_whoever_decides() -> None:
    long = "x" * 500 + " && rm -rf /"
    tricky = gate(shown=f"a\u202eb\u200bc\x1b[2Kd\n{long}\n" + "more\n" * 100)
    lines = gates_lines((tricky,), 80)
    seen = "\n".join(lines)
    assert "\x1b" not in seen and "\u202e" not in seen and "\u200b" not in seen
    assert "a\\u202eb\\u200bc\\x1b[2Kd" in seen
    assert "rm -rf /" in seen, "the end of a long line is shown, too"
    assert "more lines: milepost gates --whole" in seen and seen.count("│ more") < 50
    assert "\n".join(gates_lines((tricky,), 80, whole=True)).count("│ more") == 100
    assert f"milepost approve 1.1/1/after --digest {tricky.digest[:12]}" in seen
