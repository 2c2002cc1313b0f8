"""The public surface: small, typed, lazy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import milepost

HEAVY = ("dbos", "sqlalchemy", "psycopg", "milepost.engine.project.settings", "milepost.engine.run.durable")


def imported_by(*words: str) -> set[str]:
    """The modules that a command of ours has imported when it ends."""
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\n@@' + ' '.join(sys.modules)))\n"
        f"sys.argv = {['milepost', *words]!r}\n"
        "from milepost.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return set(done.stdout.rpartition("@@")[2].split())


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("plan",), ("plan", "--json"), ("run", "--help")])
def test_what_must_start_fast_imports_nothing_heavy(
    words: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path_factory.mktemp("project")
    (place / "ROADMAP.md").write_text("- [ ] 1.1 Something\n")
    monkeypatch.chdir(place)
    modules = imported_by(*words)
    assert "milepost.cli.main" in modules
    assert modules.isdisjoint(HEAVY)


def test_importing_the_library_imports_no_room() -> None:
    code = "import sys, milepost; print(*[name for name in sys.modules if name.startswith('milepost.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_everything_that_is_listed_is_there() -> None:
    for name in milepost.__all__:
        assert getattr(milepost, name) is not None
    assert dir(milepost) == milepost.__all__
    with pytest.raises(AttributeError):
        getattr(milepost, "no_such_thing")  # noqa: B009


def test_what_a_caller_hears_and_hands_over_is_listed() -> None:
    kinds = [*get_args(milepost.Event), milepost.TaskSummary]
    kinds += [milepost.Command, milepost.CommandResult, milepost.Line]
    assert all(getattr(milepost, kind.__name__) is kind and kind.__name__ in milepost.__all__ for kind in kinds)


def test_an_event_in_json_begins_with_its_kind() -> None:
    plain = milepost.event_to_json(milepost.RunStopping(run="7f3a", at_once=False))
    assert list(plain.items()) == [("event", "run_stopping"), ("run", "7f3a"), ("at_once", False)]


def test_every_path_may_be_a_string(tmp_path: Path) -> None:
    (tmp_path / "there.txt").touch()
    with pytest.raises(milepost.MilepostError, match="is not empty"):
        milepost.demo(str(tmp_path))


def test_a_room_does_not_take_the_name_of_a_call() -> None:
    import milepost.plan.graph.build_graph

    assert callable(milepost.plan)
    assert callable(milepost.demo)
