"""Which folders each walk over a project leaves out: what is installed, what is built, what tools keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from milepost.agents.code_agent.file_tools import UNLISTED
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.tool_agent.tools.search import SearchQuery, ripgrep_argv
from milepost.agents.tool_agent.tools.search_script import SKIPPED
from milepost.engine.context.tags import is_code
from milepost.engine.project.folder_globs import folders_named
from milepost.sandbox.confined import ConfinedFolder, PlainFolder
from milepost.verify.programs.python_modules import python_files
from milepost.verify.suites.python_project import find_test_files
from milepost.verify.walk_checkout import files_below
from milepost.verify.witness.survey import survey
from milepost.workspace.objects import TreeEntry

CACHES = {"__pycache__"}
INSTALLED = {"node_modules", "site-packages", "venv"}
HIDDEN = {".git", ".venv", ".tox", ".milepost"}
BUILT = {"build", "dist", "target"}
OTHERS = {"vendor", "third_party", "bower_components", "out", "coverage", "env", "fixtures", "testdata", "own"}
ALL = CACHES | INSTALLED | HIDDEN | BUILT | OTHERS
TOOLS = {".git", ".venv", "__pycache__", "node_modules"}


WALKS: dict[str, tuple[Callable[[Path], Iterable[str]], set[str]]] = {
    "listing": (lambda top: ConfinedFolder(top).listing("", at_most=999), TOOLS),
    "repair": (lambda top: PlainFolder(top).paths(), CACHES | INSTALLED | HIDDEN),
    "patterns": (
        lambda top: PendingChanges(top).paths(),
        CACHES | INSTALLED | HIDDEN | BUILT | {"vendor", "coverage"},
    ),
    "tests": (find_test_files, CACHES | INSTALLED | HIDDEN),
    "modules": (python_files, CACHES | INSTALLED | HIDDEN),
    "walk": (
        lambda top: (path.relative_to(top).as_posix() for path in files_below(top)),
        CACHES | INSTALLED | HIDDEN | BUILT | (OTHERS - {"own", "third_party"}),
    ),
    "survey": (lambda top: survey(top).tests, {".git", ".venv", "venv", "node_modules"}),
    "globs": (
        lambda top: (f"{path.relative_to(top)}/test_x.py" for path in folders_named(top, "*")),
        CACHES | HIDDEN | {"node_modules", "site-packages", "target", "vendor"},
    ),
    "tags": (
        lambda top: (f"{name}/test_x.py" for name in ALL if is_code(TreeEntry(path=f"{name}/x.py", blob="", size=1))),
        CACHES | INSTALLED | {".git", ".venv", "dist", "build", "vendor", "third_party"},
    ),
}


@pytest.mark.parametrize("name", WALKS)
def test_every_walk_leaves_out_its_own_folders_and_no_other(tmp_path: Path, name: str) -> None:
    walk, left_out = WALKS[name]
    top = tmp_path / "project"
    for folder in ALL:
        (top / folder).mkdir(parents=True)
        (top / folder / "test_x.py").touch()

    entered = {path.split("/")[0] for path in walk(top) if path.endswith("/test_x.py")}

    assert entered == ALL - left_out


def test_what_runs_in_the_sandbox_leaves_out_what_the_engine_does() -> None:
    assert UNLISTED == SKIPPED == TOOLS
    assert {f"--glob=!{name}" for name in TOOLS} <= set(ripgrep_argv(SearchQuery(pattern="x")))
