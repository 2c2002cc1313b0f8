"""What the readers can read, and the words that mean something to them."""

# ruff: noqa: E501

from __future__ import annotations

import json
from contextlib import closing
from functools import cache
from pathlib import Path

from milepost.core.verdict import CheckResult, Evidence, TestCase, Verdict
from milepost.engine.records.values_json import dump
from milepost.memory.memory import StoredMemory
from milepost.memory.transfer.export import export_lines
from milepost.store.database import open_database
from tests.unit.memory.test_export import a_filled_memory

_HERE = Path(__file__).parents[1]
_SAMPLE = _HERE.parent / "src/milepost/demo/sample"

ROADMAPS = tuple(path.read_text(encoding="utf-8") for path in sorted((_HERE / "roadmaps").glob("*.md")))
ROADMAP_WORDS = (
    *(
        "- [ ] ",
        "- [x] ",
        "* [-] ",
        "1. [ ] ",
        "## ",
        "# Phase 1\n",
        "  - Verify: ",
        "  - Depends: 1.1, 1.2\n",
        "**1.1** ",
    ),
    *(
        "| a | b |\n",
        "|---|---|\n",
        "✅ ",
        "❌",
        "🚧",
        "TODO",
        "DONE ",
        "~~a~~",
        "```\n",
        "<!-- ",
        "-->",
        "---\n",
        "(A) ",
    ),
    *(
        "[a](b.md)",
        "- Files: `a.py`\n",
        "  ",
        "\t",
        "\n\n",
        "> ",
        "<details>",
        "</details>",
        "{{",
        "&amp;",
        "\\[",
        "status: ",
    ),
    *('{"tasks": [', '{"id": 1, "title": "a", "status": "done", "dependencies": [1]}', '"subtasks": [', "]}"),
)
SETTINGS = (
    (_SAMPLE / "milepost.toml").read_text(),
    '[run]\nagent = "tool"\nparallel = 2\n[sandbox]\nreadable = ["/a"]\nnetwork = ["a.b:1"]\n[limits]\nattempts = 1\n',
    '[model]\nname = "a:b"\n[mcp.x]\nurl = "http://a"\n[agents."acp:x"]\nenv = {A = "b"}\n[surroundings]\nenv = {B = "{port}"}\n',
)
SETTINGS_WORDS = (
    *(
        "[run]\n",
        "[[a]]\n",
        "[a.b]\n",
        "a = ",
        "1979-05-27T07:32:00Z",
        "inf",
        "nan",
        "0x",
        "1_0",
        '"""',
        "'''",
        "{a = 1}",
    ),
    *(
        "agent",
        "parallel",
        "trust",
        "sandboxed",
        "budget_usd",
        "network",
        "[sandbox.secrets.A]\n",
        "a.b.c = 1\n",
        "\\u0000",
    ),
)
CASSETTES = (
    (_SAMPLE / "cassette.json").read_text(),
    json.dumps({"version": 2, "tasks": {"1.1": [{"diff": "--- a\n+++ b\n", "outcome": "finished", "said": "x"}]}}),
    json.dumps({"version": 2, "tasks": {"1.1": [{"diff_base64": "LS0t", "agent": "code"}, {"answers": []}]}}),
)
CASSETTE_WORDS = (
    '{"version": 2,',
    '"tasks": {',
    '"answers": [',
    "[[",
    "]]",
    "}}",
    '"diff_base64": "',
    "1e400",
    "null",
    "-0",
)
NOTES = (
    json.dumps(
        {
            "evidence": dump(
                Evidence(
                    tree="0" * 40,
                    verdict=Verdict.PASSED,
                    checks=(
                        CheckResult(
                            name="tests",
                            outcome="passed",
                            summary="1 test",
                            cases=(TestCase(id="a", outcome="passed"),),
                        ),
                    ),
                )
            ),
            "corrections": [["a", "b"]],
        }
    ),
)
NOTE_WORDS = (
    '{"evidence": ',
    '"checks": [',
    '"verdict": "passed"',
    '"corrections": ',
    "[[",
    "]]",
    "{}",
    "null",
    "1e400",
)
EXPORT_WORDS = ('{"table": "episode"', '"row": ', "\n", '{"milepost": ', '"version": ', "null", "[[", "{{", "1e400")
SOURCES = (
    'import os\nfrom a.b import c as d\n\n\nclass A(B):\n    """x"""\n\n    def f(self, x: int = 1) -> int:\n        return x if x > 1 else -x\n',
    "def test_a():\n    assert f(1) == [1, 'a', {2: 3}]\n\n\ndef stub():\n    raise NotImplementedError\n",
    "import x, {y as z} from './a.js';\nexport const f = async (a) => { if (a === 1) return `t${a}`; };\nexport default class {}\n",
    "test('a', () => { expect(f(1)).toBe(2); });\nmodule.exports = { f, g: require('./b') };\n",
    '[project]\nname = "a"\ndependencies = ["b>=1; python_version<\'3\'"]\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    '{"name": "a", "scripts": {"test": "jest"}, "dependencies": {"b": "^1"}, "workspaces": ["packages/*"]}',
    '[package]\nname = "a"\n[dependencies]\nb = {version = "1", path = "../b"}\n[workspace]\nmembers = ["x/*"]\n',
    "module a.b/c\n\ngo 1.21\n\nrequire (\n\tx.y/z v1.2.3 // indirect\n)\nreplace x => ../x\n",
    "[tool:pytest]\naddopts = -q\n[flake8]\nmax-line-length = 1\n[options]\ninstall_requires =\n  a\n  b\n",
    "services:\n  db:\n    image: postgres\n    ports: ['1:2']\n    privileged: true\n",
    "package a\n\nfunc F(x int) (int, error) {\n\treturn x + 1, nil\n}\n",
    'pub fn f(x: i32) -> Result<i32, String> { match x { 1 => Ok(2), _ => Err("a".into()) } }\n',
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nAWS=AKIAIOSFODNN7EXAMPLE\nexport KEY='x'\n",
    "DROP TABLE a; DELETE FROM b; ALTER TABLE c ADD d int;\n",
)
SOURCE_WORDS = (
    *(
        "def ",
        "class ",
        "import ",
        "from ",
        "return ",
        "lambda ",
        "if ",
        "else ",
        "async ",
        "await ",
        "yield ",
        "    ",
        "\t",
    ),
    *(
        "(",
        "[",
        "{",
        "a.",
        "a,",
        "a=",
        "'''",
        '"""',
        "f'{",
        "//",
        "/*",
        "*/",
        "#",
        "=> ",
        "${",
        "`",
        "/a/",
        "<A>",
        "export ",
    ),
    *(
        '"a": ',
        "[[a]]",
        "[a]\n",
        "a = 1\n",
        "require(",
        "go 1\n",
        "\\",
        "\\\n",
        "<!--",
        "&&",
        "||",
        "not ",
        "-",
        "~",
        "**",
    ),
    *(
        "TODO",
        "pass\n",
        "...",
        "raise NotImplementedError",
        "password = '",
        "AKIA",
        "eyJ",
        "process.env.A",
        "os.environ['A']",
    ),
)
PRINTED = (
    "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import b\nModuleNotFoundError: No module named 'b'\n",
    "FAILED tests/test_a.py::test_b - AssertionError: assert 1 == 2\nE   assert 1 == 2\n1 failed in 0.1s\n",
    "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-a\n+b\n c\ndiff --git a/x b/y\nrename from x\nrename to y\n",
    '<testsuites><testsuite name="a"><testcase classname="b" name="c" time="0.1"><failure message="m">t</failure></testcase></testsuite></testsuites>',
    "error[E0425]: cannot find value `a` in this scope\n --> src/a.rs:1:2\nerror TS2304: Cannot find name 'a'.\nsrc/a.ts(1,2): error\n",
    "npm ERR! code ENOENT\nError: Cannot find module './a'\n    at f (a.js:1:2)\n--- FAIL: TestA (0.00s)\n    a_test.go:1: x\n",
    '```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n```\n{"patch": "--- a\\n+++ b\\n"}\n',
)
PRINTED_WORDS = (
    *(
        "Traceback (most recent call last):\n",
        '  File "a", line 1, in b\n',
        "Error: ",
        "error: ",
        "E   ",
        "FAILED ",
        "assert ",
    ),
    *(
        "@@ -1,9 +1,9 @@\n",
        "--- a\n",
        "+++ b\n",
        "diff --git a/a b/b\n",
        "```",
        "<testcase ",
        "<testsuite>",
        "/>",
        "<![CDATA[",
    ),
    *(
        '{"a": ',
        "[",
        "\x1b[31m",
        "a.py:1:2: ",
        "::",
        "No module named ",
        "Cannot find module ",
        "undefined: ",
        "timeout",
        "&lt;",
    ),
)


@cache
def exports() -> tuple[str, ...]:
    """A whole export, and its lines."""
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database)
        a_filled_memory(memory)
        lines = tuple(export_lines(memory.rows, "clock"))
    return ("".join(lines), *lines)
