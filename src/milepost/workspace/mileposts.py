"""Mileposts: the commits that end tasks, and how they are made, landed, found and undone.

A commit is fixed by recorded facts (author, date, parent, message, tree), so the same step run
twice makes the same commit. A branch moves only from the commit it was seen at. Before it moves,
its history is searched for the task's trailer: one milepost a task, however often a step runs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from milepost.core.change import LARGEST_READ, Change, ChangedFile
from milepost.core.errors import EvidenceForged, GitFailed, UndoImpossible
from milepost.core.folder_roadmap import bound, is_of_roadmap, is_page, unbound
from milepost.workspace.bench_tree import make_bench_tree
from milepost.workspace.git import Git
from milepost.workspace.objects import blobs_of, changes_of, entries_of
from milepost.workspace.repository import Identity

NOTES = "refs/notes/milepost"
LARGEST_NOTE = 32_000_000
_LONGEST_NUMBER = 9
_FIELD = "\x1f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Who made a commit and when: facts of the run, recorded, never read off a clock again."""

    identity: Identity
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Milepost:
    """A commit that ended a task, as its trailers tell it; `members` are tasks that were done with it, as one group."""

    commit: str
    task: str
    run: str
    attempt: int
    agent: str
    title: str
    roadmap: str
    evidence: str = ""
    members: tuple[str, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """All tasks that the commit ended."""
        return (self.task, *self.members)

    def ends(self, task: str) -> bool:
        """Whether it ended the task of this id."""
        return task.lower() in map(str.lower, self.tasks)


def run_branch(run: str) -> str:
    return f"refs/heads/milepost/{run}"


def attempt_ref(run: str, task: str, attempt: int) -> str:
    return f"refs/milepost/{run}/{task}/{attempt}"


def evidence_hash(note: str) -> str:
    """What a milepost's message says of its note, so that a note that was edited later is found out."""
    return f"sha256:{hashlib.sha256(note.rstrip().encode()).hexdigest()}"


def milepost_message(
    *,
    task: str,
    title: str,
    run: str,
    attempt: int,
    agent: str,
    roadmap: str,
    evidence: str = "",
    members: tuple[str, ...] = (),
    verdict: str = "passed",
) -> str:
    """The message of a milepost: what was done, and the trailers that say by whom, in which run, and how it was proven.

    `evidence` is the note that will be attached; `verdict` says whose word it took where the checks were not enough.
    """
    subject = f"{task}: {title}"
    return (
        f"{subject if len(subject) <= 72 else subject[:71] + '…'}\n\n"
        f"Milepost-Task: {task}\nMilepost-Run: {run}\nMilepost-Attempt: {attempt}\n"
        f"Milepost-Verdict: {one_line(verdict)}\nMilepost-Agent: {one_line(agent)}\n"
        f"Milepost-Roadmap: {one_line(roadmap)}\n"
        + (f"Milepost-Members: {' '.join(members)}\n" if members else "")
        + (f"Milepost-Evidence: {evidence_hash(evidence)}\n" if evidence else "")
    )


def one_line(text: str) -> str:
    return " ".join(text.split())


class Mileposts:
    """Makes commits and moves refs of one repository."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._trees: dict[str, str] = {}
        self._inverses: dict[str, str] = {}

    def commit(self, tree: str, parent: str, message: str, stamp: Stamp) -> str:
        """Write a commit; the same arguments give the same commit."""
        commit = self._git.plumb("commit-tree", tree, "-p", parent, stdin=message.encode(), env=_signed(stamp))
        self._trees[commit] = tree
        return commit

    def join(self, tree: str, parents: tuple[str, str], message: str, stamp: Stamp) -> str:
        """Write a commit of two parents; the same arguments give the same commit."""
        words = [word for parent in parents for word in ("-p", parent)]
        return self._git.plumb("commit-tree", tree, *words, stdin=message.encode(), env=_signed(stamp))

    def resolve(self, name: str) -> str | None:
        """The commit that a ref or name stands for."""
        code, commit = self._git.try_refs("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return commit if code == 0 else None

    def tree_of(self, commit: str) -> str:
        """The tree of a commit, which never changes and is asked for once."""
        if commit not in self._trees:
            self._trees[commit] = self._git.plumb("rev-parse", f"{commit}^{{tree}}")
        return self._trees[commit]

    def time_of(self, commit: str) -> int:
        """When a commit was made, in seconds since 1970."""
        return max(0, int(self._git.plumb("show", "--no-patch", "--format=%ct", commit)))

    def parent_of(self, commit: str) -> str:
        """The commit that a milepost was made on."""
        return self._git.plumb("rev-parse", f"{commit}^")

    def keep(self, ref: str, commit: str) -> None:
        """Keep a commit under a ref of ours, wherever that ref was."""
        self._git.refs("update-ref", ref, commit)

    def move(self, ref: str, new: str, old: str) -> None:
        """Move a branch from `old` to `new`, or fail: somebody else moved it."""
        self._git.refs("update-ref", ref, new, old)

    def forget(self, ref: str, old: str) -> None:
        """Remove a ref that is still at `old`; one that somebody moved stays."""
        self._git.try_refs("update-ref", "-d", ref, old)

    def forget_below(self, *folders: str) -> None:
        """Remove all refs of ours below some folders of refs."""
        found = self._git.refs("for-each-ref", "--format=delete %(refname)", *folders)
        if found:
            self._git.refs("update-ref", "--stdin", stdin=f"{found}\n".encode())

    def file_at(self, tree: str, path: str) -> bytes | None:
        """The content of a file in a commit or tree."""
        return self._git.try_plumb_bytes("cat-file", "blob", f"{tree}:{path}")

    def blobs_at(self, commit: str) -> dict[str, str]:
        """The plain files of a commit with the names of their blobs."""
        return {entry.path: entry.blob for entry in entries_of(self._git, commit) if not entry.is_link}

    def contents(self, blobs: Sequence[str]) -> dict[str, bytes]:
        """What is in some blobs, by their names; empty for one that is too large to be read."""
        return blobs_of(self._git, list(blobs), LARGEST_READ)[0]

    def with_file(self, tree: str, path: str, content: bytes) -> str:
        """The tree that differs from `tree` in the content of one file."""
        listing = self._git.plumb_bytes("--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--", path)
        mode = listing.split()[0].decode() if listing else "100644"
        return self._with(tree, path, f"{mode} blob {self._git.plumb('hash-object', '-w', '--stdin', stdin=content)}")

    def _with(self, tree: str, path: str, entry: str | None) -> str:
        """The tree that differs from `tree` in one entry: its mode, its kind and its object; None takes it out."""
        folder, _, name = path.rpartition("/")
        while True:
            listing = self._git.plumb_bytes("ls-tree", "-z", f"{tree}:{folder}" if folder else tree)
            kept = [row for row in listing.split(b"\0") if row and row.partition(b"\t")[2] != name.encode()]
            kept += [f"{entry}\t{name}".encode()] if entry is not None else []
            made = self._git.plumb("mktree", "-z", stdin=b"".join(row + b"\0" for row in kept))
            if not folder:
                return made
            entry = f"040000 tree {made}"
            folder, _, name = folder.rpartition("/")

    def bench_tree(
        self, base: str, tree: str, *, restored: Sequence[str], left_out: Sequence[str], merged: Mapping[str, bytes]
    ) -> str:
        """The tree that a verdict is taken on: `restored` and `left_out` as the base has them, `merged` as they say."""
        return make_bench_tree(self._git, base, tree, restored, left_out, merged)

    def roadmap_at(self, tree: str, path: str) -> bytes | None:
        """The roadmap in a commit or tree: a file, or the pages of a folder as one run of bytes."""
        if (content := self.file_at(tree, path)) is not None:
            return content
        names = [name for name in self.files_below(tree, path) if is_page(name.removeprefix(f"{path}/"))]
        pages = {name.removeprefix(f"{path}/"): self.file_at(tree, name) or b"" for name in names}
        return bound(pages) if pages else None

    def with_roadmap(self, tree: str, path: str, content: bytes) -> str:
        """The tree that differs from `tree` in the roadmap; of a folder, in the pages that are other, new or gone."""
        if self.file_at(tree, path) is not None:
            return self.with_file(tree, path, content)
        before = unbound(self.roadmap_at(tree, path) or b"")
        after = {name: page for name, page in unbound(content).items() if is_page(name)}
        for name, page in after.items():
            if before.get(name) is None or before[name].content != page.content:
                tree = self.with_file(tree, f"{path}/{name}", page.content)
        for name in before.keys() - after.keys():
            tree = self._with(tree, f"{path}/{name}", None)
        return tree

    def with_entry(self, tree: str, path: str, other: str) -> str:
        """The tree in which a file or a folder is as it is in another tree, or the tree of a commit, which has it."""
        listing = self._git.plumb_bytes("--literal-pathspecs", "ls-tree", "-z", "--full-tree", other, "--", path)
        mode, kind, name = listing.partition(b"\t")[0].decode().split()
        return self._with(tree, path, f"{mode} {kind} {name}")

    def changed_files(self, old: str, new: str) -> tuple[str, ...]:
        """Paths that differ between two commits or trees."""
        names = self._git.plumb("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        return tuple(name for name in names.split("\0") if name)

    def changed_by(self, commits: Sequence[str], without: str = "") -> dict[str, tuple[str, ...]]:
        """The paths that each of some commits changed; `without` is left out."""
        found = changes_of(self._git, commits)
        return {
            commit: tuple(path for path, _ in files if not is_of_roadmap(path, without))
            for commit, files in found.items()
        }

    def change(self, old: str, new: str, without: str = "") -> Change:
        """What differs between two commits or trees, with the bytes of both sides; `without` is left out."""
        raw = self._git.plumb("diff-tree", "-r", "-z", "--no-renames", "--full-index", old, new).split("\0")
        rows = [(path, facts.lstrip(":").split()) for facts, path in zip(raw[0::2], raw[1::2], strict=False)]
        rows = [(path, facts) for path, facts in rows if not is_of_roadmap(path, without)]
        blobs, large = blobs_of(self._git, [sha for _, facts in rows for sha in facts[2:4]], LARGEST_READ)
        return Change(
            files=tuple(
                ChangedFile(
                    path=path,
                    before=blobs.get(old_sha),
                    after=blobs.get(new_sha),
                    mode=mode,
                    unread=bool(large & {old_sha, new_sha}),
                )
                for path, (_, mode, old_sha, new_sha, *_) in rows
            )
        )

    def diff(self, old: str, new: str, longest: int = 20_000) -> str:
        """The differences between two commits as text, cut where it is too long."""
        text = self._git.plumb("diff-tree", "-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", old, new)
        return text[:longest]

    def merge(self, ours: str, theirs: str) -> str | None:
        """The tree of both commits merged, or None where they conflict."""
        code, output = self._git.try_plumb("merge-tree", "--write-tree", ours, theirs)
        if code not in (0, 1) or not output:
            raise GitFailed(f"git merge-tree ended with {code}: {output}", "git 2.38 or newer is needed")
        return output.splitlines()[0] if code == 0 else None

    def conflicts(self, ours: str, theirs: str) -> tuple[str, ...]:
        """Paths on which two commits conflict."""
        code, output = self._git.try_plumb("merge-tree", "--write-tree", "--name-only", "--no-messages", ours, theirs)
        return tuple(dict.fromkeys(output.splitlines()[1:])) if code == 1 else ()

    def is_ancestor(self, old: str, new: str) -> bool:
        return self._git.try_plumb("merge-base", "--is-ancestor", old, new)[0] == 0

    def history(self, *tips: str, since: str = "", most: int = 0) -> tuple[Milepost, ...]:
        """The mileposts in the history of one or more commits, newest first, without those that were undone.

        With `most`, only so many commits are looked at.
        """
        found, undone = self._told(tips, since, most)
        return tuple(post for post in found if post.commit not in undone)

    def taken_back(self, *tips: str) -> tuple[tuple[Milepost, str], ...]:
        """The mileposts in the history of commits that were undone there, newest first, each with what undid it."""
        found, undone = self._told(tips)
        return tuple((post, undone[post.commit]) for post in found if post.commit in undone)

    def _told(self, tips: tuple[str, ...], since: str = "", most: int = 0) -> tuple[list[Milepost], dict[str, str]]:
        """The mileposts of a history, and which of them were taken back by which commit."""
        fields = ("Task", "Run", "Attempt", "Agent", "Roadmap", "Evidence", "Members", "Undo")
        trailers = _FIELD.join(f"%(trailers:key=Milepost-{field},valueonly,separator=%x20)" for field in fields)
        log_format = _FIELD.join(("%H", trailers, "%s"))
        bound = (f"--max-count={most}",) if most else ()
        words = ("log", "-z", f"--format={log_format}", *bound, *tips, *((f"^{since}",) if since else ()))
        output = self._git.plumb(*words)
        mileposts: list[Milepost] = []
        undone: dict[str, str] = {}
        for record in filter(None, output.split("\0")):
            commit, task, run, attempt, agent, roadmap, evidence, members, undo, subject = record.split(
                _FIELD, len(fields) + 1
            )
            if undo:
                undone[undo] = commit
            elif task and run:
                mileposts.append(
                    Milepost(
                        commit=commit,
                        task=task,
                        run=run,
                        attempt=_number(attempt),
                        agent=agent,
                        title=subject.removeprefix(f"{task}: "),
                        roadmap=roadmap,
                        evidence=evidence,
                        members=tuple(members.split()),
                    )
                )
        return mileposts, undone

    def annotate(self, commit: str, evidence: str, stamp: Stamp) -> None:
        """Attach evidence to a milepost as a git note that travels with the history."""
        words = ("notes", f"--ref={NOTES}", "add", "--force", "--file=-", commit)
        self._git.refs(*words, stdin=evidence.encode(), env=_signed(stamp))

    def note(self, commit: str) -> str | None:
        """The evidence attached to a milepost; anyone may have pushed a note, so one that is too large is not read."""
        code, blob = self._git.try_refs("notes", f"--ref={NOTES}", "list", commit)
        return self._noted(commit, blob) if code == 0 else None

    def notes(self) -> Callable[[str], str | None]:
        """The same for any number of mileposts: where each has its evidence is asked for once."""
        code, rows = self._git.try_refs("notes", f"--ref={NOTES}", "list")
        blobs = {commit: blob for blob, commit in map(str.split, rows.splitlines())} if code == 0 else {}
        return lambda commit: self._noted(commit, blobs[commit]) if commit in blobs else None

    def _noted(self, commit: str, blob: str) -> str | None:
        found, large = blobs_of(self._git, [blob], LARGEST_NOTE)
        if large:
            raise EvidenceForged(
                f"the evidence note on {commit[:7]} is larger than {LARGEST_NOTE} bytes",
                "see its content: git notes --ref=milepost show",
            )
        return found[blob].decode("utf-8", "backslashreplace").rstrip("\n") if blob in found else None

    def without(self, milepost: Milepost, head: str, roadmap: str) -> str:
        """The tree of `head` with one milepost's work taken out again; the roadmap stays as it is."""
        beside = self.inverse(milepost, roadmap)
        tree = self.merge(head, beside)
        if tree is None:
            paths = self.conflicts(head, beside)
            raise UndoImpossible(
                f"{milepost.task} cannot be undone alone: later commits changed the same lines of {', '.join(paths)}",
                "undo the later tasks first, newest first: milepost log shows them",
                paths=paths,
            )
        return tree

    def inverse(self, milepost: Milepost, roadmap: str) -> str:
        """A commit beside a milepost that takes its work out again, to be merged with what came later."""
        if milepost.commit not in self._inverses:
            kept = self.roadmap_at(milepost.commit, roadmap)
            tree = self.tree_of(f"{milepost.commit}^")
            if kept is not None:
                tree = self.with_roadmap(tree, roadmap, kept)
            stamp = Stamp(identity=Identity(name="Milepost", email="milepost@localhost"), at=0)
            made = self.commit(tree, milepost.commit, f"Without {milepost.task}\n", stamp)
            self._inverses[milepost.commit] = made
        return self._inverses[milepost.commit]

    def undone(self, *tips: str, since: str = "") -> frozenset[str]:
        """The commits that were taken back in the history of one or more commits."""
        words = ("--grep=^Milepost-Undo: ", "--format=%(trailers:key=Milepost-Undo,valueonly,separator=%x20)")
        found = self._git.plumb("log", *words, *tips, *((f"^{since}",) if since else ()))
        return frozenset(found.split())

    def touching(self, paths: tuple[str, ...], since: str, head: str) -> frozenset[str]:
        """The commits after `since` up to `head` that changed any of some files."""
        words = ("--literal-pathspecs", "log", "--full-history", "--format=%H", f"{since}..{head}", "--", *paths)
        return frozenset(self._git.plumb(*words).split())

    def patch(self, old: str, new: str, *, stat: bool = False) -> bytes:
        """The differences between two commits or trees as a patch that git applies, or as a table of their sizes."""
        what = ("--stat=100",) if stat else ("--patch", "--binary", "--full-index")
        words = ("diff-tree", "-r", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color", *what)
        return self._git.plumb_bytes(*words, old, new)

    def empty_tree(self) -> str:
        """The tree without files, which the first commit of a history is compared with."""
        return self._git.plumb("mktree")

    def files_below(self, commit: str, path: str) -> tuple[str, ...]:
        """The files of a commit at a path or below it; submodules are not among them."""
        within = () if path in ("", ".") else ("--", path)
        listing = self._git.plumb_bytes("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, *within)
        rows = (row.partition(b"\t") for row in listing.split(b"\0") if row)
        return tuple(os.fsdecode(name) for facts, _, name in rows if facts.split()[1] == b"blob")

    def named(self, folder: str) -> tuple[tuple[str, str, str], ...]:
        """The refs below a folder of refs: the name below it, its commit, and the commit's subject."""
        form = "%(refname) %(objectname) %(contents:subject)"
        rows = (line.split(" ", 2) for line in self._git.refs("for-each-ref", f"--format={form}", folder).splitlines())
        return tuple((name.removeprefix(f"{folder}/"), commit, subject) for name, commit, subject in rows)

    def parents_of(self, commit: str) -> tuple[str, ...]:
        """The parents of a commit; the first commit of a history has none."""
        return tuple(self._git.plumb("rev-list", "--parents", "--max-count=1", commit).split()[1:])


def remove_stale_locks(common_dir: Path) -> tuple[str, ...]:
    """Remove the locks that a killed git left on refs of ours; safe only with the engine's lock held."""
    names = ("milepost", "milepost-calls", "milepost-train", "milepost-marks", "heads/milepost")
    ours = [common_dir / "refs" / name for name in names]
    locks = [common_dir / "refs/notes/milepost.lock", *(lock for folder in ours for lock in folder.rglob("*.lock"))]
    stale = [lock for lock in locks if lock.is_file()]
    for lock in stale:
        lock.unlink(missing_ok=True)
    return tuple(lock.name for lock in stale)


def _number(trailer: str) -> int:
    """The number in a trailer, 0 where there is none: `²` is a digit, too, and Python reads no number without end."""
    return int(trailer) if trailer.isascii() and trailer.isdecimal() and len(trailer) <= _LONGEST_NUMBER else 0


def _signed(stamp: Stamp) -> dict[str, str]:
    return {
        "GIT_AUTHOR_NAME": stamp.identity.name,
        "GIT_AUTHOR_EMAIL": stamp.identity.email,
        "GIT_AUTHOR_DATE": f"@{stamp.at} +0000",
        "GIT_COMMITTER_NAME": stamp.identity.name,
        "GIT_COMMITTER_EMAIL": stamp.identity.email,
        "GIT_COMMITTER_DATE": f"@{stamp.at} +0000",
    }
