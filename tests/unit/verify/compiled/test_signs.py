from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.compiled.signs import signs


def asks(path: str, after: str, before: str = "", checkout: Path = Path("/nowhere")) -> list[int]:
    change = Change(files=(ChangedFile(path=path, before=before.encode(), after=after.encode()),))
    return [note.line for note in signs(change, (path,), checkout)]


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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for path in ("go.mod", "testdata/a.golden", "pages/a.html", "kit/testdata/b.in", "tests/c.txt", "Cargo.toml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.go", "//go:embed testdata"),
        ("a.go", "//go:embed pages testdata/*.golden"),
        ("a.go", '//go:embed "all:testdata"'),
        ("a.go", "//go:embed *"),
        ("a.go", "//go:embed kit"),
        ("kit/a.go", "//go:embed testdata/b.in"),
        ("src/a.rs", 'const A: &str = include_str!("../tests/c.txt");'),
        ("src/a.rs", 'const A: &[u8] = include_bytes!["../tests/c.txt"];'),
        ("src/a.rs", 'f(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c.txt")));'),
    ],
)
def test_files_of_tests_that_a_program_newly_embeds_are_shown_with_the_line(
    checkout: Path, path: str, line: str
) -> None:
    assert asks(path, f"one\n{line}\n", checkout=checkout) == [2]
    assert asks(path, f"one\n{line}\n", f"{line}\n", checkout) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.go", "//go:embed pages"),
        ("a.go", "//go:embed *.html"),
        ("a_test.go", "//go:embed testdata"),
        ("src/a.rs", 'const A: &str = include_str!("../pages/a.html");'),
        ("src/a.rs", '#[cfg(test)]\nmod tests {\n    const A: &str = include_str!("../tests/c.txt");\n}'),
        ("src/a.rs", '// include_str!("../tests/c.txt")'),
    ],
)
def test_a_program_may_embed_its_own_files_and_tests_theirs(checkout: Path, path: str, text: str) -> None:
    assert asks(path, text, checkout=checkout) == []
