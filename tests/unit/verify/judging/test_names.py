"""Added modules that have the name of another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult
from milepost.verify.judging.names import Installed, NamesCheck, read_answer

HERE = Workspace(folder=Path("/nowhere"), scratch=Path("/nowhere"), base="0" * 40)
BASE = frozenset(
    {"pyproject.toml", "src/shop/__init__.py", "src/queue.py", "tests/test_cart.py", "checks/deep/test_more.py"}
    | {"checks/deep/__init__.py", "packages/pay/pyproject.toml", "types/notes.txt", "vendor/node_modules/left/index.js"}
)
KNOWN = Installed(packages={"yaml": "PyYAML", "tests": "careless", "attr": "attrs"})


def added(path: str, mode: str = "100644") -> ChangedFile:
    return ChangedFile(path=path, before=None, after=None if mode == "160000" else b"x", mode=mode)


def check(
    *files: ChangedFile, installed: Installed | None = KNOWN, base: frozenset[str] = BASE, named: tuple[str, ...] = ()
) -> CheckResult:
    change = Change(files=files)
    return NamesCheck(change=change, base_files=base, installed=lambda _: installed, files=named).run(HERE)


@pytest.mark.parametrize(
    "file",
    [
        added("shlex.py"),
        added("json/__init__.py"),
        added("types/__init__.py"),
        added("yaml.py"),
        added("src/yaml/__init__.py"),
        added("src/json.py"),
        added("tests/random.py"),
        added("tests/attr/__init__.py"),
        added("checks/json.py"),
        added("packages/pay/json.py"),
        added("packages/pay/src/json.py"),
        added("json.cpython-312-x86_64-linux-gnu.so"),
        added("json.pyc"),
        added("json", "120000"),
        added("json", "160000"),
        added("node_modules/jest/index.js"),
        added("node_modules", "120000"),
        added(".venv/bin/python"),
        added("src/site-packages/x.py"),
    ],
    ids=lambda file: f"{file.path} {file.mode}",
)
def test_what_would_be_imported_in_place_of_another_is_refused_by_its_name(file: ChangedFile) -> None:
    found = check(file)
    assert found.outcome == "failed"
    assert file.path in found.summary


@pytest.mark.parametrize(
    "path",
    [
        *(
            "src/shop/json.py",
            "src/shop/yaml/__init__.py",
            "src/pay.py",
            "checks/deep/json.py",
            "src/queue/__init__.py",
        ),
        *("queue.py", "tests/__init__.py", "test/__init__.py", "json.txt", "json/data.json", "web/json.py", "setup.py"),
        *("vendor/node_modules/right/index.js", "my-json.py"),
    ],
)
def test_a_name_that_hides_nothing_or_was_there_is_fine(path: str) -> None:
    assert check(added(path)).outcome in ("passed", "absent")


def test_a_name_that_the_task_asks_for_is_the_users_choice() -> None:
    assert check(added("calendar.py"), named=("./calendar.py",)).outcome == "absent"
    assert check(added("calendar.py"), named=("src",)).outcome == "failed"


def test_a_module_that_is_changed_or_gone_is_not_added() -> None:
    changed = ChangedFile(path="json.py", before=b"x", after=b"y")
    gone = ChangedFile(path="json.py", before=b"x", after=None, mode="000000")
    assert [check(one, base=BASE | {"json.py"}).outcome for one in (changed, gone)] == ["absent", "absent"]


def test_nobody_is_asked_when_no_module_was_added() -> None:
    def asked(workspace: Workspace) -> Installed | None:
        raise AssertionError

    NamesCheck(change=Change(files=(added("src/shop/cart.py"),)), base_files=BASE, installed=asked).run(HERE)


def test_an_environment_that_cannot_be_asked_is_named_and_the_standard_library_is_known_all_the_same() -> None:
    assert check(added("yaml.py"), installed=None).outcome == "passed"
    assert "could not be asked" in check(added("yaml.py"), installed=None).summary
    assert check(added("json.py"), installed=None).outcome == "failed"


def test_an_answer_counts_when_it_is_whole() -> None:
    lines = ["S json", "I yaml PyYAML", "I attr attrs", "noise"]
    assert read_answer(lines) is None
    assert read_answer([*lines, "END"]) == Installed(
        standard=frozenset({"json"}), packages={"yaml": "PyYAML", "attr": "attrs"}
    )
