"""The public surface: small, typed, lazy."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

import milepost
from milepost import events

HEAVY = ("dbos", "sqlalchemy", "psycopg", "milepost.engine.project.settings.settings", "milepost.engine.run.durable")
PACKAGE = Path(milepost.__file__).parent
PUBLIC = sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__"))
PACKAGES = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def library() -> dict[str, ModuleType]:
    """`milepost` and its public modules, by name."""
    return {"milepost": milepost} | {name: importlib.import_module(f"milepost.{name}") for name in PUBLIC}


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


def test_status_imports_neither_the_memory_nor_what_speaks_to_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "ROADMAP.md").write_text("- [ ] 1.1 Something\n")
    monkeypatch.chdir(tmp_path)
    modules = imported_by("status")
    assert "milepost.engine.views.status" in modules
    assert modules.isdisjoint({"psycopg", "asyncio", "milepost.memory"})


@pytest.mark.parametrize("names", [[], PUBLIC], ids=["the library", "its public modules"])
def test_importing_the_library_imports_no_room(names: list[str]) -> None:
    asked = [f"milepost.{name}" for name in names]
    show = "print(*[name for name in sys.modules if name.startswith('milepost.')])"
    code = f"import {', '.join(['sys', 'milepost', *asked])}; {show}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == asked


def test_what_the_library_itself_lists_fits_on_a_page() -> None:
    assert len(milepost.__all__) <= 70


def test_every_public_name_is_there_and_no_other() -> None:
    for module in library().values():
        assert module.__all__ and all(getattr(module, name) is not None for name in module.__all__)
        assert dir(module) == module.__all__
        with pytest.raises(AttributeError, match="has no attribute 'no_such_thing'"):
            getattr(module, "no_such_thing")  # noqa: B009


def test_the_page_of_the_library_lists_every_public_name() -> None:
    page = (PACKAGE.parents[1] / "docs/library.md").read_text(encoding="utf-8").partition("## All names")[2]
    own, _, others = page.partition("Public modules")
    assert sorted(re.findall(r"`(\w+)`", own.partition("|")[2])) == milepost.__all__
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]*\|(.*)\|$", others, re.MULTILINE))
    listed = {name: sorted(re.findall(r"`(\w+)`", words)) for name, words in rows.items()}
    assert listed == {name: module.__all__ for name, module in library().items() if name != "milepost"}


def test_nothing_is_public_in_two_places() -> None:
    times = Counter(getattr(module, name) for module in library().values() for name in module.__all__)
    assert [thing for thing, count in times.items() if count > 1] == []


def test_a_public_module_has_the_name_of_no_call_and_of_no_package() -> None:
    assert not set(PUBLIC) & (set(milepost.__all__) | PACKAGES)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_shows_a_use_of_names_that_are_there(name: str) -> None:
    modules = library()
    shown = (modules[name].__doc__ or "").partition("For example:")[2]
    tree = ast.parse(textwrap.dedent(shown))
    used = [
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    ]
    assert name in {module for module, _ in used}
    assert all(attribute in modules[module].__all__ for module, attribute in used)


def test_what_a_caller_gets_and_passes_is_public() -> None:
    kinds = [*get_args(milepost.Event), events.TaskSummary]
    kinds += [milepost.Command, milepost.CommandResult, milepost.Line]
    places = (milepost, events)
    assert all([getattr(place, kind.__name__, None) for place in places].count(kind) == 1 for kind in kinds)


STAYS = {
    "milepost": ("open_executor", "ExecutionLimits", "TrustLevel", "AgentSignalled", "Pad", "Signal"),
    "milepost.core.commands": ("ExecutionLimits", "TrustLevel"),
    "milepost.core.attempt": ("Signal", "SignalKind"),
    "milepost.core.events": ("AgentSignalled",),
    "milepost.sandbox.executors": ("open_executor",),
    "milepost.sandbox.levels": ("open_executor",),
    "milepost.agents.code_agent.scratchpad": ("Note", "Pad", "SIGNALS", "signals_in", "one_line"),
}


@pytest.mark.parametrize("module", STAYS)
def test_executors_and_the_scratchpad_stay_where_other_programs_import_them(module: str) -> None:
    there = importlib.import_module(module)
    assert [name for name in STAYS[module] if not hasattr(there, name)] == []


def test_an_event_in_json_begins_with_its_kind() -> None:
    plain = events.to_json(events.RunStopping(run="7f3a", at_once=False))
    assert list(plain.items()) == [("event", "run_stopping"), ("run", "7f3a"), ("at_once", False)]


def test_every_path_may_be_a_string(tmp_path: Path) -> None:
    (tmp_path / "there.txt").touch()
    with pytest.raises(milepost.MilepostError, match="is not empty"):
        milepost.demo(str(tmp_path))


def test_a_room_does_not_take_the_name_of_a_call() -> None:
    import milepost.plan.graph.build_graph

    assert callable(milepost.plan)
    assert callable(milepost.demo)
