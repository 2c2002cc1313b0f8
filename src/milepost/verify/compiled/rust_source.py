"""Rust files with other names for their tests; beside each that decides stand copies that expect another value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from milepost.verify.compiled.code import closing, code_of, edited
from milepost.verify.compiled.drawn import MOST_OTHERS, DrawnTest, Kind, drawn_name
from milepost.verify.compiled.expectations_rust import Edit, Other, built, expectations
from milepost.verify.suites.runners.must_fail import drawn

_FUNCTION = re.compile(
    r"(?P<marks>(?:#\[[^\]]*\]\s*)+)(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(?P<name>\w+)\s*\([^{;]*(?=\{)"
)
_IS_TEST = re.compile(r"#\[\s*(?:\w+\s*::\s*)*test\b")
_MAY_PANIC = re.compile(r"#\[\s*(?:should_panic|ignore|\w*case)\b")
_TEST_MODULE = re.compile(r"#\[\s*cfg\(\s*test\s*\)\s*\]\s*(?:#\[[^\]]*\]\s*)*mod\s+\w+\s*(?=\{)")
_PLANTED = "\n\n#[test]\nfn {name}() {{\n    let got: u64 = {left} * {right};\n    assert_eq!(got, {wrong});\n}}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RustFile:
    """The text of a file, and its tests; `of` of those is the name of the function."""

    text: str
    tests: tuple[DrawnTest, ...]


def rewritten(
    text: str, deciding: frozenset[str], controls: frozenset[str], types: frozenset[str] = frozenset()
) -> RustFile | None:
    """The file where it has one of these tests, by the names of their functions; `types` are those of the product."""
    code = code_of(text, rust=True)
    edits: list[Edit] = []
    tests: list[DrawnTest] = []
    for function in _FUNCTION.finditer(code):
        name, end = function["name"], closing(code, function.end()) + 1
        if not _IS_TEST.search(function["marks"]) or name not in deciding | controls or not end:
            continue
        new = drawn_name().lower()
        tests.append(DrawnTest(name=new, of=name, kind="test"))
        edits.append((*function.span("name"), new))
        added = ""
        if name in deciding and not _MAY_PANIC.search(function["marks"]):
            place = (text, code, function.start(), end)
            objects = built(*place, types)
            others: list[tuple[Kind, Other]] = [("otherwise", each) for each in expectations(*place)[:MOST_OTHERS]]
            others += [("built", objects)] if objects is not None else []
            for kind, (changes, sure) in others:
                other = drawn_name().lower()
                tests.append(DrawnTest(name=other, of=name, kind=kind, sure=sure))
                added += _copy(text, function, end, changes, other)
        if not any(test.kind == "planted" for test in tests):
            must_fail = drawn(drawn_name().lower())
            tests.append(DrawnTest(name=must_fail.name, of="", kind="planted", failed=must_fail.token))
            added += _PLANTED.format(
                name=must_fail.name, left=must_fail.left, right=must_fail.right, wrong=must_fail.wrong
            )
        edits.append((end, end, added))
    return RustFile(text=edited(text, edits), tests=tuple(tests)) if tests else None


def without_tests(text: str) -> str:
    """The text without its modules of tests."""
    code = code_of(text, rust=True)
    ends = [(module, closing(code, module.end())) for module in _TEST_MODULE.finditer(code)]
    return edited(text, [(module.start(), end + 1, "") for module, end in ends if end > 0])


def _copy(text: str, function: re.Match[str], end: int, edits: list[Edit], name: str) -> str:
    """The function under another name, with these edits."""
    start = function.start()
    here = [(first - start, last - start, new) for first, last, new in (*edits, (*function.span("name"), name))]
    return f"\n\n{edited(text[start:end], here)}"


def unrenamed(name: str, tests: Mapping[str, DrawnTest]) -> str:
    """The name of a test with its module, from the one that it was given."""
    module, mark, last = name.rpartition("::")
    return f"{module}{mark}{tests[last].of}" if last in tests else name
