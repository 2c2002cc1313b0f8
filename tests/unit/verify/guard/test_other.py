from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.verify.guard.check import findings

TASK = Task(id="1", title="Add a total", status="open", line=1)


def found(path: str, before: str | None, after: str | None, mode: str = "100644") -> list[str]:
    file = ChangedFile(
        path=path,
        before=before.encode() if before is not None else None,
        after=after.encode() if after is not None else None,
        mode=mode,
    )
    return [finding.what for finding in findings(Change(files=(file,)), TASK)]


LANGUAGES = {
    "total_test.go": (
        'package total\n\nfunc TestAdds(t *testing.T) {\n\tif Total(1, 2) != 3 {\n\t\tt.Errorf("bad")\n\t}\n}\n',
        [
            ("func TestAdds", "func testAdds"),
            ('\t\tt.Errorf("bad")\n', ""),
            ("\tif Total", "\tt.Skip()\n\tif Total"),
            ("package total", "//go:build ignore\npackage total"),
            ("\tif Total", "\tos.Exit(0)\n\tif Total"),
        ],
        "\nfunc TestMore(t *testing.T) {\n\tif Total() != 0 {\n\t\tt.Fatal(1)\n\t}\n}\n",
    ),
    "tests/total.rs": (
        "#[test]\nfn adds() {\n    assert_eq!(total(&[1, 2]), 3);\n}\n",
        [
            ("#[test]\n", ""),
            ("#[test]\n", "#[test]\n#[ignore]\n"),
            ("#[test]\n", "#[test]\n#[should_panic]\n"),
            ("    assert_eq!(total(&[1, 2]), 3);\n", ""),
            ("assert_eq!(total(&[1, 2]), 3)", "assert!(true)"),
            ("    assert_eq!(total(&[1, 2]), 3);\n", "    // assert_eq!(total(&[1, 2]), 3);\n"),
        ],
        "\n#[test]\nfn nothing() {\n    assert_eq!(total(&[]), 0);\n}\n",
    ),
    "src/test/java/TotalTest.java": (
        "class TotalTest {\n  @Test\n  void adds() {\n    assertEquals(3, Total.of(1, 2));\n  }\n}\n",
        [
            ("  @Test\n", ""),
            ("  @Test\n", "  @Disabled\n  @Test\n"),
            ("  @Test\n", "  @Ignore @Test\n"),
            ("    assertEquals(3, Total.of(1, 2));\n", ""),
            ("assertEquals(3,", "assertEquals(4,"),
        ],
        "\nclass MoreTest {\n  @Test\n  void more() {\n    assertEquals(0, Total.of());\n  }\n}\n",
    ),
    "tests/test_total.cpp": (
        "TEST(Total, Adds) {\n  EXPECT_EQ(3, total(1, 2));\n}\n",
        [
            ("Adds", "DISABLED_Adds"),
            ("  EXPECT_EQ(3, total(1, 2));\n", "  GTEST_SKIP();\n  EXPECT_EQ(3, total(1, 2));\n"),
            ("  EXPECT_EQ(3, total(1, 2));\n", ""),
            ("TEST(Total, Adds) {\n  EXPECT_EQ(3, total(1, 2));\n}\n", "#if 0\nTEST(Total, Adds) {\n}\n#endif\n"),
        ],
        "\nTEST(Total, Nothing) {\n  EXPECT_EQ(0, total());\n}\n",
    ),
}


@pytest.mark.parametrize("path", LANGUAGES)
def test_tests_of_other_languages_are_guarded_by_their_lines(path: str) -> None:
    before, lies, more = LANGUAGES[path]
    for old, new in lies:
        assert old in before
        assert found(path, before, before.replace(old, new)), f"{old!r} -> {new!r}"
    assert found(path, before, None) == ["was deleted, with 1 test"]
    assert found(path, before, before + more) == []
    assert found(path, before, before.replace("(1, 2)", "(1,\n      2)").replace("\n", "\r\n")) == []


def test_tests_beside_rust_code_are_guarded_too() -> None:
    before = (
        "pub fn total() {}\n\n#[cfg(test)]\nmod tests {\n"
        "    #[test]\n    fn adds() {\n        assert_eq!(total(), 3);\n    }\n}\n"
    )
    assert found("src/lib.rs", before, before.replace("total(), 3", "total(), total()"))
    assert found("src/lib.rs", before, before.replace("pub fn total() {}", "pub fn total() -> i32 { 3 }")) == []


PYTEST = (
    "[pytest]\naddopts = -q\ntestpaths = tests more\nxfail_strict = true\nfilterwarnings =\n    error\n    ignore::X\n"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-q", "-q -k 'not total'"),
        ("-q", "-q --deselect tests/test_app.py::test_total"),
        ("-q", "-q --ignore=tests/test_app.py"),
        ("-q", "-q -p no:assertion"),
        ("-q", "-q --maxfail=1"),
        ("-q", '-q -m "not slow"'),
        ("-q", "-q --co"),
        ("tests more", "tests"),
        ("xfail_strict = true\n", ""),
        ("    error\n", ""),
        ("testpaths", "python_files = check_*.py\ntestpaths"),
        ("testpaths", "python_functions = check\ntestpaths"),
        ("testpaths", "norecursedirs = tests\ntestpaths"),
    ],
)
def test_settings_of_pytest_that_leave_tests_out_are_found(old: str, new: str) -> None:
    assert old in PYTEST
    assert found("pytest.ini", PYTEST, PYTEST.replace(old, new))


def test_honest_settings_are_no_finding() -> None:
    assert found("pytest.ini", PYTEST, PYTEST.replace("-q", "-q -ra --strict-markers")) == []
    assert found("pytest.ini", PYTEST, PYTEST + "markers =\n    slow: takes long\n") == []
    assert found("pytest.ini", None, "[pytest]\ntestpaths = tests\npythonpath = src\n") == []
    pyproject = '[project]\nname = "app"\n'
    assert found("pyproject.toml", pyproject, pyproject + '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n') == []
    assert found("pyproject.toml", pyproject, pyproject + 'dependencies = ["rich"]\n') == []
    assert found("pyproject.toml", pyproject, pyproject + '[tool.pytest.ini_options]\naddopts = ["-k", "a b"]\n') == [
        "pytest's addopts has '-k a b' now"
    ]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = a\n[tool:pytest]\naddopts = --ignore=tests\n"),
        ("pyproject.toml", "", '[project.entry-points.pytest11]\nx = "app.plugin"\n'),
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 10\n"),
        (".env", "", "PYTEST_ADDOPTS=-k nothing\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest || true\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\t-pytest\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\t@echo ok\n"),
        ("Makefile", "test:\n\tpytest\n", ".IGNORE:\ntest:\n\tpytest\n"),
        ("check.sh", "#!/bin/sh\npytest\n", "#!/bin/sh\npytest || exit 0\n"),
        ("check.sh", "#!/bin/sh\npytest\n", "#!/bin/sh\npytest\nexit 0\n"),
        ("check.sh", "#!/bin/sh\nset -e\npytest\n", "#!/bin/sh\nset +e\npytest\n"),
        ("scripts/check", "#!/bin/sh\npytest\n", "#!/bin/sh\necho passed\n"),
        ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = - pytest\n"),
        ("Cargo.toml", '[lib]\nname = "a"\n', '[lib]\nname = "a"\ntest = false\n'),
        ("CMakeLists.txt", "add_test(NAME total COMMAND t)\n", ""),
        ("node_modules/jest/index.js", None, "module.exports = 1\n"),
        ("tests/data/expected.json", '{"total": 3}\n', '{"total": 4}\n'),
        ("tests/__snapshots__/a.snap", "exports[`a`] = `3`;\n", "exports[`a`] = `4`;\n"),
        ("tests/data/expected.bin", "a\0b", "a\0c"),
        ("tests/data/expected.txt", "3\n", None),
    ],
)
def test_a_run_of_tests_that_is_steered_or_fed_otherwise_is_found(
    path: str, before: str | None, after: str | None
) -> None:
    assert found(path, before, after)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest -q\nclean:\n\t-rm -r build\n\trm x || true\n"),
        ("check.sh", "#!/bin/sh\npytest\n", "#!/bin/sh\nset -e\npytest tests\nruff check\n"),
        ("install.sh", None, "#!/bin/sh\nif [ -f x ]; then\n  exit 0\nfi\ncp x y || true\n"),
        ("Cargo.toml", '[lib]\nname = "a"\n', '[lib]\nname = "a"\n[dependencies]\nserde = "1"\n'),
        (
            "CMakeLists.txt",
            "add_test(NAME total COMMAND t)\n",
            "add_test(NAME total COMMAND t)\nadd_test(NAME more COMMAND m)\n",
        ),
        ("tests/data/expected.json", '{"total": 3}\n', '{\n  "total": 3\n}\n'),
        ("tests/__snapshots__/a.snap", "exports[`a`] = `3`;\n", "exports[`a`] = `3`;\n\nexports[`b`] = `4`;\n"),
        ("tests/README.md", "old\n", "new\n"),
        ("docs/testing.md", "Run `pytest || true`.\n", "Set PYTEST_ADDOPTS.\n"),
        (".env", "A=1\n", "A=2\n"),
        ("src/data.json", '{"total": 3}\n', '{"total": 4}\n'),
    ],
)
def test_honest_neighbours_are_no_finding(path: str, before: str | None, after: str) -> None:
    assert found(path, before, after) == []


def test_a_test_file_that_becomes_a_link_is_found() -> None:
    assert found("tests/test_a.py", "def test_a():\n    assert 1\n", "../other.py", "120000")
    assert found("tests/a.test.js", "test('a', () => {})\n", "../other.js", "120000")
