"""The remote that machines share, with real repositories."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.core.errors import GitFailed, LeaseLost, MachineFailed
from milepost.workspace.mileposts import Stamp, attempt_ref, run_branch
from milepost.workspace.remote import Remote, SharedMileposts, base_ref, make_clone
from milepost.workspace.repository import Identity, Repository

RUN = "ab12"
STAMP = Stamp(identity=Identity(name="Ada", email="ada@example.com"), at=1)
Make = Callable[..., SharedMileposts]


def git(folder: Path, *words: str) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{role}_{what}": "ada@x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        ["git", *words], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A bare repository that a run with one commit was submitted to."""
    bare, user = tmp_path / "remote.git", tmp_path / "user"
    user.mkdir()
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    git(user, "init", "--quiet")
    (user / "file").write_text("first\n")
    git(user, "add", "file")
    git(user, "commit", "--quiet", "--message", "First")
    git(user, "push", "--quiet", str(bare), f"HEAD:{base_ref(RUN)}", f"HEAD:{run_branch(RUN)}")
    return bare


@pytest.fixture
def machine(remote: Path, tmp_path: Path) -> Make:
    """Makes a machine with a clone of its own."""

    def make(name: str, fence: Callable[[], None] = lambda: None) -> SharedMileposts:
        folder, base = tmp_path / name / "tree", git(remote, "rev-parse", base_ref(RUN))
        far = Remote(str(remote), folder, fence=fence, patience_s=20)
        make_clone(folder, base, RUN, far)
        repository = Repository.find(folder)
        return SharedMileposts(repository.git(tmp_path / name / "git"), far, RUN, base)

    return make


def child(posts: SharedMileposts, parent: str, text: str) -> str:
    return posts.commit(posts.with_file(posts.tree_of(parent), "file", text.encode()), parent, f"{text}\n", STAMP)


def test_what_a_result_names_is_there_for_another_machine_though_the_ref_it_was_kept_on_moved(machine: Make) -> None:
    ann, bob = machine("ann"), machine("bob")
    base = ann.resolve(base_ref(RUN))
    assert base is not None
    first, second = child(ann, base, "one"), child(ann, base, "two")
    tree = ann.with_file(ann.tree_of(base), "other", b"a tree that no commit has\n")
    ann.keep(attempt_ref(RUN, "T1", 1), first)
    ann.share({"commit": first, "candidate": {"tree": tree}})
    ann.keep(attempt_ref(RUN, "T1", 1), second)
    bob.bring([{"commit": first}, tree])
    assert bob.file_at(first, "file") == b"one"
    assert bob.file_at(tree, "other") == b"a tree that no commit has\n"
    assert bob.resolve(attempt_ref(RUN, "T1", 1)) == second


def test_a_branch_moves_only_from_where_it_was_seen_and_a_repeated_move_is_no_mishap(machine: Make) -> None:
    ann, bob = machine("ann"), machine("bob")
    base = ann.resolve(run_branch(RUN))
    assert base is not None
    landed = child(ann, base, "landed")
    ann.move(run_branch(RUN), landed, base)
    ann.move(run_branch(RUN), landed, base)
    with pytest.raises(MachineFailed, match="was moved by somebody else"):
        bob.move(run_branch(RUN), child(bob, base, "too late"), base)
    assert bob.resolve(run_branch(RUN)) == landed


def test_notes_of_two_machines_stand_side_by_side(machine: Make) -> None:
    ann, bob = machine("ann"), machine("bob")
    base = ann.resolve(base_ref(RUN))
    assert base is not None
    one, two = child(ann, base, "one"), child(bob, base, "two")
    ann.share(one)
    bob.share(two)
    noting = [threading.Thread(target=ann.annotate, args=(one, "proof one\n", STAMP))]
    noting += [threading.Thread(target=bob.annotate, args=(two, "proof two\n", STAMP))]
    for thread in noting:
        thread.start()
    for thread in noting:
        thread.join()
    ann.annotate(one, "proof one\n", STAMP)
    assert (ann.note(one), ann.note(two)) == ("proof one", "proof two")


def test_a_remote_that_is_away_for_a_moment_is_no_failure(machine: Make, remote: Path) -> None:
    ann = machine("ann")
    base = ann.resolve(base_ref(RUN))
    assert base is not None
    away = remote.rename(remote.with_suffix(".away"))
    back = threading.Timer(0.5, lambda: away.rename(remote))
    back.start()
    ann.keep(attempt_ref(RUN, "T1", 1), child(ann, base, "one"))
    back.join()
    assert git(remote, "rev-parse", attempt_ref(RUN, "T1", 1))


def test_who_lost_its_lease_changes_nothing_there(machine: Make, remote: Path) -> None:
    def fence() -> None:
        raise LeaseLost("lost")

    ann = machine("ann", fence)
    base = ann.resolve(base_ref(RUN))
    assert base is not None
    before, made = git(remote, "for-each-ref"), child(ann, base, "one")
    changes: tuple[Callable[[], None], ...] = (
        lambda: ann.keep(attempt_ref(RUN, "T1", 1), made),
        lambda: ann.move(run_branch(RUN), made, base),
        lambda: ann.annotate(base, "proof", STAMP),
        lambda: ann.share({"commit": made}),
        lambda: ann.forget(run_branch(RUN), base),
    )
    for change in changes:
        with pytest.raises(LeaseLost):
            change()
    assert git(remote, "for-each-ref") == before


def test_a_password_in_the_address_is_never_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    far = Remote("http://ada:correct-horse@127.0.0.1:9/x.git", tmp_path, patience_s=0)
    with pytest.raises(GitFailed) as caught:
        far.look("refs/heads/main")
    assert "correct-horse" not in f"{caught.value.message} {caught.value.advice}"
    assert "127.0.0.1" in caught.value.message
