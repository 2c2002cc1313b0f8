"""The engine's own git: nothing that a repository configures takes part in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from milepost.core.errors import GitFailed, StateUnwritable
from milepost.workspace.git import failure
from milepost.workspace.mileposts import milepost_message, run_branch
from tests.integration.repositories import NOW, Place, everything, marking, marks, new_place

HOOKS = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg"),
    *("commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "reference-transaction"),
    *("post-rewrite", "fsmonitor-watchman", "post-index-change", "pre-auto-gc"),
)
PROGRAMS = (
    *("core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "core.askPass", "sequence.editor"),
    *("diff.external", "diff.mark.textconv", "diff.mark.command", "merge.mark.driver", "gpg.program"),
    *("filter.mark.clean", "filter.mark.smudge", "filter.mark.process", "trailer.sign.command", "trailer.sign.cmd"),
    *("credential.helper", "pager.log", "pager.notes", "alias.log", "alias.notes", "alias.update-ref"),
)
SWITCHES = {
    "commit.gpgSign": "true",
    "log.showSignature": "true",
    "filter.mark.required": "true",
    "core.autocrlf": "true",
    "core.commentChar": "M",
    "trailer.separators": "=",
    "i18n.logOutputEncoding": "latin1",
    "i18n.commitEncoding": "latin1",
    "core.quotePath": "true",
    "core.logAllRefUpdates": "always",
    "log.follow": "true",
    "log.date": "relative",
    "core.notesRef": "refs/notes/other",
    "diff.renames": "copies",
    "color.ui": "always",
}


def booby_trapped(folder: Path) -> Place:
    """A repository where every program that git could be told to run leaves a mark."""
    place = new_place(folder)
    place.write(".gitattributes", "* filter=mark diff=mark merge=mark\n")
    place.commit()
    for hook in HOOKS:
        (place.top / ".git/hooks" / hook).symlink_to(marking(place.home, hook))
    settings = {key: marking(place.home, key) for key in PROGRAMS} | SWITCHES
    included = place.home / "included"
    for key, value in settings.items():
        place.git("config", "--file", str(included), key, value)
    place.write(".git/info/attributes", "* filter=mark diff=mark merge=mark\n")
    place.git("config", "include.path", str(included))
    return place


def test_making_landing_finding_and_undoing_a_milepost_runs_nothing_of_the_repositorys(tmp_path: Path) -> None:
    place = booby_trapped(tmp_path)
    base = place.repository.position().commit
    checkouts, mileposts = place.checkouts(), place.mileposts()
    workspace = checkouts.make("one", base)
    (workspace.folder / "ünï.txt").write_bytes(b"a\r\nb\r\n")
    tree = checkouts.snapshot(workspace).tree
    message = milepost_message(task="1.1", title="Ünï", run="r1", attempt=1, agent="code", roadmap="ROADMAP.md")
    commit = mileposts.commit(tree, base, message, NOW)
    mileposts.keep(run_branch("r1"), base)
    mileposts.move(run_branch("r1"), commit, base)
    mileposts.annotate(commit, '{"proof": "M"}\n', NOW)
    (post,) = mileposts.history(commit, since=base)
    assert (post.commit, post.task, post.run, post.attempt, post.title) == (commit, "1.1", "r1", 1, "Ünï")
    assert mileposts.note(commit) == '{"proof": "M"}'
    assert mileposts.changed_files(base, commit) == ("ünï.txt",)
    assert mileposts.file_at(commit, "ünï.txt") == b"a\r\nb\r\n"
    assert mileposts.merge(commit, base) == tree
    assert mileposts.without(post, commit, "ROADMAP.md") == mileposts.tree_of(base)
    mileposts.forget(run_branch("r1"), commit)
    assert mileposts.resolve(run_branch("r1")) is None
    assert marks(place.home) == []


def test_replaced_and_grafted_history_is_seen_as_it_was_committed(tmp_path: Path) -> None:
    place = new_place(tmp_path)
    first = place.head
    second = place.commit("Second")
    forged = place.git("commit-tree", "-m", "Milepost\n\nMilepost-Task: 9.9\nMilepost-Run: r9", f"{second}^{{tree}}")
    place.git("replace", second, forged)
    place.write(".git/info/grafts", f"{second}\n")
    mileposts = place.mileposts()
    assert mileposts.is_ancestor(first, second)
    assert mileposts.history(second) == ()


def test_objects_borrowed_from_another_repository_are_found(tmp_path: Path) -> None:
    origin = new_place(tmp_path / "origin")
    top = tmp_path / "borrower"
    origin.git("clone", "--quiet", "--shared", str(origin.top), str(top))
    borrower = Place(home=origin.home, top=top)
    before = everything(origin.top)
    assert borrower.repository.object_folders() == (top / ".git/objects", origin.top / ".git/objects")
    workspace = borrower.checkouts().make("one", borrower.head)
    assert (workspace.folder / "README.md").read_text() == "A project\n"
    mileposts = borrower.mileposts()
    tree = mileposts.with_file(mileposts.tree_of(borrower.head), "README.md", b"new\n")
    mileposts.keep("refs/milepost/r/1/1", mileposts.commit(tree, borrower.head, "x\n", NOW))
    assert borrower.git("fsck", "--no-dangling") == ""
    assert everything(origin.top) == before


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_both_object_formats_work(tmp_path: Path, object_format: str) -> None:
    place = new_place(tmp_path, f"--object-format={object_format}")
    checkouts, mileposts = place.checkouts(), place.mileposts()
    workspace = checkouts.make("one", place.head)
    (workspace.folder / "a.txt").write_text("a\n")
    commit = mileposts.commit(checkouts.snapshot(workspace).tree, place.head, "x\n", NOW)
    mileposts.keep("refs/heads/made", commit)
    assert len(commit) == {"sha1": 40, "sha256": 64}[object_format]
    assert place.git("fsck", "--strict", "--no-dangling") == ""


def test_a_folder_that_is_gone_does_not_stop_the_engines_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = new_place(tmp_path)
    mileposts = place.mileposts()
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    shutil.rmtree(gone)
    head = mileposts.resolve("refs/heads/main")
    monkeypatch.chdir(tmp_path)
    assert head == place.head


def test_the_users_uncommitted_attributes_do_not_change_a_merge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run decides depends on what is committed: the same again after a crash, whatever the user edits."""
    place = new_place(tmp_path)
    mileposts = place.mileposts()
    base = mileposts.tree_of(place.head)
    ours, theirs = (
        mileposts.commit(mileposts.with_file(base, "README.md", text), place.head, "x\n", NOW)
        for text in (b"ours\n", b"theirs\n")
    )
    place.write(".gitattributes", "* merge=union\n")
    monkeypatch.chdir(place.top)
    assert mileposts.merge(ours, theirs) is None
    assert mileposts.conflicts(ours, theirs) == ("README.md",)


def test_the_lock_is_held_open_by_every_git_of_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = new_place(tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()
    told = tmp_path / "told"
    real = shutil.which("git")
    (programs / "git").write_text(f'#!/bin/sh\nls -l /proc/$$/fd >>"{told}"\nexec {real} "$@"\n')
    (programs / "git").chmod(0o755)
    lock = tmp_path / "the-lock"
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        git = place.repository.git(place.home / "own", (fd,))
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        git.plumb("rev-parse", "--git-dir")
        git.refs("rev-parse", "HEAD")
        place.repository.fast_forward(place.head, (fd,))
    finally:
        os.close(fd)
    assert told.read_text().count(str(lock)) >= 3


@pytest.mark.parametrize(
    ("stderr", "kind", "told"),
    [
        ("error: unable to write file: No space left on device\nfatal: x\n", StateUnwritable, "disk is full"),
        ("error: unable to write file README.md\n", StateUnwritable, "README.md"),
        ("fatal: cannot lock ref: Permission denied\n", StateUnwritable, "may not write"),
        ("error: 'sub/' does not have a commit checked out\nfatal: adding files failed\n", GitFailed, "sub/"),
        ("fatal: unable to create 'x.lock': File exists.\n\nremove the file manually\n", GitFailed, "x.lock"),
        ("", GitFailed, "exit code 3"),
    ],
)
def test_a_failed_git_says_what_failed(stderr: str, kind: type[Exception], told: str) -> None:
    error = failure(["-c", "a=b", "add", "--all"], 3, stderr)
    assert type(error) is kind and told in error.message
