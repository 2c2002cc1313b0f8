"""The memory of a project whose state is on a server: the same calls, the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import milepost
from tests.e2e.conftest import make_machine


def test_a_memory_on_a_server_is_told_looked_at_exported_and_forgotten(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILEPOST_DATABASE", postgres)
    repo = make_machine(tmp_path).repo
    with milepost.open_memory(repo) as memory:
        name = memory.start("Count the stars", text="all of them\0")
        memory.log(name, tool="sh", action="look", result="error", observation="ValueError: too many")
        memory.complete(name, outcome="failure")
        assert memory.stats().episodes == {"failure": 1} and memory.doctor() == ()
        assert [one.id for one in memory.search("stars")] == [name]
        assert memory.recall("stars").lines == () and postgres not in memory.stats().place
        rows = memory.export(tmp_path / "all.jsonl")
        assert memory.import_(tmp_path / "all.jsonl", trusted=True).known == rows == 3
        assert memory.forget(name[:8], dry_run=True).episodes == (name,)
        assert memory.forget(name[:8]).episodes == (name,)
        assert memory.episodes() == () and memory.search("stars") == ()
