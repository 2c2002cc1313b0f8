"""Gathers what a report tells: the journal, the diffs from git, the titles from the roadmap. Changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.attempt import Attempt
from milepost.core.secrets.redact import Redactor
from milepost.engine.project.project import Project
from milepost.engine.project.state_lock import holder_of
from milepost.engine.project.version import installed_version
from milepost.engine.records.journal import Journal
from milepost.engine.records.locate import find_run, where_kept
from milepost.engine.records.releases import Releases, known_places
from milepost.engine.records.run_view import redacted, redactor_of, titles_of
from milepost.engine.report.diffs import Diff, Room, read_diff
from milepost.engine.report.facts import NothingRun, ReleaseStory, RunStory
from milepost.engine.report.story import task_ids, tell
from milepost.store.database import open_database
from milepost.verify.credentials import shown_text
from milepost.workspace.git import Git

LARGEST_TEXT = "1m"  # git calls a larger file binary, and shows none of it


def gather(roadmap: Path | None, run: str | None = None, server: str | None = None) -> RunStory | NothingRun:
    """The story of a run, the newest one unless another is named."""
    project = Project.find(roadmap)
    redact = redactor_of(project)
    now = time.time()
    kept = where_kept(roadmap, run, server)
    with Journal.look(kept.place) as journal, TemporaryDirectory() as own:
        record = find_run(journal, kept.run)
        if record is None:
            return NothingRun(roadmap=project.roadmap_in_tree, made_at=now, version=installed_version())
        entries = journal.events(record.run)
        tasks = task_ids(record, entries)
        attempts = {task: journal.attempts(record.run, task) for task in tasks}
        git = project.repository.git(Path(own))
        holder = holder_of(project.state)
        story = tell(
            record,
            entries,
            attempts,
            running=kept.at_workers or (holder is not None and holder.run == record.run),
            titles=titles_of(git, record),
            diffs=_diffs(git, attempts, str(record.order.get("roadmap", "")), redact),
            now=now,
            version=installed_version(),
        )
        later = min((one.started_at for one in journal.runs() if one.started_at > record.started_at), default=now)
    released = _releases(project, record.started_at, later)
    return redacted(replace(story, releases=released), redact)


def _releases(project: Project, since: float, until: float) -> tuple[ReleaseStory, ...]:
    """What was deployed, and to where, from the beginning of a run to that of the next one."""
    with closing(open_database(project.database if project.database.exists() else Path(":memory:"))) as database:
        places = known_places(database)
        found = [record for place in places for record in Releases(database, *place).all()]
    return tuple(
        ReleaseStory(
            where=f"{record.spec.name} ({record.spec.environment})",
            number=record.number,
            stage=record.stage.value,
            commit=record.release.artifact.commit,
            proof=record.proof,
            said=record.said,
            at=record.started_at,
        )
        for record in sorted(found, key=lambda one: one.started_at)
        if since <= record.started_at < until
    )


def _diffs(git: Git, attempts: Mapping[str, Sequence[Attempt]], roadmap: str, redact: Redactor) -> dict[str, Diff]:
    """What the last attempt at each task changed, as long as there is room."""
    room = Room()
    return {task: _diff(git, tries[-1], roadmap, redact, room) for task, tries in attempts.items() if tries}


def _diff(git: Git, attempt: Attempt, roadmap: str, redact: Redactor, room: Room) -> Diff:
    command = f"git diff {attempt.base[:12]} {attempt.commit[:12]}"
    if not attempt.commit:
        return Diff(command="git status", note="it left no changes")
    if not room.lines:
        return Diff(command=command, note="left out: the report's line limit is reached")
    words = _diff_words(attempt.base, attempt.commit, roadmap)
    code, text = git.try_plumb(*words)
    if code != 0:
        return Diff(command=command, note="no longer kept")
    return read_diff(text, command, partial(shown_text, redact=redact), room)


def _diff_words(old: str, new: str, roadmap: str) -> Iterable[str]:
    """The command of a diff, without the ticked roadmap and without anything that a repository could configure."""
    switches = ("-c", f"core.bigFileThreshold={LARGEST_TEXT}", "-c", "core.quotePath=false")
    options = ("-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
    without = (f":(exclude,literal,top){roadmap}",) if roadmap else ()
    return (*switches, "diff-tree", *options, old, new, "--", ".", *without)
