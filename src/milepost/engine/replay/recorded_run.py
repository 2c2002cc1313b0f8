"""A finished run as it was: its order, what landed and when, what people and reviewers said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from milepost.core.attempt import Attempt
from milepost.core.errors import Misuse, RunUnfinished, TaskUnknown
from milepost.core.events import MilepostMade, Steered
from milepost.core.verdict import Verdict
from milepost.engine.records.gates import Gate, Gates
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.locate import find_run
from milepost.engine.records.run_spec import VERSION, RunSpec, folded
from milepost.engine.records.values_json import load
from milepost.engine.run.summaries import not_started
from milepost.engine.verification.review import NAME as OPINION
from milepost.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What is known of a run that is over, or of one task of it.

    `trees` are those of its mileposts, in the order in which they landed. `begin` is the commit from which it is done
    again. `proven` are the attempts, by task and number, that were worth landing. `opinions` are why reviewers refused,
    empty where they did not.
    """

    order: RunSpec
    begin: str
    trees: Mapping[str, str]
    gates: Mapping[str, Gate]
    proven: frozenset[tuple[str, int]]
    opinions: Mapping[str, tuple[str, ...]]
    steered: tuple[str, ...]

    def before(self, task: str) -> frozenset[str]:
        """What landed before a task, of all that is done again."""
        landed = [name for name in self.trees if name in self.order.tasks]
        return frozenset(landed[: landed.index(task)]) if task in landed else frozenset()


def past_of(database: Database, run: str, task: str = "") -> Past:
    """A run that is over, by its name; raises where there is none, and where it has no such task."""
    journal = Journal(database)
    order = _order(find_run(journal, run), run)
    events = [entry.event for entry in journal.events(order.run)]
    posts = [event for event in events if isinstance(event, MilepostMade)]
    names = tuple(dict.fromkeys((*order.tasks, *(post.task for post in posts))))
    histories = {name: folded(journal.attempts(order.run, name)) for name in names}
    begin = order.base
    if task:
        only = _named(task, names, order.run)
        order = replace(order, tasks=(only,), wished=(only,), max_tasks=None)
        landed = next((f"{post.commit}^" for post in posts if post.task == only), "")
        begin = landed or (histories[only][0].base if histories[only] else begin)
    return Past(
        order=order,
        begin=begin,
        trees={post.task: post.tree for post in posts},
        gates={gate.gate: gate for gate in Gates(database).asked(order.run)},
        proven=frozenset(one for name, history in histories.items() for one in _proven(name, history)),
        opinions={name: _opinions(history) for name, history in histories.items()},
        steered=tuple(event.what for event in events if isinstance(event, Steered) and event != not_started(order)),
    )


def _order(record: RunRecord | None, run: str) -> RunSpec:
    if record is None:
        raise Misuse(f"there is no run {run!r}: no runs here yet", "start one: milepost run")
    if record.unfinished:
        raise RunUnfinished(
            f"run {record.run} is unfinished, and only finished runs can be replayed", "finish it: milepost resume"
        )
    if record.version != VERSION:
        raise Misuse(
            f"run {record.run} was recorded by another version of milepost (format {record.version}, here {VERSION})",
            "replay it with that version",
        )
    return load(RunSpec, {**record.order, "routing": None})  # who was chosen is in the recording


def _named(task: str, names: tuple[str, ...], run: str) -> str:
    found = next((name for name in names if name.lower() == task.lower()), None)
    if found is None:
        raise TaskUnknown(f"run {run} has no task {task!r}", f"its tasks are: {', '.join(names)}")
    return found


def _proven(task: str, history: tuple[Attempt, ...]) -> list[tuple[str, int]]:
    numbered = enumerate(history, start=1)
    return [(task, number) for number, attempt in numbered if attempt.evidence.verdict is Verdict.PASSED]


def _opinions(history: tuple[Attempt, ...]) -> tuple[str, ...]:
    checks = [check for attempt in history for check in attempt.evidence.checks if check.name == OPINION]
    return tuple("" if check.outcome == "passed" else check.summary for check in checks)
