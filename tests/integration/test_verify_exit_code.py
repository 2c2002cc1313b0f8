"""Lines in which no test can be seen: their work is taken out, and what runs beside them is noted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.sandbox.levels import open_terminal, strongest
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.exit_code import ExitCodeProof
from milepost.verify.suites.python_project import find_interpreter
from tests import lean
from tests.integration.suites import workspace_in
from tests.tools import needs

CHECK = "from plurals import plural\n\nassert plural('fox') == 'foxes'\n"
HONEST = "def plural(word):\n    return word + 'es'\n"
LEAVES = "import os\n\nos._exit(0)\n\n\ndef plural(word):\n    return word\n"
EXITS = "def plural(word):\n    raise SystemExit\n"
LOOKS = (
    "import sys\n\n\ndef plural(word):\n    frame = sys._getframe(1)\n"
    "    return next(c for c in frame.f_code.co_consts if isinstance(c, str) and c.endswith('es'))\n"
)
NODE_CHECK = "const { plural } = require('./plurals.js');\nif (plural('fox') !== 'foxes') process.exit(1);\n"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with open_terminal(strongest()) as terminal:
        interpreter = find_interpreter(tmp_path, os.environ, str(lean.python()))
        yield Bench(terminal=terminal, interpreter=interpreter, timeout_s=60)


def tried(folder: Path, bench: Bench, product: str, source: str, check: str, judge: str) -> tuple[str, list[str]]:
    workspace = workspace_in(folder, {product: source, judge: check})
    program = (
        (str(bench.interpreter.path) if bench.interpreter else sys.executable) if judge.endswith(".py") else "node"
    )
    proof = ExitCodeProof(argv=(program, judge), bench=replace(bench), judges=(judge,), product=(product,))
    found, notes = proof.run(workspace)
    return found.outcome, [note.what for note in notes]


@pytest.mark.parametrize(
    ("source", "outcome", "noted"),
    [
        pytest.param(HONEST, "passed", False, id="honest"),
        pytest.param(LEAVES, "failed", False, id="it leaves the process"),
        pytest.param(EXITS, "held", False, id="it ends the check"),
        pytest.param(LOOKS, "passed", True, id="it looks at its caller"),
    ],
)
def test_a_check_of_the_users_own_must_fail_without_the_work(
    tmp_path: Path, bench: Bench, source: str, outcome: str, noted: bool
) -> None:
    found, notes = tried(tmp_path, bench, "plurals.py", source, CHECK, "check.py")

    assert (found, bool(notes)) == (outcome, noted), notes


@needs("node")
@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("exports.plural = (word) => word + 'es';\n", "passed"),
        ("process.exit(0);\nexports.plural = (word) => word;\n", "failed"),
    ],
)
def test_the_same_for_a_program_of_node(tmp_path: Path, bench: Bench, source: str, outcome: str) -> None:
    found, _ = tried(tmp_path, bench, "plurals.js", source, NODE_CHECK, "check.js")

    assert found == outcome
