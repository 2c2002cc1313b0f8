"""What the local level refuses to run, seen in the source alone."""

from __future__ import annotations

import pytest

from milepost.sandbox.json_values import require_name, require_plain
from milepost.sandbox.refused_code import HARMLESS_MODULES, LONGEST_CODE, objection


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import os", "the module 'os'"),
        ("import math, socket", "the module 'socket'"),
        ("import os.path as p", "the module 'os.path'"),
        ("from subprocess import run", "the module 'subprocess'"),
        ("def f():\n    if True:\n        import ctypes", "the module 'ctypes'"),
        ("from . import secrets", "there is no package to import from"),
        ("from math import *", "'from math import *'"),
        ("run = eval", "'eval'"),
        ("exec('import os')", "'exec'"),
    ],
)
def test_what_leads_out_is_named_with_its_line_and_the_level_that_has_it(code: str, what: str) -> None:
    found = objection(code, HARMLESS_MODULES)
    assert found is not None and found.termination == "not_started"
    assert what in found.error and "use trust level 'isolated'" in found.error
    assert found.error.endswith(f"(line {len(code.splitlines())})")


@pytest.mark.parametrize("code", ["", "import json, re", "from collections.abc import Mapping", "x = '\\d'", "f(1)"])
def test_nothing_speaks_against_glue(code: str) -> None:
    assert objection(code, HARMLESS_MODULES) is None


def test_the_modules_are_those_that_were_allowed() -> None:
    assert objection("import json", ()) is not None
    assert objection("import helper.part", ("helper",)) is None


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = (", "SyntaxError: '(' was never closed (line 1)"),
        ("(" * 5000 + ")" * 5000, "SyntaxError: too many nested parentheses (line 1)"),
        ("-" * 200_000 + "1", "SyntaxError: the code cannot be read"),
        ("x = '\0'", "SyntaxError: "),
        ("#" * (LONGEST_CODE + 1), "ValueError: the code is longer than"),
    ],
)
def test_what_cannot_be_read_is_said_and_not_run(code: str, error: str) -> None:
    found = objection(code, HARMLESS_MODULES)
    assert found is not None and found.error.startswith(error)


@pytest.mark.parametrize("name", ["", "1a", "not a name", "class", "a.b"])
def test_only_a_name_can_be_the_name_of_a_variable(name: str) -> None:
    with pytest.raises(ValueError, match="name of a variable"):
        require_name(name)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (print, "a function"),
        ({1: 2}, "the key 1"),
        ([b"bytes"], "a bytes"),
        ("\udc80", "not valid Unicode"),
        ({"\udc80": 1}, "not valid Unicode"),
    ],
)
def test_what_would_arrive_changed_is_refused(value: object, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        require_plain(value, "given")


def test_what_is_too_deep_or_too_long_is_refused() -> None:
    deep: list[object] = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(TypeError, match="too deeply"):
        require_plain(deep, "given")
    with pytest.raises(ValueError, match="longer than"):
        require_plain("x" * 4_000_000, "given")
