"""What a sandboxed session changes in its workspace is held back, can be looked at, and is then accepted or dropped."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import MachineFailed
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.levels import ladder, open_executor
from milepost.sandbox.walls.change_stream import Telling
from milepost.sandbox.workspace_changes import Changes

needs_sandboxed = pytest.mark.skipif(
    not ladder()[-1].ok, reason=f"trust level 'sandboxed' is not available here: {ladder()[-1].detail}"
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace with files, a link and folders."""
    folder = tmp_path / "work"
    for name in ("keep", "change", "gone", "tree/one", "tree/sub/two", "other/three"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n")
    (folder / "link").symlink_to("keep")
    return folder


@pytest.fixture
def run(work: Path) -> Iterator[Callable[[str], WalledExecutor]]:
    """Runs code in the workspace, sandboxed."""
    limits = ExecutionLimits(disk_mb=4, inodes=300)
    with open_executor(TrustLevel.SANDBOXED, limits, workspace=work) as executor:

        def execute(code: str) -> WalledExecutor:
            done = executor.run(f"import os, pathlib, shutil, subprocess\n{code}")
            assert done.succeeded, done
            return executor

        yield execute


def listed(changes: Changes) -> dict[str, str]:
    return {str(change.path): change.kind for change in changes.list()}


def snapshot(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        else:
            found[name] = ("folder", "") if path.is_dir() else ("file", path.read_bytes())
    return found


EVERYTHING = """
open('change', 'a').write('more\\n'); open('new', 'w').write('new\\n'); os.unlink('gone')
os.unlink('link'); os.symlink('/etc/passwd', 'link'); os.mkdir('empty')
shutil.rmtree('tree'); os.mkdir('tree'); open('tree/one', 'w').write('again\\n')
shutil.rmtree('other'); open('other', 'w').write('a file now\\n')
os.link('new', 'second'); os.utime('keep'); os.mkfifo('pipe'); os.chmod('new', 0o755)
"""


@needs_sandboxed
def test_changes_are_held_back_listed_and_accepted(work: Path, run: Callable[[str], WalledExecutor]) -> None:
    before = snapshot(work)
    executor = run(EVERYTHING)
    assert snapshot(work) == before
    with executor.changes() as changes:
        assert listed(changes) == {
            "change": "changed",
            "empty": "added",
            "gone": "deleted",
            "link": "changed",
            "new": "added",
            "other": "changed",
            "second": "added",
            "tree/one": "changed",
            "tree/sub": "deleted",
        }
        changes.accept(work)
    assert snapshot(work) == {
        "change": ("file", b"change\nmore\n"),
        "empty": ("folder", ""),
        "keep": ("file", b"keep\n"),
        "link": ("link", "/etc/passwd"),
        "new": ("file", b"new\n"),
        "other": ("file", b"a file now\n"),
        "second": ("file", b"new\n"),
        "tree": ("folder", ""),
        "tree/one": ("file", b"again\n"),
    }
    assert stat.S_IMODE((work / "new").stat().st_mode) == 0o755
    assert (work / "new").stat().st_ino == (work / "second").stat().st_ino


@needs_sandboxed
def test_changes_that_are_not_accepted_are_gone_with_the_session(
    work: Path, run: Callable[[str], WalledExecutor]
) -> None:
    before = snapshot(work)
    executor = run(EVERYTHING)
    executor.reset()
    with executor.changes() as changes:
        assert changes.list() == ()
    assert snapshot(work) == before


@needs_sandboxed
def test_changes_can_be_looked_at_again_after_more_were_made(run: Callable[[str], WalledExecutor]) -> None:
    with run("open('a', 'w').write('1' * 5000)").changes() as first:
        assert listed(first) == {"a": "added"}
    with run("os.unlink('a'); open('b', 'w')").changes() as second:
        assert listed(second) == {"b": "added"}


@needs_sandboxed
def test_a_diff_shows_what_changed_in_text(work: Path, run: Callable[[str], WalledExecutor]) -> None:
    executor = run("open('change', 'a').write('more'); os.unlink('gone'); open('bytes', 'wb').write(b'\\0')")
    with executor.changes() as changes:
        assert changes.diff(work) == (
            "added bytes\n"
            "--- a/change\n+++ b/change\n@@ -1 +1,2 @@\n change\n+more\n\\ No newline at end of file\n"
            "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
        )


@needs_sandboxed
def test_an_overlay_takes_no_more_than_its_size_and_number_of_files(run: Callable[[str], WalledExecutor]) -> None:
    full = """
def fill(step):
    try:
        for n in range(1000): step(n)
    except OSError as problem: return n, problem.errno
pathlib.Path('many').mkdir()
def write(n):
    with open('large', 'ab') as file: file.write(bytes(65536))
"""
    run(full + "n, number = fill(write); assert number == 28 and n < 70, (n, number); os.unlink('large')")
    run("n, number = fill(lambda n: open(f'many/{n}', 'w')); assert number == 28 and 200 < n < 310, (n, number)")


@needs_sandboxed
@pytest.mark.parametrize("disk_mb", [8, 20])
def test_the_overlay_temporary_files_and_scratch_have_one_bound_together(disk_mb: int, work: Path) -> None:
    """Each for itself would be within its wall."""
    write = """
import os, time
for folder in (os.getcwd(), "/tmp", os.environ["TMPDIR"]):
    with open(f"{folder}/x", "wb") as file: file.write(bytes(5 << 20))
if ENDED: time.sleep(60)
"""
    with open_executor(TrustLevel.SANDBOXED, ExecutionLimits(disk_mb=disk_mb), workspace=work) as executor:
        done = executor.run(write.replace("ENDED", str(disk_mb < 15)))
    expected = ("disk", "wrote more than 8 MB") if disk_mb < 15 else ("exited", None)
    assert (done.termination, done.error) == expected
    assert "watchdog-disk" in done.enforced


@needs_sandboxed
def test_a_file_with_holes_is_told_by_what_it_takes_up(work: Path, run: Callable[[str], WalledExecutor]) -> None:
    executor = run("file = open('holes', 'wb'); file.seek(50_000_000); file.write(b'end'); file.close()")
    with executor.changes() as changes:
        changes.accept(work)
    found = (work / "holes").stat()
    assert found.st_size == 50_000_003 and found.st_blocks * 512 < 1_000_000
    assert (work / "holes").read_bytes().endswith(b"\0end")


@needs_sandboxed
def test_folders_too_deep_to_be_told_are_said_to_be(run: Callable[[str], WalledExecutor]) -> None:
    executor = run("for n in range(190): os.mkdir('d'); os.chdir('d')")
    executor.changes().close()
    executor.run("for n in range(15): os.mkdir('d'); os.chdir('d')")
    with pytest.raises(MachineFailed, match="more than 200 deep"):
        executor.changes()


@pytest.fixture
def file() -> Iterator[io.BufferedRandom]:
    with os.fdopen(os.memfd_create("changes"), "w+b") as opened:
        yield opened


FOLDER = {"path": "a", "now": "folder", "was": "nothing"}


def test_changes_that_are_told_in_full_are_read(file: io.BufferedRandom) -> None:
    telling = Telling(file.fileno(), most_bytes=1000, within_s=60)
    telling.tell(FOLDER)
    telling.check()
    telling.end()
    file.seek(0)
    with Changes.read(file) as changes:
        assert listed(changes) == {"a": "added"}


def test_more_changes_than_can_be_is_an_end_with_a_reason(file: io.BufferedRandom) -> None:
    telling = Telling(file.fileno(), most_bytes=1 << 20, within_s=60)
    telling.tell(FOLDER)
    with pytest.raises(OSError, match="more than 1 MB") as raised:
        telling.copy(file.fileno(), 0, 1 << 20)
    telling.fail(str(raised.value.strerror))
    file.seek(0)
    with pytest.raises(MachineFailed, match="cannot be read: they are more than 1 MB"):
        Changes.read(file)


def test_changes_that_take_too_long_to_tell_are_not_told(file: io.BufferedRandom) -> None:
    telling = Telling(file.fileno(), most_bytes=1000, within_s=-1)
    for step in (telling.check, lambda: telling.copy(file.fileno(), 0, 10)):
        with pytest.raises(OSError, match="took longer than"):
            step()


def test_what_a_file_lost_while_it_was_told_is_zeros(file: io.BufferedRandom, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"abc")
    telling = Telling(file.fileno(), most_bytes=10, within_s=60)
    with (tmp_path / "short").open("rb") as short:
        telling.copy(short.fileno(), 0, 5)
    file.seek(0)
    assert file.read() == b"abc\0\0"


def told(*entries: dict[str, Any], content: bytes = b"") -> io.BytesIO:
    """The stream of these entries, with the content behind the first."""
    first, *others = (json.dumps(entry).encode() for entry in entries)
    frames = [len(text).to_bytes(4, "big") + text for text in (first, *others)]
    return io.BytesIO(b"".join((frames[0], content, *frames[1:])))


END = {"now": "end"}


def a_file(path: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "now": "file", "was": "nothing", "mode": 0o644, "size": 4, "pieces": [[0, 4]], **more}


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../b", "", ".", "a\0b"])
def test_a_name_that_leads_out_of_the_folder_is_not_read(path: str) -> None:
    with pytest.raises(MachineFailed, match="not a path in a folder"):
        Changes.read(told(a_file(path), END, content=b"evil"))


@pytest.mark.parametrize("stream", [b"", b"\0\0", told(a_file("a"), END, content=b"evil").getvalue()[:-3]])
def test_changes_that_are_cut_off_are_not_read(stream: bytes) -> None:
    with pytest.raises(MachineFailed, match="end in the middle"):
        Changes.read(io.BytesIO(stream))


def test_a_link_in_the_workspace_is_not_followed(tmp_path: Path) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    work.mkdir()
    (work / "folder").symlink_to(outside)
    (outside / "victim").write_text("safe")
    (work / "file").symlink_to(outside / "victim")
    with Changes.read(told(a_file("folder/new"), END, content=b"evil")) as changes, pytest.raises(OSError):
        changes.accept(work)
    with Changes.read(told(a_file("file"), END, content=b"evil")) as changes:
        assert changes.diff(work).startswith("--- /dev/null")
        changes.accept(work)
    assert snapshot(outside) == {"victim": ("file", b"safe")}
    assert not (work / "file").is_symlink() and (work / "file").read_text() == "evil"


def test_setuid_bits_are_left_out_and_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with Changes.read(told(a_file("a", mode=0o6755), END, content=b"evil")) as changes:
        changes.accept(tmp_path)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755
    failing = Changes.read(told(a_file("b", same_as="missing"), END, content=b"evil"))
    with failing, pytest.raises(FileNotFoundError):
        failing.accept(tmp_path)
    assert list(snapshot(tmp_path)) == ["a"]
