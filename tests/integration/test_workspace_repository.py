"""The user's repository: found however it is laid out, read without side effects, moved without surprise."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from milepost.core.errors import GitFailed, NoCommits, NoRepository
from milepost.workspace.repository import Identity, Position, Repository
from tests.integration.repositories import ADA, NOW, Place, everything, marking, marks, new_place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return new_place(tmp_path)


def next_commit(place: Place, files: dict[str, str]) -> str:
    """A commit on top of HEAD that the user's tree has not seen."""
    mileposts = place.mileposts()
    tree = mileposts.tree_of(place.head)
    for path, text in files.items():
        tree = mileposts.with_file(tree, path, text.encode())
    return mileposts.commit(tree, place.head, "Next\n", NOW)


def test_a_repository_is_found_from_any_folder_in_it_whatever_its_name(tmp_path: Path) -> None:
    place = new_place(tmp_path, name="with space ünï\u2028code")
    place.write("deep/er/file.txt", "x")
    found = Repository.find(place.top / "deep/er")
    assert found.top == place.top
    assert (found.git_dir, found.objects, found.sha256) == (place.top / ".git", place.top / ".git/objects", False)


def test_a_linked_worktree_shares_refs_and_objects_and_keeps_its_own_head(place: Place) -> None:
    place.git("worktree", "add", "--quiet", "-b", "side", str(place.home / "side"))
    found = Repository.find(place.home / "side")
    assert found.common_dir == place.top / ".git" and found.objects == place.top / ".git/objects"
    assert found.git_dir != found.common_dir
    assert found.position() == Position(branch="side", commit=place.head)
    commit = next_commit(place, {"a.txt": "a\n"})
    found.fast_forward(commit)
    assert (place.home / "side/a.txt").read_text() == "a\n"
    assert place.git("rev-parse", "side", "main").split() == [commit, place.head]
    assert [found.stands_on(f"refs/heads/{name}") for name in ("main", "side", "sid")] == [True, True, False]
    assert not (place.top / "a.txt").exists()


def test_what_is_no_repository_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NoRepository, match="not in a git repository"):
        Repository.find(tmp_path)
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "bare")], check=True)
    with pytest.raises(NoRepository, match="bare"):
        Repository.find(tmp_path / "bare")
    with pytest.raises(NoRepository, match="cannot be entered"):
        Repository.find(tmp_path / "missing")
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "empty")], check=True)
    with pytest.raises(NoCommits):
        Repository.find(tmp_path / "empty").position()


def test_variables_of_a_surrounding_git_are_not_believed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_place(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "no-index"))
    found = Repository.find(place.top)
    assert found.top == place.top and found.is_clean()
    commit = next_commit(place, {"a.txt": "a\n"})
    found.fast_forward(commit)
    monkeypatch.undo()
    assert place.head == commit and place.git("status", "--porcelain") == ""


def test_the_position_says_branch_and_commit_and_that_it_is_detached(place: Place) -> None:
    assert place.repository.position() == Position(branch="main", commit=place.head)
    place.git("checkout", "--quiet", "--detach")
    assert place.repository.position() == Position(branch="", commit=place.head)
    commit = next_commit(place, {"a.txt": "a\n"})
    place.repository.fast_forward(commit)
    assert place.repository.position() == Position(branch="", commit=commit)


def test_the_identity_is_the_users_or_a_stand_in(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place.repository.identity() == ADA
    with (place.top / ".git/config").open("ab") as config:
        config.write(b"[user]\n\tname = Jos\xe9\n")
    assert place.repository.identity().name == "Jos\\xe9", "text that can be kept, whatever bytes it was"
    place.git("config", "--unset-all", "user.name")
    place.git("config", "--unset", "user.email")
    assert place.repository.identity() == Identity(name="Milepost", email="milepost@localhost")


@pytest.mark.parametrize(
    "sign",
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG", "index.lock"],
)
def test_a_tree_in_which_something_is_half_done_is_not_clean(place: Place, sign: str) -> None:
    assert place.repository.is_clean()
    (place.top / ".git" / sign).write_text("")
    assert not place.repository.is_clean()


def test_clean_means_tracked_files_as_committed(place: Place) -> None:
    place.write("untracked.txt", "x")
    assert place.repository.is_clean()
    place.write("README.md", "edited\n")
    assert not place.repository.is_clean()
    place.git("add", "README.md")
    assert not place.repository.is_clean()


def test_the_roadmap_is_told_apart_from_files_that_only_look_like_its_name(place: Place) -> None:
    place.write("ROADMAP[1].md", "one\n")
    place.write("ROADMAP1.md", "two\n")
    place.commit()
    place.write("ROADMAP1.md", "edited\n")
    assert place.repository.uncommitted("ROADMAP[1].md") == ""
    assert "changes" in place.repository.uncommitted("ROADMAP1.md")
    place.write("NEW.md", "x")
    place.write(".gitignore", "IGNORED.md\n")
    place.write("IGNORED.md", "x")
    assert "not committed yet" in place.repository.uncommitted("NEW.md")
    assert "not committed yet" in place.repository.uncommitted("IGNORED.md")


@pytest.mark.parametrize("exclude", [".gitignore", ".git/info/exclude", ""], ids=["ignored", "excluded", "untracked"])
def test_moving_the_user_forward_never_overwrites_a_file_that_git_does_not_keep(place: Place, exclude: str) -> None:
    """By itself git takes an ignored file for worthless; to its user it may be the only copy."""
    if exclude:
        place.write(exclude, "precious.txt\n")
        place.commit()
    commit = next_commit(place, {"precious.txt": "the agent's\n", ".gitignore": ""})
    place.write("precious.txt", "mine\n")
    before = everything(place.top, but=(".git/objects", ".git/ORIG_HEAD"))
    assert place.repository.is_clean()
    with pytest.raises(GitFailed):
        place.repository.fast_forward(commit)
    assert everything(place.top, but=(".git/objects", ".git/ORIG_HEAD")) == before


def test_moving_the_user_forward_runs_nothing_of_theirs_and_obeys_no_option_of_theirs(place: Place) -> None:
    place.write("data.txt", "old\n")
    place.commit()
    hooks = place.top / ".git/hooks"
    for hook in ("post-merge", "post-checkout", "reference-transaction", "pre-merge-commit", "post-index-change"):
        (hooks / hook).symlink_to(marking(place.home, hook))
    for key in ("core.fsmonitor", "gpg.program", "core.editor", "core.pager", "diff.external", "merge.tool"):
        place.git("config", key, marking(place.home, key))
    for key in ("merge.verifySignatures", "commit.gpgSign", "merge.autoStash", "log.showSignature"):
        place.git("config", key, "true")
    place.git("config", "branch.main.mergeOptions", "--squash --no-commit")
    commit = next_commit(place, {"data.txt": "new\n"})
    for mark in (place.home / "marks").iterdir():
        mark.unlink()
    assert place.repository.is_clean()
    place.repository.fast_forward(commit)
    found = marks(place.home)
    assert found == []
    assert (place.top / "data.txt").read_text() == "new\n"
    place.git("config", "core.fsmonitor", "false")
    assert place.head == commit and place.git("-c", "core.hooksPath=/dev/null", "status", "--porcelain") == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_repository_of_another_user_that_git_was_told_to_trust_is_moved(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.git("config", "--global", "--add", "safe.directory", str(place.top))
    monkeypatch.setenv("HOME", str(place.home))
    commit = next_commit(place, {"a.txt": "a\n"})
    subprocess.run(["chown", "-R", "65534", str(place.top)], check=True)
    place.repository.fast_forward(commit)
    assert place.head == commit


@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes", "global"])
def test_content_filters_are_left_to_the_users_own_git(
    place: Place, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    commit = next_commit(place, {"a.txt": "a\n"})
    assert not place.repository.uses_filters(commit)
    for key in ("clean", "smudge"):
        place.git("config", f"filter.mark.{key}", marking(place.home, key))
    assert not place.repository.uses_filters(commit), "a filter that no file asks for"
    if where == "global":
        (place.home / ".config/git").mkdir(parents=True)
        (place.home / ".config/git/attributes").write_text("a.txt filter=mark\n")
    else:
        place.write(where, "a.txt filter=mark\n")
        if where == ".gitattributes":
            place.git("add", where)
            place.git("commit", "--quiet", "-m", "Attributes")
        commit = next_commit(place, {"a.txt": "a\n"})
    assert place.repository.uses_filters(commit)
    assert marks(place.home) == []


def test_looking_at_a_tree_runs_no_filter_and_writes_nothing(place: Place) -> None:
    place.write(".gitattributes", "* filter=mark\n")
    place.commit()
    for key in ("clean", "smudge", "process"):
        place.git("config", f"filter.mark.{key}", marking(place.home, key))
    place.git("config", "filter.mark.required", "true")
    place.git("config", "core.fsmonitor", marking(place.home, "fsmonitor"))
    os.utime(place.top / "ROADMAP.md", (0, 0))  # so that git must read the file to know
    before = everything(place.top)
    assert place.repository.is_clean()
    assert place.repository.uncommitted("ROADMAP.md") == ""
    assert everything(place.top) == before
    assert marks(place.home) == []


def test_a_shallow_clone_that_became_whole_is_read_whole(tmp_path: Path) -> None:
    origin = new_place(tmp_path / "origin")
    first, second = origin.head, origin.commit("Second")
    top = tmp_path / "home" / "clone"
    top.parent.mkdir(parents=True)
    origin.git("clone", "--quiet", "--depth=1", f"file://{origin.top}", str(top))
    clone = Place(home=tmp_path / "home", top=top)
    assert not clone.mileposts().is_ancestor(first, second)
    clone.git("fetch", "--quiet", "--unshallow")
    assert clone.mileposts().is_ancestor(first, second)


def test_a_snapshot_has_all_that_is_not_ignored_and_touches_nothing_of_the_users(place: Place, tmp_path: Path) -> None:
    place.write(".gitignore", "*.log\n")
    place.write("kept.txt", "old\n")
    place.commit()
    place.write("kept.txt", "new\n")
    place.write("untracked.txt", "u\n")
    place.write("noise.log", "n\n")
    place.write("staged.txt", "s\n")
    place.git("add", "staged.txt")
    before = (place.git("status", "--porcelain"), place.git("write-tree"))
    own = tmp_path / "own"
    tree = place.repository.snapshot(place.repository.git(own), own)
    names = place.git("ls-tree", "-r", "--name-only", tree).splitlines()
    assert {"kept.txt", "untracked.txt", "staged.txt"} <= set(names) and "noise.log" not in names
    assert place.git("show", f"{tree}:kept.txt") == "new"
    assert (place.git("status", "--porcelain"), place.git("write-tree")) == before
