"""What keeps projects from being worked on together, and what becomes of a decision that the user overtook."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import milepost
import milepost.projects
from milepost.core.errors import EngineBusy, MarkInvalid, Misuse, RoadmapNotCommitted, RunUnfinished, TogetherImpossible
from milepost.engine.project.project import Project
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_lock import StateLock
from milepost.engine.projects.atomic_commit import TogetherEnding, arrive
from milepost.engine.projects.atomic_record import Agreement, Member, keep, open_pacts
from milepost.engine.projects.parallel import LegEnd, ProjectRun, travel_abreast
from milepost.engine.run.move_branch import in_the_way
from tests import places

MARK = "refs/milepost-marks/v1"


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def repository(folder: Path, roadmap: str = "- [x] 1.1 Done\n") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.com")
    (folder / "ROADMAP.md").write_text(roadmap)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Start")
    return folder


def ahead(folder: Path, name: str = "work.txt") -> str:
    """A commit on milepost/abcd that main has not."""
    git(folder, "switch", "--quiet", "--create", "milepost/abcd")
    (folder / name).write_text("work\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "1.1: Work")
    head = git(folder, "rev-parse", "HEAD")
    git(folder, "switch", "--quiet", "main")
    return head


def decided(*folders: Path) -> Agreement:
    members = tuple(
        Member(name=one.name, roadmap=str(one / "ROADMAP.md"), branch="main", run="abcd", head=ahead(one))
        for one in folders
    )
    pact = Agreement(id="0001", mark="v1", members=members, agent=None, budget_usd=None, began_at=0.0, decided=True)
    keep(pact)
    return pact


def finished(*folders: Path) -> TogetherEnding:
    ending = milepost.projects.run_atomic(*folders)
    assert isinstance(ending, TogetherEnding)
    return ending


def test_what_the_user_did_after_the_decision_is_theirs_and_the_mark_waits_for_it(tmp_path: Path) -> None:
    api, web = repository(tmp_path / "api"), repository(tmp_path / "web")
    pact = decided(api, web)
    (web / "theirs.txt").write_text("theirs\n")
    git(web, "add", "--all")
    git(web, "commit", "--quiet", "--message", "Theirs")

    ending = finished(web, api)
    assert [member.arrived for member in ending.members] == [True, False]
    assert not ending.complete
    assert git(api, "rev-parse", "main") == pact.members[0].head
    assert git(web, "log", "-1", "--format=%s", "main") == "Theirs"
    assert not git(api, "for-each-ref", MARK) and not git(web, "for-each-ref", MARK)
    assert ending.members[1].command == f"git -C {web} merge milepost/abcd"

    with pytest.raises(RunUnfinished, match="api, web have an unfinished run together"):
        milepost.projects.run_atomic(api, repository(tmp_path / "other"))
    git(web, "merge", "--quiet", "--no-edit", "milepost/abcd")
    assert finished(api, web).complete
    for one, member in zip((api, web), pact.members, strict=True):
        assert git(one, "rev-parse", MARK) == member.head
        assert not open_pacts(one / "ROADMAP.md")


def test_one_decided_copy_is_enough_and_a_copy_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    api, web = repository(tmp_path / "api"), repository(tmp_path / "web")
    pact = decided(api, web)
    keep(replace(pact, decided=False))
    copy = pact.members[1].folder / "0001.json"
    copy.write_text(json.dumps(json.loads(copy.read_text()) | {"decided": True}))
    assert [found.decided for found in open_pacts(api / "ROADMAP.md")] == [True]
    (pact.members[0].folder / "0001.json").write_text('{"cut')
    assert not open_pacts(api / "ROADMAP.md")
    assert finished(api, web).complete
    assert git(api, "rev-parse", "main") == pact.members[0].head


def test_a_submodule_moves_after_the_repository_that_it_is_in(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    inner = repository(tmp_path / "outer" / "inner")
    git(outer, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    git(outer, "commit", "--quiet", "--message", "Inner")
    decided(outer, inner)
    ending = finished(inner, outer)
    assert [member.name for member in ending.members] == ["outer", "inner"]
    assert ending.complete


def test_a_mark_alone_is_set_in_all_of_them(tmp_path: Path) -> None:
    api, web = repository(tmp_path / "a" / "same"), repository(tmp_path / "b" / "same")
    assert isinstance(milepost.projects.run_atomic(api, web), milepost.NothingToDo)
    ending = milepost.projects.run_atomic(api, web, mark="v1")
    assert isinstance(ending, TogetherEnding) and ending.complete
    assert [member.name for member in ending.members] == [str(api), str(web)], "names that differ"
    assert git(api, "rev-parse", MARK) == git(api, "rev-parse", "HEAD")
    again = milepost.projects.run_atomic(api, web, mark="v1")
    assert isinstance(again, TogetherEnding) and again.complete


def test_nothing_starts_where_one_of_them_could_not_go(tmp_path: Path) -> None:
    task = "- [ ] 1.1 Write it\n  - Files: a.txt\n"
    api, web = repository(tmp_path / "api", task), repository(tmp_path / "web", task)

    def refused(kind: type[milepost.MilepostError], words: str, *folders: Path, mark: str | None = None) -> None:
        with pytest.raises(kind, match=words):
            milepost.projects.run_atomic(*folders, agent="command:true", mark=mark)
        for one in (api, web):
            assert not open_pacts(one / "ROADMAP.md")
            assert not (places.database(one)).exists()

    refused(Misuse, "two or more roadmaps", api, api / "ROADMAP.md")
    (api / "sub").mkdir()
    (api / "sub" / "ROADMAP.md").write_text(task)
    refused(Misuse, "in the same repository", api, api / "sub")
    git(api, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    refused(Misuse, "in the same repository", api, tmp_path / "tree")
    refused(MarkInvalid, "api: '../x' is not a valid mark name", api, web, mark="../x")
    refused(MarkInvalid, "api: '1.1' is the id of a task", api, web, mark="1.1")
    git(web, "update-ref", MARK, "HEAD")
    refused(MarkInvalid, "web: the mark 'v1' already exists, at", api, web, mark="v1")
    (web / "ROADMAP.md").write_text(task + "- [ ] 1.2 More\n")
    refused(RoadmapNotCommitted, "web: ROADMAP.md has changes", api, web)
    git(web, "checkout", "--quiet", "ROADMAP.md")
    (web / "tracked").write_text("1")
    git(web, "add", "tracked")
    refused(TogetherImpossible, "web: your working tree has uncommitted changes", api, web)
    git(web, "commit", "--quiet", "--message", "Tracked")
    git(web, "config", "filter.big.clean", "cat")
    (web / ".gitattributes").write_text("*.bin filter=big\n")
    git(web, "add", "--all")
    git(web, "commit", "--quiet", "--message", "Filters")
    refused(TogetherImpossible, "web: it uses git filters", api, web)
    git(web, "config", "--unset", "filter.big.clean")
    places.made_state(web)
    for folder in (places.state(web), places.state(web) / "together"):
        with StateLock(folder):
            refused(EngineBusy, "web: milepost is already in progress", api, web)


@pytest.mark.parametrize(
    ("before", "after", "mine", "found"),
    [
        ({}, {"a/b": "1"}, {}, None),
        ({}, {"a": "1"}, {"a": "mine"}, "a"),
        ({}, {"a/b": "1"}, {"a": "mine"}, "a"),
        ({}, {"a": "1"}, {"a/mine": "mine"}, "a"),
        ({"a": "1"}, {"a/b": "1"}, {}, None),
        ({"a/b": "1"}, {"a": "1"}, {}, None),
        ({"a/b": "1"}, {"a": "1"}, {"a/mine": "mine"}, "a"),
        ({"a": "1"}, {"a": "2"}, {"b": "mine"}, None),
    ],
)
def test_a_file_that_git_does_not_know_is_seen_before_it_is_in_the_way(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], mine: dict[str, str], found: str | None
) -> None:
    folder = repository(tmp_path / "api")

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)

    def commit(files: dict[str, str]) -> str:
        git(folder, "rm", "-r", "--quiet", "--ignore-unmatch", "--", "a")
        write(files)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--allow-empty", "--message", "Work")
        return git(folder, "rev-parse", "HEAD")

    old, new = commit(before), commit(after)
    git(folder, "reset", "--quiet", "--hard", old)
    write(mine)
    project = Project.find(folder)
    assert in_the_way(project.repository.git(tmp_path / "own"), project.repository, old, new) == found
    if found is None:
        project.repository.fast_forward(new)
    else:
        with pytest.raises(milepost.MilepostError):
            project.repository.fast_forward(new)


def test_a_project_without_an_end_keeps_all_from_moving(tmp_path: Path) -> None:
    api, web = (Project.find(repository(tmp_path / name)) for name in ("api", "web"))
    projects = {"api": api, "web": web}
    members = tuple(Member(name=name, roadmap=str(one.roadmap)) for name, one in projects.items())
    pact = Agreement(id="0001", mark="v1", members=members, agent=None, budget_usd=None, began_at=0.0)
    for project in projects.values():
        make_state(project.state)
    done = replace(members[1], branch="main", head=git(web.repository.top, "rev-parse", "HEAD"))
    ending = arrive(pact, projects, {"api": LegEnd()}, {"web": done})
    assert isinstance(ending, TogetherEnding)
    assert not ending.decided
    assert [member.why for member in ending.members] == ["its run was not started", ""]


def test_the_process_of_a_leg_imports_nothing_from_the_folder_that_it_begins_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("runpy.py", "typer.py", "milepost.py"):
        (tmp_path / name).write_text("open('imported.txt', 'w')\n")
    monkeypatch.chdir(tmp_path)

    ends = travel_abreast([ProjectRun(name="one", words=("--version",))], lambda *_: None)

    assert set(ends) == {"one"} and not (tmp_path / "imported.txt").exists()
