"""What a changed Python file does that only tests could be fooled by, unless its task speaks of it."""

from __future__ import annotations

import ast
import re

from milepost.core.change import ChangedFile
from milepost.core.task import Task
from milepost.verify.guard.finding import GuardFinding
from milepost.verify.guard.python.code import code_of
from milepost.verify.guard.python.detection import notices_tests
from milepost.verify.guard.python.forging import (
    ends_the_run,
    equals_everything,
    replaces_the_runner,
    runs_hidden_code,
    uses_the_runner,
)
from milepost.verify.judging.paths import is_test_path
from milepost.verify.syntax.python_tree import is_too_deep, parsed


def forged(file: ChangedFile, task: Task) -> tuple[GuardFinding, ...]:
    """What a changed Python file does now, and did not before, that only tests could be fooled by."""
    if file.after is None or file.is_link:
        return ()
    after = parsed(file.text_after)
    if after is None:
        hidden = is_too_deep(file.text_after) and not is_too_deep(file.text_before)
        what = "is nested too deeply to be looked at"
        return (GuardFinding(path=file.path, line=0, what=what, forges=True),) if hidden else ()
    asked = _Asked(task)
    found = {what: line for what, line in _signs(file.path, file.text_after, after).items() if not asked(what)}
    before = parsed(file.text_before) if found and file.before is not None else None
    known = _signs(file.path, file.text_before, before) if before is not None else {}
    return tuple(
        GuardFinding(path=file.path, line=line, what=what, forges=True)
        for what, line in found.items()
        if what not in known
    )


def _signs(path: str, text: str, tree: ast.Module) -> dict[str, int]:
    """Every sign of forging, in words, with the first line it stands in."""
    code = code_of(path, text, tree)
    scans = [replaces_the_runner, ends_the_run, runs_hidden_code]
    if not is_test_path(path):
        scans += [notices_tests, uses_the_runner, equals_everything]
    found: dict[str, int] = {}
    for scan in scans:
        for what, line in scan(code):
            found.setdefault(what, line)
    return found


class _Asked:
    """Whether a task speaks of the thing itself: a pytest plugin has to import pytest."""

    def __init__(self, task: Task) -> None:
        text = " ".join(f"{part.title} {part.text} {' '.join(part.files)}" for part in task.walk())
        self._plugin = re.search(
            r"(?i)\b(pytest|unittest)\b.*\b(plugin|hook|fixture|extension|helper)|testing (helper|util)", text
        )
        self._ci = re.search(r"\bCI\b|(?i:continuous integration)", text)
        self._equal = re.search(r"(?i)\b(wildcard|matches? any|equals? (any|every)thing|sentinel)\b|\bANY\b", text)
        self._imports = re.search(r"(?i)\bimport (hook|system)|meta_path|\b(finder|loader)s?\b", text)

        self._callers = re.search(
            r"(?i)\b(callers?|call(ing)? (site|line|code|frame)s?|stack|frames?|traceback|introspect\w*|source code)\b",
            text,
        )
        self._watching = re.search(r"(?i)\b(profil|trac|debug|audit|coverage)\w*", text)
        self._test_tool = re.search(
            r"(?i)\btests? (runner|discovery|watcher|finder|harness|selection|collector|files?|folders?)\b"
            r"|\b(runs?|running|find|collect|discover|watch|scaffold|generate)s? (\w+ ){0,2}tests?\b|\bscaffold\w*",
            text,
        )

    def __call__(self, what: str) -> bool:
        if what.startswith("reads the code that calls it"):
            return bool(self._callers)
        if what.startswith("watches the code"):
            return bool(self._watching)
        if what.startswith("looks for files of tests") or what.endswith("(sys.argv)"):
            return bool(self._test_tool)
        if "outside of the tests" in what or "runner's plugins" in what:
            return bool(self._plugin)
        if "another way where" in what:
            return bool(self._ci)
        if "equal everything" in what:
            return bool(self._equal)
        return "sys.meta_path" in what and bool(self._imports)
