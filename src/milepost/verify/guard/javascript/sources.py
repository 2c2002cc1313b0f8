"""JavaScript and TypeScript that makes tests lie: it notices them, replaces parts of the runner, or ends it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from milepost.core.change import ChangedFile
from milepost.verify.guard.finding import GuardFinding
from milepost.verify.guard.javascript.detection import imports_the_runner, notices_tests
from milepost.verify.judging.paths import is_test_path, is_test_setting, name_of
from milepost.verify.syntax.javascript_tree import (
    FUNCTIONS,
    arguments_of,
    dotted,
    line_of,
    parsed,
    string,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_PATCHED = re.compile(
    r"(assert|expect|chai|jest|vi|mocha)\.\w+|(globalThis|global|window|self)\.(test|it|describe|expect|assert|vi|jest|chai)\b.*"
    r"|(node:)?test\.\w+|require\.cache.*|(Module|module)\.(_load|prototype\.require|_resolveFilename)|Object\.(is|keys)"
    r"|process\.(exit|reallyExit|exitCode|_exiting)|JSON\.(stringify|parse)"
)
_COMMAND_LINE = re.compile(r"^#!|process\.argv|\bcommander\b|\byargs\b|\bminimist\b|\bparseArgs\b|import\.meta\.main")
_COMMAND_LINE_PATH = re.compile(r"\b(cli|bin|main|server|scripts?)\b")
_RUN_DIRECTLY = re.compile(r"require\.main\s*===?\s*module|import\.meta\.(main|url)")
_MATCHERS = re.compile(r"to(Be|Equal|StrictEqual|Match|Contain|Throw|Have|Return)\w*")


def forged(file: ChangedFile) -> tuple[GuardFinding, ...]:
    """What a changed file does now, and did not before, that only tests could be fooled by."""
    if file.after is None or file.is_link:
        return ()
    old = {what for what, _ in _signs(file.path, file.text_before)} if file.before is not None else set()
    found: dict[str, int] = {}
    for what, line in _signs(file.path, file.text_after):
        if what not in old:
            found.setdefault(what, line)
    return tuple(GuardFinding(path=file.path, line=line, what=what, forges=True) for what, line in found.items())


def _signs(path: str, text: str) -> Iterator[tuple[str, int]]:
    root = parsed(path, text)
    is_product = not is_test_path(path) and not is_test_setting(path)
    ends_for_people = _COMMAND_LINE.search(text) is not None or _COMMAND_LINE_PATH.search(path) is not None
    for node in walk(root):
        yield from _replaces_the_runner(node)
        yield from _exits(node, ends_for_people)
        if is_product:
            yield from imports_the_runner(node, name_of(path))
    if is_product:
        yield from notices_tests(root)


def _replaces_the_runner(node: Node) -> Iterator[tuple[str, int]]:
    if node.type in ("assignment_expression", "augmented_assignment_expression"):
        path = dotted(node.child_by_field_name("left"))
        if _PATCHED.fullmatch(path) and not _sets_failure(path, node):
            yield f"replaces {path}", line_of(node)
    elif node.type == "call_expression":
        callee, arguments = dotted(node), arguments_of(node)
        first = dotted(arguments[0]) if arguments else ""
        name = string(arguments[1]) if len(arguments) > 1 else ""
        if callee in ("Object.defineProperty", "Reflect.set", "Reflect.defineProperty") and _PATCHED.fullmatch(
            f"{first}.{name}"
        ):
            yield f"replaces {first}.{name}", line_of(node)
        if callee == "Object.assign" and first in ("assert", "expect", "chai", "require.cache"):
            yield f"replaces parts of {first}", line_of(node)
        if callee == "expect.extend" and arguments:
            keys = [
                text_of(part.child_by_field_name("key") or part.child_by_field_name("name"))
                for part in arguments[0].named_children
            ]
            for matcher in filter(_MATCHERS.fullmatch, keys):
                if matcher in _BUILT_IN:
                    yield f"replaces expect's {matcher}", line_of(node)


_BUILT_IN = frozenset(
    {"toBe", "toEqual", "toStrictEqual", "toMatch", "toMatchObject", "toContain", "toContainEqual", "toThrow"}
    | {"toThrowError", "toBeTruthy", "toBeFalsy", "toBeNull", "toBeUndefined", "toBeDefined", "toBeCloseTo"}
    | {"toHaveLength", "toHaveProperty", "toBeInstanceOf", "toHaveBeenCalled", "toHaveBeenCalledWith"}
    | {"toHaveBeenCalledTimes", "toMatchSnapshot", "toMatchInlineSnapshot", "toBeGreaterThan", "toBeLessThan"}
)


def _sets_failure(path: str, node: Node) -> bool:
    """`process.exitCode = 1` is how a program says that it failed."""
    return path == "process.exitCode" and text_of(node.child_by_field_name("right")) not in ("0", "undefined")


def _exits(node: Node, ends_for_people: bool) -> Iterator[tuple[str, int]]:
    if node.type != "call_expression":
        return
    callee, arguments = dotted(node), arguments_of(node)
    if callee == "process.reallyExit" or (callee == "process.kill" and "process.pid" in text_of(node)):
        yield f"ends the process by {callee}", line_of(node)
    ends_well = callee in ("process.exit", "Deno.exit") and (
        not arguments or text_of(arguments[0]) in ("0", "undefined")
    )
    if ends_well and _is_reached_by_import(node):
        yield "ends the process while it is imported", line_of(node)
    elif ends_well and _is_inside_function(node) and not ends_for_people:
        yield "ends the process as if all were well", line_of(node)
    at_end = callee in ("process.on", "process.once") and string(next(iter(arguments), None)) in ("exit", "beforeExit")
    if at_end and re.search(r"exitCode\s*=|process\.(exit|reallyExit)", "".join(map(text_of, arguments[1:]))):
        yield "gives the process a status of its own at its end", line_of(node)


def _is_reached_by_import(node: Node) -> bool:
    """Whether code runs when its file is imported: in no function, and not under `if (require.main === module)`."""
    conditions = (above.child_by_field_name("condition") for above in _above(node) if above.type == "if_statement")
    return not _is_inside_function(node) and not any(_RUN_DIRECTLY.search(text_of(found)) for found in conditions)


def _is_inside_function(node: Node) -> bool:
    return any(above.type in FUNCTIONS for above in _above(node))


def _above(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
