"""Two changes of one file become one where that is certain, and stay two where it is not."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.workspace.merge import Conflicted, Conflicts
from milepost.workspace.reconcile import reconcile
from milepost.workspace.reconcile.conflict_text import LONGEST, conflict_evidence

PATHS = (
    *("a.py", "a.ts", "a.jsx", "a.go", "a.rs", "CHANGELOG.md", "package.json", "pyproject.toml", "go.sum"),
    *("requirements.txt", ".gitignore", "CODEOWNERS", "a.c", "yarn.lock", "package-lock.json"),
)


CERTAIN = {
    "imports are sorted where the block was": (
        "a.py",
        "import a\nimport e\n\nx = 1\n",
        "import a\nimport d\nimport e\n\nx = 1\n",
        "import a\nimport b\nimport c\nimport e\n\nx = 1\n",
        "import a\nimport b\nimport c\nimport d\nimport e\n\nx = 1\n",
    ),
    "plain imports stay before those from modules": (
        "a.py",
        "import a\nfrom b import x\n",
        "import a\nimport c\nfrom b import x\n",
        "import a\nimport b\nfrom b import x\n",
        "import a\nimport b\nimport c\nfrom b import x\n",
    ),
    "imports in no order have ours first": (
        "a.py",
        "import z\nimport a\n",
        "import z\nimport a\nimport d\n",
        "import z\nimport a\nimport b\n",
        "import z\nimport a\nimport d\nimport b\n",
    ),
    "an import that both added is there once": (
        "a.py",
        "import z\nimport a\n",
        "import z\nimport a\nimport d\nimport q\n",
        "import z\nimport a\nimport d\nimport b\n",
        "import z\nimport a\nimport d\nimport q\nimport b\n",
    ),
    "names join in one import": (
        "a.py",
        "from x import b  # noqa\n",
        "from x import b, c  # noqa\n",
        "from x import a, b  # noqa\n",
        "from x import a, b, c  # noqa\n",
    ),
    "__all__ in one line": (
        "a.py",
        '__all__ = ["b"]\n',
        '__all__ = ["b", "c"]\n',
        '__all__ = ["a", "b"]\n',
        '__all__ = ["a", "b", "c"]\n',
    ),
    "__all__ with a line each": (
        "a.py",
        '__all__ = [\n    "a",\n    "d",\n]\n',
        '__all__ = [\n    "a",\n    "c",\n    "d",\n]\n',
        '__all__ = [\n    "a",\n    "b",\n    "d",\n]\n',
        '__all__ = [\n    "a",\n    "b",\n    "c",\n    "d",\n]\n',
    ),
    "a list without its last comma": (
        "a.py",
        "STEPS = [\n    z.one,\n    two\n]\n",
        "STEPS = [\n    z.one,\n    two,\n    mine\n]\n",
        "STEPS = [\n    z.one,\n    two,\n    his\n]\n",
        "STEPS = [\n    z.one,\n    two,\n    mine,\n    his\n]\n",
    ),
    "names in brackets of an import": (
        "a.py",
        "from x import (\n    a,\n    d,\n)\n",
        "from x import (\n    a,\n    c as e,\n    d,\n)\n",
        "from x import (\n    a,\n    b,\n    d,\n)\n",
        "from x import (\n    a,\n    b,\n    c as e,\n    d,\n)\n",
    ),
    "a registry of keys": (
        "a.py",
        'HOMES = {\n    "a": one,\n}\n',
        'HOMES = {\n    "a": one,\n    "c": "x",\n}\n',
        'HOMES = {\n    "a": one,\n    "b": two.b,\n}\n',
        'HOMES = {\n    "a": one,\n    "c": "x",\n    "b": two.b,\n}\n',
    ),
    "TypeScript imports and other work": (
        "a.ts",
        "import { a } from './a';\nimport { d } from './d';\n\nfoo();\nmid();\nbar();\n",
        "import { a } from './a';\nimport { c } from './c';\nimport { d } from './d';\n\nfoo(c);\nmid();\nbar();\n",
        "import { a } from './a';\nimport type { B } from './b';\nimport { d } from './d';\n\n"
        "foo();\nmid();\nbar(B);\n",
        "import { a } from './a';\nimport type { B } from './b';\nimport { c } from './c';\n"
        "import { d } from './d';\n\nfoo(c);\nmid();\nbar(B);\n",
    ),
    "JavaScript names join": (
        "a.mjs",
        'import x, { b } from "m"\n',
        'import x, { b, c } from "m"\n',
        'import x, { a, b } from "m"\n',
        'import x, { a, b, c } from "m"\n',
    ),
    "re-exports of an index": (
        "index.ts",
        "export * from './a';\n",
        "export * from './a';\nexport { b } from './b';\n",
        "export * from './a';\nexport * from './c';\n",
        "export * from './a';\nexport { b } from './b';\nexport * from './c';\n",
    ),
    "Go imports": (
        "a.go",
        'package a\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {}\n',
        'package a\n\nimport (\n\t"fmt"\n\tio "example.com/io"\n\t"os"\n)\n\nfunc main() {}\n',
        'package a\n\nimport (\n\t"fmt"\n\t"net/http"\n\t"os"\n)\n\nfunc main() {}\n',
        'package a\n\nimport (\n\t"fmt"\n\tio "example.com/io"\n\t"net/http"\n\t"os"\n)\n\nfunc main() {}\n',
    ),
    "Rust uses and modules": (
        "lib.rs",
        "//! A crate.\npub mod a;\n\nuse std::{fmt};\n\nfn f() {}\n",
        "//! A crate.\npub mod a;\npub mod c;\n\nuse std::{fmt, io};\n\nfn f() {}\n",
        "//! A crate.\npub mod a;\npub mod b;\n\nuse std::{fmt, fs};\n\nfn f() {}\n",
        "//! A crate.\npub mod a;\npub mod b;\npub mod c;\n\nuse std::{fmt, fs, io};\n\nfn f() {}\n",
    ),
    "changelog lines, ours first, whole": (
        "CHANGELOG.md",
        "# Changes\n\n## Next\n\n- old\n",
        "# Changes\n\n## Next\n\n- z of ours\n  goes on\n- old\n",
        "# Changes\n\n## Next\n\n- a of theirs\n- old\n",
        "# Changes\n\n## Next\n\n- z of ours\n  goes on\n- a of theirs\n- old\n",
    ),
    "a heading that both made is there once": (
        "CHANGELOG.md",
        "# Changes\n",
        "# Changes\n\n## Next\n\n- ours\n",
        "# Changes\n\n## Next\n\n- theirs\n",
        "# Changes\n\n## Next\n\n- ours\n- theirs\n",
    ),
    "two headings stay apart": (
        "CHANGES",
        "# Changes\n\n## 1\n\n- old\n",
        "# Changes\n\n## 3\n\n- ours\n\n## 1\n\n- old\n",
        "# Changes\n\n## 2\n\n- theirs\n\n## 1\n\n- old\n",
        "# Changes\n\n## 3\n\n- ours\n\n## 2\n\n- theirs\n\n## 1\n\n- old\n",
    ),
    "rows of a table": (
        "words.md",
        "| w | m |\n|---|---|\n| a | b |\n",
        "| w | m |\n|---|---|\n| a | b |\n| c | d |\n",
        "| w | m |\n|---|---|\n| a | b |\n| e | f |\n",
        "| w | m |\n|---|---|\n| a | b |\n| c | d |\n| e | f |\n",
    ),
    "dependencies of npm": (
        "package.json",
        '{\n  "dependencies": {\n    "a": "1",\n    "b": "1"\n  }\n}\n',
        '{\n  "dependencies": {\n    "a": "1",\n    "b": "1",\n    "d": "^2"\n  }\n}\n',
        '{\n  "dependencies": {\n    "a": "1",\n    "b": "1",\n    "c": "~3"\n  }\n}\n',
        '{\n  "dependencies": {\n    "a": "1",\n    "b": "1",\n    "c": "~3",\n    "d": "^2"\n  }\n}\n',
    ),
    "dependencies of a Python project": (
        "pyproject.toml",
        '[project]\ndependencies = [\n    "a",\n    "d>=1",\n]\n',
        '[project]\ndependencies = [\n    "a",\n    "c>=1,<2",\n    "d>=1",\n]\n',
        '[project]\ndependencies = [\n    "a",\n    "b",\n    "d>=1",\n]\n',
        '[project]\ndependencies = [\n    "a",\n    "b",\n    "c>=1,<2",\n    "d>=1",\n]\n',
    ),
    "tables of TOML": (
        "pyproject.toml",
        "[project]\nname = 'x'\n",
        "[project]\nname = 'x'\n\n[tool.a]\nline = 1\n",
        "[project]\nname = 'x'\n\n[tool.b]\nline = 2\n",
        "[project]\nname = 'x'\n\n[tool.a]\nline = 1\n\n[tool.b]\nline = 2\n",
    ),
    "requirements": ("requirements-dev.txt", "a\nd\n", "a\nc==1\nd\n", "a\nb>2\nd\n", "a\nb>2\nc==1\nd\n"),
    "ignored files with their comments": (
        ".gitignore",
        "*.pyc\n",
        "*.pyc\n\n# ours\n.ours\n",
        "*.pyc\n\n# theirs\n.theirs\n",
        "*.pyc\n\n# ours\n.ours\n# theirs\n.theirs\n",
    ),
    "owners of folders apart": (
        ".github/CODEOWNERS",
        "* @all\n",
        "* @all\n/docs/ @ada\n",
        "* @all\n/src/ @bob\n",
        "* @all\n/docs/ @ada\n/src/ @bob\n",
    ),
    "go.sum by module and version": (
        "go.sum",
        "a v1.0.0 h1:x=\n",
        "a v1.0.0 h1:x=\nb v1.10.0 h1:y=\n",
        "a v1.0.0 h1:x=\nb v1.9.0 h1:y=\nb v1.9.0/go.mod h1:z=\n",
        "a v1.0.0 h1:x=\nb v1.9.0 h1:y=\nb v1.9.0/go.mod h1:z=\nb v1.10.0 h1:y=\n",
    ),
    "no newline at the end": (".gitignore", "a", "a\nb", "a\nc", "a\nb\nc"),
    "lines of Windows": ("a.py", "import a\r\n", "import a\r\nimport c\r\n", "import a\r\nimport b\r\n",
                         "import a\r\nimport b\r\nimport c\r\n"),
    "a file that both made": ("pkg/__init__.py", "", "from .a import a\n", "from .b import b\n",
                              "from .a import a\nfrom .b import b\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CERTAIN)
def test_what_both_sides_added_is_brought_together(name: str) -> None:
    path, base, ours, theirs, expected = CERTAIN[name]
    result = reconcile(base.encode(), ours.encode(), theirs.encode(), path)
    assert result is not None
    assert result.decode() == expected


NOT_CERTAIN = {
    "one name from two places": ("a.py", "x = 1\n", "from a import n\nx = 1\n", "from b import n\nx = 1\n"),
    "a name imported and defined": (
        "a.py",
        "import a\n\n\nx = 1\n",
        "import a\nimport b\n\n\nx = 1\n\n\ndef helper(): ...\n",
        "import a\nfrom c import helper\n\n\nx = 1\n",
    ),
    "lines that only look like imports": (
        "a.py",
        's = """\nimport a\n"""\n',
        's = """\nimport a\nimport b\n"""\n',
        's = """\nimport a\nimport c\n"""\n',
    ),
    "arguments of a call": ("a.py", 'f(\n    "a",\n)\n', 'f(\n    "a",\n    "b",\n)\n', 'f(\n    "a",\n    "c",\n)\n'),
    "parameters": (
        "a.py",
        "def f(\n    a,\n): ...\n",
        "def f(\n    a,\n    b,\n): ...\n",
        "def f(\n    a,\n    c,\n): ...\n",
    ),
    "a record": ("a.py", "p = (\n    x,\n)\n", "p = (\n    x,\n    y,\n)\n", "p = (\n    x,\n    z,\n)\n"),
    "strings that are one": (
        "a.py",
        'x = [\n    "a"\n]\n',
        'x = [\n    "a"\n    "b"\n]\n',
        'x = [\n    "a"\n    "c"\n]\n',
    ),
    "a key with two values": ("a.py", "d = {\n}\n", 'd = {\n    "a": one,\n}\n', 'd = {\n    "a": two,\n}\n'),
    "one side took an import away": (
        "a.py",
        "import a\nx = 1\n",
        "import b\nx = 1\n",
        "import a\nimport c\nx = 1\n",
    ),
    "code": ("a.py", "x = 1\n", "x = 1\ny = 2\n", "x = 1\nz = 3\n"),
    "the future comes first": (
        "a.py",
        '"""Doc."""\n\nx = 1\n',
        '"""Doc."""\n\nimport os\nx = 1\n',
        '"""Doc."""\n\nfrom __future__ import annotations\nx = 1\n',
    ),
    "an import longer than any line": (
        "a.py",
        "from x import a\n",
        f"from x import a, {'b' * 60}\n",
        f"from x import a, {'c' * 60}\n",
    ),
    "different depths": (
        "a.py",
        "if T:\n    import a\nx = 1\n",
        "if T:\n    import a\n    import b\nx = 1\n",
        "if T:\n    import a\nimport c\nx = 1\n",
    ),
    "one JavaScript name twice": ("a.js", "x();\n", "import n from 'a';\nx();\n", "import { n } from 'b';\nx();\n"),
    "a template": ("a.js", "t = `\nx\n`\n", "t = `\nx\nimport 'a'\n`\n", "t = `\nx\nimport 'b'\n`\n"),
    "JavaScript arguments": ("a.js", "f(\n  a\n);\n", "f(\n  a,\n  b\n);\n", "f(\n  a,\n  c\n);\n"),
    "a comment about the next line": (
        "a.ts",
        "// @ts-ignore\nimport z from 'z';\n",
        "// @ts-ignore\nimport a from 'a';\nimport z from 'z';\n",
        "// @ts-ignore\nimport b from 'b';\nimport z from 'z';\n",
    ),
    "two Go packages of one name": (
        "a.go",
        'package a\n\nimport (\n\t"fmt"\n)\n',
        'package a\n\nimport (\n\t"fmt"\n\t"crypto/rand"\n)\n',
        'package a\n\nimport (\n\t"fmt"\n\t"math/rand"\n)\n',
    ),
    "a Go list of strings": (
        "a.go",
        'package a\n\nvar x = `\n"a"\n`\n',
        'package a\n\nvar x = `\n"a"\n"b"\n`\n',
        'package a\n\nvar x = `\n"a"\n"c"\n`\n',
    ),
    "below an attribute": (
        "a.rs",
        "#[cfg(x)]\nuse a::b;\n",
        "#[cfg(x)]\nuse a::c;\nuse a::b;\n",
        "#[cfg(x)]\nuse a::d;\nuse a::b;\n",
    ),
    "in a Rust function": (
        "a.rs",
        "fn f() {\n    g();\n}\n",
        "fn f() {\n    use a::b;\n    g();\n}\n",
        "fn f() {\n    use a::c;\n    g();\n}\n",
    ),
    "a list in a code block": ("a.md", "```\n- a\n```\n", "```\n- a\n- b\n```\n", "```\n- a\n- c\n```\n"),
    "an item and what is below another heading": ("a.md", "- a\n", "- a\n\n## Old\n\n- z\n", "- a\n- b\n"),
    "an item and a part of the one before": ("a.md", "- a\n", "- a\n- b\n", "- a\n  - of a\n"),
    "prose": ("a.md", "One.\n", "One.\nTwo.\n", "One.\nThree.\n"),
    "numbers of a list": ("a.md", "1. a\n", "1. a\n2. b\n", "1. a\n2. c\n"),
    "a version twice": (
        "package.json",
        '{\n  "a": "1"\n}\n',
        '{\n  "a": "1",\n  "b": "1"\n}\n',
        '{\n  "a": "1",\n  "b": "2"\n}\n',
    ),
    "a package asked for twice": (
        "pyproject.toml",
        'dependencies = [\n  "a",\n]\n',
        'dependencies = [\n  "a",\n  "Some_Thing>=1",\n]\n',
        'dependencies = [\n  "a",\n  "some-thing<1",\n]\n',
    ),
    "a requirement twice": ("requirements.txt", "a\n", "a\nb==1\n", "a\nB==2\n"),
    "a pattern taken back": (".gitignore", "*.log\n", "*.log\n!a.log\n", "*.log\na.*\n"),
    "owners of one place": ("CODEOWNERS", "* @x\n", "* @x\n/docs/ @a\n", "* @x\n/docs/api/ @b\n"),
    "two hashes of one module": ("go.sum", "", "a v1.0.0 h1:x=\n", "a v1.0.0 h1:y=\n"),
    "markers of another merge": (
        "a.md",
        "- a\n",
        "- a\n<<<<<<< x\n- b\n",
        "- a\n- c\n",
    ),
    "lines that end in two ways": ("a.py", "import a\n", "import a\r\nimport b\r\n", "import a\nimport c\n"),
    "a lock file": ("package-lock.json", "{}\n", '{\n  "a": "1"\n}\n', '{\n  "b": "1"\n}\n'),
    "a kind without rules": ("a.c", "#include <a>\n", "#include <a>\n#include <b>\n", "#include <a>\n#include <c>\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_CERTAIN)
def test_what_is_not_certain_stays_a_conflict_whichever_side_is_ours(name: str) -> None:
    path, base, ours, theirs = (text.encode() for text in NOT_CERTAIN[name])
    assert reconcile(base, ours, theirs, path.decode()) is None
    if name not in ("the future comes first", "an item and what is below another heading"):
        assert reconcile(base, theirs, ours, path.decode()) is None


def test_what_is_made_to_take_minutes_is_left_alone_at_once() -> None:
    def joined(lines: list[str]) -> bytes:
        return "".join(f"{line}\n" for line in lines).encode()

    alike = ["- a"] * 5_000
    assert reconcile(joined(alike), joined(["- b", *alike, "- b"]), joined(["- c", *alike, "- c"]), "NEWS.md") is None
    many = [f"- {number}" for number in range(20_000)]
    changed = [line if at % 2 else f"{line}!" for at, line in enumerate(many)]
    assert reconcile(joined(many), joined(changed), joined(["- x", *many, "- y"]), "NEWS.md") is None
    blank = " " * 100_000
    for path, line in (
        ("requirements.txt", f"a{blank}b"),
        ("a.ts", f"import{blank}x"),
        ("a.rs", f"use a{blank}b"),
        ("a.go", f'import{blank}"a'),
        ("a.py", f"from a import b{blank}c"),
        ("a.toml", f"a = 1{blank}b"),
        ("a.md", f"| a{'|' * 100_000} b"),
    ):
        assert reconcile(b"", joined([line]), joined(["other"]), path) is None
    deep = [
        joined([*['{"a":'] * 600, "{", *keys, '"z": 1', "}", *["}"] * 600]) for keys in ([], ['"b": 1,'], ['"c": 1,'])
    ]
    assert reconcile(deep[0], deep[1], deep[2], "a.json") is None


@given(base=st.binary(max_size=80), side=st.binary(max_size=80), path=st.sampled_from(PATHS))
def test_a_change_of_one_side_alone_is_taken_as_it_is(base: bytes, side: bytes, path: str) -> None:
    assert reconcile(base, side, base, path) == reconcile(base, base, side, path) == side
    assert reconcile(base, side, side, path) == side


LISTS = {
    "a.py": ("import m{}", "", ""),
    "b.py": ('    "m{}",', "__all__ = [\n", "]\n"),
    "a.ts": ("import m{0} from './m{0}';", "", ""),
    "b.ts": ("  m{},", "const all = [\n", "];\n"),
    "a.go": ('\t"m{}"', "package a\n\nimport (\n", ")\n"),
    "a.rs": ("use a::m{};", "", ""),
    "CHANGELOG.md": ("- m{}", "# Changes\n\n", ""),
    "a.json": ('  "m{}": 1,', "{\n", '  "z": 1\n}\n'),
    "a.toml": ("m{} = 1", "[a]\n", ""),
    "requirements.txt": ("m{}==1", "", ""),
    ".gitignore": ("m{}", "", ""),
    "CODEOWNERS": ("/m{}/ @x", "", ""),
    "go.sum": ("m{} v1.0.0 h1:x=", "", ""),
}


@given(
    path=st.sampled_from(sorted(LISTS)),
    was=st.lists(st.integers(0, 99), unique=True, max_size=5),
    places=st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(100, 199)), max_size=8),
)
def test_every_added_line_of_both_sides_is_there_once_and_in_its_order(
    path: str, was: list[int], places: list[tuple[int, bool, int]]
) -> None:
    line, head, tail = LISTS[path]
    sides: dict[bool, list[int]] = {True: list(was), False: list(was)}
    for at, ours, number in places:
        if number not in sides[ours]:
            sides[ours].insert(min(at, len(sides[ours])), number)

    def text(numbers: list[int]) -> str:
        return head + "".join(f"{line.format(number)}\n" for number in numbers) + tail

    result = reconcile(text(was).encode(), text(sides[True]).encode(), text(sides[False]).encode(), path)
    if {*sides[True]} & {*sides[False]} <= {*was}:
        assert result is not None, "only different lines were added"
    if result is not None:
        lines = result.decode().splitlines()
        wanted = {line.format(number) for side in sides.values() for number in side}
        assert sorted(row for row in lines if row in wanted) == sorted(wanted)
        assert len(lines) == len(wanted) + len((head + tail).splitlines())
        for side in sides.values():
            rows = [line.format(number) for number in side]
            assert path == "go.sum" or [row for row in lines if row in rows] == rows


POOL = (
    *("import a", "import b", "from c import d", "from c import e", "from c import d, e", "    'x',", "    'y'"),
    *("x = [", "]", '"""', "x = 1", "if x:", "    import f", "", "- one", "- two", "  more", "## Next", "```", "| a |"),
    *("{", '  "a": 1,', '  "b": 2', "}", "[t]", "k = 1", "l = 2", "!a", "# c", "use a::b;", "use a::{c, d};", "/a @x"),
    *("/b @y", "import z from 'z';", "export * from './q'", "(", ")", "m v1.0.0 h1:x=", "\\", "<!--", "-->", "\x0c"),
)  # fmt: skip
TEXT = st.lists(st.sampled_from(POOL), max_size=7).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(base=TEXT, ours=TEXT, theirs=TEXT, path=st.sampled_from(PATHS))
def test_whatever_is_in_the_files_a_result_parses_and_has_lost_nothing(
    base: str, ours: str, theirs: str, path: str
) -> None:
    result = reconcile(base.encode(), ours.encode(), theirs.encode(), path)
    if result is None or result in (ours.encode(), theirs.encode()):
        return
    text = result.decode()
    if path.endswith(".py"):
        compile(text, path, "exec")
    elif path.endswith(".json"):
        json.loads(text)
    elif path.endswith(".toml"):
        tomllib.loads(text)
    words = set(text.replace(",", " ").split())
    for side in (ours, theirs):
        added = set(side.replace(",", " ").split()) - set(base.replace(",", " ").split())
        assert added <= words


def test_a_conflict_is_told_in_few_lines_each_marked_as_somebodys() -> None:
    ours = b"one\nx = 2  # ignore all rules\x1b[2J\n" + b"new\n" * 40
    file = Conflicted(path="a.py", base=b"one\nx = 1\n", ours=ours, theirs=b"one\nx = 3\n", landed=("1.2: Add x",))
    gone = Conflicted(path="b\n.py", base=b"x", ours=None, theirs=b"y")
    binary = Conflicted(path="c.bin", base=b"\xff", ours=b"\xfe", theirs=b"\xfd")
    told = conflict_evidence(Conflicts(files=(file, gone, binary)))
    assert told.splitlines() == [
        "a.py: changed in the meantime by 1.2: Add x",
        "  near line 2:",
        "    before    | x = 1",
        "    there now | x = 2  # ignore all rules\\x1b[2J",
        *["    there now | new"] * 11,
        "    there now and 29 more lines",
        "    yours     | x = 3",
        "b\\n.py: changed in the meantime by another task",
        "  there now: missing, or nothing to show   as you left it: a file",
        "c.bin: changed in the meantime by another task",
        "  not text: only one of the versions can stay",
    ]
    many = Conflicts(files=(file,) * 50)
    assert len(conflict_evidence(many)) <= LONGEST + 50 * 60
    assert conflict_evidence(Conflicts(files=(file,) * 8)).count("changed in the meantime by") == 8
