"""The public surface: small, typed, lazy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import milepost

HEAVY = ("dbos", "sqlalchemy", "psycopg", "milepost.engine.settings", "milepost.engine.durable")


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
        milepost.no_such_thing  # noqa: B018


def test_a_room_does_not_take_the_name_of_a_call() -> None:
    import milepost.plan.graph

    assert callable(milepost.plan)
    assert callable(milepost.demo)
