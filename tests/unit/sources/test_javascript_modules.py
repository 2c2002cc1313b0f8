from __future__ import annotations

import pytest

from milepost.sources.javascript_modules import Import, exports_of, imports_of, resolve


@pytest.mark.parametrize(
    ("text", "target", "names"),
    [
        ("import './a';", "./a", ()),
        ("import a, { b, c as d } from './a.js'", "./a.js", ("b", "c")),
        ('import type { T } from "../t"', "../t", ("T",)),
        ("import {\n  type T,\n  default as x,\n} from './a';", "./a", ("T",)),
        ("export * from './a'", "./a", ()),
        ("export { a as b } from './a'", "./a", ("a",)),
        ("const a = require('./a')", "./a", ()),
        ("const a = await import('./a?worker')", "./a", ()),
        ("f();import x from'..'", "..", ()),
    ],
)
def test_every_form_of_import_is_read(text: str, target: str, names: tuple[str, ...]) -> None:
    assert [(one.target, one.names) for one in imports_of(text)] == [(target, names)]


@pytest.mark.parametrize(
    "text",
    [
        "// import './a'\n/*\nimport './a'\n*/",
        "const s = \"import './a'\";\nconst t = 'require(\"./a\")';",
        "const t = `\nimport './a';\n${f(`\nimport './a'\n${ {} }`)}\nimport './a'\n`;",
        'const r = /"/; const s = "import \'./a\'"; const u = x / 2; // \'"',
        "import react from 'react'; require(name); require(`./${name}`); loader.require('./a')",
        "export default './a';\nexport const a = './a';\n",
        "const el = <p>Don't do that: it isn't</p>;",
    ],
)
def test_what_only_looks_like_an_import_is_none(text: str) -> None:
    assert imports_of(text) == ()


def test_an_import_is_found_on_its_line() -> None:
    assert imports_of("/* a\nb */\n`c\nd`;\nimport './e';\n") == (Import(target="./e", line=5),)


@pytest.mark.parametrize(
    ("target", "files", "found"),
    [
        ("./a", ("src/a.js",), "src/a.js"),
        ("./a.js", ("src/a.ts",), "src/a.ts"),
        ("./a.jsx", ("src/a.tsx",), "src/a.tsx"),
        ("./lib", ("src/lib/index.mjs",), "src/lib/index.mjs"),
        ("..", ("index.ts",), "index.ts"),
        ("./a.b", ("src/a.b.js",), "src/a.b.js"),
        ("./a.js", ("src/b.ts", "a.js"), None),
        ("../../out", (), "../out"),
    ],
)
def test_an_import_leads_where_node_compilers_and_bundlers_look(
    target: str, files: tuple[str, ...], found: str | None
) -> None:
    assert resolve("src/main.ts", target, lambda path: path in files) == found


def test_exports_are_told_only_where_looking_can_tell() -> None:
    text = (
        "export const a = 1, b = 2;\nexport async function* c() {}\nexport default class D {}\n"
        "export { e, f as g, type H };\n@deco export class I {}\nexport const enum J {}\n// export const no = 1\n"
    )

    found = exports_of(text)

    assert found is not None and found >= {"a", "b", "c", "e", "g", "H", "I", "J"}
    assert not found & {"D", "f", "no"}
    for uncertain in (
        "export * from './x'",
        "module.exports = {a}",
        "export const { a } = x",
        "export const a = 1,\n b = 2",
    ):
        assert exports_of(f"export const z = 1;\n{uncertain}") is None
    assert exports_of("const a = 1") is None


@pytest.mark.parametrize("text", ["import\n", "\n", "import ", "/[=", "export const ", "`${", "'", "=/[", "{{"])
def test_text_made_to_take_long_does_not(text: str) -> None:
    long = text * (100_000 // len(text))

    assert imports_of(long) == ()
    assert not (exports_of(long) or frozenset()) - {"export", "const"}
