"""Plain Python tests run as a program, without a runner, and what came of it."""

from __future__ import annotations

import ast
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.command_runner import Bench
from milepost.verify.laid_tests import Material
from milepost.verify.suites.python_project import source_folder
from milepost.verify.witness.runner import GUEST
from milepost.verify.witness.stream import Hearing

SCRIPT = Path(__file__).with_name("plain_run.py")

_OUTCOMES: dict[str, TestOutcome] = {"passed": "passed", "failed": "failed", "skipped": "skipped"}
_AROUND_TESTS = frozenset(
    {"setup_module", "setup_function", "teardown_module", "teardown_function", "setup", "pytestmark", "pytest_plugins"}
)


def run_plainly(
    material: Material, passed: frozenset[str], workspace: Workspace, bench: Bench
) -> tuple[tuple[TestCase, ...], str]:
    """How the plain tests among those that passed under a runner end without one; or why that could not be asked.

    `passed` are their ids as pytest names them; where it is empty all plain tests of the material are run.
    """
    cases: list[TestCase] = []
    for path in material.files:
        names = [name for name in plain_tests(path, material, workspace) if not passed or f"{path}::{name}" in passed]
        if names and bench.interpreter is None:
            return (), "no Python interpreter was found"
        if names:
            cases += _run(path, names, workspace, bench)
    return tuple(cases), ""


def plain_tests(path: str, material: Material, workspace: Workspace) -> tuple[str, ...]:
    """The functions of a laid file that are tests by themselves: no fixture, no decorator, nothing set up around."""
    if not path.endswith(".py") or _set_up_around(path, material, workspace):
        return ()
    try:
        body = ast.parse(material.files[path]).body
    except (SyntaxError, ValueError):
        return ()
    if any(name in _AROUND_TESTS for statement in body for name in _defined(statement)):
        return ()
    return tuple(node.name for node in body if isinstance(node, ast.FunctionDef) and _is_plain(node))


def _is_plain(node: ast.FunctionDef) -> bool:
    given = node.args
    takes = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return node.name.startswith("test") and not node.decorator_list and not any(takes)


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _set_up_around(path: str, material: Material, workspace: Workspace) -> bool:
    """Whether a fixture of the file or of a conftest above it is used without being named."""
    places = [path, *(str(folder / "conftest.py") for folder in PurePosixPath(path).parents)]
    for place in places:
        content = material.files.get(place)
        if content is None and (workspace.folder / place).is_file():
            content = (workspace.folder / place).read_bytes()
        if content is not None and b"autouse" in content:
            return True
    return False


def _run(path: str, names: list[str], workspace: Workspace, bench: Bench) -> list[TestCase]:
    assert bench.interpreter is not None
    key = secrets.token_hex(32)
    hearing = Hearing(bytes.fromhex(key))
    argv = (str(bench.interpreter.path), "-I", "-B", str(SCRIPT), str(GUEST / "channel.py"), path, *names)
    source = source_folder(workspace.folder)
    entries = [str(workspace.folder / entry) for entry in bench.interpreter.imports] + ([str(source)] if source else [])
    plain = replace(bench, redact=str)  # signatures are over what was said, secrets and all
    result = plain.run(
        argv,
        workspace,
        env={"PYTHONDONTWRITEBYTECODE": "1"},
        readable=(GUEST, SCRIPT),
        stdin=json.dumps({"key": key, "path": [os.fspath(entry) for entry in entries]}),
        on_line=hearing.hear,
        lines_are_signed=True,
    )
    facts = hearing.testimony().facts
    crashed = next((bench.redact(fact[1]) for fact in facts if fact[0] == "crash"), "")
    said = {fact[1]: (_OUTCOMES[fact[0]], bench.redact(fact[2])) for fact in facts if fact[0] in _OUTCOMES}
    ended = ("end",) in facts
    unsaid = crashed or ("" if ended else f"the program ended early, exit {result.exit_code}")
    cases = []
    for name in names:
        outcome, message = said.get(name, ("failed", unsaid))
        note = f"without a test runner: {message}" if outcome == "failed" else ""
        cases.append(TestCase(id=f"{path}::{name}", outcome=outcome, message=note))
    return cases
