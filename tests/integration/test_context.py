"""A context made of a real repository: what it shows, what it never shows, and the cache of tags below it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.engine.context.build_context import FOR_PROGRAMS, Contexts, ContextView
from milepost.engine.context.tag_cache import FILE, TagCache
from milepost.plan.context.build_context import Context, ContextBounds
from milepost.sources.tags import Tags
from milepost.workspace.mileposts import milepost_message
from tests.integration.repositories import NOW, Place, new_place

PASSWORD = "correct-horse-battery-staple"
KEY = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n" * 9
TASK = Task(
    id="1.1",
    title="Parse durations",
    status="open",
    line=3,
    text="Let `parse_duration` in `app/parse.py` read hours, as `.env`, `keys/server.pem` and `conf.py` say.",
    context="# Phase 1\nGoal: times of all kinds",
    verify=("pytest tests/test_parse.py",),
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = new_place(tmp_path)
    made.write("app/parse.py", "from app.units import Unit\n\n\ndef parse_duration(text: str) -> int:\n    return 0\n")
    made.write(
        "app/units.py", 'import os\n\nLIMIT = os.environ["LIMIT_S"]\n\n\nclass Unit:\n    def seconds(self): ...\n'
    )
    made.write("app/other.py", "def unrelated(): ...\n")
    made.write("tests/test_parse.py", "from app.parse import parse_duration\n")
    made.write("pyproject.toml", '[project]\nname = "durations"\n[tool.ruff]\nline-length = 99\n[tool.pytest]\n')
    made.commit("Code")
    return made


def view(place: Place, task: Task = TASK, *, agent: str = "tool", since: str = "", tokens: int = 50_000) -> ContextView:
    head = place.head
    return ContextView(
        task=task,
        agent=agent,
        tree=head,
        base=head,
        since=since or head,
        roadmap="ROADMAP.md",
        folder=place.top,
        bounds=ContextBounds(tokens=tokens),
    )


def shown(place: Place, seen: ContextView, *, cache: TagCache | None = None, secrets: tuple[str, ...] = ()) -> Context:
    return Contexts(place.engine_git(), cache or TagCache(), Redactor(secrets)).of(seen)


def test_a_task_is_shown_its_files_what_they_use_and_the_facts(place: Place) -> None:
    text = shown(place, view(place)).text
    assert "# What the roadmap says above the task\n# Phase 1\nGoal: times of all kinds" in text
    assert "project: Python package durations\n" in text and "line length: 99\n" in text
    assert "tests: . (pytest, else unittest)\n" in text
    assert "environment variables that the code reads: LIMIT_S\n" in text
    assert "--- app/parse.py ---\nfrom app.units import Unit\n" in text
    assert "--- tests/test_parse.py ---\n" in text
    assert 'app/units.py:\n    3  LIMIT = os.environ["LIMIT_S"]\n    6  class Unit\n    7    def seconds(self)' in text
    assert "app/: other.py parse.py units.py" in text
    assert text.index("class Unit") < text.index("def unrelated")


def test_the_same_view_gives_the_same_text_with_a_cache_and_without(place: Place, tmp_path: Path) -> None:
    plain = shown(place, view(place)).text
    for _ in range(2):
        with closing(TagCache(tmp_path / "state")) as cache:
            assert shown(place, view(place), cache=cache).text == plain


def test_what_is_not_committed_is_not_shown(place: Place) -> None:
    before = shown(place, view(place)).text
    place.write("app/parse.py", "def half_done(): ...\n")
    place.write("app/new.py", "def half_done(): ...\n")
    assert shown(place, view(place)).text == before


def test_secrets_never_appear(place: Place) -> None:
    place.write(".env", "DB_PASSWORD=plain-and-simple-words\n")
    place.write(".env.example", "DB_PASSWORD=changeme-please\nAPI_URL=\n")
    place.write("keys/server.pem", KEY)
    place.write("deploy.md", f"{'x' * 1000}\n{KEY}{'y' * 60_000}\n")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    place.write(
        "conf.py", f'TOKEN = "{token}"\npassword = "{PASSWORD}"\napi_key = "q8Zr2Lw9Xc4Vb7Nm1Kj5"\nmode = "x"\n'
    )
    place.write("app/parse.py", f'def parse_duration(text, api_key="q8Zr2Lw9Xc4Vb7Nm1Kj5", word="{PASSWORD}"): ...\n')
    place.commit()
    task = replace(TASK, text=f"{TASK.text} See `deploy.md`.", context=f"the password is {PASSWORD}")
    found = shown(place, view(place, task), secrets=(PASSWORD,))
    hidden = (PASSWORD, "plain-and-simple", "changeme", "MIIEvQ", token, "q8Zr2Lw9Xc4Vb7Nm1Kj5")
    assert [secret for secret in hidden if secret in found.text] == []
    assert "--- .env: may hold secrets, not shown, 35 bytes ---" in found.text
    assert "--- keys/server.pem: may hold secrets, not shown" in found.text
    assert 'mode = "x"' in found.text and "API_URL, DB_PASSWORD, LIMIT_S" in found.text


def test_a_secret_is_kept_in_no_cache(place: Place, tmp_path: Path) -> None:
    place.write("app/parse.py", f'def parse_duration(text, word="{PASSWORD}"): ...\n')
    place.commit()
    with closing(TagCache(tmp_path)) as cache:
        shown(place, view(place), cache=cache, secrets=(PASSWORD,))
    assert PASSWORD.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "cache").iterdir())


def test_binary_huge_linked_and_missing_files_are_only_named(place: Place) -> None:
    place.write("logo.png", b"\x89PNG\0\0")
    place.write("huge.txt", "x" * 1_100_000)
    (place.top / "link.py").symlink_to("/etc/passwd")
    place.write("od\nd.py", "def odd(): ...\n")
    place.commit()
    files = ("logo.png", "huge.txt", "link.py", "new.py")
    text = shown(place, view(place, replace(TASK, files=files))).text
    assert "--- logo.png: binary, 6 bytes ---" in text
    assert "--- huge.txt: too large to be shown, 1100000 bytes ---" in text
    assert "--- link.py: a link, 11 bytes ---" in text
    assert "--- new.py: not there yet ---" in text
    assert "root:" not in text and "od\nd.py" not in text


def test_programs_are_shown_where_to_begin_and_patterns_nothing(place: Place) -> None:
    found = shown(place, view(place, agent="claude"))
    assert [section.name for section in found.sections] == ["facts", "outline"]
    assert found.bounds.tokens == FOR_PROGRAMS
    assert "app/parse.py:\n    4  def parse_duration(text: str) -> int" in found.text
    for agent in ("pattern:rename_symbol", "pattern:auto"):
        assert shown(place, view(place, agent=agent)).text == ""
    assert shown(place, view(place, tokens=0)).text == ""


def test_what_was_done_before_is_told_of_this_run_and_of_earlier_ones(place: Place) -> None:
    git = place.mileposts()

    def land(task: str, run: str, name: str) -> str:
        message = milepost_message(task=task, title=f"Do {task}", run=run, attempt=1, agent="a", roadmap="ROADMAP.md")
        tree = git.with_file(git.with_file(git.tree_of(place.head), name, b"x = 1\n"), "ROADMAP.md", b"- [x]\n")
        commit = git.commit(tree, place.head, message, NOW)
        place.git("reset", "--quiet", "--hard", commit)
        return commit

    land("0.1", "aaaa", "old.py")
    start = place.commit("Between")
    land("1.0", "bbbb", "app/other.py")
    land("1.0b", "bbbb", "app/fresh.py")
    found = {section.name: section.text for section in shown(place, view(place, since=start)).sections}
    assert found["run"].splitlines()[1:] == [
        "- 1.0b Do 1.0b: app/fresh.py (created)",
        "- 1.0 Do 1.0: app/other.py (changed)",
    ]
    assert found["memory"].splitlines()[1:] == ["- 0.1 Do 0.1: old.py (created)"]


def test_a_repository_of_one_empty_commit_is_shown_as_it_is(tmp_path: Path) -> None:
    made = new_place(tmp_path)
    made.git("rm", "--quiet", "-r", ".")
    made.commit("Nothing")
    found = shown(made, view(made, replace(TASK, context="", text="", verify=())))
    assert found.text == ""


# The cache.


def rows(state: Path) -> int:
    with closing(sqlite3.connect(state / FILE)) as database:
        return int(database.execute("select count(*) from tags").fetchone()[0])


class Counting(TagCache):
    """A cache that tells how many files were read each time."""

    def __init__(self, state: Path, read: list[int]) -> None:
        super().__init__(state)
        self._read = read

    def keep(self, tags: Mapping[str, Tags]) -> None:
        self._read.append(len(tags))
        super().keep(tags)


def test_files_that_change_often_are_among_the_facts(place: Place) -> None:
    for number in range(3):
        place.write("often.py", f"number = {number}\n")
        place.write(f"once{number}.py", "")
        place.commit("More")
    assert "changed most often: often.py (3)\n" in shown(place, view(place)).text


def test_tags_are_read_once_and_another_commit_reads_only_what_it_changed(place: Place, tmp_path: Path) -> None:
    read: list[int] = []
    for _ in range(2):
        with closing(Counting(tmp_path, read)) as cache:
            shown(place, view(place), cache=cache)
            shown(place, view(place), cache=cache)
    assert read == [4] and rows(tmp_path) == 4
    place.write("app/other.py", "def another(): ...\n")
    place.commit()
    with closing(Counting(tmp_path, read)) as cache:
        assert "def another()" in shown(place, view(place), cache=cache).text
    assert read == [4, 1]


@pytest.mark.parametrize("damage", ["garbage", "half", "row", "folder"])
def test_a_damaged_cache_is_made_anew(place: Place, tmp_path: Path, damage: str) -> None:
    whole = shown(place, view(place)).text
    with closing(TagCache(tmp_path)) as cache:
        shown(place, view(place), cache=cache)
    file = tmp_path / FILE
    match damage:
        case "garbage":
            file.write_bytes(b"no database" * 1000)
        case "half":
            file.write_bytes(file.read_bytes()[:5000])
        case "row":
            with closing(sqlite3.connect(file)) as database:
                database.execute("update tags set body = '[[1, 2], 3'")
                database.commit()
        case _:
            file.unlink()
            file.mkdir()
    for _ in range(2):
        with closing(TagCache(tmp_path)) as cache:
            assert shown(place, view(place), cache=cache).text == whole
    assert damage == "folder" or rows(tmp_path) == 4


def test_a_file_that_a_parser_does_not_survive_is_given_up_once(place: Place, tmp_path: Path) -> None:
    place.write("app/bad.py", "/*\n" * 30_000)
    place.write("app/good.py", "def still_read(): ...\n")
    place.commit()
    read: list[int] = []
    for _ in range(2):
        with closing(Counting(tmp_path, read)) as cache:
            text = shown(place, view(place), cache=cache).text
    assert "def still_read()" in text and "not read for the outline: 1 files" in text
    assert read == [6]


def test_a_cache_that_cannot_be_written_is_no_mishap(place: Place, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder would be")
    with closing(TagCache(tmp_path)) as cache:
        assert shown(place, view(place), cache=cache).text == shown(place, view(place)).text


def test_the_oldest_tags_are_dropped(place: Place, tmp_path: Path) -> None:
    with closing(TagCache(tmp_path, most_rows=3)) as cache:
        shown(place, view(place), cache=cache)
    assert rows(tmp_path) == 3
