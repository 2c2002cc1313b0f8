from __future__ import annotations

import json
from typing import get_args

import pytest

from milepost.repair.file_scope import covers
from milepost.repair.patches.apply import FileState, Touched
from milepost.repair.patches.find_diffs import extract, find
from milepost.repair.patches.patch import MOVES, IllegalMove, Patch, PatchState, advance, created, may_move
from milepost.repair.patches.patch_log import PatchLedger
from milepost.store.database import Database

STATES: tuple[PatchState, ...] = get_args(PatchState)
HUNK = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
PLAIN = f"--- a/app.py\n+++ b/app.py\n{HUNK}"
GIT = f"diff --git a/app.py b/app.py\n{PLAIN}"


LONG = "/".join(f"{number:x}" for number in range(1000, 2000))  # longer than an index of a server takes


def new_patch(diff: str = GIT, attempt: int = 1) -> Patch:
    return created(run="7f3a", task="parse", attempt=attempt, source="claude", diff=diff, paths=("app.py",))


def lived(*states: PatchState) -> Patch:
    patch = new_patch()
    for state in states:
        patch = advance(patch, state, f"because {state}")
    return patch


def test_a_patch_lives_from_created_to_committed_and_every_step_has_its_reason() -> None:
    patch = lived("validated", "applied", "verified", "committed")

    assert [move.to for move in patch.history] == ["created", "validated", "applied", "verified", "committed"]
    assert patch.reason == "because committed"


LIVES: dict[tuple[PatchState, ...], set[PatchState]] = {
    (): {"validated", "failed", "quarantined", "dropped"},
    ("validated",): {"applied", "failed", "quarantined", "dropped"},
    ("validated", "applied"): {"verified", "failed", "rolled_back", "quarantined"},
    ("validated", "applied", "verified"): {"committed", "failed", "rolled_back", "quarantined"},
    ("validated", "applied", "verified", "committed"): {"rolled_back"},
    ("failed",): {"quarantined", "dropped"},
    ("validated", "applied", "failed"): {"rolled_back", "quarantined"},
    ("validated", "applied", "failed", "rolled_back"): {"quarantined", "dropped"},
    ("validated", "applied", "quarantined"): {"rolled_back"},
    ("quarantined",): {"dropped"},
    ("dropped",): set(),
}


@pytest.mark.parametrize("life", LIVES)
def test_no_step_is_taken_out_of_turn_and_no_change_is_forgotten_in_the_tree(life: tuple[PatchState, ...]) -> None:
    patch = lived(*life)

    assert {state for state in STATES if may_move(patch, state)} == LIVES[life]
    for state in set(STATES) - LIVES[life]:
        with pytest.raises(IllegalMove, match=patch.id):
            advance(patch, state)


def test_only_what_was_validated_is_applied_and_only_what_was_verified_is_committed() -> None:
    assert [state for state in STATES if "applied" in MOVES[state]] == ["validated"]
    assert [state for state in STATES if "committed" in MOVES[state]] == ["verified"]


def test_the_ledger_gives_back_what_it_was_given_and_takes_the_same_twice(database: Database) -> None:
    ledger = PatchLedger(database)
    before = FileState(content=b"one\r\n\xff", mode=0o100644)
    touched = (Touched(path="app.py", before=before, after=None), Touched(path=LONG, before=None, after=before))
    for _ in range(2):
        patch = ledger.keep(new_patch())
        patch = ledger.move(patch, "validated", "it applies")
        patch = ledger.move(patch, "applied", "", touched)
    other = ledger.keep(new_patch(attempt=2))

    again = PatchLedger(database)
    assert again.patch(patch.id) == patch
    assert again.of_task("7f3a", "parse") == (patch, other)
    assert again.touched(patch.id) == touched
    assert again.patch("0000") is None


def test_a_patch_cannot_have_led_two_lives(database: Database) -> None:
    ledger = PatchLedger(database)
    patch = ledger.keep(new_patch())
    ledger.move(patch, "dropped", "nobody wants it")

    with pytest.raises(IllegalMove, match="dropped"):
        ledger.move(patch, "validated")
    kept = ledger.patch(patch.id)
    assert kept is not None and kept.state == "dropped"


@pytest.mark.parametrize(
    "text",
    [
        GIT,
        PLAIN,
        f"Here you are:\n\n```diff\n{GIT}```\nThat mends it.\n",
        f"Here you are:\n\n```diff\n{GIT}\n```",
        f"Mended:\n{PLAIN}And that is all.\n",
        f"- first\n\n  ```diff\n{''.join(f'  {line}' for line in GIT.splitlines(keepends=True))}  ```\n",
        f"> ```\n{''.join(f'> {line}' for line in GIT.splitlines(keepends=True))}> ```\n",
        GIT.replace("\n", "\r\n"),
        f"```diff\r\n{GIT}```\n".replace("\n", "\r\n").replace("\r\r", "\r"),
        "--- app.py\n+++ app.py\n" + HUNK,
        "--- app.py\t2026-01-01 10:00:00 +0000\n+++ app.py\t2026-01-01 10:00:01 +0000\n" + HUNK,
        "--- old/app.py\n+++ new/app.py\n" + HUNK,
        "diff --git i/app.py w/app.py\nindex 1..2 100644\n--- i/app.py\n+++ w/app.py\n" + HUNK,
        "\x1b[1mdiff --git a/app.py b/app.py\x1b[m\n\x1b[1m--- a/app.py\x1b[m\n\x1b[1m+++ b/app.py\x1b[m\n"
        "\x1b[36m@@ -1,3 +1,3 @@\x1b[m\n one\n\x1b[31m-two\x1b[m\n\x1b[32m+2\x1b[m\n three\n",
    ],
)
def test_a_diff_is_found_however_it_is_wrapped(text: str) -> None:
    assert extract(text) == (GIT,)


def test_a_diff_in_the_json_of_a_tool_is_found_and_one_that_is_told_twice_counts_once() -> None:
    said = {"type": "message", "content": [{"text": f"Here:\n```diff\n{GIT}```\n"}]}
    stream = "\n".join(["{not json", json.dumps(said), json.dumps({"type": "result", "result": GIT})])

    assert extract(json.dumps(said)) == (GIT,)
    assert extract(stream) == (GIT,)


def test_files_written_together_are_one_diff_and_prose_parts_two() -> None:
    other = GIT.replace("app.py", "b.py")

    assert extract(f"{GIT}{other}") == (GIT + other,)
    assert extract(f"{GIT}\n{other}") == (GIT + other,)
    assert extract(f"{GIT}and then\n{other}") == (GIT, other)


def test_lines_that_look_like_a_header_or_a_fence_are_only_lines_inside_a_hunk() -> None:
    diff = (
        "diff --git a/q.sql b/q.sql\n--- a/q.sql\n+++ b/q.sql\n@@ -1,4 +1,4 @@\n ```\n--- a/old\n+++ b/new\n \n ```\n"
    )

    assert extract(f"```\n{diff}```\n") == (diff,)


def test_an_empty_context_line_may_have_lost_its_space() -> None:
    whole = GIT.replace("-1,3 +1,3", "-1,4 +1,4").replace(" three\n", " \n three\n")

    assert extract(whole.replace(" \n", "\n")) == (whole,)


@pytest.mark.parametrize(
    "text",
    [
        GIT.removesuffix(" three\n"),
        "\n".join(GIT.split("\n")[:3]),
        "\n".join(GIT.split("\n")[:2]),
        f"```diff\n{GIT}",
        f"```diff\n{GIT.removesuffix(' three' + chr(10))}```\n",
        GIT.replace(" three\n", "... the rest is unchanged\n"),
        "diff --git a/x.png b/x.png\nindex 1..2\nBinary files a/x.png and b/x.png differ\n",
    ],
)
def test_a_diff_that_is_cut_short_or_binary_is_refused_with_the_reason(text: str) -> None:
    assert extract(text) == ()
    assert find(text).problems


def test_text_without_a_diff_has_neither_diffs_nor_problems() -> None:
    found = find("--- a heading\n+++ nothing\n\n@@ no hunk @@\n- a list\n+ another\n```py\nx = 1\n```\n")

    assert found.diffs == () and found.problems == ()


def test_what_a_diff_says_of_names_and_modes_is_understood() -> None:
    (files,) = find(
        "diff --git a/old name.py b/new name.py\nsimilarity index 9%\nrename from old name.py\nrename to new name.py\n"
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        'diff --git "a/caf\\303\\251.txt" "b/caf\\303\\251.txt"\nnew file mode 100644\n--- /dev/null\n'
        '+++ "b/caf\\303\\251.txt"\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n'
        "diff --git a/gone b/gone\ndeleted file mode 100644\n"
    ).diffs

    assert [(file.old, file.new) for file in files] == [
        ("old name.py", "new name.py"),
        ("run.sh", "run.sh"),
        (None, "café.txt"),
        ("gone", None),
    ]
    assert [file.mode for file in files] == ["", "100755", "100644", ""]


@pytest.mark.parametrize(
    ("entry", "path", "expected"),
    [
        ("docs/", "docs/a/b.md", True),
        ("./docs", "docs/a.md", True),
        ("docs", "docsx/a.md", False),
        ("app.py", "src/app.py", False),
        ("src/*.py", "src/app.py", True),
        ("src/*.py", "src/deep/app.py", False),
        ("src/**/*.py", "src/deep/er/app.py", True),
        ("src/**/*.py", "src/app.py", True),
        ("src/**", "src/app.py", True),
        ("a?.py", "ab.py", True),
        ("a.py", "abpy", False),
        (" ", "app.py", False),
    ],
)
def test_an_entry_of_files_covers_the_file_a_folder_or_a_glob(entry: str, path: str, expected: bool) -> None:
    assert covers(entry, path) is expected
