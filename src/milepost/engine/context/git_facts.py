"""What git has to say for a context: the files of a tree, what a task mentions of them, what was done before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from milepost.core.folder_roadmap import is_of_roadmap
from milepost.core.secrets.files import holds_secrets, is_example
from milepost.core.task import Task
from milepost.plan.advice.mentions import Mentions, mentions_in
from milepost.plan.context.project_facts import MANIFESTS, History, Project, ProjectFacts
from milepost.plan.context.sections import Done, FileShown
from milepost.sources.env_variables import keys_in
from milepost.sources.tags import Tags
from milepost.verify.judging.paths import is_test_path
from milepost.verify.suites.detect import suites
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts
from milepost.workspace.objects import TreeEntry, blobs_of, changes_of, entries_of

LARGEST_READ = 1_000_000
LARGEST_MANIFEST = 200_000
MOST_DONE = 30
MOST_COMMITS = 300  # of the history before a run that are looked at for earlier mileposts
MOST_PROJECTS = 4
COMMITS_LOOKED_AT = 100
MOST_OFTEN = 5

Clean = Callable[[str], str]


class Tree:
    """The files of one tree, as far as a context is about them; `clean` takes out what nobody may see."""

    def __init__(self, git: Git, tree: str, task: Task, roadmap: str, clean: Clean) -> None:
        listed = {entry.path: entry for entry in entries_of(git, tree) if entry.path.isprintable()}
        self._git = git
        self._roadmap = roadmap
        self._clean = clean
        self.entries = listed
        self.mentions: Mentions = mentions_in(task, {path for path in listed if not is_of_roadmap(path, roadmap)})

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self.entries)

    def files(self) -> tuple[FileShown, ...]:
        """The files that the task mentions, with their texts where these may be shown."""
        wanted = [self.entries[path] for path in self.mentions.files]
        contents = self._contents([entry for entry in wanted if not _why_not_read(entry)], LARGEST_READ)
        there = (self._shown(entry, contents.get(entry.blob, b"")) for entry in wanted)
        return (*there, *(FileShown(path=path, why_not="not there yet") for path in self.mentions.missing))

    def facts(self, folder: Path, tags: dict[str, Tags], unread: int, base: str) -> ProjectFacts:
        """What is known beside the code; `folder` is a checkout of the tree, `base` the commit below it."""
        read = {name for path, one in tags.items() if not is_test_path(path) for name in one.variables}
        return ProjectFacts(
            paths=self.paths,
            projects=self._projects(),
            suites=_suites(folder),
            variables=tuple(sorted(read | self._example_keys())),
            unread=unread,
            history=history_of(
                self._git, base, [path for path in self.paths if not is_of_roadmap(path, self._roadmap)]
            ),
        )

    def _beside_roadmap(self) -> list[str]:
        return [path for path in self.paths if not is_of_roadmap(path, self._roadmap)]

    def _shown(self, entry: TreeEntry, content: bytes) -> FileShown:
        why_not = _why_not_read(entry) or ("binary" if b"\0" in content[:8000] else "")
        if why_not:
            return FileShown(path=entry.path, why_not=f"{why_not}, {entry.size} bytes")
        return FileShown(path=entry.path, text=self._clean(content.decode("utf-8", "replace")))

    def _projects(self) -> tuple[Project, ...]:
        """The folders with manifests that matter: the top, the roadmap's, and the nearest above each file mentioned."""
        owners = {path.rpartition("/")[0] for path in self.entries if path.rpartition("/")[2] in MANIFESTS}
        wanted = [self._roadmap, *self.mentions.files]
        near = (next((above for above in _folders_above(path) if above in owners), "") for path in wanted)
        folders = [*dict.fromkeys(("", *near))][:MOST_PROJECTS]
        return tuple(project for folder in folders if (project := self._project(folder)).manifests)

    def _project(self, folder: str) -> Project:
        inside = {path.rpartition("/")[2]: path for path in self.entries if path.rpartition("/")[0] == folder}
        entries = {name: self.entries[path] for name, path in inside.items() if name in MANIFESTS}
        contents = self._contents([*entries.values()], LARGEST_MANIFEST)
        texts = {name: contents.get(entry.blob, b"").decode("utf-8", "replace") for name, entry in entries.items()}
        return Project(folder=folder, manifests=texts, beside=frozenset(inside))

    def _example_keys(self) -> set[str]:
        """The names in files such as .env.example; what stands behind them is not looked at."""
        examples = [entry for path, entry in self.entries.items() if is_example(path) and ".env" in path.lower()]
        contents = self._contents(examples, LARGEST_MANIFEST)
        return {key for content in contents.values() for key in keys_in(content.decode("utf-8", "replace"))}

    def _contents(self, entries: Sequence[TreeEntry], largest: int) -> dict[str, bytes]:
        return blobs_of(self._git, (entry.blob for entry in entries if not entry.is_link), largest)[0]


def history_of(git: Git, tip: str, paths: Collection[str]) -> History:
    """How long a history is, and which of these paths its newest commits changed most often."""
    newest = git.plumb("rev-list", "--no-merges", f"--max-count={COMMITS_LOOKED_AT}", tip).split()
    known = frozenset(paths)
    times = Counter(path for files in changes_of(git, newest).values() for path, _ in files if path in known)
    often = sorted(((path, count) for path, count in times.items() if count > 1), key=lambda one: (-one[1], one[0]))
    commits = int(git.plumb("rev-list", "--count", tip))
    return History(commits=commits, looked_at=len(newest), changed=tuple(often[:MOST_OFTEN]))


def done_before(git: Git, tip: str, roadmap: str, clean: Clean, *, since: str = "", most: int = 0) -> tuple[Done, ...]:
    """The tasks whose mileposts are in a history, newest first, with what became of which files."""
    posts = Mileposts(git).history(tip, since=since, most=most)[:MOST_DONE]
    changes = changes_of(git, [post.commit for post in posts])
    return tuple(
        Done(
            task=post.task,
            title=clean(post.title),
            files=tuple(
                (path, what)
                for path, what in changes[post.commit]
                if not is_of_roadmap(path, roadmap) and path.isprintable()
            ),
        )
        for post in posts
    )


def _why_not_read(entry: TreeEntry) -> str:
    if holds_secrets(entry.path):
        return "may hold secrets, not shown"
    if entry.is_link:
        return "a link"
    return "too large to be shown" if entry.size > LARGEST_READ else ""


def _suites(folder: Path) -> tuple[str, ...]:
    """How the tests of a checkout are run; what agents wrote there may be anything."""
    try:
        return tuple(suite.label.replace("(python)", "(pytest, else unittest)") for suite in suites(folder))
    except (OSError, ValueError, RecursionError):
        return ()


def _folders_above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]
