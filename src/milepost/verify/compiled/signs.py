"""What changed product files of Go and Rust ask for that only a test run has: shown to a person, it refuses nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from milepost.core.change import Change
from milepost.core.folders import NOT_SOURCE
from milepost.verify.compiled.code import closing, code_of
from milepost.verify.judging.paths import is_test_path
from milepost.verify.suites.suite import AuditNote
from milepost.verify.walk_checkout import text_of

ASKS = "asks whether it runs under test"
_ITEM = (
    r"#|mod\b|use\b|fn\b|pub\b|impl\b|struct\b|enum\b|const\b|static\b|type\b|trait\b|macro_rules\b|extern\b|"
    r"unsafe\b|async\b"
)
_GO = re.compile(r"testing\.Testing\(\)|flag\.Lookup\(\s*\"test\.|os\.Args\[0\][^\n]*\"\.test\"|testing\.tRunner")
_RUST = re.compile(
    r"cfg!\(\s*test\s*\)|cfg\(\s*not\(\s*test\s*\)\s*\)|include(?:_str|_bytes)?!\([^)]*tests?/[^)]*\.rs|"
    rf"#\[cfg\(\s*test\s*\)\](?!\s*(?://[^\n]*\s*)*(?:{_ITEM}))"
)
_TEST_MODULE = re.compile(r"#\[cfg\(\s*test\s*\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*(?=\{)")


def signs(change: Change, product: tuple[str, ...]) -> tuple[AuditNote, ...]:
    """The places of changed product files that ask for a test run, and did not at the base."""
    found: list[AuditNote] = []
    for path in product:
        file = change.file(path)
        if file is None or file.after is None or is_test_path(path) or not path.endswith((".go", ".rs")):
            continue
        before = {text for _, text in _signs(path, file.before or b"")}
        found += [
            AuditNote(what=ASKS, path=path, line=line) for line, text in _signs(path, file.after) if text not in before
        ]
    return tuple(found)


def asked_before(checkout: Path, change: Change) -> bool:
    """Whether a product file asked for a test run before the change: then so may honest work."""
    for place, folders, names in os.walk(checkout):
        folders[:] = [name for name in folders if name not in NOT_SOURCE and name != "target"]
        for name in names:
            path = (Path(place) / name).relative_to(checkout).as_posix()
            if not name.endswith((".go", ".rs")) or is_test_path(path):
                continue
            file = change.file(path)
            content = text_of(checkout / path).encode() if file is None else file.before or b""
            if next(_signs(path, content), None):
                return True
    return False


def _signs(path: str, content: bytes) -> Iterator[tuple[int, str]]:
    """The line and the text of each sign; comments and the modules of tests have none."""
    text = content.decode("utf-8", "replace")
    is_rust = path.endswith(".rs")
    code = code_of(text, rust=is_rust)
    modules = [(each.start(), closing(code, each.end())) for each in _TEST_MODULE.finditer(code)] if is_rust else []
    for sign in (_RUST if is_rust else _GO).finditer(text):
        at = sign.start()
        if not code[at].isspace() and not any(start <= at < end for start, end in modules):
            yield text.count("\n", 0, at) + 1, sign[0]
