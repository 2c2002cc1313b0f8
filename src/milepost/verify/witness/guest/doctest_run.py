"""`python -m doctest`: the examples of some files, each docstring said as it ends.

Docstrings are taken from the source: nothing that is done to a function when its module is imported can keep its
examples from being run. What only a look at the module finds is run beside them.
"""

from __future__ import annotations

import argparse
import ast
import doctest
import importlib
import os
import sys
import time
import traceback
from typing import Any

VERSION = "doctest"
MAIN = "doctest"
NOTHING_RAN = 5
LONGEST_TEXT = 20_000


def run(words: list[str], _only: frozenset[str], say: Any, planting: Any, _digest: Any) -> int:
    """Run the examples of the files in `words`; 0 passed, 1 failed, 5 when there were none."""
    asked = _asked(words)
    flags = 0
    for name in asked.option:
        flags |= doctest.OPTIONFLAGS_BY_NAME[name]
    failed = False
    tests: list[tuple[str, doctest.DocTest]] = []
    for file in asked.file:
        try:
            tests += [(f"{file}::{test.name}", test) for test in _tests_of(file)]
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            traceback.print_exc()
            failed = True
            say("collect", file, "failed", f"{type(problem).__name__}: {_text(problem)}", "")
    if not tests:
        return 1 if failed else NOTHING_RAN
    say("items", *[id_ for id_, _ in tests])
    planted = _planted(tests, say, planting)
    for id_, test in _mixed(tests, planted, planting):
        passed = _run_one(id_, test, flags, say)
        failed = failed or (not passed and id_ not in planted)
    return 1 if failed else 0


def _asked(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("-o", "--option", action="append", choices=list(doctest.OPTIONFLAGS_BY_NAME), default=[])
    parser.add_argument("-f", "--fail-fast", action="store_true")
    parser.add_argument("file", nargs="+")
    return parser.parse_args(words)


def _tests_of(file: str) -> list[doctest.DocTest]:
    with open(file, encoding="utf-8") as opened:  # noqa: PTH123 -- read before anything of it is imported
        text = opened.read()
    parser = doctest.DocTestParser()
    if not file.endswith(".py"):
        name = os.path.basename(file)  # noqa: PTH119 -- as text
        found = parser.get_doctest(text, {"__name__": "__main__"}, name, file, 0)
        return [found] if found.examples else []
    docstrings = _docstrings(text)
    folder, name = os.path.split(os.path.abspath(file))  # noqa: PTH100 -- links are not followed
    sys.path.insert(0, folder)
    module = importlib.import_module(name[:-3])
    tests = {}
    for dotted, (docstring, line) in docstrings.items():
        test = parser.get_doctest(docstring, dict(vars(module)), f"{name[:-3]}{dotted}", file, line)
        if test.examples:
            tests[test.name] = test
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name[:-3]):
        if test.examples:
            tests.setdefault(test.name, test)
    return list(tests.values())


def _docstrings(text: str) -> dict[str, tuple[str, int]]:
    """The docstrings of a module, its classes and functions, by their names from the module on."""
    found: dict[str, tuple[str, int]] = {}
    todo: list[tuple[str, ast.AST]] = [("", ast.parse(text))]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    while todo:
        around, node = todo.pop(0)
        if isinstance(node, (ast.Module, ast.ClassDef, *functions)):
            name = "" if isinstance(node, ast.Module) else f"{around}.{node.name}"
            docstring = ast.get_docstring(node, clean=False)
            if docstring:
                found.setdefault(name, (docstring, node.body[0].lineno - 1))
            around = name
        if not isinstance(node, (*functions, ast.expr)):
            todo += [(around, child) for child in ast.iter_child_nodes(node)]
    return found


def _planted(tests: list[tuple[str, doctest.DocTest]], say: Any, planting: Any) -> dict[str, doctest.DocTest]:
    """Examples that must fail, each beside one of the project's."""
    made = {}
    for token in planting.tokens:
        id_, beside = planting.choose(tests)
        name = planting.name([test.name.replace(".", "_") for _, test in tests])
        source = f">>> print({token!r})\n{planting.choose(range(1000))}\n"
        test = doctest.DocTestParser().get_doctest(source, dict(beside.globs), name, beside.filename or "", 0)
        planted_id = f"{id_.partition('::')[0]}::{name}"
        made[planted_id] = test
        say("planted", planted_id, token)
    return made


def _mixed(tests: list[Any], planted: dict[str, Any], planting: Any) -> list[Any]:
    mixed = list(tests)
    for pair in planted.items():
        mixed.insert(planting.choose(range(len(mixed) + 1)), pair)
    return mixed


def _run_one(id_: str, test: doctest.DocTest, flags: int, say: Any) -> bool:
    told: list[str] = []
    started = time.monotonic()
    failures = doctest.DocTestRunner(verbose=False, optionflags=flags).run(test, out=told.append).failed
    took = str(int((time.monotonic() - started) * 1000))
    if failures:
        text = "".join(told)[:LONGEST_TEXT]
        say("raised", id_, "call", "DocTestFailure AssertionError Exception", text)
        say("report", id_, "call", "failed", took, _line_of(text), text)
    say("over", id_, "" if failures else took)
    return not failures


def _line_of(text: str) -> str:
    """What was run, expected and got, in a line."""
    lines = [line.strip() for line in text.splitlines()[2:] if line.strip()]
    return " ".join(lines)[:300]


def _text(problem: BaseException) -> str:
    try:
        return str(problem)[:LONGEST_TEXT]
    except BaseException as worse:
        return f"(it cannot be told: {type(worse).__name__})"
