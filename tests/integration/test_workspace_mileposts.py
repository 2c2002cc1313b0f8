"""Mileposts: the same facts make the same commit, a ref moves only from where it was seen, one can be undone alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.change import LARGEST_READ
from milepost.core.errors import EvidenceForged, GitFailed, UndoImpossible
from milepost.workspace.mileposts import (
    LARGEST_NOTE,
    Milepost,
    Mileposts,
    evidence_hash,
    milepost_message,
    remove_stale_locks,
    run_branch,
)
from tests.integration.repositories import NOW, Place, new_place

BRANCH = run_branch("r1")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return new_place(tmp_path)


def land(
    mileposts: Mileposts, parent: str, task: str, files: dict[str, bytes], *, ticks: bytes = b"", title: str = "T"
) -> Milepost:
    """A milepost on top of `parent`: files, and the roadmap's new content."""
    tree = mileposts.tree_of(parent)
    for path, content in (files | ({"ROADMAP.md": ticks} if ticks else {})).items():
        tree = mileposts.with_file(tree, path, content)
    message = milepost_message(task=task, title=title, run="r1", attempt=1, agent="code", roadmap="ROADMAP.md")
    commit = mileposts.commit(tree, parent, message, NOW)
    return Milepost(commit=commit, task=task, run="r1", attempt=1, agent="code", title=title, roadmap="ROADMAP.md")


def undo(mileposts: Mileposts, post: Milepost, head: str) -> str:
    tree = mileposts.without(post, head, "ROADMAP.md")
    return mileposts.commit(tree, head, f"Undo\n\nMilepost-Undo: {post.commit}\nMilepost-Run: r1\n", NOW)


def test_the_same_facts_make_the_same_commit_and_other_facts_another(place: Place) -> None:
    mileposts = place.mileposts()
    tree = mileposts.tree_of(place.head)
    first = mileposts.commit(tree, place.head, "x\n", NOW)
    assert Mileposts(place.engine_git()).commit(tree, place.head, "x\n", NOW) == first
    assert mileposts.commit(tree, place.head, "x\n", replace(NOW, at=NOW.at + 1)) != first
    assert place.git("log", "-1", "--format=%an|%ae|%ad|%cn|%ce|%cd", "--date=raw", first) == "|".join(
        2 * ("Ada", "ada@example.com", f"{NOW.at} +0000")
    )


def test_a_branch_moves_only_from_where_it_was_seen(place: Place) -> None:
    mileposts = place.mileposts()
    base = place.head
    one, other = (mileposts.commit(mileposts.tree_of(base), base, text, NOW) for text in ("one\n", "other\n"))
    mileposts.keep(BRANCH, base)
    place.git("pack-refs", "--all")
    mileposts.move(BRANCH, one, base)
    with pytest.raises(GitFailed):
        mileposts.move(BRANCH, other, base)
    assert mileposts.resolve(BRANCH) == one
    mileposts.forget(BRANCH, base)
    assert mileposts.resolve(BRANCH) == one, "somebody moved it: it is not ours to remove"
    mileposts.forget(BRANCH, one)
    assert mileposts.resolve(BRANCH) is None


def test_a_file_is_put_into_a_tree_with_the_mode_it_had_and_nothing_else_changes(place: Place) -> None:
    place.write("docs/deep/ROADMAP.md", "old\n").chmod(0o755)
    place.write("docs/other.md", "other\n")
    (place.top / "docs/link").symlink_to("other.md")
    place.commit()
    mileposts = place.mileposts()
    tree = mileposts.with_file(mileposts.tree_of(place.head), "docs/deep/ROADMAP.md", b"new\r\n")
    assert mileposts.file_at(tree, "docs/deep/ROADMAP.md") == b"new\r\n"
    assert mileposts.file_at(tree, "docs/missing.md") is None
    assert mileposts.changed_files(place.head, tree) == ("docs/deep/ROADMAP.md",)
    assert place.git("diff", "--raw", "--no-renames", "HEAD", tree).split()[:2] == [":100755", "100755"]


def test_history_tells_mileposts_newest_first_and_leaves_out_what_was_undone(place: Place) -> None:
    mileposts = place.mileposts()
    base = place.head
    first = land(mileposts, base, "1.1", {"a.txt": b"a\n"}, title="A\x1f\x1eB")
    second = land(mileposts, first.commit, "1.2", {"b.txt": b"b\n"})
    users = mileposts.commit(mileposts.tree_of(second.commit), second.commit, "No\x1ftrailers\x1e here\n", NOW)
    assert [post.task for post in mileposts.history(users)] == ["1.2", "1.1"]
    assert [post.task for post in mileposts.history(users, since=first.commit)] == ["1.2"]
    undone = undo(mileposts, first, users)
    assert [post.task for post in mileposts.history(undone)] == ["1.2"]
    again = land(mileposts, undone, "1.1", {"a.txt": b"again\n"})
    assert [post.commit for post in mileposts.history(again.commit)] == [again.commit, second.commit]


def test_a_milepost_is_taken_back_alone_beside_ticks_that_touch_it(place: Place) -> None:
    """The roadmap's lines are neighbours, so a plain revert would conflict: it is left as it is."""
    mileposts = place.mileposts()
    first = land(mileposts, place.head, "1.1", {"a.txt": b"a\n"}, ticks=b"- [x] 1.1 One\n- [ ] 1.2 Two\n")
    second = land(mileposts, first.commit, "1.2", {"b.txt": b"b\n"}, ticks=b"- [x] 1.1 One\n- [x] 1.2 Two\n")
    tree = mileposts.without(first, second.commit, "ROADMAP.md")
    assert mileposts.changed_files(second.commit, tree) == ("a.txt",)
    assert mileposts.file_at(tree, "a.txt") is None
    assert mileposts.file_at(tree, "ROADMAP.md") == b"- [x] 1.1 One\n- [x] 1.2 Two\n"


def test_a_milepost_that_later_work_builds_on_is_not_taken_back(place: Place) -> None:
    mileposts = place.mileposts()
    first = land(mileposts, place.head, "1.1", {"a.txt": b"a\n"})
    second = land(mileposts, first.commit, "1.2", {"a.txt": b"b\n"})
    with pytest.raises(UndoImpossible, match=r"a\.txt"):
        mileposts.without(first, second.commit, "ROADMAP.md")
    assert mileposts.without(second, second.commit, "ROADMAP.md") == mileposts.tree_of(first.commit)


def test_a_note_that_is_too_large_is_refused_before_it_is_read(place: Place) -> None:
    mileposts = place.mileposts()
    mileposts.annotate(place.head, "x" * (LARGEST_NOTE + 1), NOW)
    with pytest.raises(EvidenceForged, match="larger than"):
        mileposts.note(place.head)


def test_evidence_written_twice_is_one_note_and_other_notes_stay(place: Place) -> None:
    mileposts = place.mileposts()
    place.git("notes", "add", "-m", "mine")
    post = land(mileposts, place.head, "1.1", {"a.txt": b"a\n"})
    for _ in range(2):
        mileposts.annotate(post.commit, '{\n "a": "#"\n}\n', NOW)
    assert mileposts.note(post.commit) == '{\n "a": "#"\n}'
    assert mileposts.note(place.head) is None
    assert [mileposts.notes()(each) for each in (post.commit, place.head)] == ['{\n "a": "#"\n}', None]
    assert place.git("notes", "show") == "mine"
    assert len(place.git("notes", "--ref=milepost", "list").splitlines()) == 1


def test_locks_of_a_killed_git_are_removed_from_our_refs_and_the_users_are_left(place: Place) -> None:
    git_dir = place.top / ".git"
    ours = ("refs/milepost/r1/1.1/1.lock", "refs/heads/milepost/r1.lock", "refs/notes/milepost.lock")
    users = ("refs/heads/main.lock", "index.lock", "packed-refs.lock", "refs/notes/commits.lock", "HEAD.lock")
    for lock in (*ours, *users):
        place.write(f".git/{lock}", "")
    remove_stale_locks(git_dir)
    assert [lock for lock in ours if (git_dir / lock).exists()] == []
    assert [lock for lock in users if not (git_dir / lock).exists()] == []
    place.mileposts().keep(BRANCH, place.head)


def test_a_message_has_a_short_subject_and_trailers_on_lines_of_their_own() -> None:
    message = milepost_message(
        task="1.1", title="ü" * 200, run="r1", attempt=2, agent="command:a\nb  c", roadmap="ROADMAP.md"
    )
    subject, blank, *trailers = message.splitlines()
    assert len(subject) == 72 and blank == ""
    assert trailers == [
        "Milepost-Task: 1.1",
        "Milepost-Run: r1",
        "Milepost-Attempt: 2",
        "Milepost-Verdict: passed",
        "Milepost-Agent: command:a b c",
        "Milepost-Roadmap: ROADMAP.md",
    ]


def test_a_change_has_the_bytes_of_both_sides_as_git_has_them(place: Place) -> None:
    (place.top / "same.py").write_bytes(b"same")
    (place.top / "old.py").write_bytes(b"was\n\nhere")
    (place.top / "edited.bin").write_bytes(b"\0\n1")
    old = place.commit("Before")
    (place.top / "old.py").unlink()
    (place.top / "edited.bin").write_bytes(b"\0\n2\n")
    (place.top / "new dir").mkdir()
    (place.top / "new dir/odd \n name.py").write_bytes(b"")
    (place.top / "link").symlink_to("/etc/passwd")
    (place.top / "large.bin").write_bytes(b"x" * (LARGEST_READ + 1))
    (place.top / "ROADMAP.md").write_bytes(b"- [x] 1 Done\n")
    new = place.commit("After")
    change = place.mileposts().change(old, new, without="ROADMAP.md")
    assert {file.path: (file.before, file.after) for file in change.files} == {
        "edited.bin": (b"\0\n1", b"\0\n2\n"),
        "large.bin": (None, b""),
        "link": (None, b"/etc/passwd"),
        "new dir/odd \n name.py": (None, b""),
        "old.py": (b"was\n\nhere", None),
    }
    assert [file.path for file in change.files if file.is_link] == ["link"]
    assert [file.path for file in change.files if file.unread] == ["large.bin"]
    assert place.mileposts().change(new, new).files == ()


def test_a_milepost_says_in_its_message_which_evidence_it_was_made_with(place: Place) -> None:
    note = '{"evidence": 1}\n'
    message = milepost_message(
        task="1.1", title="T", run="r1", attempt=1, agent="code", roadmap="ROADMAP.md", evidence=note
    )
    mileposts = place.mileposts()
    commit = mileposts.commit(mileposts.tree_of(place.head), place.head, message, NOW)
    mileposts.annotate(commit, note, NOW)
    (post,) = mileposts.history(commit)
    assert post.evidence == evidence_hash(mileposts.note(commit) or "") != evidence_hash('{"evidence": 2}')
