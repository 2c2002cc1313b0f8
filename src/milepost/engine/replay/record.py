"""What a run answered and did, as a cassette: from the calls of its attempts, else from what they changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from milepost.agents.models.as_json import answer_of
from milepost.agents.models.fallback import fault_in
from milepost.agents.replay.cassette import (
    Cassette,
    Loop,
    RecordedAnswer,
    RecordedAttempt,
    RecordedDiff,
    RecordedEnd,
    RecordedTalk,
)
from milepost.core.attempt import Attempt
from milepost.core.errors import Misuse
from milepost.core.events import Event
from milepost.core.secrets.redact import Redactor
from milepost.engine.project.project import Project
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.load import SERVER, load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.call_log import BEGINNING, AttemptKey, CallLog, RecordedCall
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_spec import RECIPE
from milepost.store.database import Database, open_database
from milepost.workspace.mileposts import Mileposts

REVIEW = "/review/"
CODE_TOOL = "python"  # what the loop in which a model writes Python is known by
_ASKS_MODELS = ("tool", "code", "replay")
_TRIED = "select distinct task from attempts where run = ? union select distinct task from calls where run = ?"
_CALLED = "select distinct attempt from calls where run = ? and task = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What is there of a run, and the attempts of which nothing is: what they did was removed."""

    cassette: Cassette
    missing: tuple[str, ...] = ()


@contextmanager
def taped(
    roadmap: Path | None, file: Path | None, on_event: Callable[[Event], None], database: str | None = None
) -> Iterator[Callable[[Event], None]]:
    """Listen to a run for `on_event`; when it is over, however it ended, put all that is recorded of it into a file.

    Where it cannot be written is said before the run begins; where there was no run, nothing is written.
    """
    if file is None:
        yield on_event
        return
    project = Project.find(roadmap)
    settings = load(project.roadmap.parent, {"database": database}, uses=SERVER)
    _require_place(file, settings)
    heard: list[str] = []

    def hear(event: Event) -> None:
        heard[:] = [event.run]
        on_event(event)

    try:
        yield hear
    finally:
        if heard:
            write_cassette(project, settings, heard[0], file)


def _require_place(file: Path, settings: Settings) -> None:
    if settings.run.database:
        raise Misuse("a run on workers cannot be recorded from here", "leave out --record, or run it on this machine")
    if not file.absolute().parent.is_dir() or file.is_dir():
        raise Misuse(f"the recording cannot be written to {str(file)!r}", "name a file in an existing folder")


def write_cassette(project: Project, settings: Settings, run: str, file: Path) -> None:
    """Put all that is recorded of a run, ended or not, into a file."""
    from milepost.agents.replay.cassette_writer import write

    with closing(open_database(project.store)) as database:
        recording = recording_of(database, Mileposts(project.repository.git(project.state / "git")), run)
    write(recording.cassette, file, Redactor(known_secrets(settings)))


def recording_of(database: Database, mileposts: Mileposts, run: str) -> Recording:
    """The attempts of a run in the order in which its agents were asked, by task."""
    journal, calls = Journal(database), CallLog(database)
    found: dict[str, tuple[RecordedAttempt, ...]] = {}
    missing: list[str] = []
    for (task,) in database.read(_TRIED, run, run):
        attempts = {attempt.number: attempt for attempt in journal.attempts(run, task)}
        called = (number for (number,) in database.read(_CALLED, run, task))
        kept: list[RecordedAttempt] = []
        for number in sorted({*attempts, *called}):
            recorded = _recorded(calls, mileposts, AttemptKey(run=run, task=task, attempt=number), attempts.get(number))
            if isinstance(recorded, str):
                missing.append(recorded)
                kept.append(RecordedTalk(answers=()))  # keeps the place of those that follow
            elif recorded is not None:
                kept.append(recorded)
        if kept and REVIEW not in task:  # a reviewer's calls are under a name of their own
            found[task] = tuple(kept)
    return Recording(cassette=Cassette(attempts=found), missing=tuple(missing))


def _recorded(
    calls: CallLog, mileposts: Mileposts, key: AttemptKey, attempt: Attempt | None
) -> RecordedAttempt | str | None:
    """An attempt as it is replayed, its name where nothing is left of it, None for one that is no agent's."""
    if attempt is not None and attempt.agent.startswith(RECIPE):
        return None
    made = calls.of(key)
    answers = tuple(_answers(made))
    end = None if attempt is None else RecordedEnd(status=attempt.outcome.status, said=attempt.outcome.said)
    if answers:
        return RecordedTalk(answers=answers, agent=_loop(attempt, made), end=end)
    if attempt is None or end is None:
        return None
    asks_models = attempt.agent.partition(":")[0] in _ASKS_MODELS
    if asks_models and calls.noted(key, BEGINNING) is not None and not made:
        return RecordedTalk(answers=(), end=end)  # it was never answered
    if mileposts.resolve(attempt.commit) is None or (asks_models and not made):
        return f"{key.task} attempt {key.attempt}"
    diff = mileposts.patch(attempt.base, attempt.commit)
    return RecordedDiff(diff=diff, end=end, usage=attempt.outcome.usage)


def _answers(calls: tuple[RecordedCall, ...]) -> Iterator[RecordedAnswer]:
    for call in calls:
        reply = call.reply
        if call.kind == "model" and not reply.refused and fault_in(reply.body) is None:
            yield RecordedAnswer(answer=answer_of(reply.body, reply.usage), model=call.name)


def _loop(attempt: Attempt | None, calls: tuple[RecordedCall, ...]) -> Loop:
    """Which loop an attempt was made by: what it is called, what it was replayed as, else what it used."""
    named = attempt is not None and attempt.agent.partition(":")[0] == "code"
    wrote_code = any(call.name in ("replay:code", CODE_TOOL) for call in calls)
    return "code" if named or wrote_code else "tool"
