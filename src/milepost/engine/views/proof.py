"""The proof of a task: what was run to believe that it is done, or why no attempt was believed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.approval import verdict_words
from milepost.core.attempt import Attempt
from milepost.core.basis import basis_lines
from milepost.core.errors import EvidenceForged, TaskUnknown
from milepost.core.events import StageStarted
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.project.project import Project
from milepost.engine.records.check_logs import Logs, logs_of
from milepost.engine.records.journal import Journal
from milepost.engine.records.milepost_note import recorded_note
from milepost.engine.views.log import milepost_of
from milepost.workspace.mileposts import Milepost, Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of a task: its milepost where it has one, the evidence, and the attempts before."""

    task: str
    title: str
    run: str
    attempt: int
    agent: str
    verdict: Verdict
    commit: str | None
    evidence: Evidence
    attempts: tuple[Attempt, ...]

    @property
    def words(self) -> str:
        """The verdict as people read it, with who had the last word where the checks were not enough."""
        return verdict_words(self.evidence)

    @property
    def basis(self) -> tuple[str, ...]:
        """What the verdict rests on beside the checks, a sentence each."""
        return basis_lines(self.evidence)


def proof(roadmap: Path | None, task: str) -> Proof:
    """The proof of a task: from the note on its milepost, or of its last attempt where it has none."""
    project = Project.find(roadmap)
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        task, post = milepost_of(project, mileposts, task)
        with Journal.look(project.database) as journal:
            ours = (one.run for one in journal.runs() if one.order["roadmap"] == project.roadmap_in_tree)
            tried_in = next((run for run in ours if journal.attempts(run, task)), None)
        if post is None and tried_in is None:
            raise TaskUnknown(
                f"there is neither a milepost nor an attempt for task {task!r}", "milepost log lists the mileposts"
            )
        if post is None:
            return _proof_of_attempts(project, tried_in or "", task)
        return _proof_of(project, mileposts, post)


def logs(roadmap: Path | None, task: str) -> tuple[tuple[str, str], ...]:
    """The name and the whole log of each check behind a task's proof, as far as they are kept on this machine."""
    found = proof(roadmap, task)
    return logs_of(found.evidence.checks, Logs(Project.find(roadmap).state / "logs"))


def _proof_of(project: Project, mileposts: Mileposts, post: Milepost) -> Proof:
    note = recorded_note(mileposts, post)
    if note.problem:
        raise EvidenceForged(
            f"{post.task} on {post.commit[:7]}: {note.problem}",
            f"check it again: milepost verify {post.task} --replay",
        )
    with Journal.look(project.database) as journal:
        attempts = journal.attempts(post.run, post.task)
    return Proof(
        task=post.task,
        title=post.title,
        run=post.run,
        attempt=post.attempt,
        agent=post.agent,
        verdict=note.evidence.verdict,
        commit=post.commit,
        evidence=note.evidence,
        attempts=attempts,
    )


def _proof_of_attempts(project: Project, run: str, task: str) -> Proof:
    with Journal.look(project.database) as journal:
        attempts = journal.attempts(run, task)
        events = journal.events(run)
    last = attempts[-1]
    stages = (entry.event for entry in events if isinstance(entry.event, StageStarted))
    titles = [stage.title for stage in stages if stage.task == task]
    return Proof(
        task=task,
        title=titles[0] if titles else "",
        run=run,
        attempt=last.number,
        agent=last.agent,
        verdict=last.evidence.verdict,
        commit=None,
        evidence=last.evidence,
        attempts=attempts,
    )
