"""Lines in which no test can be seen: their work is taken out, and what runs beside them is noted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.sandbox.levels import open_terminal, strongest
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.exit_code import ExitCodeProof
from milepost.verify.counterproof.line_elsewhere import LineElsewhere
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


@pytest.mark.parametrize(
    ("product", "said"),
    [
        pytest.param("exit 0\n", "", id="honest"),
        pytest.param("[ ! -e ~/.profile ]\n", "fails at a terminal with the home", id="an empty home"),
        pytest.param('[ "$(env | wc -l)" -lt 28 ]\n', "fails at a terminal with the home", id="few variables"),
        pytest.param("[ ! -t 0 ]\n", "fails at a terminal with the home", id="no terminal"),
        pytest.param("exit 0 # noqa\n", "", id="quiet without need"),
        pytest.param("exit 0 # noqa: needed\n", "keep it quiet: work.sh:1", id="quiet"),
    ],
)
def test_a_line_must_hold_at_home_and_aloud(tmp_path: Path, bench: Bench, product: str, said: str) -> None:
    check = "sh work.sh && { ! [ -e loud ] || grep -q needed work.sh; }"
    files = {"work.sh": product, **({"loud": ""} if "needed" in product else {})}
    workspace = workspace_in(tmp_path, files)
    change = Change(files=(ChangedFile(path="work.sh", before=b"exit 1\n", after=product.encode()),))
    line = LineElsewhere(argv=("sh", "-c", check), bench=bench, change=change, product=("work.sh",), took_s=0.1)

    found = line.run(workspace)

    assert (found is None) == (not said)
    assert found is None or (found.outcome == "held" and said in found.summary)
    assert (workspace.folder / "work.sh").read_text() == product


def test_what_waits_for_a_key_at_a_terminal_is_no_accusation(tmp_path: Path, bench: Bench) -> None:
    product = "[ ! -t 0 ] || sleep 1000\n"
    change = Change(files=(ChangedFile(path="work.sh", before=b"exit 1\n", after=product.encode()),))
    short = replace(bench, timeout_s=3)
    line = LineElsewhere(argv=("sh", "work.sh"), bench=short, change=change, product=("work.sh",), took_s=0.1)

    assert line.run(workspace_in(tmp_path, {"work.sh": product})) is None
