from __future__ import annotations

from pathlib import Path

from milepost.verify.checks.tool_findings import ToolFinding
from milepost.verify.programs.linters import Linter, read_eslint, read_ruff
from milepost.verify.programs.type_checkers import read_mypy, read_pyright, read_tsc, typescript_projects

CHECKOUT = Path("/checkout")


def test_the_errors_of_mypy_are_read_and_its_notes_are_not() -> None:
    output = (
        "pkg/a.py:3: error: Incompatible return value  [return-value]\n"
        "pkg/a.py:3: note: See https://example.org\n"
        "b: c.py:4:5: error: No code\n"
        "a.py: error: Source file found twice\n"
    )

    assert read_mypy(output) == (
        ToolFinding(path="pkg/a.py", line=3, message="Incompatible return value", code="return-value"),
        ToolFinding(path="b: c.py", line=4, message="No code"),
    )


def test_the_errors_of_tsc_are_relative_to_the_checkout_and_of_the_code() -> None:
    output = (
        "src/a (b).ts(3,5): error TS2322: Type 'a' is wrong.\n  more of it\n"
        "error TS5083: Cannot read file.\nc.ts(1,1): error TS6305: Output file has not been built.\n"
    )

    assert read_tsc(output, "web") == (
        ToolFinding(path="web/src/a (b).ts", line=3, message="Type 'a' is wrong.", code="TS2322"),
        ToolFinding(path="", message="Cannot read file.", code="TS5083"),
    )


def test_machine_formats_are_read_and_what_is_none_is_no_answer() -> None:
    place = '"range": {"start": {"line": 2, "character": 0}}'
    pyright = (
        f'{{"generalDiagnostics": [{{"file": "/checkout/a.py", "severity": "error", "message": "bad", {place}}}]}}'
    )
    ruff = '[{"filename": "/checkout/a.py", "code": "F401", "message": "bad", "location": {"row": 3}}]'
    eslint = (
        '[{"filePath": "/checkout/a.js", "messages": [{"ruleId": "x", "severity": 2, "message": "bad", "line": 3},'
        ' {"ruleId": "y", "severity": 1, "message": "meh"}]}]'
    )

    assert read_pyright(pyright, CHECKOUT) == (ToolFinding(path="a.py", line=3, message="bad"),)
    assert read_ruff(ruff, CHECKOUT) == (ToolFinding(path="a.py", line=3, message="bad", code="F401"),)
    assert read_eslint(eslint, CHECKOUT) == (ToolFinding(path="a.js", line=3, message="bad", code="x"),)
    for text in ("", "{}", "[1]", "oops"):
        assert read_pyright(text, CHECKOUT) is None
        assert read_ruff(text, CHECKOUT) is None or text == "{}"
        assert read_eslint(text, CHECKOUT) is None or text == "{}"


def test_linters_are_asked_to_change_nothing_and_to_take_names_as_names() -> None:
    ruff = Linter(tool="ruff", program=Path("/bin/ruff")).on_files(("-x.py",), Path("/scratch/out"))
    eslint = Linter(tool="eslint", program=Path("/bin/eslint")).on_text("-x.js", Path("/scratch/out"))

    assert "--no-fix" in ruff and ruff[-2:] == ("--", "-x.py")
    assert "--stdin-filename=-x.js" in eslint and "--fix" not in eslint


def test_a_typescript_project_that_only_refers_to_others_stands_for_those(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web/tsconfig.json").write_text(
        '{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "../../up"}, {"path": "./none"}]}'
    )
    (tmp_path / "web/tsconfig.app.json").write_text("{}")
    (tmp_path / "tsconfig.json").write_text("{}")

    found = set(typescript_projects(("web/src/a.ts", "other.py"), tmp_path))

    assert found == {("web", "web/tsconfig.app.json"), ("", "tsconfig.json")}
