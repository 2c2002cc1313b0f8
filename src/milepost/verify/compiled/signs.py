"""What changed product files of Go and Rust take that only tests have: shown to a person, it refuses nothing."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from milepost.core.change import Change
from milepost.core.folders import NOT_SOURCE
from milepost.verify.compiled.code import closing, code_of
from milepost.verify.judging.paths import is_test_path
from milepost.verify.suites.suite import AuditNote
from milepost.verify.walk_checkout import text_of

ASKS = "asks whether it runs under test"
EMBEDS = "embeds files of its tests"
_ITEM = (
    r"#|mod\b|use\b|fn\b|pub\b|impl\b|struct\b|enum\b|const\b|static\b|type\b|trait\b|macro_rules\b|extern\b|"
    r"unsafe\b|async\b"
)
_GO = re.compile(r"testing\.Testing\(\)|flag\.Lookup\(\s*\"test\.|os\.Args\[0\][^\n]*\"\.test\"|testing\.tRunner")
_RUST = re.compile(
    r"cfg!\(\s*test\s*\)|cfg\(\s*not\(\s*test\s*\)\s*\)|"
    rf"#\[cfg\(\s*test\s*\)\](?!\s*(?://[^\n]*\s*)*(?:{_ITEM}))"
)
_TEST_MODULE = re.compile(r"#\[cfg\(\s*test\s*\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*(?=\{)")
_EMBEDS = re.compile(r"(?m)^//go:embed[ \t]+(?P<named>[^\n]+)")
_INCLUDES = re.compile(r"include(?:_str|_bytes)?!\s*[(\[{](?P<named>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*?)[)\]}]")
_STRING = re.compile(r'"([^"\n]*)"')
MOST_EMBEDDED = 200
_MANIFEST_FOLDER = "CARGO_MANIFEST_DIR"


def signs(change: Change, product: tuple[str, ...], checkout: Path) -> tuple[AuditNote, ...]:
    """The places of changed product files that ask for a test run, or embed files that judge, and did not at the base.

    `checkout` has the files that may be embedded.
    """
    found: list[AuditNote] = []
    for path in product:
        file = change.file(path)
        if file is None or file.after is None or is_test_path(path) or not path.endswith((".go", ".rs")):
            continue
        for what, of in ((ASKS, _signs), (EMBEDS, partial(_embedded, checkout))):
            before = {text for _, text in of(path, file.before or b"")}
            found += [
                AuditNote(what=what, path=path, line=line) for line, text in of(path, file.after) if text not in before
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
    for line, sign in _outside_tests(path, content, _RUST if path.endswith(".rs") else _GO):
        yield line, sign[0]


def _embedded(checkout: Path, path: str, content: bytes) -> Iterator[tuple[int, str]]:
    """The line and the text of what is built in of tests: `//go:embed testdata`, `include_str!("../tests/a.txt")`."""
    folder = posixpath.dirname(path)
    if path.endswith(".go"):
        text = content.decode("utf-8", "replace")
        for sign in _EMBEDS.finditer(text):
            names = [name.strip('"`').removeprefix("all:") for name in sign["named"].split()]
            if any(_reaches_tests(checkout, folder, name) for name in names):
                yield text.count("\n", 0, sign.start()) + 1, sign[0]
        return
    for line, sign in _outside_tests(path, content, _INCLUDES):
        package = next(
            (str(each) for each in PurePosixPath(path).parents if (checkout / each / "Cargo.toml").is_file()), ""
        )
        named = "".join(_STRING.findall(sign["named"].replace(f'"{_MANIFEST_FOLDER}"', "")))
        place = posixpath.normpath(
            posixpath.join(package if _MANIFEST_FOLDER in sign[0] else folder, named.lstrip("/"))
        )
        if named and is_test_path(place):
            yield line, sign[0]


def _reaches_tests(checkout: Path, folder: str, pattern: str) -> bool:
    """Whether a pattern names files of tests, or folders with such."""
    try:
        found = list((checkout / folder).glob(pattern))[:MOST_EMBEDDED]
    except (ValueError, NotImplementedError, OSError):
        return False
    for place in found:
        path = place.relative_to(checkout).as_posix()
        if is_test_path(f"{path}/x" if place.is_dir() else path):
            return True
        if place.is_dir() and any(
            is_test_path(f"{each.relative_to(checkout).as_posix()}/x") for each in place.glob("*/")
        ):
            return True
    return False


def _outside_tests(path: str, content: bytes, wanted: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Where a text stands in code, with the line; not in comments, nor in the modules of tests."""
    text = content.decode("utf-8", "replace")
    is_rust = path.endswith(".rs")
    code = code_of(text, rust=is_rust)
    modules = [(each.start(), closing(code, each.end())) for each in _TEST_MODULE.finditer(code)] if is_rust else []
    for sign in wanted.finditer(text):
        at = sign.start()
        if not code[at].isspace() and not any(start <= at < end for start, end in modules):
            yield text.count("\n", 0, at) + 1, sign
