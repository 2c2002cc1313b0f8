"""From an incident to a task at the end of the roadmap: what is known is gathered once and kept, then appended once.

What was gathered is kept beside the target, so whoever is killed on the way is followed by one who writes the same.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.errors import MilepostError
from milepost.core.secrets.redact import Redactor
from milepost.engine.authoring.append_task import NewTask, append_and_commit, require_appendable
from milepost.engine.deploys.place import Place
from milepost.engine.project.project import Project
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.state_directory import make_state
from milepost.engine.records.releases import ReleaseRecord, Releases
from milepost.engine.records.values_json import dump, load
from milepost.engine.verification.setup import VerificationSetup, setup_by_hand
from milepost.engine.watching.records import Healing, Incident, RemedyRecord
from milepost.engine.watching.reproduce import Reproduction, reproduce
from milepost.ship.local.failed_requests import failed_requests
from milepost.ship.local.wanted import write
from milepost.store.database import open_database
from milepost.store.kill_points import reached
from milepost.watch.incident.requests import kinds_of
from milepost.watch.incident.task_text import IncidentFacts, line_of, page_of, summary_of, title_of
from milepost.workspace.git import Git

FOLDER = "tests/incidents"
_LOG_LINES, _MOST_COMMITS, _MOST_FILES = 100, 20, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTask:
    """The task that an incident became; `commit` is empty where it was in the roadmap before.

    `test` is the reproduction that verifies it, empty where there is only evidence.
    """

    incident: int
    task: str
    commit: str
    page: str
    test: str


def task_of(
    roadmap: Path | None, target: str, environment: str, number: int, say: Callable[[str], None]
) -> IncidentTask:
    """Have an incident in the roadmap as a task: one, however often it is asked for."""
    project = Project.find(roadmap)
    place = Place(project=project, target=target, environment=environment)
    make_state(project.state)
    with closing(open_database(project.database)) as database:
        healing, releases = Healing(database, target, environment), Releases(database, target, environment)
        healing.note_rollbacks(releases)
        incident = healing.incident(number)
        stem = _stem(place, incident)
        kept = place.folder / "incidents" / f"{number}.json"
        if not kept.exists():
            require_appendable(project)
            new = _gathered(place, releases, incident, healing.remedies(), stem, say)
            kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(kept, dump(new))
            reached(f"incident {number} gathered")
        new = load(NewTask, json.loads(kept.read_bytes()))
        test = f"{stem}.py" if f"{stem}.py" in new.files else ""
        if incident.task:
            return IncidentTask(incident=number, task=incident.task, commit="", page=new.marker, test=test)
        done = append_and_commit(project, new)
        healing.note_task(number, done.task)
        return IncidentTask(incident=number, task=done.task, commit=done.commit, page=new.marker, test=test)


def _stem(place: Place, incident: Incident) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime(incident.began_at))
    return f"{FOLDER}/{day}-{place.target}-{place.environment}-{incident.number}"


def _gathered(
    place: Place,
    releases: Releases,
    incident: Incident,
    remedies: tuple[RemedyRecord, ...],
    stem: str,
    say: Callable[[str], None],
) -> NewTask:
    bad = releases.find(incident.release)
    number = bad.release.previous
    good = releases.find(number) if number is not None else None
    with setup_by_hand(place.project) as (ground, _):
        facts = _facts(place, ground, incident, [one for one in remedies if one.incident == incident.number], bad, good)
        say(f"the test of incident {incident.number} is tried on the releases that it is about")
        checked = _reproduced(place, ground, bad, good, facts, f"{stem}.py")
    facts = replace(facts, unshown=ground.redact(checked.why_not))
    files = {f"{stem}.md": page_of(facts)} | ({f"{stem}.py": checked.script} if checked.script else {})
    return NewTask(
        title=title_of(facts),
        text=summary_of(facts, f"{stem}.md"),
        verify=(f"python3 {stem}.py",) if checked.script else (),
        files=files,
        marker=f"{stem}.md",
    )


def _reproduced(
    place: Place,
    ground: VerificationSetup,
    bad: ReleaseRecord,
    good: ReleaseRecord | None,
    facts: IncidentFacts,
    file: str,
) -> Reproduction:
    try:
        return reproduce(place, ground, bad, good, facts.requests, file)
    except MilepostError as error:  # a commit that is gone, a sandbox that cannot be: the evidence is worth having
        return Reproduction(why_not=line_of(error.message))


def _facts(
    place: Place,
    ground: VerificationSetup,
    incident: Incident,
    remedies: list[RemedyRecord],
    bad: ReleaseRecord,
    good: ReleaseRecord | None,
) -> IncidentFacts:
    redact = _redactor(place, ground, bad)

    def told(text: str) -> str:
        return line_of(redact(text))

    after = good.release.artifact.commit if good else ""
    span = (f"{after}..{bad.release.artifact.commit}",) if after else ("--max-count=1", bad.release.artifact.commit)
    stat = _git(ground.git, "diff", "--stat=120", "--no-ext-diff", "--no-textconv", after, bad.release.artifact.commit)
    log = place.open_target(bad.spec).logs(bad.release, _LOG_LINES)
    return IncidentFacts(
        number=incident.number,
        place=f"{place.target} ({place.environment})",
        release=bad.number,
        commit=bad.release.artifact.commit,
        previous=good.number if good else None,
        previous_commit=after,
        began_at=incident.began_at,
        ended_at=incident.ended_at,
        timeline=tuple((at, told(said)) for at, said in incident.timeline),
        remedies=tuple(told(_remedy(one)) for one in remedies),
        requests=kinds_of(failed_requests(place.folder, bad.number), redact),
        commits=tuple(
            map(
                told,
                _git(ground.git, "log", "--no-show-signature", f"--max-count={_MOST_COMMITS}", "--format=%h %s", *span),
            )
        ),
        changed=tuple(map(told, stat[-_MOST_FILES:] if after else ())),
        log=tuple(dict.fromkeys(told(line.partition("  ")[2]) for line in redact(log).splitlines())),
    )


def _redactor(place: Place, ground: VerificationSetup, bad: ReleaseRecord) -> Redactor:
    """Takes out all that is known to be secret here, what the application is given among it."""
    given = {os.environ[source] for _, source in bad.spec.secrets if source in os.environ}
    return Redactor(known_secrets(ground.settings, place.project.repository.top) | given)


def _git(git: Git, *words: str) -> list[str]:
    try:
        return git.plumb(*words).splitlines()
    except MilepostError:  # one of the commits is gone
        return []


def _remedy(one: RemedyRecord) -> str:
    def numbers(given: Mapping[str, float]) -> str:
        return ", ".join(f"{name} {value:.3g}" for name, value in given.items())

    measured = f"before: {numbers(one.before)}; after: {numbers(one.after)}"
    return f"{one.kind} {one.subject}: {one.why}; {one.outcome}; {measured}"
