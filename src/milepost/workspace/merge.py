"""Two commits merged as far as that is certain: by git, by rules for kinds of files, by the tools that write locks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from milepost.core.errors import GitFailed
from milepost.core.lock_files import lock_of
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts
from milepost.workspace.reconcile import reconcile

LARGEST_FILE = 2_000_000
MOST_NAMED = 3
_REGULAR = frozenset({"100644", "100755"})
_BY_LINES = frozenset({"Auto-merging", "CONFLICT (contents)"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """A lock file that only its tool can write: the command to run in its folder, with both manifests merged."""

    path: str
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The tree of both commits. `reconciled` are the files on which git alone would have given up.

    With `renewals` the tree is not done: their lock files are ours still, and theirs is not in them.
    """

    tree: str
    reconciled: tuple[str, ...] = ()
    renewals: tuple[Renewal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicted:
    """A file on which two commits conflict, as it was and as each has it; None where it is not there, or no text.

    `landed` are the subjects of the last commits that changed it in ours, the newest at the end.
    """

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    landed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """The files that no rule could merge."""

    files: tuple[Conflicted, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)


@dataclass(slots=True)
class _Stages:
    """What git says of one path: the mode and the blob on each side, and whether lines are all that conflicts."""

    blobs: dict[str, tuple[str, str]] = field(default_factory=dict)
    by_lines: bool = True


def merge_trees(mileposts: Mileposts, ours: str, theirs: str) -> Merged | Conflicts:
    """Merge `theirs` into `ours` without a checkout; the same commits give the same answer."""
    git = mileposts._git
    code, output = git.try_plumb("merge-tree", "--write-tree", "-z", ours, theirs)
    tree, *rest = output.split("\0")
    if code not in (0, 1) or not tree:  # for a commit that is not there git says 1, as for a conflict, and no tree
        raise GitFailed(f"git cannot merge {ours[:7]} and {theirs[:7]}", "git 2.38 or newer is needed")
    if code == 0:
        return Merged(tree=tree)
    reconciled: list[str] = []
    renewals: list[Renewal] = []
    left: list[Conflicted] = []
    for path, stages in _stages(rest).items():
        mergeable = _is_mergeable(git, tree, path, stages)
        sides = {stage: _content(git, blob) for stage, (_, blob) in stages.blobs.items()}
        one = _resolved(path, sides) if mergeable else None
        if isinstance(one, Renewal):
            renewals.append(one)
            tree = mileposts.with_file(tree, path, sides["2"] or b"")
        elif one is not None:
            reconciled.append(path)
            tree = mileposts.with_file(tree, path, one)
        else:
            left.append(Conflicted(path=path, base=sides.get("1"), ours=sides.get("2"), theirs=sides.get("3")))
    if left or not (reconciled or renewals):
        return Conflicts(files=_with_landed(git, ours, theirs, left))
    return Merged(tree=tree, reconciled=tuple(reconciled), renewals=tuple(renewals))


def _resolved(path: str, sides: dict[str, bytes | None]) -> bytes | Renewal | None:
    base, ours, theirs = sides.get("1", b""), sides["2"], sides["3"]
    if base is None or ours is None or theirs is None:
        return None
    lock = lock_of(path)
    if lock is not None:
        return Renewal(path=path, argv=lock.argv) if lock.argv else None
    return reconcile(base, ours, theirs, path)


def _stages(records: list[str]) -> dict[str, _Stages]:
    """What `git merge-tree -z` says after the tree: the stages of each path, then, behind an empty one, messages."""
    end = records.index("") if "" in records else len(records)
    found: dict[str, _Stages] = {}
    for record in records[:end]:
        facts, _, path = record.partition("\t")
        mode, blob, stage = facts.split()
        found.setdefault(path, _Stages()).blobs[stage] = (mode, blob)
    messages = records[end + 1 :]
    while messages and messages[0].isdigit():
        count = int(messages[0])
        paths, kind = messages[1 : count + 1], messages[count + 1]
        for path in paths:
            if kind not in _BY_LINES:
                found.setdefault(path, _Stages()).by_lines = False
        messages = messages[count + 3 :]
    return found


def _is_mergeable(git: Git, tree: str, path: str, stages: _Stages) -> bool:
    """Whether a plain file is there on both sides, and in git's own tree under its name."""
    modes = {mode for mode, _ in stages.blobs.values()}
    there = {"2", "3"} <= stages.blobs.keys() and modes <= _REGULAR and stages.by_lines
    return there and git.try_plumb("cat-file", "-e", f"{tree}:{path}")[0] == 0


def _content(git: Git, blob: str) -> bytes | None:
    """A blob that is not too large; a submodule's name is none."""
    code, size = git.try_plumb("cat-file", "-s", blob)
    return git.try_plumb_bytes("cat-file", "blob", blob) if code == 0 and int(size) <= LARGEST_FILE else None


def _with_landed(git: Git, ours: str, theirs: str, files: list[Conflicted]) -> tuple[Conflicted, ...]:
    code, base = git.try_plumb("merge-base", ours, theirs)
    since = f"{base.splitlines()[0]}..{ours}" if code == 0 else ours
    words = ("--literal-pathspecs", "log", "-z", "--format=%s", f"--max-count={MOST_NAMED}", since, "--")
    subjects = (git.try_plumb(*words, file.path)[1] for file in files)
    named = (tuple(reversed([one for one in found.split("\0") if one])) for found in subjects)
    return tuple(replace(file, landed=landed) for file, landed in zip(files, named, strict=True))
