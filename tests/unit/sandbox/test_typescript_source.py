"""TypeScript as a script that can follow others in one session."""

from __future__ import annotations

import pytest

from milepost.sandbox.typescript.source import as_script


@pytest.mark.parametrize(
    ("code", "script"),
    [
        ("const x: number = 1;", "var x: number = 1;"),
        ("let a = 1, b = 2", "var a = 1, b = 2"),
        ("class A { b = 1 }", "var A = class A { b = 1 };"),
        ("{ const inner = 1 }", "{ const inner = 1 }"),
        ("function f() { let x = 1; return x }", "function f() { let x = 1; return x }"),
        ("async function f() { await g() }", "async function f() { await g() }"),
        ("const f = async () => await g()", "var f = async () => await g()"),
        ("const é = 'é'; let y = 2", "var é = 'é'; var y = 2"),
        ("let = ;", "let = ;"),
        ("", ""),
    ],
)
def test_what_is_declared_at_the_top_may_be_declared_again(code: str, script: str) -> None:
    assert as_script(code, "typescript") == script


def test_await_at_the_top_keeps_what_was_declared_and_gives_the_last_value() -> None:
    code = "const {a, b: [c], ...d} = await g();\nclass E {}\nfunction f() {}\nd // the last"
    head, *_, end = as_script(code, "typescript").split("\n")
    assert head == "(async () => { try { var {a, b: [c], ...d} = await g();"
    assert "return d // the last" in as_script(code, "typescript")
    assert [name for name in "acdEf" if f"globalThis.{name} = {name};" in end] == list("acdEf")


@pytest.mark.parametrize("code", ["for await (const x of y) {}", "if (x) { await y }", "`${await x}`", "f(await x)"])
def test_an_await_in_no_function_is_one_at_the_top(code: str) -> None:
    assert as_script(code, "javascript").startswith("(async () => {")


@pytest.mark.parametrize("code", ["\n\nlet x = 1", "\n\nawait x\n", "const a = 1\n\nawait a"])
def test_every_line_stays_where_it_was(code: str) -> None:
    script = as_script(code, "typescript").split("\n")
    for number, line in enumerate(code.split("\n")):
        assert line.rpartition(" ")[2] in script[number]
