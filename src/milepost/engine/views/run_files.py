"""The files of a run's branch, with what the run changed; read from git's objects, never through the user's disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from milepost.core.errors import MilepostError
from milepost.engine.records.run_view import RunRef, RunView, viewed
from milepost.verify.credentials import shown_text
from milepost.workspace.mileposts import run_branch
from milepost.workspace.tree_diff import Kind, kinds

MOST_FILES = 20_000
LARGEST_FILE = 400_000
LARGEST_READ = 8_000_000
_CHANGES: Mapping[Kind, Literal["added", "changed", "removed"]] = {"added": "added", "removed": "removed"}
_LINK = b"120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """A file of the run's branch, or one that the run removed."""

    path: str
    change: Literal["", "added", "changed", "removed"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """The files at `commit`, by their paths, and what the run changed since `base`; `left_out` counts further ones.

    There is no commit where its objects are not on this machine.
    """

    run: str
    commit: str
    base: str
    files: tuple[RunFile, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file of a run's branch; its text is None where it is none, and `cut` where it goes on.

    The text of a link is where it leads.
    """

    path: str
    commit: str
    text: str | None
    binary: bool = False
    cut: bool = False
    is_link: bool = False


_listed: dict[Path, RunFiles] = {}  # the last listing of each roadmap: one of very many files takes seconds


def run_files(whose: RunRef) -> RunFiles:
    """The files of a run as its branch has them now; as it began where there is no branch any more."""
    with viewed(whose) as view:
        base, commit = _base(view), _tip(view)
        if not commit:
            return RunFiles(run=view.record.run, commit="", base=base)
        known = _listed.get(view.project.roadmap)
        if known is None or (known.run, known.base, known.commit) != (view.record.run, base, commit):
            known = _listed[view.project.roadmap] = _listing(view, base, commit)
        return known


def _listing(view: RunView, base: str, commit: str) -> RunFiles:
    changes = kinds(view.git, base, commit) if base else {}
    gone = [path for path, kind in changes.items() if kind == "removed"]
    names = sorted((*_names(view, commit), *gone))
    # What the run changed is never among what is left out.
    kept = set(sorted(names, key=lambda path: path not in changes)[:MOST_FILES])
    return RunFiles(
        run=view.record.run,
        commit=commit,
        base=base,
        files=tuple(
            RunFile(path=view.redact(path), change=_CHANGES.get(changes[path], "changed") if path in changes else "")
            for path in names
            if path in kept
        ),
        left_out=max(0, len(names) - MOST_FILES),
    )


def file_at(whose: RunRef, path: str) -> FileText | None:
    """One file of a run as its branch has it now; None where there is none of this name."""
    with viewed(whose) as view:
        commit = _tip(view)
        if not commit or not _can_be(path):
            return None
        words = ("--literal-pathspecs", "ls-tree", "-z", "--full-tree", "-l", commit, "--", path)
        try:
            facts, _, name = view.git.plumb_bytes(*words).partition(b"\0")[0].partition(b"\t")
        except MilepostError:  # a path that leads out of the tree
            return None
        if not facts or facts.split()[1] != b"blob" or name != path.encode():
            return None
        mode, _, blob, size = facts.split()
        content = b"" if int(size) > LARGEST_READ else view.git.plumb_bytes("cat-file", "blob", blob.decode())
        binary = b"\0" in content[:LARGEST_FILE]
        text = None if binary or int(size) > LARGEST_READ else content[:LARGEST_FILE].decode("utf-8", "replace")
        return FileText(
            path=path,
            commit=commit,
            text=None if text is None else shown_text(text, view.redact),
            binary=binary,
            cut=int(size) > LARGEST_FILE,
            is_link=mode == _LINK,
        )


def _can_be(path: str) -> bool:
    """Whether git could be asked for a path."""
    return bool(path) and "\0" not in path and not any("\ud800" <= sign <= "\udfff" for sign in path)


def _base(view: RunView) -> str:
    return view.mileposts.resolve(str(view.record.order.get("base", "")) or "-") or ""


def _tip(view: RunView) -> str:
    """The run's branch, else its recorded head, else where it began; empty where none of them is here."""
    head = view.record.summary.head if view.record.summary else ""
    for name in (run_branch(view.record.run), head):
        if name and (commit := view.mileposts.resolve(name)):
            return commit
    return _base(view)


def _names(view: RunView, commit: str) -> list[str]:
    listing = view.git.plumb_bytes("ls-tree", "-r", "-z", "--full-tree", commit)
    rows = (row.partition(b"\t") for row in listing.split(b"\0") if row)
    return [name.decode("utf-8", "backslashreplace") for facts, _, name in rows if facts.split()[1] == b"blob"]
