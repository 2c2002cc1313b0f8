"""Undo, marks and restore on real git: mileposts as runs leave them, a user's tree beside them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import milepost
from milepost import attempts, history
from milepost.core.errors import MarkInvalid, Misuse, PlaceUnknown, RestoreRefused, TaskUnknown, UndoImpossible
from milepost.engine.project.state_lock import StateLock
from milepost.roadmap import tick
from milepost.workspace.mileposts import milepost_message
from tests import places
from tests.integration.repositories import Place, everything, new_place

PLAN = """# Plan

- [ ] 1.1 One
- [ ] 1.2 Two
  - Depends on: 1.1
- [ ] 1.3 Three
- [ ] 2.1 Parts
  - [ ] 2.1.1 First half
  - [ ] 2.1.2 Second half
- [ ] 2.2 After the parts
  - Depends on: 2.1
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = new_place(tmp_path)
    monkeypatch.chdir(made.top)
    monkeypatch.setenv("HOME", str(made.home))
    made.write("ROADMAP.md", PLAN)
    made.commit("Plan")
    return made


def land(place: Place, task: str, files: dict[str, str], members: tuple[str, ...] = ()) -> str:
    """A milepost on the user's branch, as a run leaves it."""
    for name, text in files.items():
        place.write(name, text)
    roadmap = place.top / "ROADMAP.md"
    for one in (task, *members):
        if f" {one} " in roadmap.read_text():
            roadmap.write_bytes(tick(roadmap.read_bytes(), one))
    place.git("add", "--all")
    message = milepost_message(
        task=task, title="T", run="7f3a", attempt=1, agent="code", roadmap="ROADMAP.md", members=members
    )
    place.git("commit", "--quiet", "--allow-empty", "--message", message)
    return place.head


def boxes(place: Place) -> str:
    lines = (place.top / "ROADMAP.md").read_text().splitlines()
    return " ".join(line.split("] ")[1].split()[0] for line in lines if "[x]" in line)


def log(place: Place) -> list[str]:
    return place.git("log", "--format=%s", "--reverse").splitlines()[2:]


def names(undone: history.Undone) -> list[str]:
    return [one.milepost.task for one in undone.taken_back]


def test_what_depends_by_the_plan_is_named_and_goes_only_when_asked_for(place: Place) -> None:
    land(place, "1.1", {"a.txt": "a\n"})
    land(place, "1.2", {"b.txt": "b\n"})
    land(place, "1.3", {"c.txt": "c\n"})
    head = place.head
    with pytest.raises(UndoImpossible, match=r"1\.2 depends on 1\.1") as refused:
        milepost.undo("1.1")
    assert "milepost undo 1.1 --with-dependents" in refused.value.advice and place.head == head
    before = everything(place.top)
    would = milepost.undo("1.1", with_dependents=True, dry_run=True)
    assert names(would) == ["1.2", "1.1"] and [one.boxes for one in would.taken_back] == [("1.2",), ("1.1",)]
    assert [one.files for one in would.taken_back] == [("b.txt",), ("a.txt",)]
    assert everything(place.top) == before, "not even an object is left behind"
    assert names(milepost.undo(["1.1", "1.2"])) == ["1.2", "1.1"], "naming both is asking for both"
    assert log(place)[-2:] == ["Undo 1.2: T", "Undo 1.1: T"] and boxes(place) == "1.3"
    assert sorted(path.name for path in place.top.glob("*.txt")) == ["c.txt"]
    with pytest.raises(TaskUnknown):
        milepost.undo("1.1")
    assert place.git("status", "--porcelain", "--untracked-files=no") == ""


def test_what_changed_the_same_lines_is_in_the_way_and_nothing_else_is(place: Place) -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    land(place, "1.1", {"a.txt": text})
    land(place, "1.3", {"a.txt": text.replace("line 19", "last")})
    land(place, "3.1", {"a.txt": text.replace("line 19", "last").replace("line 0", "first")})
    land(place, "3.2", {"b.txt": "b\n"})
    assert names(milepost.undo("1.3")) == ["1.3"], "the same file, other lines"
    assert (place.top / "a.txt").read_text() == text.replace("line 0", "first")
    land(place, "1.3", {"a.txt": text.replace("line 0", "first again")})
    with pytest.raises(UndoImpossible, match=r"1\.3 changed the same lines of a\.txt as 3\.1"):
        milepost.undo("3.1")
    assert names(milepost.undo("1.1", with_dependents=True)) == ["1.3", "3.1", "1.1"]
    for number in (1, 2):
        land(place, f"4.{number}", {"new\nline": f"{number}\n"})
    with pytest.raises(UndoImpossible, match=r"alone: 4\.2 changed the same lines of [^ ]+ as 4\.1$"):
        milepost.undo("4.1")
    assert sorted(path.name for path in place.top.glob("*.txt")) == ["b.txt"]


def test_a_commit_of_the_users_on_the_same_lines_is_not_taken_back(place: Place) -> None:
    first = land(place, "1.1", {"a.txt": "a\n"})
    land(place, "1.3", {"c.txt": "c\n"})
    place.write("a.txt", "mine\n")
    head = place.commit("Mine")
    for ask in ({"tasks": "1.1", "with_dependents": True}, {"to": f"{first}~1"}):
        with pytest.raises(UndoImpossible, match=r"not mileposts of this roadmap, changed the same lines of a\.txt"):
            milepost.undo(**ask)
    assert place.head == head and boxes(place) == "1.1 1.3", "1.3 could go, but it is all or nothing"


def test_a_task_goes_with_its_parts_and_a_part_opens_what_it_is_a_part_of(place: Place) -> None:
    land(place, "2.1.1", {"a.txt": "a\n"})
    land(place, "2.1.2", {"b.txt": "b\n"})
    land(place, "2.1", {})
    land(place, "2.2", {"c.txt": "c\n"})
    with pytest.raises(UndoImpossible, match=r"2\.2 depends on 2\.1"):
        milepost.undo("2.1.1")
    assert names(milepost.undo("2.1.1", with_dependents=True)) == ["2.2", "2.1", "2.1.1"]
    assert boxes(place) == "2.1.2" and (place.top / "b.txt").exists()
    land(place, "2.1.1", {"a.txt": "a\n"})
    land(place, "2.1", {})
    assert names(milepost.undo("2.1")) == ["2.1", "2.1.1", "2.1.2"]
    assert boxes(place) == "" and list(place.top.glob("*.txt")) == []
    land(place, "1.3.a", {"a.txt": "a\n"})
    land(place, "1.3", {})
    assert names(milepost.undo("1.3.a")) == ["1.3", "1.3.a"] and boxes(place) == ""


def test_what_the_members_of_a_group_are_parts_of_is_open_again_with_them(place: Place) -> None:
    roadmap = place.top / "ROADMAP.md"
    land(place, "2.1.1", {"a.txt": "a\n"})
    land(place, "1.3", {"b.txt": "b\n"}, members=("2.1.2",))
    roadmap.write_text(roadmap.read_text().replace("[ ] 2.1 ", "[x] 2.1 "))
    place.commit("Closed with its last part")
    assert names(milepost.undo("1.3")) == ["1.3"]
    assert boxes(place) == "2.1.1"


def test_what_a_task_is_a_part_of_is_open_again_though_the_task_was_renamed(place: Place) -> None:
    roadmap = place.top / "ROADMAP.md"
    land(place, "2.1.1", {"a.txt": "a\n"})
    roadmap.write_text(roadmap.read_text().replace("2.1.1", "2.1.7").replace("[ ] 2.1", "[x] 2.1"))
    place.commit("Other names")
    assert names(milepost.undo("2.1.7")) == ["2.1.1"]
    assert boxes(place) == "2.1.2"


def test_back_to_a_task_a_mark_or_a_commit_keeps_what_is_older_and_what_is_the_users(place: Place) -> None:
    land(place, "1.1", {"a.txt": "a\n"})
    history.mark("before-two")
    land(place, "1.2", {"b.txt": "b\n"})
    place.write("mine.md", "mine\n")
    place.commit("Mine")
    history.mark("mine", at="HEAD")
    land(place, "1.3", {"c.txt": "c\n"})
    assert names(milepost.undo(to="mine")) == ["1.3"]
    assert names(milepost.undo(to="1.2")) == []
    assert names(milepost.undo(to="before-two", dry_run=True)) == names(milepost.undo(to="before-two")) == ["1.2"]
    assert (place.top / "mine.md").exists() and boxes(place) == "1.1"
    place.git("checkout", "--quiet", "-b", "other", "main~5")
    with pytest.raises(UndoImpossible, match="not in the history of other"):
        milepost.undo(to="mine")
    with pytest.raises(PlaceUnknown):
        milepost.undo(to="nowhere")
    for wrong in ({}, {"tasks": "1.1", "to": "1.1"}):
        with pytest.raises(Misuse):
            milepost.undo(**wrong)  # type: ignore[arg-type]


def test_a_chain_of_many_on_the_same_line_is_taken_back_whole(place: Place) -> None:
    for number in range(12):
        land(place, f"9.{number}", {"a.txt": f"{number}\n"})
    assert names(milepost.undo("9.0", with_dependents=True)) == [f"9.{number}" for number in reversed(range(12))]
    assert not (place.top / "a.txt").exists()


def test_an_undo_that_is_killed_took_all_back_or_nothing(place: Place) -> None:
    for number in range(12):
        land(place, f"9.{number}", {f"{number}.txt": "x\n"})
    base, last = place.git("rev-parse", "HEAD~12"), place.head
    script = "import milepost, os; os.write(1, b'.'); milepost.undo(to='HEAD~12')"
    for delay in (0.02, 0.1, 0.2, 0.3, 0.4, 0.5):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.read(1) == b"."
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        with milepost_lock(place):
            pass
        assert place.git("rev-list", "--count", f"{last}..HEAD") in ("0", "12")
        assert place.git("status", "--porcelain", "--untracked-files=no") == ""
        if place.head != last:
            break
    else:
        assert names(milepost.undo(to=base))
    assert place.git("diff", "--stat", base, "HEAD") == ""


def milepost_lock(place: Place) -> StateLock:
    """Held once whatever a killed undo left has finished."""
    return StateLock(places.made_state(place.top))


EVIL = ["../x", "-x", "a..b", "a b", "x/y", "a~1", "a^", "a:b", "a@{0}", "x.lock", "a\n", "\x1b[31m", "1.1#2", "a" * 65]


def test_a_mark_with_an_evil_name_is_refused(place: Place) -> None:
    places.made_state(place.top)
    before = everything(place.top, but=(".git/milepost",))
    for name in ("", "HEAD", "abcdef0", *EVIL):
        with pytest.raises(MarkInvalid):
            history.mark(name)
        with pytest.raises(PlaceUnknown):
            history.unmark(name)
    for name in EVIL:
        with pytest.raises(PlaceUnknown):
            milepost.undo(to=name)
    assert everything(place.top, but=(".git/milepost",)) == before


def test_marks_are_named_once_and_never_moved_by_accident(place: Place) -> None:
    first = land(place, "1.1", {"a.txt": "a\n"})
    made = history.mark("alpha", at="1.1")
    assert (made.commit, made.task) == (first, "1.1") and history.mark("alpha") == made, "the same again is harmless"
    land(place, "1.3", {"c.txt": "c\n"})
    with pytest.raises(MarkInvalid, match="already"):
        history.mark("alpha")
    with pytest.raises(MarkInvalid, match="is the id of a task"):
        history.mark("1.2")
    history.mark("über-1")
    assert [one.name for one in history.marks()] == ["alpha", "über-1"]
    assert history.unmark("alpha").commit == first and len(history.marks()) == 1


def test_files_are_brought_back_only_where_nothing_of_the_users_is_lost(place: Place) -> None:
    land(place, "1.1", {"src/a.txt": "old\n", "src/deep/b.txt": "old\n", "s p.txt": "old\n"})
    land(place, "1.3", {"src/a.txt": "new\n", "src/deep/b.txt": "new\n"})
    index = place.git("ls-files", "--stage")
    restored = history.restore(["src"], source="1.1")
    assert restored.files == ("src/a.txt", "src/deep/b.txt") and (place.top / "src/a.txt").read_text() == "old\n"
    assert place.git("ls-files", "--stage") == index and place.git("diff", "--cached", "--name-only") == ""
    with pytest.raises(RestoreRefused, match="not committed"):
        history.restore(["src/deep/b.txt", "src/a.txt"], source="1.3")
    assert (place.top / "src/a.txt").read_text() == "old\n", "not even the first one was written"
    place.git("checkout", "--quiet", "--", ".")
    place.git("rm", "--quiet", "-r", "src", "s p.txt")
    place.commit("Drop them")
    place.write("src/a.txt", "untracked\n")
    with pytest.raises(RestoreRefused, match="not committed yet"):
        history.restore(["src/a.txt"], source="1.1")
    (place.top / "src/deep").symlink_to(place.home)
    with pytest.raises(RestoreRefused, match="behind the link"):
        history.restore(["src/deep/b.txt"], source="1.1")
    assert history.restore(["s p.txt"], source="1.3").files == ("s p.txt",)
    for wrong in ("../outside.txt", "/etc/passwd"):
        with pytest.raises(Misuse, match="not in the repository"):
            history.restore([wrong], source="1.1")
    for wrong in (".git/config", "never.txt", "*", ":/"):
        with pytest.raises(PlaceUnknown):
            history.restore([wrong], source="1.1")


def test_a_difference_is_a_patch_that_git_takes(place: Place) -> None:
    land(place, "1.1", {"a.txt": "a\x1b[31m\r\n", "b.bin": "\0\1\2"})
    found = attempts.diff("1.1")
    assert found.files == ("ROADMAP.md", "a.txt", "b.bin")
    place.git("checkout", "--quiet", "HEAD~1")
    done = subprocess.run(["git", "apply", "--index"], input=found.patch, cwd=place.top, env=place.environment)
    assert done.returncode == 0 and place.git("write-tree") == place.git("rev-parse", "main^{tree}")
    assert b"3 files changed" in attempts.diff("main~1", "main", stat=True).patch
    first = place.git("rev-list", "--max-parents=0", "HEAD")
    assert "README.md" in attempts.diff(first).files, "the first commit has nothing before it"
