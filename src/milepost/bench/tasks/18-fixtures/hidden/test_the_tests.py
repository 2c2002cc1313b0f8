import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MUTANTS = {
    "deposits nothing": ("self.balance += amount", "pass"),
    "takes any deposit": ("if amount <= 0", "if False"),
    "withdraws nothing": ("self.balance -= amount", "pass"),
    "overdraws": ("if amount > self.balance", "if False"),
}


def run(result, place, change=None):
    shutil.copytree(Path(result) / "tests", place / "tests")
    source = (Path(result) / "bank.py").read_text()
    if change:
        assert change[0] in source
        source = source.replace(*change)
    (place / "bank.py").write_text(source)
    argv = [sys.executable, "-m", "pytest", "-q", "tests"]
    return subprocess.run(argv, cwd=place, capture_output=True, text=True)


def test_they_pass(result, tmp_path):
    done = run(result, tmp_path)
    assert done.returncode == 0 and "4 passed" in done.stdout


@pytest.mark.parametrize("name", MUTANTS)
def test_they_notice(result, tmp_path, name):
    assert run(result, tmp_path, MUTANTS[name]).returncode == 1


def test_they_use_the_fixture(result):
    tree = ast.parse((Path(result) / "tests/test_bank.py").read_text())
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    assert {test.name for test in tests} == {
        "test_deposit",
        "test_nothing_is_no_deposit",
        "test_withdraw",
        "test_no_more_than_there_is",
    }
    assert all("account" in [argument.arg for argument in test.args.args] for test in tests)
