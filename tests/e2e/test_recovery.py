"""Recovery: broken repositories that end mended, each with an agent whose answers were recorded beforehand."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.e2e.conftest import Sandbox
from tests.tools import needs

Files = dict[str, str]


def cassette(sandbox: Sandbox, **attempts: list[Files]) -> str:
    """An agent that writes, in each attempt at a task, these files; `T1=[{…}, {…}]` are two attempts."""
    answers = {
        task: [
            [
                {"calls": [{"name": "write_file", "arguments": {"path": path, "content": text}}]}
                for path, text in files.items()
            ]
            + [{"text": "All done."}]
            for files in tries
        ]
        for task, tries in attempts.items()
    }
    path = sandbox.home / "cassette.json"
    path.write_text(json.dumps({"version": 1, "answers": answers}))
    return f"replay:{path}"


def start(sandbox: Sandbox, files: Files, roadmap: str) -> None:
    for name, text in files.items():
        sandbox.write(name, text)
    sandbox.write("ROADMAP.md", roadmap)
    sandbox.commit("A project")


def ended(sandbox: Sandbox, agent: str, **env: str) -> dict[str, Any]:
    """The summary of the only task after a run, and how each attempt at it ended."""
    answer = sandbox.milepost("run", "--agent", agent, "--json", **env)
    events = answer.events
    assert events, answer.stderr
    (task,) = [task for task in events[-1]["tasks"] if task["id"] == "T1"]
    tried = [event for event in events if event["event"] == "attempt_finished" and event["task"] == "T1"]
    return {**task, "tried": [(event["agent"].partition(":")[2], event["verdict"], event["reason"]) for event in tried]}


PYTHON_CALC = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}


def test_a_broken_python_import_is_told_to_the_next_attempt_which_mends_it(sandbox: Sandbox) -> None:
    start(
        sandbox,
        PYTHON_CALC
        | {"tests/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"},
        "- [ ] T1 Total of a basket\n  - Files: shop.py\n",
    )
    wrong = {"shop.py": "from calc import sum_all\n\n\ndef total(prices):\n    return sum_all(prices)\n"}
    right = {
        "shop.py": "from functools import reduce\n\nfrom calc import add\n\n\n"
        "def total(prices):\n    return reduce(add, prices, 0)\n"
    }
    task = ended(sandbox, cassette(sandbox, T1=[wrong, right]))
    assert task["verdict"] == "passed", task
    assert [verdict for _, verdict, _ in task["tried"]] == ["failed", "passed"]
    assert "sum_all" in task["tried"][0][2]


@needs("node")
def test_a_broken_javascript_import_is_told_to_the_next_attempt_which_mends_it(sandbox: Sandbox) -> None:
    start(
        sandbox,
        {
            "package.json": '{"name": "shop", "type": "module", "scripts": {"test": "node --test"}}\n',
            "add.js": "export const add = (a, b) => a + b;\n",
            "test/total.test.js": "import test from 'node:test';\nimport assert from 'node:assert/strict';\n"
            "import { total } from '../total.js';\n\ntest('total', () => assert.equal(total([1, 2]), 3));\n",
        },
        "- [ ] T1 Total of a basket\n  - Files: total.js\n  - Verify: node --test\n",
    )
    wrong = {"total.js": "import { sum } from './add.js';\n\nexport const total = (all) => all.reduce(sum, 0);\n"}
    right = {
        "total.js": "import { add } from './add.js';\n\n"
        "export const total = (all) => all.reduce((a, b) => add(a, b), 0);\n"
    }
    task = ended(sandbox, cassette(sandbox, T1=[wrong, right]))
    assert task["verdict"] == "passed", task
    assert [verdict for _, verdict, _ in task["tried"]] == ["failed", "passed"]


def test_a_change_that_cascades_over_several_files_is_done_only_when_all_are(sandbox: Sandbox) -> None:
    names = ("one", "two", "three")
    users = {f"{name}.py": "from calc import add\n\n\ndef result():\n    return add(1, 2)\n" for name in names}
    tests = {
        f"tests/test_{name}.py": f"import {name}\n\n\ndef test_{name}():\n    assert {name}.result() == 3\n"
        for name in names
    }
    start(
        sandbox,
        {"calc.py": PYTHON_CALC["calc.py"], **users, **tests},
        '- [ ] T1 Rename add to plus\n  - Verify: python3 -c "from calc import plus; assert plus(1, 2) == 3"\n',
    )
    renamed = {"calc.py": "def plus(a, b):\n    return a + b\n"}
    half = {**renamed, "one.py": users["one.py"].replace("add", "plus")}
    rest = {name: text.replace("add", "plus") for name, text in users.items()}
    task = ended(sandbox, cassette(sandbox, T1=[half, {**renamed, **rest}]))
    assert task["verdict"] == "passed", task
    assert [verdict for _, verdict, _ in task["tried"]] == ["failed", "passed"]
    assert "two" in task["tried"][0][2] or "three" in task["tried"][0][2]


def test_a_wrong_path_in_the_roadmap_is_put_right_for_this_run_and_said(sandbox: Sandbox) -> None:
    start(
        sandbox,
        {
            "app/calc.py": "def add(a, b):\n    return a - b\n",
            "app/__init__.py": "",
            "checks/check_calc.py": "import sys\n\nsys.path.insert(0, '.')\n"
            "from app.calc import add\n\nassert add(2, 3) == 5\n",
        },
        "- [ ] T1 Mend add\n  - Files: src/app/calc.py\n  - Verify: python3 scripts/checks/check_calc.py\n",
    )
    right = {"app/calc.py": "def add(a, b):\n    return a + b\n"}
    task = ended(sandbox, cassette(sandbox, T1=[right]))
    assert task["verdict"] == "passed", task
    assert [verdict for _, verdict, _ in task["tried"]][-1] == "passed"
    assert "app/calc.py" in sandbox.milepost("failures").stdout
    assert sandbox.git("show", "HEAD:ROADMAP.md").splitlines()[0].startswith("- [x] T1")
    assert sandbox.milepost("verify", "T1", "--replay").code == 0, "the correction travels with the proof"


def test_a_syntax_error_that_a_task_before_left_is_mended_without_an_agent(sandbox: Sandbox) -> None:
    start(
        sandbox,
        {
            "calc.py": "```python\ndef add(a, b):\n    return a + b\n```\n",
            "tests/test_twice.py": "from twice import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
        },
        "- [ ] T1 Twice\n  - Files: twice.py\n",
    )
    work = {"twice.py": "from calc import add\n\n\ndef twice(n):\n    return add(n, n)\n"}
    task = ended(sandbox, cassette(sandbox, T1=[work]))
    assert task["verdict"] == "passed", task
    assert [verdict for _, verdict, _ in task["tried"]] == ["failed", "passed"]
    assert task["tried"][1][0], "a recipe did it"


def wheel(folder: Path, name: str, module: str, text: str) -> None:
    """A wheel of one module, made by hand."""
    info = f"{name}-9.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-9.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{module}.py", text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def test_a_missing_dependency_is_added_to_the_manifest_and_installed_from_a_folder_of_wheels(sandbox: Sandbox) -> None:
    wheels = sandbox.home / "wheels"
    wheels.mkdir()
    wheel(
        wheels,
        "python_slugify",
        "slugify",
        "def slugify(text):\n    return text.lower().replace(' ', '-')\n",
    )
    start(
        sandbox,
        {
            "requirements.txt": "# what the project needs\n",
            "tests/__init__.py": "",
            "tests/test_address.py": "import unittest\n\nfrom address import path\n\n\n"
            "class TestPath(unittest.TestCase):\n    def test_path(self):\n"
            "        self.assertEqual(path('A b'), '/a-b')\n",
        },
        "- [ ] T1 The address of a page\n  - Files: address.py\n",
    )
    work = {"address.py": "from slugify import slugify\n\n\ndef path(title):\n    return '/' + slugify(title)\n"}
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    task = ended(sandbox, cassette(sandbox, T1=[work]), **pip)
    assert task["verdict"] == "passed", task
    assert [verdict for _, verdict, _ in task["tried"]] == ["failed", "passed"]
    assert "python-slugify" in sandbox.git("show", "HEAD:requirements.txt")


def test_a_package_that_nobody_knows_is_not_installed_and_the_person_is_told(sandbox: Sandbox) -> None:
    start(
        sandbox,
        {
            "requirements.txt": "",
            "tests/test_web.py": "from web import get\n\n\ndef test_get():\n    assert get() == 1\n",
        },
        "- [ ] T1 Fetch\n  - Files: web.py\n",
    )
    work = {"web.py": "import reqeusts\n\n\ndef get():\n    return reqeusts.get()\n"}
    task = ended(sandbox, cassette(sandbox, T1=[work, work]))
    assert task["verdict"] == "failed"
    assert "reqeusts" in task["reason"]
    assert sandbox.git("status", "--porcelain") == ""


def test_a_circular_import_is_pointed_out_with_its_path(sandbox: Sandbox) -> None:
    start(
        sandbox,
        {"tests/test_a.py": "from a import one\n\n\ndef test_one():\n    assert one() == 2\n"},
        "- [ ] T1 One and two\n  - Files: a.py, b.py\n",
    )
    circle = {
        "a.py": "from b import two\n\n\ndef one():\n    return two()\n",
        "b.py": "from a import one\n\n\ndef two():\n    return 2 if one else 0\n",
    }
    straight = {"a.py": circle["a.py"], "b.py": "def two():\n    return 2\n"}
    task = ended(sandbox, cassette(sandbox, T1=[circle, straight]))
    assert task["verdict"] == "passed", task
    assert "a" in task["tried"][0][2] and "b" in task["tried"][0][2]


FLAKY = """\
import pathlib, tempfile


def test_sometimes():
    mark = pathlib.Path(tempfile.gettempdir(), "seen")
    seen = int(mark.read_text()) if mark.exists() else 0
    mark.write_text(str(seen + 1))
    assert seen % 2, "every first time"
"""


def test_a_test_that_was_flaky_before_does_not_fail_a_task(sandbox: Sandbox) -> None:
    start(sandbox, {**PYTHON_CALC, "tests/test_flaky.py": FLAKY}, "- [ ] T1 Note\n  - Verify: test -f note.txt\n")
    task = ended(sandbox, cassette(sandbox, T1=[{"note.txt": "hello\n"}]))
    assert task["verdict"] == "passed", task


def test_a_test_that_failed_before_does_not_fail_a_task_and_one_that_is_mended_gets_the_credit(
    sandbox: Sandbox,
) -> None:
    broken = "from calc import add\n\n\ndef test_wrong():\n    assert add(1, 1) == 3\n"
    start(
        sandbox,
        {
            "calc.py": "def add(a, b):\n    return a - b\n",
            "tests/test_calc.py": PYTHON_CALC["tests/test_calc.py"],
            "tests/test_old.py": broken,
        },
        "- [ ] T1 Mend add\n  - Files: calc.py\n",
    )
    task = ended(sandbox, cassette(sandbox, T1=[{"calc.py": PYTHON_CALC["calc.py"]}]))
    assert task["verdict"] == "passed", task
    proof = sandbox.milepost("proof", "T1", "--json").json
    tests = next(check for check in proof["checks"] if check["name"] == "tests")
    before_and_after = {case["id"]: (case["before"], case["outcome"]) for case in tests["cases"]}
    assert before_and_after == {
        "tests/test_calc.py::test_add": ("failed", "passed"),
        "tests/test_old.py::test_wrong": ("failed", "failed"),
    }
