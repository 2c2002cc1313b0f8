"""The HTTP service of a new JavaScript or TypeScript module."""

from __future__ import annotations

from collections.abc import Iterator

from milepost.agents.patterns.new_module.functions import Function, Type
from milepost.agents.patterns.new_module.module import Module
from milepost.agents.patterns.new_module.script_dialect import TYPES, Dialect, imports

PROGRAM = """\
#!/usr/bin/env node
import {{ makeServer }} from "../src/{name}-server{end}";

makeServer().listen(Number(process.argv[2] ?? 8000), "127.0.0.1");
"""

_READERS: dict[Type, tuple[str, str]] = {
    "text": ('typeof value !== "string"', "a text"),
    "integer": ('typeof value !== "number" || !Number.isInteger(value)', "a whole number"),
    "number": ('typeof value !== "number"', "a number"),
    "boolean": ('typeof value !== "boolean"', "true or false"),
}

_GIVEN = "Record<string, unknown>"

_ANSWER = """\
  if (method === "GET" && path === "/health") {
    return { status: 200, content: { status: "ok", version } };
  }
  if (!CALLS.has(path)) {
    return { status: 404, content: { error: `there is nothing at ${path}` } };
  }
  if (method !== "POST") {
    return { status: 405, content: { error: `${path} takes only POST` } };
  }
  try {
    return { status: 200, content: { result: called(path, objectIn(body)) } };
  } catch (error) {
    return { status: 400, content: { error: error instanceof Error ? error.message : String(error) } };
  }
"""

_ONLY_HEALTH = """\
  if (method === "GET" && path === "/health") {
    return { status: 200, content: { status: "ok", version } };
  }
  return { status: 404, content: { error: `there is nothing at ${path}` } };
"""

_MAKE = """\
  return createServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) {
      body += part;
      if (body.length > LARGEST_BODY) {
        response.writeHead(413).end();
        return;
      }
    }
    const { status, content } = answer(request.method ?? "", request.url ?? "", body);
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(content));
  });
"""

_OBJECT_IN = """\
  const given = {parsed};
  if (typeof given !== "object" || given === null || Array.isArray(given)) {{
    throw new Error("the body must be an object");
  }}
  return {given};
"""

_CALLED = """\
  switch (path) {{
{cases}    default:
      throw new Error(`there is nothing at ${{path}}`);
  }}
"""

_READ = """\
  const value = given[name];
  if ({wrong}) {{
    throw new Error(`${{name}} must be {told}`);
  }}
  return value;
"""


def server_source(module: Module, dialect: Dialect) -> str:
    """The file that answers requests with the functions of a module."""
    known = ", ".join(f'"/{function.name}"' for function in module.functions)
    shape = dialect.shape("Answer", "{ status: number, content: Record<string, unknown> }")
    asked = {"method": "string", "path": "string", "body": "string"}
    answer = _ANSWER if known else _ONLY_HEALTH
    server = "ReturnType<typeof createServer>"
    return "\n".join(
        (
            f'import {{ createServer }} from "node:http";\n{imports(module, dialect, ".")}\n{shape}',
            (f"const CALLS = new Set([{known}]);\n" if known else "") + "const LARGEST_BODY = 1_000_000;\n",
            dialect.function("Return what answers a request.", "answer", asked, "Answer", answer),
            dialect.function("Return a server that is not listening yet.", "makeServer", {}, server, _MAKE),
            *(_calls(module, dialect) if known else ()),
        )
    )


def _calls(module: Module, dialect: Dialect) -> Iterator[str]:
    cases = "".join(map(_case, module.functions))
    asked = {"path": "string", "given": _GIVEN}
    result, switch = "string | number | boolean", _CALLED.format(cases=cases)
    yield dialect.function("Return what a function gives.", "called", asked, result, switch)
    read = _OBJECT_IN.format(parsed=dialect.cast("JSON.parse(body)", "unknown"), given=dialect.cast("given", _GIVEN))
    yield dialect.function("Return the object in a body.", "objectIn", {"body": "string"}, _GIVEN, read)
    for kind in dict.fromkeys(kind for function in module.functions for _, kind in function.parameters):
        wrong, told = _READERS[kind]
        named, value = {"given": _GIVEN, "name": "string"}, _READ.format(wrong=wrong, told=told)
        yield dialect.function(f"Return a {kind} that was given.", kind, named, TYPES[kind], value)


def _case(function: Function) -> str:
    values = ", ".join(f'{kind}(given, "{name}")' for name, kind in function.parameters)
    return f'    case "/{function.name}":\n      return {function.name}({values});\n'
