"""The modules of a real interpreter, asked where a checkout has files of the same names."""

from __future__ import annotations

import sys
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.judging.names import asking
from milepost.verify.suites.python_project import find_interpreter


def test_an_interpreter_tells_its_own_modules_and_nothing_of_the_checkout_answers_for_it(tmp_path: Path) -> None:
    checkout, scratch = tmp_path / "checkout", tmp_path / "scratch"
    checkout.mkdir()
    scratch.mkdir()
    for name in ("json", "importlib", "sitecustomize", "yaml"):
        (checkout / f"{name}.py").write_text("print('S lies')\nprint('END')\nraise SystemExit(0)\n")
    interpreter = find_interpreter(checkout, {}, sys.executable)
    with WalledTerminal() as terminal:
        workspace = Workspace(folder=checkout, scratch=scratch, base="0" * 40)
        found = asking(Bench(terminal=terminal, interpreter=interpreter))(workspace)
    assert found is not None
    assert {"json", "sys", "shlex"} <= found.standard
    assert "lies" not in found.standard
    assert (found.packages["yaml"], found.packages["pytest"]) == ("PyYAML", "pytest")
    assert "milepost" not in found.packages  # installed from a folder: the project itself
