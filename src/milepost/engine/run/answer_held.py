"""Answers about held work: sent to the run while it is on; acted on here and now when it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.approval import accepted, approved
from milepost.core.errors import GateUnknown
from milepost.core.events import GateAnswer, GateAnswered
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.gates.answer import answer_gate, asked_gate, person, refuse_unknown_agent
from milepost.engine.gates.held_question import held_question, held_shown
from milepost.engine.gates.open_held import cut_short, owners_of, tasks_now
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import SERVER, load
from milepost.engine.records.gates import Gate, Gates, LandedWork
from milepost.engine.records.held_work import HeldWork, HeldWorks
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import OnEvent
from milepost.engine.records.run_view import redactor_of
from milepost.engine.run.land_held import land_held
from milepost.engine.views.revisions import mileposts_of
from milepost.store.database import Database, open_database
from milepost.verify.credentials import shown_text

LONGEST_DIFF = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptable:
    """Work that its owner may take as it is: held, or not verified. `shown` is what the decision is about."""

    run: str
    task: str
    title: str
    attempt: int
    verdict: Verdict
    question: str
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedWork:
    """Work that its owner took; `landed` is None while the run that it belongs to is on, and lands it."""

    run: str
    task: str
    by: str
    landed: LandedWork | None


def answer(
    roadmap: Path | None,
    name: str | None,
    given: GateAnswer,
    text: str = "",
    *,
    digest: str = "",
    by: str = "",
    database: str = "",
    on_event: OnEvent,
) -> Gate:
    """Answer a question; a yes about held work of a run that is over lands it, and says how."""
    refuse_unknown_agent(roadmap, given, text, database)
    gate, over = asked_gate(roadmap, name, database)
    if not over:
        return answer_gate(roadmap, f"{gate.run}/{gate.gate}", given, text, digest=digest, by=by, database=database)
    by = by or person(roadmap)
    project = _project(roadmap)
    with _opened(project) as store:
        Gates(store).require_open(gate, given, text, digest=digest)
        work = HeldWorks(store).find(gate.run, gate.task)
    landed: LandedWork | None = None
    if given in ("approve", "accept") and work is not None:
        landed = land_held(project, work, _yes(given, by, text), on_event)
    return replace(_close(project, gate, given, text, by), over=True, landed=landed)


def accept(roadmap: Path | None, task: str, why: str = "", *, by: str = "", on_event: OnEvent) -> AcceptedWork:
    """Take held or unverified work as it is; the run does it while it is on."""
    project, by = _project(roadmap), by or person(roadmap)
    with _opened(project) as store:
        work = _acceptable(project, store, task)
        gate = _gate_about(Gates(store), work)
        over = not any(record.run == work.run and record.unfinished for record in Journal(store).runs())
        if gate is not None:
            Gates(store).require_open(gate, "accept", why)
    if not over and gate is not None:
        answer_gate(roadmap, f"{gate.run}/{gate.gate}", "accept", why, by=by)
        return AcceptedWork(run=work.run, task=work.task.id, by=by, landed=None)
    landed = land_held(project, work, _yes("accept", by, why), on_event)
    if gate is not None:
        _close(project, gate, "accept", why, by)
    return AcceptedWork(run=work.run, task=work.task.id, by=by, landed=landed)


def acceptable_work(roadmap: Path | None) -> tuple[Acceptable, ...]:
    """All work of this roadmap that its owner may take as it is, in the order of the roadmap."""
    project = _project(roadmap)
    redact = redactor_of(project)
    with _opened(project) as store, mileposts_of(project) as mileposts:
        found = []
        for work in _all_works(project, store):
            last = work.last.attempt
            diff = mileposts.diff(last.base, last.commit, LONGEST_DIFF) if mileposts.resolve(last.commit) else ""
            found.append(
                Acceptable(
                    run=work.run,
                    task=work.task.id,
                    title=work.task.title,
                    attempt=last.number,
                    verdict=last.evidence.verdict,
                    question=held_question(work.task, last.evidence),
                    shown=shown_text(held_shown(last.evidence, last.commit, diff), redact),
                )
            )
        return tuple(found)


def _yes(given: GateAnswer, by: str, why: str) -> Callable[[Evidence], Evidence]:
    if given == "approve":
        return lambda evidence: approved(evidence, by)
    return lambda evidence: accepted(evidence, by, why)


def _close(project: Project, gate: Gate, given: GateAnswer, text: str, by: str) -> Gate:
    """Keep an answer that was acted on, and tell it where the run's own events are."""
    with _opened(project) as store:
        kept = Gates(store).answer(gate.run, gate.gate, given, text, by=by)
        told = GateAnswered(run=gate.run, task=gate.task, gate=gate.gate, answer=given, text=kept.text)
        Journal(store).append(told, f"{gate.gate}/answered/{gate.digest[:12]}")
        return kept


def _gate_about(gates: Gates, work: HeldWork) -> Gate | None:
    asked = (gate for gate in gates.asked(work.run) if gate.kind == "held" and gate.task == work.task.id)
    return next((gate for gate in asked if gate.attempt == work.last.attempt.number), None)


def _acceptable(project: Project, store: Database, task: str) -> HeldWork:
    found = next((work for work in _all_works(project, store) if work.task.id.lower() == task.lower()), None)
    if found is None:
        raise GateUnknown(
            f"nothing of task {task!r} waits to be accepted: only held and unverified work can be",
            "milepost accept --list shows all that can",
        )
    return found


def _all_works(project: Project, store: Database) -> tuple[HeldWork, ...]:
    """The newest work at each open task of the roadmap, where that is held or unverified."""
    journal, works, tasks = Journal(store), HeldWorks(store), tasks_now(project)
    records = {one.run: one for one in journal.runs() if one.order.get("roadmap") == project.roadmap_in_tree}
    found = [work for run in records for work in works.of_run(run)]
    found = [work for work in found if journal.last_run_of(work.task.id) == work.run and _waits(journal, work)]
    owners = owners_of(found, tasks)
    waiting = owners.keys() | cut_short(project, found, owners, records)
    place = {task.id: number for number, task in enumerate(one for top in tasks for one in top.walk())}
    return tuple(
        sorted(
            (work for work in found if work.task.id in waiting), key=lambda work: place.get(work.task.id, len(place))
        )
    )


def _waits(journal: Journal, work: HeldWork) -> bool:
    """Whether the last attempt is still the one that was held, and nobody has taken or refused it."""
    last = journal.attempts(work.run, work.task.id)[-1]
    taken = any(check.name in ("acceptance", "review") for check in last.evidence.checks)
    unproven = last.evidence.verdict in (Verdict.HELD, Verdict.UNVERIFIED)
    return last.number == work.last.attempt.number and unproven and not taken


def _project(roadmap: Path | None) -> Project:
    found = Project.find(roadmap)
    return replace(found, server=load(found.roadmap.parent, uses=SERVER).run.database)


@contextmanager
def _opened(project: Project) -> Iterator[Database]:
    with closing(open_database(project.store if project.server or project.database.exists() else ":memory:")) as store:
        yield store
