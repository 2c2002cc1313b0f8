"""The tests of a new JavaScript or TypeScript module."""

from __future__ import annotations

from milepost.agents.patterns.new_module.functions import Example, Function
from milepost.agents.patterns.new_module.module import Module, body_of, words_of
from milepost.agents.patterns.new_module.script_dialect import Dialect, imports, literal


def test_source(module: Module, dialect: Dialect) -> str:
    """The file with the tests of a module."""
    end = dialect.suffix
    head = ['import assert from "node:assert/strict";\nimport { test } from "node:test";\n']
    tests = [
        'test("its version is numbers between dots", () => {\n  assert.match(version, /^\\d+\\.\\d+\\.\\d+/);\n});\n'
    ]
    tests += [_examples_test(module, function) for function in module.functions]
    if module.kind == "cli":
        head.append(f'import {{ run }} from "../src/{module.name}-cli{end}";\n')
        tests += [_CLI_TESTS, *(_cli_test(module, function) for function in module.functions)]
    if module.kind == "api":
        head.append(f'import {{ answer, makeServer }} from "../src/{module.name}-server{end}";\n')
        tests += [_api_test_source(dialect), *(_api_test(module, function) for function in module.functions)]
    head.append(imports(module, dialect, "../src"))
    return "".join(head) + "\n" + "\n".join(tests)


_CLI_TESTS = """\
test("it tells its version", () => {
  assert.deepEqual(run(["--version"]), { code: 0, output: `${version}\\n`, complaint: "" });
});

test("without a command it shows how it is used", () => {
  assert.match(run([]).output, /^usage: /);
});

test("an unknown command is misuse", () => {
  assert.equal(run(["no-such-command"]).code, 2);
});
"""


def _api_test_source(dialect: Dialect) -> str:
    void = "<void>" if dialect.typed else ""
    call = "resolve()" if dialect.typed else "resolve(undefined)"
    return f"""\
test("it tells its health over the network", async () => {{
  const server = makeServer();
  await new Promise{void}((resolve) => server.listen(0, "127.0.0.1", () => {call}));
  try {{
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    const response = await fetch(`http://127.0.0.1:${{address.port}}/health`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), {{ status: "ok", version }});
  }} finally {{
    await new Promise{void}((resolve) => server.close(() => {call}));
  }}
}});

test("what it does not know is not found", () => {{
  assert.equal(answer("GET", "/nowhere", "").status, 404);
}});
"""


def _examples_test(module: Module, function: Function) -> str:
    lines = "".join(f"  {_assertion(example)}\n" for example in module.examples_of(function))
    return f'test("{function.name} gives what its examples say", () => {{\n{lines}}});\n'


def _assertion(example: Example) -> str:
    if isinstance(example.expected, float):
        return f"assert.ok(Math.abs({call_of(example)} - {literal(example.expected)}) < 1e-9);"
    return f"assert.equal({call_of(example)}, {literal(example.expected)});"


def _cli_test(module: Module, function: Function) -> str:
    example = module.examples_of(function)[0]
    words = ", ".join(literal(word) for word in (function.name, *words_of(example.arguments)))
    return (
        f'test("the command {function.name} prints what the function gives", () => {{\n'
        f"  assert.equal(run([{words}]).output, `${{String({call_of(example)}).trimEnd()}}\\n`);\n"
        f'  assert.equal(run(["{function.name}", {words}, "and more"]).code, 2);\n}});\n'
    )


def _api_test(module: Module, function: Function) -> str:
    example = module.examples_of(function)[0]
    body = literal(body_of(function, example.arguments))
    return (
        f'test("{function.name} is served", () => {{\n'
        f'  assert.deepEqual(answer("POST", "/{function.name}", {body}), {{\n'
        f"    status: 200,\n    content: {{ result: {call_of(example)} }},\n  }});\n"
        f'  assert.equal(answer("GET", "/{function.name}", "").status, 405);\n'
        f'  assert.equal(answer("POST", "/{function.name}", "[]").status, 400);\n}});\n'
    )


def call_of(example: Example) -> str:
    """The call that an example is of."""
    return f"{example.function}({', '.join(map(literal, example.arguments))})"
