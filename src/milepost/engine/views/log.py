"""The mileposts of a roadmap, in its branch and in branches of runs; tasks that are called otherwise now."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.engine.planning.renamed_tasks import Renamed, called_before, renamed_here
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal
from milepost.engine.records.unmerged_run import run_ahead
from milepost.workspace.mileposts import Milepost, Mileposts, run_branch


def log(roadmap: Path | None) -> tuple[Milepost, ...]:
    """The mileposts of a roadmap's repository, newest first, also those that are not merged yet."""
    project = Project.find(roadmap)
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        return all_mileposts(project, mileposts)


def renamed(roadmap: Path | None) -> tuple[Renamed, ...]:
    """The tasks of a roadmap that were worked on under another name."""
    project = Project.find(roadmap)
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        return renamed_here(project, mileposts, all_mileposts(project, mileposts))


def all_mileposts(project: Project, mileposts: Mileposts) -> tuple[Milepost, ...]:
    """Those in the user's history, those of the newest run whose branch is ahead of it, and those of the last run."""
    user = project.repository.position()
    with Journal.look(project.database) as journal:
        records = journal.runs()
    ahead = run_ahead(records, mileposts, user)
    if ahead is not None:
        return of_this_roadmap(project, mileposts.history(ahead.tip))
    branches = (mileposts.resolve(run_branch(record.run)) for record in records[:1])
    found = mileposts.history(user.commit, *(tip for tip in branches if tip is not None))
    return of_this_roadmap(project, found)


def milepost_of(project: Project, mileposts: Mileposts, task: str) -> tuple[str, Milepost | None]:
    """The newest milepost that ended a task, if any, and the name that the task was worked on by."""
    posts = all_mileposts(project, mileposts)
    if (post := next((post for post in posts if post.ends(task)), None)) is not None:
        return post.task, post
    before = called_before(project, mileposts, posts, task)
    return before, next((post for post in posts if post.ends(before)), None)


def of_this_roadmap(project: Project, posts: tuple[Milepost, ...]) -> tuple[Milepost, ...]:
    """Ids are a roadmap's own: another roadmap in the repository may use the same."""
    return tuple(post for post in posts if post.roadmap in ("", project.roadmap_in_tree))
