"""Product files that use a library for tests, which neither the task nor the product of the base speaks of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from milepost.core.change import Change
from milepost.sources.javascript_tree import arguments_of, dotted, line_of, parsed, string, walk
from milepost.sources.python_tree import parsed as parsed_python
from milepost.verify.counterproof.languages import language_of
from milepost.verify.judging.paths import is_test_path, is_test_setting
from milepost.verify.suites.suite import AuditNote
from milepost.verify.walk_checkout import files_below, text_of

_PYTHON = ("unittest.mock", "mock", "pytest", "hypothesis")
_JAVASCRIPT = ("sinon", "vitest", "jest", "@jest/globals", "node:test")
_SAYS_SO = re.compile(r"\b(?:mock|fixture|testing|tests? (?:helper|util|double|support))", re.IGNORECASE)


def testing_libraries(change: Change, product: tuple[str, ...], task: str, checkout: Path) -> tuple[AuditNote, ...]:
    """The places of changed product files that import one; `task` is what was asked, in words."""
    if _SAYS_SO.search(task):
        return ()
    found: dict[tuple[str, str], AuditNote] = {}
    for path in product:
        file = change.file(path)
        if file is None or file.after is None or file.is_link or not _is_product(path):
            continue
        for line, name in _imports(path, file.text_after):
            if not re.search(rf"\b{re.escape(name.removeprefix('node:'))}\b", task, re.IGNORECASE):
                found.setdefault((path, name), AuditNote(what=f"uses {name}", path=path, line=line))
    known = _of_base(change, checkout) if found else frozenset()
    return tuple(note for (_, name), note in found.items() if name not in known)


def _of_base(change: Change, checkout: Path) -> frozenset[str]:
    """Those that the product used before."""
    changed = set(change.paths)
    below = (path.relative_to(checkout).as_posix() for path in files_below(checkout))
    texts = {path: text_of(checkout / path) for path in below if path not in changed and _is_product(path)}
    texts |= {file.path: file.text_before for file in change.files if _is_product(file.path) and not file.is_link}
    return frozenset(name for path, text in texts.items() for _, name in _imports(path, text))


def _is_product(path: str) -> bool:
    return bool(language_of(path)) and not is_test_path(path) and not is_test_setting(path)


def _imports(path: str, text: str) -> Iterator[tuple[int, str]]:
    """The line and the name of each library for tests that a file imports."""
    wanted = _PYTHON if language_of(path) == "Python" else _JAVASCRIPT
    if not any(name.rpartition(".")[2] in text for name in wanted):
        return
    for line, module in _python(text) if wanted is _PYTHON else _javascript(path, text):
        name = next((name for name in wanted if module == name or module.startswith(f"{name}.")), "")
        if name:
            yield line, name


def _python(text: str) -> Iterator[tuple[int, str]]:
    tree = parsed_python(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.lineno, f"{node.module}.{each.name}") for each in node.names)


def _javascript(path: str, text: str) -> Iterator[tuple[int, str]]:
    for node in walk(parsed(path, text)):
        if node.type in ("import_statement", "export_statement"):
            source = node.child_by_field_name("source")
            if source is not None:
                yield line_of(node), string(source)
        elif node.type == "call_expression" and dotted(node.child_by_field_name("function")) in ("require", "import"):
            yield from ((line_of(node), string(each)) for each in arguments_of(node)[:1])
