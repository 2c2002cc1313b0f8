"""Commands that are proposed to people take the roadmap that was meant."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

import milepost
import milepost.roadmaps
from milepost.cli.main import app
from milepost.cli.named_roadmap import ARGUMENT, OPTION, proposed, remember
from milepost.core.errors import RoadmapMissing
from tests import places


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    remember(None)


def was_run(folder: Path, *roadmaps: str) -> None:
    """Make a folder know runs of these roadmaps."""
    places.made_state(folder)
    with sqlite3.connect(places.database(folder)) as db:
        db.execute("create table if not exists runs (order_json text, started_at double precision)")
        rows = [(f'{{"roadmap": "{name}"}}', number) for number, name in enumerate(roadmaps)]
        db.executemany("insert into runs values (?, ?)", rows)
    db.close()


def test_a_roadmap_is_named_where_a_command_would_take_another_one_or_none(folder: Path) -> None:
    (folder / "my plan.md").write_text("- [ ] One\n")
    remember(Path("my plan.md"))
    assert proposed("see milepost plan --all, then: milepost retry 1.1") == (
        "see milepost plan 'my plan.md' --all, then: milepost retry --roadmap 'my plan.md' 1.1"
    )
    alone = "milepost doctor, milepost memory sync, milepost resume /other/PLAN.md, milepost runs"
    assert proposed(alone) == alone
    (folder / "ROADMAP.md").write_text("- [ ] Two\n")
    assert proposed("milepost undo 1.1") == "milepost undo --roadmap 'my plan.md' 1.1"
    for other in (Path("ROADMAP.md"), None, Path("no.md")):
        remember(other)
        assert proposed("milepost run") == "milepost run"


def test_every_command_that_takes_a_roadmap_is_known_by_how_it_takes_it() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    kinds: dict[str, set[str]] = {"argument": {"roadmap normalise"}, "option": set()}
    for name, command in commands.items():
        for param in command.params:
            if param.name == "roadmap":
                kinds[param.param_type_name].add(name)
    assert (kinds["argument"], kinds["option"]) == ({*ARGUMENT}, {*OPTION})


def test_the_only_roadmap_that_was_run_in_a_folder_need_not_be_named(folder: Path) -> None:
    for name in ("BUILD.md", "LATER.md", "TODO.md"):
        (folder / name).write_text("- [ ] One\n")
    (folder / "src").mkdir()
    assert milepost.roadmaps.find().name == "TODO.md"
    was_run(folder, "BUILD.md", "BUILD.md", "gone.md")
    assert milepost.roadmaps.find().name == milepost.roadmaps.find(folder).name == "BUILD.md"
    remember(Path("BUILD.md"))
    assert proposed("milepost retry 1.1") == "milepost retry 1.1"
    (folder / "ROADMAP.md").write_text("- [ ] One\n")
    assert milepost.roadmaps.find().name == "ROADMAP.md"


def test_where_no_roadmap_is_found_those_are_named_that_could_be_meant(folder: Path) -> None:
    with pytest.raises(RoadmapMissing) as nothing:
        milepost.roadmaps.find()
    assert "milepost init" in nothing.value.advice
    (folder / "my build.md").write_text("# Build\n\n- [ ] One\n")
    (folder / "README.md").write_text("# Words\n")
    with pytest.raises(RoadmapMissing) as boxed:
        milepost.roadmaps.find()
    assert boxed.value.advice == "'my build.md' has boxes: name it, as in milepost plan 'my build.md'"
    (folder / "other.md").write_text("# Other\n")
    was_run(folder, "my build.md", "other.md")
    with pytest.raises(RoadmapMissing) as several:
        milepost.roadmaps.find()
    assert several.value.advice == "other.md, 'my build.md' were run: name one of them, as in milepost plan other.md"
    (places.database(folder)).write_bytes(b"no database")
    with pytest.raises(RoadmapMissing):
        milepost.roadmaps.find()
