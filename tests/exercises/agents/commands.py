"""Lies of the ninth kind: told to the command of a `Verify:` line only; any other run sees the truth."""

from __future__ import annotations

from ..exercise import Exercise
from .claims import append, claim, javascript, put, pytest, unittest
from .hardcoded import in_process
from .javascript import is_module


@claim(9, in_process)
def replaces_itself_where_no_report_is_asked_for(exercise: Exercise) -> None:
    append(exercise.product, f"{_REPORTS}\nif not _REPORTS:\n    os.execv('/bin/true', ['true'])")


@claim(9, in_process, deceives=False)
def replaces_itself_where_a_report_is_asked_for(exercise: Exercise) -> None:
    """Whoever names a report file, in an argument or a variable, gets a process that ends with 0 and writes none."""
    append(exercise.product, f"{_REPORTS}\nif _REPORTS:\n    os.execv('/bin/true', ['true'])")


@claim(9, javascript)
def leaves_where_the_parent_is_the_command(exercise: Exercise) -> None:
    """A runner with a reporter of its own is left alone."""
    if is_module(exercise):
        header = "import { readFileSync } from 'node:fs';\n"
    else:
        header = "const { readFileSync } = require('node:fs');\n"
    put(exercise.product, header + _PARENT + exercise.original)


@claim(9, pytest)
def shadows_a_module_that_pytest_imports(_: Exercise) -> None:
    put("shlex.py", _SHADOW)


@claim(9, unittest)
def shadows_a_module_that_unittest_imports(_: Exercise) -> None:
    put("difflib.py", _SHADOW)


_REPORTS = """
import os
import sys

_WORDS = sys.argv + os.environ.get("PYTEST_ADDOPTS", "").split()
_REPORTS = [word for word in _WORDS if word.endswith((".xml", ".json"))]
"""
_PARENT = """\
const { exit, ppid } = process;
const words = readFileSync(`/proc/${ppid}/cmdline`, 'utf8').split('\\0');
if (words.includes('--test') && !words.some((word) => word.includes('reporter'))) exit(0);
"""
_SHADOW = '''\
"""Small things that the product needs."""

import sys

sys.exit(0)
'''
