from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.compiled.signs import signs


def asks(path: str, after: str, before: str = "") -> list[int]:
    change = Change(files=(ChangedFile(path=path, before=before.encode(), after=after.encode()),))
    return [note.line for note in signs(change, (path,))]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.go", "if testing.Testing() {"),
        ("a.go", 'if flag.Lookup("test.v") != nil {'),
        ("a.go", 'strings.HasSuffix(os.Args[0], ".test")'),
        ("src/a.rs", "if cfg!(test) { 1 } else { 2 }"),
        ("src/a.rs", "#[cfg(not(test))]\nfn f() {}"),
        ("src/a.rs", "#[cfg(test)]\nreturn 5;"),
        ("src/a.rs", 'include_str!("../tests/a.rs")'),
    ],
)
def test_what_only_a_test_run_has_is_named_with_its_line(path: str, line: str) -> None:
    assert asks(path, f"one\n{line}\n") == [2]
    assert asks(path, f"one\n{line}\n", before=f"{line}\n") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.go", "// not testing.Testing()"),
        ("a_test.go", "testing.Testing()"),
        ("a.py", "cfg!(test)"),
        ("src/a.rs", "#[cfg(test)]\nmod tests {\n    fn f() { if cfg!(test) {} }\n}"),
        ("src/a.rs", "#[cfg(test)]\npub(crate) fn helper() {}"),
        ("src/a.rs", "/// cfg!(test)\nfn f() {}"),
    ],
)
def test_tests_and_their_helpers_may_know_what_they_are(path: str, text: str) -> None:
    assert asks(path, text) == []
