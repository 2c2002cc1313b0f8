"""What kind of work a task is, for the memory: by the files and manifests of the tree that an attempt begins with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping

from milepost.core.memories import Circumstances, Complexity, TaskKind
from milepost.core.task import Task
from milepost.plan.advice.complexity import TOO_BIG, complexity_of
from milepost.plan.advice.traits import Kind, traits_of
from milepost.plan.context.conventions import frameworks_in
from milepost.plan.context.project_facts import MANIFESTS
from milepost.sources.grammars import language_of
from milepost.workspace.mileposts import Mileposts

MODERATE = 3  # points of complexity
LONGEST_WORDS = 60

_KINDS: Mapping[Kind, TaskKind] = {
    "code": "code_generation",
    "tests": "testing",
    "docs": "documentation",
    "config": "other",
    "fix": "debugging",
    "refactor": "refactoring",
    "dependency": "other",
}


def kind_of(task: Task) -> TaskKind:
    """What a task asks for, in the words of the memory."""
    return _KINDS[traits_of(task).kind]


def circumstances_at(mileposts: Mileposts, commit: str, task: Task) -> Circumstances:
    """The circumstances of a task at a commit."""
    blobs = mileposts.blobs_at(commit)
    found = {path: blob for path, blob in blobs.items() if path in MANIFESTS}
    contents = mileposts.contents([*found.values()])
    manifests = {path: contents.get(blob, b"").decode("utf-8", "replace") for path, blob in found.items()}
    return circumstances_of(task, blobs, manifests)


def circumstances_of(task: Task, paths: Collection[str], manifests: Mapping[str, str]) -> Circumstances:
    """The circumstances of a task among files: its own tell the language where they can, else most of all do."""
    traits = traits_of(task)
    tags = (f"kind:{traits.kind}", f"size:{traits.size}", *(("risky",) if traits.risky else ()))
    named = [words for words in map(_words, (task.phase, task.section)) if words]
    return Circumstances(
        language=language_among(task.files) or language_among(paths),
        framework=next(iter(frameworks_in(manifests)), ""),
        complexity=_complexity(task),
        domain=named[-1] if named else "general",
        tags=(*tags, *named),
    )


def _complexity(task: Task) -> Complexity:
    score = complexity_of(task).score
    return "complex" if score >= TOO_BIG else "moderate" if score >= MODERATE else "simple"


def language_among(paths: Collection[str]) -> str:
    """The language of most of the files; empty where none is known."""
    counted = Counter("TypeScript" if (one := language_of(path)) == "TSX" else one for path in paths)
    counted.pop("", None)
    return min(counted, key=lambda name: (-counted[name], name), default="").lower()


def _words(heading: str) -> str:
    """A heading as a tag: its words, without numbers and signs."""
    return "-".join(re.findall(r"[^\W\d_]+", heading.lower()))[:LONGEST_WORDS].strip("-")
