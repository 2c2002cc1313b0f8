"""Checkouts: exact going in and coming out, whatever an agent did to them in between."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import ChangedFile, MaskedFile
from milepost.core.errors import GitFailed, StateUnwritable
from milepost.workspace.checkout import Checkouts, Snapshot, remove_folder
from milepost.workspace.git import Git
from milepost.workspace.left_files import LeftLimits
from milepost.workspace.local_files import LocalFiles
from milepost.workspace.own_stores import OwnStores
from tests.integration.repositories import Place, everything, marking, marks, new_place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return new_place(tmp_path)


def listing(place: Place, tree: str) -> dict[str, str]:
    """Mode and content's id of every path in a tree."""
    raw = place.git("ls-tree", "-r", "-z", tree)
    rows = (row.partition("\t") for row in raw.split("\0") if row)
    return {path: meta.split()[0] for meta, _, path in rows}


def content(place: Place, tree: str, path: str) -> bytes:
    done = subprocess.run(["git", "cat-file", "blob", f"{tree}:{path}"], cwd=place.top, capture_output=True, check=True)
    return done.stdout


def attempt(place: Place, work: Callable[[Path], object]) -> Snapshot:
    """What is left of a workspace that somebody worked in; the roadmap is kept as it was."""
    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    work(workspace.folder)
    taken = checkouts.snapshot(workspace, keep=("ROADMAP.md",))
    checkouts.drop("one")
    assert not (place.home / "checkouts/one").exists()
    return taken


def test_a_checkout_is_byte_exact_whatever_the_user_configures(place: Place) -> None:
    place.write("crlf.txt", b"a\r\nb\r\n")
    place.write("lf.txt", b"a\nb\n")
    place.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (place.top / "link").symlink_to("/etc/passwd")
    place.write(".gitattributes", "*.txt filter=mark diff=mark merge=mark\n")
    place.commit()
    for key in ("clean", "smudge", "process"):
        place.git("config", f"filter.mark.{key}", marking(place.home, key))
    place.git("config", "filter.mark.required", "true")
    place.git("config", "core.autocrlf", "true")
    place.git("config", "core.fsmonitor", marking(place.home, "fsmonitor"))

    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    got = {name: (workspace.folder / name).read_bytes() for name in ("crlf.txt", "lf.txt")}
    assert got == {"crlf.txt": b"a\r\nb\r\n", "lf.txt": b"a\nb\n"}
    assert (workspace.folder / "link").readlink() == Path("/etc/passwd")
    assert (workspace.folder / "run.sh").stat().st_mode & stat.S_IXUSR
    untouched = checkouts.snapshot(workspace)
    assert (untouched.tree, untouched.changed) == (place.git("rev-parse", "HEAD^{tree}"), ())
    assert marks(place.home) == []


def test_a_snapshot_holds_what_was_made_changed_and_removed_and_follows_no_link(place: Place) -> None:
    place.write(".gitignore", "*.log\n")
    place.write("tracked.log", "tracked although ignored\n")
    place.git("add", "--force", "tracked.log")
    place.write("gone.txt", "gone\n")
    place.commit()
    outside = place.home / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("not yours\n")

    def work(folder: Path) -> None:
        (folder / "tracked.log").write_text("changed\n")
        (folder / "new.log").write_text("ignored\n")
        (folder / "gone.txt").unlink()
        (folder / "README.md").chmod(0o755)
        (folder / "README.MD").write_text("another\n")
        (folder / "empty").mkdir()
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__/x.pyc").write_text("cache")
        (folder / "crlf.txt").write_bytes(b"a\r\n")
        (folder / "way-out").symlink_to(outside)
        (folder / "broken").symlink_to("nowhere")

    taken = attempt(place, work)
    assert taken.problem == ""
    modes = listing(place, taken.tree)
    assert modes == {
        ".gitignore": "100644",
        "README.MD": "100644",
        "README.md": "100755",
        "ROADMAP.md": "100644",
        "broken": "120000",
        "crlf.txt": "100644",
        "tracked.log": "100644",
        "way-out": "120000",
    }
    assert content(place, taken.tree, "tracked.log") == b"changed\n"
    assert content(place, taken.tree, "crlf.txt") == b"a\r\n"
    assert content(place, taken.tree, "way-out") == str(outside).encode()


ODD_NAMES = [
    b"-leading-dash",
    b"new\nline",
    b"not-utf8-\xff\xfe",
    "line\u2028separator".encode(),
    b'quote"tab\t',
    b":(exclude)*",
    b"*",
    b"n" * 255,
    "ünïcödé".encode(),
]


def test_every_name_that_a_file_system_takes_is_committed(place: Place) -> None:
    def work(folder: Path) -> None:
        for name in ODD_NAMES:
            Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x\n")

    taken = attempt(place, work)
    assert taken.problem == ""
    assert set(map(os.fsdecode, ODD_NAMES)) <= set(listing(place, taken.tree))
    assert set(taken.changed) == {name.decode("utf-8", "backslashreplace") for name in ODD_NAMES}


def _fifo(folder: Path) -> None:
    (folder / "ROADMAP.md").unlink()
    os.mkfifo(folder / "ROADMAP.md")


def _socket(folder: Path) -> None:
    (folder / "ROADMAP.md").unlink()
    with chdir(folder), socket.socket(socket.AF_UNIX) as made:  # the path of a socket must be short
        made.bind("ROADMAP.md")


def _folder(folder: Path) -> None:
    (folder / "ROADMAP.md").unlink()
    (folder / "ROADMAP.md").mkdir()
    (folder / "ROADMAP.md/inside.txt").write_text("x")


def _link(folder: Path) -> None:
    (folder / "ROADMAP.md").unlink()
    (folder / "ROADMAP.md").symlink_to(folder.parent.parent.parent / "precious.txt")


def _locked(folder: Path) -> None:
    (folder / "ROADMAP.md").write_text("- [x] 1.1 One\n")
    (folder / "ROADMAP.md").chmod(0)


def _executable(folder: Path) -> None:
    (folder / "ROADMAP.md").chmod(0o755)


def _removed(folder: Path) -> None:
    (folder / "ROADMAP.md").unlink()


@pytest.mark.parametrize("replace", [_fifo, _socket, _folder, _link, _locked, _executable, _removed])
def test_the_roadmap_stays_as_it_was_whatever_took_its_place(place: Place, replace: Callable[[Path], None]) -> None:
    precious = place.home / "precious.txt"
    precious.write_text("precious\n")

    def work(folder: Path) -> None:
        replace(folder)
        (folder / "new.txt").write_text("new\n")

    taken = attempt(place, work)
    assert taken.problem == ""
    assert taken.changed == ("new.txt",)
    assert listing(place, taken.tree) == {"README.md": "100644", "ROADMAP.md": "100644", "new.txt": "100644"}
    assert precious.read_text() == "precious\n"


def test_a_roadmap_in_a_folder_that_became_a_link_is_put_back(place: Place) -> None:
    place.write("docs/ROADMAP.md", "- [ ] 1.1 One\n")
    place.write("docs/other.md", "other\n")
    place.commit()
    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    shutil.rmtree(workspace.folder / "docs")
    (workspace.folder / "docs").symlink_to(place.home)
    taken = checkouts.snapshot(workspace, keep=("docs/ROADMAP.md",))
    assert listing(place, taken.tree).keys() == {"README.md", "ROADMAP.md", "docs/ROADMAP.md"}
    assert not (place.home / "ROADMAP.md").exists()


def init_in(folder: Path, *, commit: bool) -> None:
    folder.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    (folder / "work.txt").write_text("work\n")
    if commit:
        identity = ("-c", "user.name=A", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
        subprocess.run(["git", "-C", str(folder), *identity, "commit", "-qm", "x"], check=True)


@pytest.mark.parametrize("commit", [True, False])
def test_a_repository_inside_the_workspace_is_refused_because_its_files_would_be_lost(
    place: Place, commit: bool
) -> None:
    taken = attempt(place, lambda folder: init_in(folder / "nested", commit=commit))
    assert taken.tree == "" and "nested" in taken.problem


def test_a_repository_in_a_folder_that_is_ignored_is_nobodys_business(place: Place) -> None:
    def work(folder: Path) -> None:
        (folder / "node_modules").mkdir()
        init_in(folder / "node_modules/package", commit=False)
        (folder / "new.txt").write_text("new\n")

    assert attempt(place, work).changed == ("new.txt",)


def with_submodule(place: Place) -> None:
    other = new_place(place.home / "elsewhere")
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.top), "sub")
    place.commit("With a submodule")


def test_a_submodule_of_the_base_stays_as_it_is(place: Place) -> None:
    with_submodule(place)
    taken = attempt(place, lambda folder: (folder / "new.txt").write_text("new\n"))
    assert (taken.problem, taken.changed) == ("", ("new.txt",))
    assert listing(place, taken.tree)["sub"] == "160000"


def test_nothing_that_an_agent_configures_in_a_submodules_place_is_run(place: Place) -> None:
    """Git asks a submodule for its state with the submodule's own configuration: outside of the sandbox."""
    with_submodule(place)

    def work(folder: Path) -> None:
        sub = folder / "sub"
        init_in(sub, commit=True)
        for key in ("core.fsmonitor", "filter.mark.clean", "filter.mark.process"):
            subprocess.run(["git", "-C", str(sub), "config", key, marking(place.home, key)], check=True)
        (sub / ".git/info/attributes").write_text("* filter=mark\n")
        (sub / "work.txt").write_text("changed\n")
        subprocess.run(["git", "-C", str(sub), "fetch", "--quiet", str(place.top / "sub"), "HEAD"], check=True)
        subprocess.run(["git", "-C", str(sub), "update-ref", "HEAD", "FETCH_HEAD"], check=True)
        for mark in (place.home / "marks").iterdir():
            mark.unlink()

    taken = attempt(place, work)
    assert marks(place.home) == []
    assert taken.tree == "" and "sub" in taken.problem


def poison(own: Path, place: Place) -> None:
    """All that an agent may write in the `.git` of its workspace."""
    hooks = own / "hooks"
    hooks.mkdir()
    for hook in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction"):
        shutil.copy(marking(place.home, hook), hooks / hook)
    (own / "config").write_text(
        f"[core]\n\tfsmonitor = {marking(place.home, 'fsmonitor')}\n\thooksPath = {hooks}\n\tworktree = {place.top}\n"
        f'[filter "mark"]\n\tclean = {marking(place.home, "clean")}\n\trequired = true\n[include]\n\tpath = /etc/x\n'
    )
    (own / "info/attributes").write_text("* filter=mark\n")
    (own / "info/exclude").write_text("*\n")
    (own / "objects/info/alternates").write_text("/nowhere\n")


def _a_file(own: Path, place: Place) -> None:
    shutil.rmtree(own)
    own.write_text(f"gitdir: {place.top}/.git\n")


def _a_link(own: Path, place: Place) -> None:
    shutil.rmtree(own)
    own.symlink_to(place.top / ".git")


def _nothing(own: Path, _: Place) -> None:
    shutil.rmtree(own)


@pytest.mark.parametrize("make", [poison, _a_file, _a_link, _nothing])
def test_what_an_agent_does_to_the_workspaces_git_changes_nothing(
    place: Place, make: Callable[[Path, Place], None]
) -> None:
    before = everything(place.top, but=(".git/objects",))

    def work(folder: Path) -> None:
        make(folder / ".git", place)
        (folder / "new.txt").write_text("new\n")

    taken = attempt(place, work)
    assert (taken.problem, taken.changed) == ("", ("new.txt",))
    assert content(place, taken.tree, "new.txt") == b"new\n"
    assert marks(place.home) == []
    assert everything(place.top, but=(".git/objects",)) == before


def _locked_folder(folder: Path) -> None:
    (folder / "locked").mkdir()
    (folder / "locked/inside.txt").write_text("inside\n")
    (folder / "locked/deeper").mkdir()
    (folder / "locked/deeper").chmod(0)
    (folder / "locked").chmod(0)
    (folder / "unreadable.txt").write_text("unreadable\n")
    (folder / "unreadable.txt").chmod(0)
    folder.chmod(0)


def test_rights_that_an_agent_took_away_do_not_hide_its_work(place: Place) -> None:
    outside = place.home / "outside"
    outside.mkdir(mode=0o755)

    def work(folder: Path) -> None:
        (folder / "out").symlink_to(outside)
        _locked_folder(folder)

    taken = attempt(place, work)
    assert taken.problem == ""
    assert set(taken.changed) == {"locked/inside.txt", "out", "unreadable.txt"}
    assert content(place, taken.tree, "locked/inside.txt") == b"inside\n"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755, "no link is followed"


def nest(folder: Path, depth: int) -> None:
    with chdir(folder):
        for _ in range(depth):
            Path("d" * 50).mkdir()
            os.chdir("d" * 50)


def test_folders_nested_beyond_every_limit_are_removed(place: Place, tmp_path: Path) -> None:
    try:
        attempt(place, lambda folder: nest(folder, 1500))
    finally:  # what is left by a failure would be too deep for pytest to remove as well
        subprocess.run(["rm", "-rf", str(place.home / "checkouts")], check=True)
    (tmp_path / "locked").mkdir()
    nest(tmp_path / "locked", 3)
    (tmp_path / "locked" / ("d" * 50)).chmod(0)
    remove_folder(tmp_path / "locked")
    assert not (tmp_path / "locked").exists()


def test_five_thousand_files_are_one_snapshot(place: Place) -> None:
    def work(folder: Path) -> None:
        for number in range(5000):
            (folder / f"{number}.txt").write_text(f"{number}\n")

    assert len(attempt(place, work).changed) == 5000


def test_a_checkout_replaces_what_a_killed_one_left(place: Place) -> None:
    checkouts = place.checkouts()
    first = checkouts.make("one", place.head)
    (first.folder / "stale.txt").write_text("stale")
    (first.folder.parent / "index.lock").write_text("")
    second = checkouts.make("one", place.head)
    assert not (second.folder / "stale.txt").exists()
    assert checkouts.snapshot(second).changed == ()
    checkouts.sweep()
    assert not (place.home / "checkouts").exists()


def git_in(workspace: Workspace, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=workspace.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_git_answers_in_a_checkout_and_reaches_nothing_of_the_users(place: Place) -> None:
    place.git("tag", "v1")
    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    before = everything(place.top)
    assert git_in(workspace, "status", "--porcelain") == ""
    assert git_in(workspace, "log", "--format=%s") == "Start"
    assert git_in(workspace, "rev-parse", "--show-toplevel") == str(workspace.folder)
    (workspace.folder / "new.txt").write_text("new\n")
    git_in(workspace, "add", "--all")
    git_in(workspace, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "mine")
    git_in(workspace, "update-ref", "refs/heads/main", "HEAD")
    git_in(workspace, "gc", "--quiet", "--prune=now")
    assert everything(place.top) == before
    assert checkouts.snapshot(workspace).changed == ("new.txt",), "a commit of the agent's own is work like any other"


def test_a_patch_is_applied_to_the_files_whatever_the_agent_did_to_its_git(place: Place) -> None:
    checkouts = place.checkouts()
    workspace = checkouts.make("w", place.head)
    (workspace.folder / ".git/config").write_text("[core]\n\tfsmonitor = touch ../fired\n")
    patch = b"--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n"
    assert checkouts.apply(workspace, ("apply", "--check", "-"), patch) == (0, "")
    assert checkouts.apply(workspace, ("apply", "-"), patch) == (0, "")
    assert (workspace.folder / "new.txt").read_text() == "hello\n"
    code, said = checkouts.apply(workspace, ("apply", "-"), patch)
    assert code == 1 and "new.txt" in said
    assert not (workspace.folder.parent / "fired").exists()


def test_what_an_attempt_keeps_outlives_its_checkout_and_goes_with_its_run(place: Place) -> None:
    checkouts = place.checkouts()
    (checkouts.kept("r1", "1.1-1") / "session").write_text("here")
    checkouts.kept("r2", "1.1-1")

    checkouts.sweep()
    checkouts.forget_all_but({"r1"})

    assert (checkouts.kept("r1", "1.1-1") / "session").read_text() == "here"
    assert stat.S_IMODE(checkouts.kept("r1", "1.1-1").stat().st_mode) == 0o700
    checkouts.forget("r1", "1.1-1")
    checkouts.forget("r1", "1.1-1")
    assert not any((place.home / "checkouts.kept").iterdir())


def test_a_file_that_git_ignores_is_in_the_checkout_and_never_in_a_commit(place: Place) -> None:
    (place.top / "config").mkdir()
    (place.top / "config/local.json").write_text('{"a": 1}\n')
    (place.top / ".env").write_text("A=1\n")
    (place.top / ".env").chmod(0o600)
    local = LocalFiles(top=place.top, names=(".env", "config/local.json", "ROADMAP.md"))
    checkouts = Checkouts(place.home / "checkouts", place.repository.git(place.home / "own"), local)
    committed = (place.top / "ROADMAP.md").read_text()
    (place.top / "ROADMAP.md").write_text("changed, and not committed\n")
    workspace = checkouts.make("one", place.head)
    assert (workspace.folder / ".env").read_text() == "A=1\n"
    assert (workspace.folder / ".env").stat().st_mode & 0o777 == 0o600
    assert (workspace.folder / "config/local.json").is_file()
    assert (workspace.folder / "ROADMAP.md").read_text() == committed
    (workspace.folder / ".gitignore").write_text("!.env\n!config/local.json\n")
    (workspace.folder / ".env").write_text("A=2\n")
    (workspace.folder / "work.txt").write_text("work\n")
    taken = checkouts.snapshot(workspace)
    assert {".env", "config/local.json"}.isdisjoint(listing(place, taken.tree))
    assert "work.txt" in taken.changed and ".gitignore" in taken.changed


def test_a_submodule_is_filled_from_the_users_own_store_and_stays_a_pointer(place: Place) -> None:
    with_submodule(place)
    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    assert (workspace.folder / "sub/README.md").read_text() == "A project\n"
    (workspace.folder / "sub/README.md").write_text("changed\n")
    (workspace.folder / "new.txt").write_text("new\n")
    taken = checkouts.snapshot(workspace)
    assert (taken.problem, taken.changed) == ("", ("new.txt",))
    assert listing(place, taken.tree)["sub"] == "160000"
    shutil.rmtree(place.top / ".git/modules")
    again = checkouts.make("two", place.head)
    assert not any((again.folder / "sub").iterdir()) and checkouts.filled(again).missing == ("sub",)


def written_tree(place: Place, *entries: tuple[str, str, str]) -> str:
    """A tree with exactly these entries, be they such as git never writes."""
    raw = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)
    words = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    return subprocess.run(words, cwd=place.top, input=raw, capture_output=True, check=True).stdout.decode().strip()


@pytest.mark.parametrize("is_below", [False, True])
def test_a_tree_with_a_submodule_and_a_link_of_one_name_is_refused_and_nothing_is_written_outside(
    place: Place, is_below: bool
) -> None:
    with_submodule(place)
    outside = place.home / "outside"
    outside.mkdir()
    (outside / "README.md").write_text("mine\n")
    path, target = ("zz/outside", place.home) if is_below else ("zz", outside)
    place.write(".gitmodules", f'[submodule "./sub"]\n\tpath = {path}\n\turl = nowhere\n')
    place.write("link", str(target))
    modules, link = (place.git("hash-object", "-w", name) for name in (".gitmodules", "link"))
    pinned = ("160000", "outside" if is_below else "zz", place.git("rev-parse", "HEAD:sub"))
    first = ("40000", "zz", written_tree(place, pinned)) if is_below else pinned
    tree = written_tree(place, ("100644", ".gitmodules", modules), first, ("120000", "zz", link))
    commit = place.git("commit-tree", tree, "-p", "HEAD", "-m", "Malformed")
    with pytest.raises(GitFailed, match=r"is malformed: it has two entries named 'zz'"):
        place.checkouts().make("one", commit)
    assert {file.name: file.read_text() for file in outside.iterdir()} == {"README.md": "mine\n"}


@pytest.mark.parametrize("path", ["link", "link/below"])
def test_no_submodule_is_filled_through_a_link(place: Place, path: str) -> None:
    """Whatever else lets a checkout and its index differ: the way to a submodule's folder follows no link."""
    with_submodule(place)
    place.git("config", "--file", ".gitmodules", "submodule.sub.path", path)
    place.commit("Elsewhere")
    outside = place.home / "outside"
    (outside / "below").mkdir(parents=True)
    checkout = place.home / "checkout"
    checkout.mkdir()
    (checkout / "link").symlink_to(outside)
    shutil.copy(place.top / ".gitmodules", checkout)
    row = f"160000 {place.git('rev-parse', 'HEAD:sub')}\t{path}\n".encode()
    index = place.home / "index"
    git = place.engine_git()
    git.plumb("update-index", "--index-info", stdin=row, env={"GIT_INDEX_FILE": str(index)})
    filled = OwnStores(common_dir=git.git_dir).fill(git, place.head, checkout, index)
    assert filled.missing == (path,)
    assert not any(file.is_file() for file in outside.rglob("*"))


def test_a_copied_file_goes_through_no_link_out_of_the_checkout_nor_over_a_file_of_the_commit(place: Place) -> None:
    outside = place.home / "outside"
    outside.mkdir()
    place.write("src/mine.txt", "of the commit\n")
    (place.top / "away").symlink_to(outside)
    (place.top / "here").symlink_to("src")
    place.commit("Links")
    for link in ("away", "here"):
        (place.top / link).unlink()
        place.write(f"{link}/mine.txt", "copied\n")
        place.write(f"{link}/new.txt", "copied\n").chmod(0o600)
    names = tuple(f"{link}/{name}.txt" for link in ("away", "here") for name in ("mine", "new"))
    root = place.home / "checkouts"
    made = Checkouts(root, place.engine_git(), LocalFiles(top=place.top, names=names)).make("one", place.head)
    assert not any(outside.iterdir())
    assert (made.folder / "src/mine.txt").read_text() == "of the commit\n"
    assert (made.folder / "src/new.txt").read_text() == "copied\n"
    assert stat.S_IMODE((made.folder / "src/new.txt").stat().st_mode) == 0o600


def test_large_files_are_there_by_their_content_and_committed_as_pointers(place: Place) -> None:
    large = b"large content\n"
    oid = hashlib.sha256(large).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(large)}\n"
    place.write("data.bin", pointer)
    place.write("lost.bin", pointer.replace(oid, "0" * 64))
    place.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    place.commit("Large")
    stored = place.top / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid
    stored.parent.mkdir(parents=True)
    stored.write_bytes(large)
    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    assert (workspace.folder / "data.bin").read_bytes() == large
    assert checkouts.filled(workspace).missing == ("lost.bin",)
    (workspace.folder / "new.txt").write_text("new\n")
    taken = checkouts.snapshot(workspace)
    assert taken.changed == ("new.txt",) and content(place, taken.tree, "data.bin").decode() == pointer
    (workspace.folder / "data.bin").write_bytes(b"other\n")
    assert "data.bin is kept by git-lfs" in checkouts.snapshot(workspace).problem
    (workspace.folder / "data.bin").unlink()
    assert set(checkouts.snapshot(workspace).changed) == {"data.bin", "new.txt"}


LITTLE = LeftLimits(file_mb=2, change_mb=3, change_files=20, checkout_files=200)


def test_for_a_snapshot_of_a_small_checkout_git_is_started_three_times(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all that a snapshot costs is starting git, and one is taken after each call of an agent's tool."""
    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    (workspace.folder / "made.txt").write_text("made\n")
    started: list[str] = []
    start = Git._start

    def counted(git: Git, words: list[str], *args: Any) -> Any:
        started.extend(words[:1])
        return start(git, words, *args)

    monkeypatch.setattr(Git, "_start", counted)
    assert checkouts.snapshot(workspace).changed == ("made.txt",)
    assert started == ["-c", "write-tree", "diff-tree"]


def test_files_that_are_gone_count_as_changed(place: Place) -> None:
    for number in range(30):
        place.write(f"old/{number}.txt", "old\n")
    place.commit()
    checkouts = Checkouts(place.home / "checkouts", place.engine_git(), limits=LITTLE)
    workspace = checkouts.make("one", place.head)
    shutil.rmtree(workspace.folder / "old")
    assert "more than 20 changed files" in checkouts.snapshot(workspace).problem


def test_a_file_in_which_there_might_be_a_credential_is_shown_with_what_it_was_before(place: Place) -> None:
    place.write("short.txt", "SECRET of ours\n")
    place.write("other.txt", "other\n")
    place.commit()
    shown: list[ChangedFile] = []

    def mask(file: ChangedFile) -> MaskedFile | None:
        shown.append(file)
        if b"SECRET" in (file.after or b"") and b"SECRET" not in (file.before or b""):
            return MaskedFile(path=file.path, content=b"", places=(file.path,))
        return None

    checkouts = Checkouts(place.home / "checkouts", place.engine_git(), mask=mask)
    workspace = checkouts.make("one", place.head)
    for name in ("short.txt", "other.txt"):
        with (workspace.folder / name).open("a") as file:
            file.write("more\n")
    taken = checkouts.snapshot(workspace)
    assert taken.leaks == () and taken.changed == ("other.txt", "short.txt")
    assert [(file.path, file.before) for file in shown if file.before is not None] == [
        ("short.txt", b"SECRET of ours\n")
    ]


def left_too_many(folder: Path) -> None:
    for number in range(30):
        (folder / f"file-{number}").touch()


def left_too_many_ignored(folder: Path) -> None:
    (folder / "node_modules").mkdir()
    for number in range(300):
        (folder / f"node_modules/file-{number}").touch()


def left_holes(folder: Path) -> None:
    with (folder / "ho\nles").open("wb") as file:
        file.truncate(2 << 40)


def left_much(folder: Path) -> None:
    for number in range(3):
        (folder / f"file-{number}").write_bytes(bytes(1_500_000))


@pytest.mark.parametrize(
    ("leave", "what", "setting"),
    [
        (left_holes, r"'ho\nles' with 2199024 MB, where 2 MB are allowed", "file_mb"),
        (left_much, "more than 3 MB in changed files", "change_mb"),
        (left_too_many, "more than 20 changed files", "change_files"),
        (left_too_many_ignored, "more than 200 files", "checkout_files"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)  # fmt: skip
def test_what_is_too_much_is_refused_before_it_is_read(
    place: Place, leave: Callable[[Path], None], what: str, setting: str
) -> None:
    checkouts = Checkouts(place.home / "checkouts", place.engine_git(), limits=LITTLE)
    workspace = checkouts.make("a", place.head)
    leave(workspace.folder)
    found = checkouts.snapshot(workspace)
    advice = f"remove it, let .gitignore name it, or raise {setting} under [limits] in milepost.toml"
    assert (found.tree, found.problem) == ("", f"the attempt left {what}: {advice}")


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "deep/.gitignore"])
def test_a_pipe_or_endless_file_where_git_reads_one_keeps_nobody_waiting(place: Place, name: str) -> None:
    checkouts = place.checkouts()
    workspace = checkouts.make("a", place.head)
    left = workspace.folder / name
    left.parent.mkdir(exist_ok=True)
    os.mkfifo(left)
    waits = f"the attempt left {name!r} as a pipe, which git would wait for: remove it"
    assert checkouts.snapshot(workspace) == Snapshot(problem=waits)
    left.unlink()
    left.touch()
    os.truncate(left, 2 << 40)
    reads = f"the attempt left {name!r} with 2199024 MB, which git would read: shorten it"
    assert checkouts.snapshot(workspace) == Snapshot(problem=reads)


def test_what_git_ignores_and_what_was_there_before_may_be_large(place: Place) -> None:
    place.write("large", bytes(2_500_000))
    checkouts = Checkouts(place.home / "checkouts", place.engine_git(), limits=LITTLE)
    workspace = checkouts.make("a", place.commit())
    (workspace.folder / "node_modules").mkdir()
    with (workspace.folder / "node_modules/holes").open("wb") as file:
        file.truncate(2 << 40)
    (workspace.folder / "new").write_text("new")
    assert checkouts.snapshot(workspace).changed == ("new",)


def test_objects_with_a_credential_never_get_into_the_repository(place: Place) -> None:
    def mask(file: ChangedFile) -> MaskedFile | None:
        if b"key" not in (file.after or b""):
            return None
        return MaskedFile(path=file.path.replace("key", "[secret]"), content=b"[secret]\n", places=(file.path,))

    checkouts = Checkouts(place.home / "checkouts", place.engine_git(), mask=mask)
    workspace = checkouts.make("one", place.head)
    (workspace.folder / "sub").mkdir()
    (workspace.folder / "sub/key.txt").write_text("the key\n")
    (workspace.folder / "sub/plain.txt").write_text("plain\n")
    taken = checkouts.snapshot(workspace)
    assert taken.leaks == ("sub/key.txt",)
    assert set(taken.changed) == {"sub/[secret].txt", "sub/plain.txt"}
    assert content(place, taken.tree, "sub/[secret].txt") == b"[secret]\n"
    assert b"the key" not in everything_in(place)
    (workspace.folder / "sub/key.txt").unlink()
    again = checkouts.snapshot(workspace)
    assert (again.leaks, again.changed) == ((), ("sub/plain.txt",))
    assert place.git("fsck", "--full", "--no-dangling") == ""
    assert list((place.top / ".git/objects").glob("tmp_*")) == []


def everything_in(place: Place) -> bytes:
    words = ("git", "cat-file", "--batch-all-objects", "--batch")
    return subprocess.run(words, cwd=place.top, capture_output=True, check=True).stdout


def test_what_fails_where_no_space_is_left_failed_for_that(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    checkouts = place.checkouts()
    workspace = checkouts.make("one", place.head)
    checkouts.require_space(workspace)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    with pytest.raises(StateUnwritable, match="the disk is full: 4,096 bytes are left"):
        checkouts.require_space(workspace)
