"""Where the state is, whose it is, and how that of the version before is taken over."""

from __future__ import annotations

import hmac
import json
import os
import shutil
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from milepost.core.errors import EngineBusy, FileInTheWay, StateRefused
from milepost.engine.project import open_folder, state_takeover
from milepost.engine.project.state_directory import adopt_state, make_state, open_state
from milepost.engine.project.state_lock import StateLock
from milepost.engine.project.state_mark import KEY_VARIABLE, is_ours, is_vouched, vouch
from milepost.engine.project.state_place import state_path, user_folder

FILES = {
    "logs/0.gz": b"log",
    "audit.jsonl": b"{}\n",
    "submitted": b"7f3a\n",
    "web-secret": b"secret",
    "together/a.json": b"{}",
    "recall.db": b"index",
    "normalised/answers/a.json": b"{}",
    "git/hooks/post-merge": b"#!/bin/sh\ntouch canary\n",
    "git/commondir": b"elsewhere\n",
    "patterns/mine/schema.json": b"{}",
    "reports/7f3a.html": b"<html>",
    ".gitignore": b"*\n",
    "lock": b"",
}
TAKEN = sorted(name for name in FILES if name.split("/")[0] in state_takeover.TAKEN)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(KEY_VARIABLE)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "states"))
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Start")
    return folder


def old_state(repo: Path) -> Path:
    """What the version before left: a database whose last rows are in its log only, and files."""
    old = repo / ".milepost"
    for name, content in FILES.items():
        path = old / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with closing(sqlite3.connect(old / "other.db")) as database:
        database.execute("pragma journal_mode=wal")
        database.execute("create table rows (name text)")
        database.execute("insert into rows values ('kept')")
        database.commit()
        for end in ("", "-wal"):  # as a killed engine leaves them
            shutil.copyfile(old / f"other.db{end}", old / f"milepost.db{end}")
    (old / "other.db").unlink()
    return old


def rows(state: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(state / "milepost.db")) as database:
        return database.execute("select name from rows").fetchall()


def test_the_state_is_in_the_git_directory_of_its_working_tree_and_another_for_each_folder(repo: Path) -> None:
    places = {name: repo / name for name in (".", "top", "docs", "a/b", "a%2Fb", "d" * 200, "Ä")}
    for folder in places.values():
        folder.mkdir(parents=True, exist_ok=True)
    found = {name: state_path(folder) for name, folder in places.items()}
    assert found["."] == repo.resolve() / ".git/milepost/top"
    assert len(set(found.values())) == len(places)
    assert {path.parent for path in found.values()} == {repo.resolve() / ".git/milepost"}
    git(repo, "worktree", "add", "--quiet", str(repo.parent / "tree"))
    assert state_path(repo.parent / "tree") == repo.resolve() / ".git/worktrees/tree/milepost/top"
    (repo.parent / "plain").mkdir()
    assert state_path(repo.parent / "plain").parent == user_folder() / "folders"


def test_a_repository_that_is_moved_keeps_its_state_a_copy_asks_and_a_clone_brings_none(repo: Path) -> None:
    make_state(state_path(repo))
    shutil.copytree(repo, repo.parent / "copy")
    repo.rename(repo.parent / "moved")
    assert open_state(repo.parent / "moved").is_dir()
    with pytest.raises(StateRefused, match="or is a copy"):
        open_state(repo.parent / "copy")
    assert adopt_state(repo.parent / "copy")[1]
    for name in ("copy", "moved"):
        assert open_state(repo.parent / name).is_dir()
    git(repo.parent, "clone", "--quiet", "moved", "clone")
    assert not open_state(repo.parent / "clone").exists()


@pytest.mark.parametrize("key", ["", "k" * 32])
def test_a_mark_that_was_seen_elsewhere_is_good_for_no_other_state(
    repo: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    if key:
        monkeypatch.setenv(KEY_VARIABLE, key)
    make_state(state_path(repo))
    for name in ("docs", "lib"):
        (repo / name).mkdir()
        make_state(state_path(repo / name))
        shutil.copyfile(state_path(repo) / "made-by", state_path(repo / name) / "made-by")
        with pytest.raises(StateRefused, match="was not made by you"):
            open_state(repo / name)


def test_a_state_that_is_brought_back_to_its_place_is_known_by_a_given_key_alone(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_path(repo)
    monkeypatch.setenv(KEY_VARIABLE, "k" * 32)
    make_state(state)
    shutil.copytree(repo, repo.parent / "cache")
    repo.rename(repo.parent / "before")
    shutil.copytree(repo.parent / "cache", repo)
    assert is_ours(state)
    monkeypatch.delenv(KEY_VARIABLE)
    user_folder().mkdir(parents=True)
    (user_folder() / "key").write_text("k" * 32)
    (user_folder() / "key").chmod(0o600)
    assert not is_ours(state) and is_ours(state_path(repo.parent / "before"))


def test_a_mark_of_the_version_before_is_good_once_a_person_agreed(repo: Path) -> None:
    state = state_path(repo)
    make_state(state)
    proof = hmac.digest((user_folder() / "key").read_bytes(), b"state seen", "sha256").hex()
    (state / "made-by").write_text(json.dumps({"id": "seen", "proof": proof}))
    with pytest.raises(StateRefused, match="was not made by you on this machine"):
        open_state(repo)
    assert adopt_state(repo) == (state, True) and is_ours(state)


def test_an_agent_is_vouched_for_in_one_state_alone(repo: Path) -> None:
    (repo / "docs").mkdir()
    for folder in (repo, repo / "docs"):
        make_state(state_path(folder))
    vouch(state_path(repo), ["command:cp /srv/a b", "command:\udc80"])
    shutil.copyfile(state_path(repo) / "agents-by-hand", state_path(repo / "docs") / "agents-by-hand")
    assert is_vouched(state_path(repo), "command:cp /srv/a b")
    assert not is_vouched(state_path(repo), "command:cp /srv/b a")
    assert not is_vouched(state_path(repo / "docs"), "command:cp /srv/a b")


def test_a_state_directory_from_elsewhere_is_refused_until_a_person_agrees_to_it(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_path(repo)
    make_state(state)
    assert is_ours(open_state(repo))
    monkeypatch.setenv("XDG_STATE_HOME", str(repo.parent / "another machine"))
    (state / "git/hooks").mkdir(parents=True)
    for use in (open_state, lambda folder: make_state(state_path(folder))):
        with pytest.raises(StateRefused, match="was not made by you on this machine") as refused:
            use(repo)
        assert "milepost adopt" in refused.value.advice and KEY_VARIABLE in refused.value.advice
    assert not user_folder().exists(), "to look makes no key"
    assert adopt_state(repo) == (state, True)
    assert open_state(repo) == state and not (state / "git").exists()
    assert adopt_state(repo) == (state, False)
    (state / "made-by").unlink()
    with pytest.raises(StateRefused):
        open_state(repo)


def test_a_link_in_the_place_of_a_state_directory_is_refused(repo: Path) -> None:
    make_state(repo.parent / "ours")
    state_path(repo).parent.mkdir()
    state_path(repo).symlink_to(repo.parent / "ours")
    for use in (open_state, adopt_state):
        with pytest.raises(StateRefused):
            use(repo)


def test_the_key_is_its_users_alone_and_can_come_from_the_environment(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_state(state_path(repo))
    key = user_folder() / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.chmod(0o644)
    with pytest.raises(StateRefused, match="others can read it") as refused:
        open_state(repo)
    assert KEY_VARIABLE in refused.value.advice
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/no/such")
    with pytest.raises(StateRefused, match="was not made by you"):
        open_state(repo)
    (repo / "docs").mkdir()
    with pytest.raises(StateRefused, match="cannot be used"):
        make_state(state_path(repo / "docs"))
    monkeypatch.setenv(KEY_VARIABLE, "short")
    with pytest.raises(StateRefused, match="fewer than 32"):
        open_state(repo)
    monkeypatch.setenv(KEY_VARIABLE, "k" * 32)
    make_state(state_path(repo / "docs"))
    assert open_state(repo / "docs").is_dir()


def test_the_state_of_the_version_before_is_taken_over_whole_and_once(repo: Path) -> None:
    old = old_state(repo)
    for _ in range(2):
        with pytest.raises(StateRefused, match="nothing shows that you made them") as refused:
            open_state(repo)
        assert "milepost adopt" in refused.value.advice and "mv " in refused.value.advice
    state, is_new = adopt_state(repo)
    assert is_new and open_state(repo) == state
    assert {name: (state / name).read_bytes() for name in TAKEN} == {name: FILES[name] for name in TAKEN}
    assert rows(state) == [("kept",)], "also what is only in the log of the database"
    assert not (state / "git").exists() and not (state / "patterns").exists()
    left = sorted(path.relative_to(old).as_posix() for path in old.rglob("*") if path.is_file())
    assert left == [".gitignore", "patterns/mine/schema.json", "reports/7f3a.html"]
    (old / "submitted").write_text("ffff\n")
    assert (open_state(repo) / "submitted").read_text() == "7f3a\n", "what comes there later is nobody's"


def test_a_takeover_that_is_killed_anywhere_goes_on_with_the_next_adopt(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    calls, dies_at = 0, 0
    rename = Path.rename

    def mortal(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == dies_at:
            raise Killed
        moved = rename(self, target)
        if calls == -dies_at:
            raise Killed
        return moved

    monkeypatch.setattr(Path, "rename", mortal)
    old_state(repo)
    adopt_state(repo)
    assert calls > 5
    for dies_at in [at for number in range(1, calls + 1) for at in (number, -number)]:
        shutil.rmtree(repo / ".git/milepost")
        shutil.rmtree(repo / ".milepost")
        old_state(repo)
        calls = 0
        with pytest.raises(Killed):
            adopt_state(repo)
        calls = -1000
        if not state_path(repo).exists():
            with pytest.raises(StateRefused, match="nothing shows that you made them"):
                open_state(repo)
        state, _ = adopt_state(repo)
        assert rows(state) == [("kept",)], dies_at
        assert [name for name in TAKEN if (state / name).read_bytes() != FILES[name]] == []
        assert [path.name for path in state.parent.iterdir()] == ["top"]


def test_half_a_takeover_that_came_with_an_archive_is_not_believed(repo: Path) -> None:
    half = state_path(repo).with_name("top.taking")
    half.mkdir(parents=True)
    (half / "submitted").write_text("ffff\n")
    with pytest.raises(StateRefused, match="nothing shows that you made them"):
        open_state(repo)
    assert not state_path(repo).exists()


def test_a_takeover_to_another_disk_copies(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def between(self: Path, target: Path) -> Path:
        if self.parent.name == ".milepost":
            raise OSError(18, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", between)
    old = old_state(repo)
    state, _ = adopt_state(repo)
    assert rows(state) == [("kept",)] and (state / "logs/0.gz").exists() and not (old / "logs").exists()


def staged(repo: Path) -> None:
    git(repo, "add", "--force", ".milepost/milepost.db-wal")


def committed(repo: Path) -> None:
    git(repo, "add", "--force", ".milepost/logs")
    git(repo, "commit", "--quiet", "--message", "Bring a state")


def only_in_head(repo: Path) -> None:
    committed(repo)
    git(repo, "rm", "--quiet", "-r", "--cached", ".milepost")


def spelt_otherwise(repo: Path) -> None:
    blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=repo, input=b"", capture_output=True).stdout
    git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob.decode().strip()},.MilePost/Milepost.db")


def a_link(repo: Path) -> None:
    (repo / ".milepost").rename(repo / "elsewhere")
    (repo / ".milepost").symlink_to("elsewhere")


def a_link_inside(repo: Path) -> None:
    (repo / ".milepost/milepost.db").rename(repo / "db")
    (repo / ".milepost/milepost.db").symlink_to("../db")


def a_link_further_inside(repo: Path) -> None:
    (repo / ".milepost/logs/1.gz").symlink_to("/etc/passwd")


def a_pipe(repo: Path) -> None:
    os.mkfifo(repo / ".milepost/cleaned")


@pytest.mark.parametrize(
    "put",
    [staged, committed, only_in_head, spelt_otherwise, a_link, a_link_inside, a_link_further_inside, a_pipe],
)
def test_what_may_be_anothers_is_not_taken_over_and_nothing_is_moved(repo: Path, put: object) -> None:
    old_state(repo)
    put(repo)  # type: ignore[operator]
    before = sorted(path for path in repo.rglob("*") if ".git/" not in str(path))
    for use in (open_state, adopt_state):
        with pytest.raises(StateRefused) as refused:
            use(repo)
        assert "\n" not in refused.value.message and "mv " in refused.value.advice
    assert sorted(path for path in repo.rglob("*") if ".git/" not in str(path)) == before
    assert not state_path(repo).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_the_state_of_another_user_is_not_taken_over(repo: Path) -> None:
    os.chown(old_state(repo) / "milepost.db", 12345, -1)
    with pytest.raises(StateRefused, match="belongs to another user"):
        open_state(repo)


def test_a_state_that_an_engine_of_the_version_before_uses_is_left_to_it(repo: Path) -> None:
    old = old_state(repo)
    with StateLock(old, "7f3a"), pytest.raises(EngineBusy, match="run 7f3a is already in progress"):
        adopt_state(repo)
    assert adopt_state(repo) == (open_state(repo), True)


def test_patterns_that_git_tracks_are_no_state(repo: Path) -> None:
    path = repo / ".milepost/patterns/mine/schema.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    git(repo, "add", "--force", ".milepost/patterns")
    assert not open_state(repo).exists()


def test_what_is_shown_to_people_is_written_without_following_links(repo: Path) -> None:
    path = repo / ".milepost/reports/7f3a.html"
    open_folder.put(path, "one")
    open_folder.put(path, "two")
    assert path.read_text() == "two" and (repo / ".milepost/.gitignore").read_bytes() == b"*\n"
    (repo / "theirs").write_text("theirs")
    path.unlink()
    path.symlink_to(repo / "theirs")
    open_folder.put(path, "three")
    assert (path.read_text(), (repo / "theirs").read_text(), path.is_symlink()) == ("three", "theirs", False)
    git(repo, "add", "--force", str(path))
    with pytest.raises(FileInTheWay, match="git tracks"):
        open_folder.put(path, "four")
    git(repo, "reset", "--quiet")
    for way in (path.parent, path.parent.parent):
        shutil.rmtree(way)
        way.symlink_to(repo.parent)
        with pytest.raises(FileInTheWay, match="is no plain folder"):
            open_folder.put(path, "five")
        way.unlink()
        path.parent.mkdir(parents=True)
    assert not list(repo.parent.glob("*.html"))
