"""The target that reads a milepost as others may have written it: its trailers, and the note that git keeps of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from milepost.cli.output import json_text
from milepost.cli.show.proof import proof_lines
from milepost.engine.records.milepost_note import KeptNote, recorded_note
from milepost.engine.verification.verifier import corrected
from milepost.engine.views.proof import Proof
from milepost.proofs import to_json
from milepost.workspace.mileposts import NOTES, Milepost, evidence_hash
from tests.fuzz import examples
from tests.fuzz.inputs import texts
from tests.fuzz.run import Target
from tests.integration.repositories import NOW, new_place
from tests.unit.plan.test_context import task as a_task

Written = tuple[bytes, bytes]

_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**400, 1e308, float("nan"), float("inf"), "", "\ud800", "\0", "\x1b[2J\u202e", "x" * 5000),
    *([], {}, [[]], [["a"]], [["a", ""]], ["ab"], [["", "b"]], [[None, {}]], "passed", "held", "accepted by a"),
)
_ATTEMPTS = ("1", "0", "-1", "\xb2", "\u0663", "9" * 5000, "", "1 2", "one")
_NAMES = ("1.1", "7f3a", "../x", "a b", "\x1f", "\u202e", "\x1b[2J", "x" * 5000, "-x", "")


@contextmanager
def note() -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as folder:
        place = new_place(Path(folder))
        mileposts, git = place.mileposts(), place.engine_git()
        base, tree = place.head, mileposts.tree_of(place.head)

        def check(written: Written) -> None:
            trailers, content = written
            commit = git.plumb("hash-object", "-t", "commit", "-w", "--stdin", stdin=_commit(tree, base, trailers))
            blob = git.plumb("hash-object", "-w", "--stdin", stdin=content)
            git.refs("update-ref", NOTES, _noted(git.plumb, commit, blob))
            for post in mileposts.history(commit, since=base):
                _shown(post, recorded_note(mileposts, post))

        yield Target(inputs=_written(), check=check)


def _noted(plumb: Any, commit: str, blob: str) -> str:
    """The commit of notes in which one commit has a note of exactly these bytes."""
    tree = plumb("mktree", stdin=f"100644 blob {blob}\t{commit}\n".encode())
    return str(plumb("hash-object", "-t", "commit", "-w", "--stdin", stdin=_commit(tree, "", b"Notes")))


def _commit(tree: str, parent: str, message: bytes) -> bytes:
    who = f"{NOW.identity.name} <{NOW.identity.email}> {NOW.at} +0000"
    above = f"parent {parent}\n" if parent else ""
    return f"tree {tree}\n{above}author {who}\ncommitter {who}\n\n".encode() + message.replace(b"\0", b"")


def _shown(post: Milepost, kept: KeptNote) -> None:
    """Do with a note what is done with it: print its proof, for people and machines, and correct a task by it."""
    proof = Proof(
        task=post.task,
        title=post.title,
        run=post.run,
        attempt=post.attempt,
        agent=post.agent,
        verdict=kept.evidence.verdict,
        commit=post.commit,
        evidence=kept.evidence,
        attempts=(),
    )
    said = "\n".join(proof_lines(proof, 100)).encode()
    assert b"\x1b" not in said, "a note writes to the terminal"
    json_text(to_json(proof)).encode()
    task = corrected(a_task("Write `a.py`", files=("a.py",)), kept.corrections)
    "".join((task.text, *task.files)).encode()


def _written() -> st.SearchStrategy[Written]:
    changed = st.builds(
        lambda whole, places: json.dumps(_changed(json.loads(whole), places)).encode(),
        st.sampled_from(examples.NOTES),
        st.lists(st.tuples(st.integers(0, 200), st.sampled_from(_ODD)), max_size=3),
    )
    content = st.one_of(changed, changed, texts(examples.NOTE_WORDS, examples.NOTES))
    name = st.one_of(st.sampled_from(_NAMES), st.text(max_size=8))
    lines = st.lists(st.sampled_from(("Milepost-Undo: x", "Milepost-Task: 1.2", "", "a", "\tb")), max_size=2)
    others = st.builds(trailers_of, name, name, st.sampled_from(_ATTEMPTS), name, lines)
    return st.builds(sealed, st.one_of(st.just(trailers_of()), others), content, st.booleans())


def trailers_of(
    task: str = "1.1", run: str = "7f3a", attempt: str = "1", agent: str = "a", more: Sequence[str] = ()
) -> str:
    said = f"Milepost-Task: {task}\nMilepost-Run: {run}\nMilepost-Attempt: {attempt}\nMilepost-Agent: {agent}"
    return "\n".join((f"{task}: x\n", said, "Milepost-Roadmap: ROADMAP.md", *more))


def sealed(trailers: str, content: bytes, rightly: bool = True) -> Written:
    """With the trailer of the evidence: the right one, so that what was made up is believed, or another."""
    text = content.decode("utf-8", "backslashreplace")
    seal = evidence_hash(text) if rightly else "sha256:0"
    return f"{trailers}\nMilepost-Evidence: {seal}\n".encode("utf-8", "surrogatepass"), content


def _changed(whole: Any, changes: list[tuple[int, Any]]) -> Any:
    """A value with others in some of its places, anywhere within it."""
    for number, odd in changes:
        places = [*_places(whole)]
        if places:
            holder, key = places[number % len(places)]
            holder[key] = deepcopy(odd)  # the same list twice could come to hold itself
    return whole


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
