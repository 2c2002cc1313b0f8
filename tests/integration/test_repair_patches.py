from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.task import Task
from milepost.repair.patches.apply import RunGit
from milepost.repair.patches.fixes import apply_fix, take_back
from milepost.repair.patches.patch_log import PatchLedger
from milepost.store.database import open_database
from tests.integration.repositories import everything

TASK = Task(id="1.1", title="One", status="open", line=1, files=("app.py", "docs/"))
TWO_FILES = ("x y.py", "sub/z.py")
APP = "one\ntwo\nthree\n"


def git_in(folder: Path, words: tuple[str, ...], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *words], cwd=folder, input=stdin, capture_output=True, env=environment, check=False)


def run_git_in(folder: Path) -> RunGit:
    def run(words: tuple[str, ...], stdin: bytes) -> tuple[int, str]:
        done = git_in(folder, words, stdin)
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "backslashreplace")

    return run


class Bench:
    """A checkout with a ledger beside it."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "tree"
        self.folder.mkdir(parents=True)
        git_in(self.folder, ("init", "--quiet"))
        self.database = open_database(":memory:")
        self.ledger = PatchLedger(self.database)
        self.run_git = run_git_in(self.folder)

    def write(self, path: str, content: bytes | str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def fix(self, answer: str, task: Task = TASK, attempt: int = 1) -> tuple[str, str]:
        report = apply_fix(
            answer,
            run="7f3a",
            task=task,
            attempt=attempt,
            source="claude",
            folder=self.folder,
            ledger=self.ledger,
            run_git=self.run_git,
            protected=("ROADMAP.md",),
        )
        return (report.patch.state if report.patch else "", report.reason)

    def take_back(self) -> str:
        (patch,) = self.ledger.of_task("7f3a", "1.1")
        report = take_back(patch, "it failed", folder=self.folder, ledger=self.ledger, run_git=self.run_git)
        assert report.patch is not None
        return report.patch.state

    def put(self, contents: tuple[bytes | None, ...]) -> None:
        for name, content in zip(TWO_FILES, contents, strict=True):
            if content is None:
                (self.folder / name).unlink(missing_ok=True)
            else:
                self.write(name, content)

    def contents(self) -> tuple[bytes | None, ...]:
        paths = [self.folder / name for name in TWO_FILES]
        return tuple(path.read_bytes() if path.exists() else None for path in paths)

    def tree(self) -> dict[str, bytes | str]:
        return everything(self.folder, but=(".git",))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "bench")
    bench.write("app.py", APP)
    yield bench
    bench.database.close()


def diff(path: str, old: str = "two", new: str = "2") -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n one\n-{old}\n+{new}\n three\n"


def making(path: str, line: str, mode: str = "100644") -> str:
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n"
    return f"{head}+{line}\n" + ("\\ No newline at end of file\n" if mode == "120000" else "")


def test_a_fix_is_applied_through_the_ledger_and_taken_back_exactly(bench: Bench) -> None:
    before = bench.tree()

    assert bench.fix(f"This mends it:\n```diff\n{diff('app.py')}{making('docs/new/a.md', 'x')}```\n") == (
        "applied",
        "changed app.py, docs/new/a.md",
    )
    assert (bench.folder / "app.py").read_text() == "one\n2\nthree\n"
    assert bench.take_back() == "rolled_back"
    assert bench.tree() == before
    (patch,) = bench.ledger.of_task("7f3a", "1.1")
    assert [move.to for move in patch.history] == ["created", "validated", "applied", "rolled_back"]


def test_a_new_name_a_new_mode_and_a_link_come_out_again_as_they_went_in(bench: Bench) -> None:
    bench.write("run.sh", "x\n")
    before = bench.tree()
    rename = "diff --git a/app.py b/docs/app.py\nsimilarity index 100%\nrename from app.py\nrename to docs/app.py\n"
    mode = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"

    assert bench.fix(rename + mode + making("docs/link", "../run.sh", "120000"))[0] == "applied"
    assert (bench.folder / "docs/app.py").read_text() == APP and not (bench.folder / "app.py").exists()
    assert os.access(bench.folder / "run.sh", os.X_OK)
    assert (bench.folder / "docs/link").readlink() == Path("../run.sh")
    assert bench.take_back() == "rolled_back"
    assert bench.tree() == before


def test_what_was_taken_back_is_not_tried_again_in_the_same_attempt(bench: Bench) -> None:
    bench.fix(diff("app.py"))
    bench.take_back()

    assert bench.fix(diff("app.py")) == ("rolled_back", "it failed")
    assert (bench.folder / "app.py").read_text() == APP


def test_a_patch_comes_out_alone_when_other_lines_changed_since(bench: Bench) -> None:
    bench.write("app.py", APP + "4\n5\n6\n7\n8\n")
    bench.fix(diff("app.py"))
    bench.write("app.py", (bench.folder / "app.py").read_text().replace("8", "eight"))

    assert bench.take_back() == "rolled_back"
    assert (bench.folder / "app.py").read_text() == APP + "4\n5\n6\n7\neight\n"


def test_a_patch_that_no_longer_comes_out_is_quarantined_and_nothing_is_lost(bench: Bench) -> None:
    bench.fix(diff("app.py"))
    bench.write("app.py", "mine\n")

    assert bench.take_back() == "quarantined"
    assert (bench.folder / "app.py").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("answer", "state", "reason"),
    [
        ("I could not find out.", "", "no unified diff"),
        (diff("app.py", old="zwei"), "failed", "does not apply"),
        (diff("app.py").removesuffix(" three\n"), "failed", "cut short"),
        (diff("app.py") + "and\n" + diff("b.py").removesuffix(" three\n"), "failed", "cut short"),
        (diff("app.py") + diff("gone.py"), "failed", "does not apply"),
        (making("../out.py", "x"), "quarantined", "not a path in the checkout"),
        (making("/etc/out.py", "x"), "quarantined", "not a path in the checkout"),
        (making("docs/.git/hooks/x", "x"), "quarantined", "not a path in the checkout"),
        (making(".GIT/config", "x"), "quarantined", "not a path in the checkout"),
        (making("ROADMAP.md", "x"), "quarantined", "may not be changed"),
        (making("link", "/etc/passwd", "120000"), "quarantined", "would be a link"),
        (making("docs/link", "../../out", "120000"), "quarantined", "would be a link"),
        (making("link", ".git/config", "120000"), "quarantined", "would be a link"),
        (making("sub", "Subproject commit " + "0" * 40, "160000"), "quarantined", "submodule"),
        (making("away/x", "x"), "quarantined", "is a link"),
        (diff("linked.py"), "quarantined", "is a link"),
        ("diff --git a/app.py b/../up.py\nsimilarity index 100%\nrename from app.py\nrename to ../up.py\n",
         "quarantined", "not a path in the checkout"),
    ],
)  # fmt: skip
def test_what_is_broken_or_reaches_out_changes_nothing(
    bench: Bench, tmp_path: Path, answer: str, state: str, reason: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_text(APP)
    (bench.folder / "away").symlink_to(outside)
    (bench.folder / "linked.py").symlink_to(outside / "app.py")
    before, before_outside = bench.tree(), everything(outside)

    told = bench.fix(answer)

    assert told[0] == state and reason in told[1]
    assert bench.tree() == before and everything(outside) == before_outside
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench", "outside"]


def test_a_task_that_may_change_only_its_files_holds_a_patch_to_them(bench: Bench) -> None:
    task = Task(id="1.1", title="One", status="open", line=1, files=("app.py", "docs/"), only_its_files=True)

    assert bench.fix(making("other.py", "x"), task)[0] == "quarantined"
    assert bench.fix(diff("app.py") + making("docs/deep/a.md", "x"), task)[0] == "applied"


def test_a_diff_that_lost_its_carriage_returns_still_fits_a_file_that_has_them(bench: Bench) -> None:
    bench.write("app.py", APP.replace("\n", "\r\n"))

    assert bench.fix(diff("app.py"))[0] == "applied"
    assert (bench.folder / "app.py").read_bytes() == b"one\r\n2\r\nthree\r\n"
    assert bench.take_back() == "rolled_back"

    bench.write("app.py", b"one\r\ntwo\r\nthree")
    assert bench.fix(diff("app.py") + "\\ No newline at end of file\n", attempt=2)[0] == "applied"
    assert (bench.folder / "app.py").read_bytes() == b"one\r\n2\r\nthree"


TEXT = st.lists(
    st.sampled_from(["a", "b", "", "  c", "é", "--- x", "@@ -1 +1 @@", "```", "d\r", "\\ e", "\t"]), max_size=14
)
FILE = st.none() | st.builds(
    lambda lines, end: ("\n".join(lines) + ("\n" if end else "")).encode(), TEXT, st.booleans()
)


@settings(max_examples=40)
@given(before=st.tuples(FILE, FILE), after=st.tuples(FILE, FILE), fenced=st.booleans())
def test_applying_gives_the_new_bytes_and_rolling_back_the_old_ones(
    before: tuple[bytes | None, ...], after: tuple[bytes | None, ...], fenced: bool
) -> None:
    home = Path(tempfile.mkdtemp(prefix="patches-"))
    bench = Bench(home / "bench")
    try:
        bench.put(before)
        tree = bench.tree()
        git_in(bench.folder, ("add", "--all"))
        bench.put(after)
        git_in(bench.folder, ("add", "--intent-to-add", "--ignore-removal", "."))
        made = git_in(bench.folder, ("diff", "--no-renames")).stdout.decode()
        bench.put(before)
        answer = f"Look:\n````diff\n{made}````\nDone.\n" if fenced else f"Look:\n{made}Done.\n"

        state, _ = bench.fix(answer)

        assert state == ("applied" if made else "")
        assert bench.contents() == (after if made else before)
        if made:
            assert bench.take_back() == "rolled_back"
        assert bench.contents() == before
        assert set(bench.tree()) - {"sub"} == set(tree) - {"sub"}
    finally:
        bench.database.close()
        shutil.rmtree(home)
