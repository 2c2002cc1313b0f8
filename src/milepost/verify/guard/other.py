"""Tests in other languages by their lines: test functions, assertions and markers of Go, Rust, Java, C and others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from milepost.core.change import Change, ChangedFile
from milepost.verify.guard.finding import GuardFinding, counted
from milepost.verify.judging.paths import CODE, JAVASCRIPT, PYTHON, is_test_path, suffix

_LINE_COMMENT = {
    ".py": "#",
    ".rb": "#",
    ".sh": "#",
    ".bash": "#",
    ".bats": "#",
    ".ex": "#",
    ".exs": "#",
    ".jl": "#",
    ".lua": "--",
}
_TEST_NAMES = re.compile(
    r"""
      \bfunc\s+(?:\([^)]*\)\s*)?((?:Test|Benchmark|Fuzz|Example)\w*)\s*\(       # Go
    | \#\[(?:\w+::)*test(?:\([^)]*\))?\]\s*(?:\#\[[^\]\n]{0,200}\]\s{0,20}){0,10}(?:pub\s+)?(?:async\s+)?fn\s+(\w+)
    | @(?:Test|ParameterizedTest|RepeatedTest)\b[^;{]{0,300}?\b(?:void|fun)\s+(`[^`]+`|\w+)\s*\(          # Java, Kotlin
    | \b(?:TEST|TEST_F|TEST_P|TYPED_TEST|BOOST_AUTO_TEST_CASE)\s*\(\s*([\w,\s]+?)\s*\)              # GoogleTest, Boost
    | \b(?:TEST_CASE|SCENARIO|SECTION)\s*\(\s*"([^"]+)"                                          # Catch2, doctest
    | ^[ \t]*(?:(?:static\s+)?(?:void|int)\s+)(test_\w+)\s*\(                                        # plain C
    | ^[ \t]*(?:it|test|specify|scenario|@test)\s+["']([^"']+)["']                                  # Ruby, Elixir, bats
    | \[(?:Fact|Theory|Test|TestMethod)\b[^{;]{0,300}?\b(?:void|Task)\s+(\w+)\s*\(                      # C#
    | \bfunc\s+(test\w+)\s*\(\s*\)                                                              # Swift
    | \bfunction\s+(test\w+)\s*\(                                                               # PHP, shell
    """,
    re.VERBOSE | re.MULTILINE,
)
_ASSERTION = re.compile(
    r"\b(?:\w*assert\w*!?|ASSERT_\w+|EXPECT_\w+|REQUIRE\w*|CHECK\w*|BOOST_\w+|expect\w*|should\w*|verify|fail|must_\w+|refute\w*|XCT\w+)\s*[(!\s]"
    r"|\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\brequire\.\w+\s*\(|\bassert\.\w+\s*\(|\bpanic\s*\("
)
_HELD_BACK = re.compile(
    r"\b[tb]\.(?:Skip|Skipf|SkipNow)\s*\(|\#\[(?:cfg_attr\([^)]{0,200})?ignore\b|@(?:Disabled|Ignore|DisabledIf|EnabledIf)\w*"
    r"|\bDISABLED_\w+|\bGTEST_SKIP\s*\(|\bSKIP\s*\(|\bXCTSkip|\bmarkTestSkipped|\bpending\b"
    r"|^[ \t]*x(?:it|describe|context)\b"
    r"|Skip\s*=\s*\"|\[Ignore\b|@tag\s+:?skip|^[ \t]*skip\b|testing\.Short\s*\(|//go:build\s+ignore"
    r"|assume(?:True|False)\s*\("
    r"|\#\[should_panic\b|\#if\s+0\b",
    re.MULTILINE,
)
_EXITS = re.compile(
    r"\bos\.Exit\(\s*0\s*\)|\b(?:std::process::|process::)exit\(\s*0\s*\)|\bSystem\.exit\(\s*0\s*\)|\b_?_?exit\(\s*(?:0|EXIT_SUCCESS)\s*\)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    tests: Counter[str]
    assertions: Counter[str]
    held_back: Counter[str]


def weakened(change: Change) -> tuple[GuardFinding, ...]:
    """The findings about test files in the languages that are read by lines."""
    files = [file for file in change.files if _is_ours(file)]
    everywhere = [_lines(file.path, file.text_after) for file in files if not file.is_gone]
    tests = sum((lines.tests for lines in everywhere), Counter[str]())
    assertions = sum((lines.assertions for lines in everywhere), Counter[str]())
    known = sum((_lines(file.path, file.text_before).tests for file in files), Counter[str]())
    claimed = sum((_lines(file.path, file.text_before).assertions for file in files), Counter[str]())
    findings: list[GuardFinding] = []
    for file in files:
        if file.before is not None:
            findings += _compared(file, tests - known, assertions - claimed)
    return tuple(findings)


def _compared(file: ChangedFile, new_tests: Counter[str], new_assertions: Counter[str]) -> Iterator[GuardFinding]:
    """What one file lost; what turned up in another file has only moved."""
    before, after = _lines(file.path, file.text_before), _lines(file.path, file.text_after)
    lost = sorted((before.tests - after.tests - new_tests).elements())
    if file.is_gone and lost:
        yield GuardFinding(path=file.path, line=0, what=f"was deleted, with {counted(len(lost), 'test')}")
        return
    if file.is_link:
        yield GuardFinding(path=file.path, line=0, what="was replaced by a link")
    for name in lost:
        yield GuardFinding(path=file.path, line=0, what=f"the test {name} was deleted")
    for mark in sorted((after.held_back - before.held_back).elements()):
        if after.tests.total() <= before.tests.total():
            yield GuardFinding(path=file.path, line=_line(file.text_after, mark), what=f"tests are held back by {mark}")
    gone = before.assertions - after.assertions - new_assertions
    if gone and not lost:
        one = min(gone.elements())
        what = f"{counted(gone.total(), 'assertion')} changed or removed, such as {one[:80]!r}"
        yield GuardFinding(path=file.path, line=0, what=what)


def forged(file: ChangedFile) -> tuple[GuardFinding, ...]:
    """A process that test code ends with status 0, where it did not before."""
    if file.after is None or not is_test_path(file.path) or not _is_ours(file):
        return ()
    if len(_EXITS.findall(file.text_after)) <= len(_EXITS.findall(file.text_before)):
        return ()
    found = _EXITS.search(file.text_after)
    assert found is not None
    line = file.text_after[: found.start()].count("\n") + 1
    return (
        GuardFinding(path=file.path, line=line, what=f"ends the tests as if all were well: {found[0]}", forges=True),
    )


def _is_ours(file: ChangedFile) -> bool:
    """Test files of other languages; Rust has its tests beside the code as well."""
    kind = suffix(file.path)
    if kind in JAVASCRIPT or kind in PYTHON or kind not in CODE:
        return False
    return is_test_path(file.path) or (kind == ".rs" and "#[cfg(test)]" in file.text_before)


def _lines(path: str, text: str) -> _Lines:
    plain = _without_comments(path, text)
    tests = Counter(next(name for name in found if name).strip() for found in _TEST_NAMES.findall(plain))
    statements = (" ".join(line.split()) for line in _statements(plain))
    assertions = Counter(line.rstrip(";,") for line in statements if _ASSERTION.search(line))
    return _Lines(
        tests=tests, assertions=assertions, held_back=Counter(found.strip() for found in _HELD_BACK.findall(plain))
    )


def _statements(text: str) -> Iterator[str]:
    """Lines, those joined that a formatter may have broken inside brackets."""
    held, depth = "", 0
    for line in text.splitlines():
        held = f"{held} {line.strip()}" if depth > 0 else line.strip()
        depth += line.count("(") - line.count(")")
        if depth <= 0 or len(held) > 2000:
            yield re.sub(r"\s*([(),])\s*", r"\1", held).replace(",)", ")")
            held, depth = "", 0
    if held:
        yield held


def _without_comments(path: str, text: str) -> str:
    mark = _LINE_COMMENT.get(suffix(path), "//")
    if mark == "//":
        text = without_block_comments(text)
    keeps = re.compile(r"^[ \t]*//go:build")
    lines = (line for line in text.splitlines() if line.strip())
    return "\n".join(line for line in lines if keeps.match(line) or not line.lstrip().startswith(mark))


def without_block_comments(text: str) -> str:
    """The text without `/* … */`, its lines kept; one that is never closed is left alone."""
    kept: list[str] = []
    at = 0
    while (start := text.find("/*", at)) >= 0 and (end := text.find("*/", start + 2)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 2
    return "".join(kept) + text[at:]


def _line(text: str, part: str) -> int:
    at = text.find(part)
    return text[:at].count("\n") + 1 if at >= 0 else 0
