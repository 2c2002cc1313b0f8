"""The index is a cache: it can be damaged, deleted, shared and replaced, and is always right again."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from milepost.core.errors import StateUnwritable
from milepost.core.memories import Episode, EpisodeEnd, EpisodeStart, EpisodeStep, Lesson
from milepost.core.verdict import Verdict
from milepost.memory.memory import StoredMemory
from milepost.memory.recall import update_index
from milepost.memory.recall.recall import Recaller
from milepost.memory.store.rows import Values
from milepost.store.database import open_database

LEARNER = """
import sys
from contextlib import closing
from pathlib import Path
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.recall import Recaller
from milepost.memory.store.rows import Values
from milepost.store.database import open_database
from tests.recall.test_index import episode

folder, name = Path(sys.argv[1]), sys.argv[2]
with closing(open_database(folder / "milepost.db")) as database:
    memory = StoredMemory(database)
    with closing(Recaller(memory, index=folder / "recall.db")) as recaller:
        for number in range(15):
            memory.record(episode(f"{name}{number}", f"Parse {name}{number} hours"))
            assert [found.id for found in recaller.search(f"{name}{number}")] == [f"{name}{number}"]
        print(len(recaller.search("hours", most=100)), flush=True)
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[StoredMemory]:
    with closing(open_database(tmp_path / "milepost.db")) as database:
        yield StoredMemory(database)


def test_what_is_added_is_found_by_every_process_that_shares_the_file(memory: StoredMemory, tmp_path: Path) -> None:
    others = [
        subprocess.Popen([sys.executable, "-c", LEARNER, str(tmp_path), name], stdout=subprocess.PIPE, text=True)
        for name in ("alpha", "beta")
    ]
    for other in others:
        assert int(other.communicate()[0]) >= 15
        assert other.returncode == 0
    with closing(Recaller(memory, index=tmp_path / "recall.db")) as recaller:
        assert len(recaller.search("hours", most=100)) == 30


def test_a_file_that_was_damaged_deleted_or_is_of_another_version_is_made_again(
    memory: StoredMemory, tmp_path: Path
) -> None:
    place = tmp_path / "recall.db"
    memory.record(episode("a1", "Parse hours"))

    def damage() -> None:
        place.write_bytes(b"not a database" * 1_000)

    def tear() -> None:
        place.write_bytes(place.read_bytes()[: place.stat().st_size // 3])

    def age() -> None:
        with closing(sqlite3.connect(place)) as db:
            db.executescript("drop table entries; create table entries (old text); pragma user_version = 999")

    with closing(Recaller(memory, index=place)) as recaller:
        assert _found(recaller) == ["a1"]
        place.unlink()
        assert _found(recaller) == ["a1"]
        assert place.exists()
        recaller.rebuild()
        assert _found(recaller) == ["a1"]
    for spoil in (damage, tear, age):
        spoil()
        with closing(Recaller(memory, index=place)) as recaller:
            assert _found(recaller) == ["a1"], spoil.__name__


def test_where_no_file_can_be_written_the_index_is_in_memory(memory: StoredMemory, tmp_path: Path) -> None:
    memory.record(episode("a1", "Parse hours"))
    with closing(Recaller(memory, index=tmp_path / "missing" / "recall.db")) as recaller:
        assert _found(recaller) == ["a1"]
    (tmp_path / "folder.db").mkdir()
    with closing(Recaller(memory, index=tmp_path / "folder.db")) as recaller:
        assert _found(recaller) == ["a1"]
    for place in (tmp_path / "missing" / "recall.db", tmp_path / "folder.db"):
        with closing(Recaller(memory, index=place)) as recaller:
            with pytest.raises(StateUnwritable, match="cannot be rebuilt"):
                recaller.rebuild()
            assert _found(recaller) == ["a1"]


def test_a_file_that_belongs_to_another_memory_is_made_again(memory: StoredMemory, tmp_path: Path) -> None:
    memory.record(episode("a1", "Parse hours"))
    with closing(Recaller(memory, index=tmp_path / "recall.db")) as recaller:
        assert _found(recaller) == ["a1"]
    with closing(open_database(tmp_path / "new.db")) as database:
        other = StoredMemory(database)
        with closing(Recaller(other, index=tmp_path / "recall.db")) as recaller:
            assert _found(recaller) == []
            other.record(episode("b1", "Count hours"))
            assert _found(recaller) == ["b1"]


def test_only_what_is_new_is_read_and_an_unreadable_row_hides_no_other(
    memory: StoredMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        memory.record(episode(f"a{number}", "Parse hours"))
    memory.rows.database.write("update memory_endings set body = 'garbage' where episode = 'a2'")
    with closing(Recaller(memory, index=tmp_path / "recall.db")) as recaller:
        assert sorted(_found(recaller)) == ["a0", "a1", "a3", "a4"]
    monkeypatch.setattr(update_index, "_READERS", dict.fromkeys(update_index._READERS, pytest.fail))
    with closing(Recaller(memory, index=tmp_path / "recall.db")) as recaller:
        assert sorted(_found(recaller)) == ["a0", "a1", "a3", "a4"]


def test_the_errors_of_steps_are_found_and_forgotten_episodes_are_not(memory: StoredMemory, tmp_path: Path) -> None:
    step = EpisodeStep(tool="shell", action="run tests", result="error", signature="keyerror: 'winter'")
    memory.record(episode("a1", "Parse hours", step))
    memory.record(episode("a2", "Parse hours"))
    with closing(Recaller(memory, index=tmp_path / "recall.db")) as recaller:
        assert recaller.search("KeyError: 'winter'")[0].why == "the same error: keyerror: 'winter'"
        for table, column in (("memory_episodes", "id"), ("memory_endings", "episode"), ("memory_steps", "episode")):
            memory.rows.database.write(f"delete from {table} where {column} = 'a2'")
        forgotten: Values = {"kind": "episode", "id": "a2", "why": "asked", "at": 0.0}
        memory.rows.together(lambda: memory.rows.add("memory_forgotten", forgotten))
        memory.record(episode("a3", "Count hours"))
        assert sorted(_found(recaller)) == ["a1", "a3"]


def test_a_memory_on_a_server_is_recalled_from_in_the_same_way(postgres: str, tmp_path: Path) -> None:
    with closing(open_database(postgres)) as database:
        memory = StoredMemory(database)
        memory.record(episode("a1", "Parse hours"))
        lesson = Lesson(
            id="l", kind="usage", project="clock", subject="s", text="`hours`", made_at=1.0, terms=("hours",)
        )
        memory.lessons.keep(lesson, ["a1"])
        with closing(Recaller(memory, index=tmp_path / "recall.db")) as recaller:
            assert sorted(_found(recaller)) == ["a1", "l"]
            memory.lessons.move("l", "retired", "old")
            memory.record(episode("a2", "Count hours"))
            assert sorted(_found(recaller)) == ["a1", "a2", "l"]


def episode(name: str, title: str, *steps: EpisodeStep) -> Episode:
    start = EpisodeStart(id=name, project="clock", title=title, started_at=1.0)
    return Episode(start=start, steps=steps, end=EpisodeEnd(kind="success", ended_at=2.0, verdict=Verdict.PASSED))


def _found(recaller: Recaller) -> list[str]:
    return [found.id for found in recaller.search("hours")]
