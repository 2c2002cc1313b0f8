"""The command line of a new JavaScript or TypeScript module."""

from __future__ import annotations

import json
from collections.abc import Iterator

from milepost.agents.patterns.new_module.functions import Function, Type
from milepost.agents.patterns.new_module.module import Module
from milepost.agents.patterns.new_module.script_dialect import TYPES, Dialect, imports

PROGRAM = """\
#!/usr/bin/env node
import {{ run }} from "../src/{name}-cli{end}";

const ending = run(process.argv.slice(2));
process.stdout.write(ending.output);
process.stderr.write(ending.complaint);
process.exitCode = ending.code;
"""

_BODY = """\
  const [command, ...values] = words;
  if (command === "--version") {{
    return printed(version);
  }}
  if (command === undefined || command === "--help") {{
    return printed(USAGE);
  }}
{rest}"""

_CASES = """\
  try {{
    switch (command) {{
{cases}      default:
        return misused(`there is no command ${{command}}`);
    }}
  }} catch (error) {{
    return misused(error instanceof Error ? error.message : String(error));
  }}
"""

_NO_CASES = "  return misused(`there is no command ${command}`);\n"
_PRINTED = '  return { code: 0, output: `${String(value).trimEnd()}\\n`, complaint: "" };\n'
_MISUSED = '  return { code: 2, output: "", complaint: `${why}\\n${USAGE}` };\n'
_COUNTED = "  return values.length === wanted ? null : misused(`it takes ${wanted}, not ${values.length}`);\n"

_READERS: dict[Type, str] = {
    "text": "  return values[at] ?? \"\";\n",
    "integer": "  return Number(matched(values, at, /^-?\\d+$/, \"a whole number\"));\n",
    "number": "  return Number(matched(values, at, /^-?\\d+(\\.\\d+)?(e-?\\d+)?$/i, \"a number\"));\n",
    "boolean": "  return matched(values, at, /^(true|false)$/, \"true or false\") === \"true\";\n",
}  # fmt: skip

_MATCHED = """\
  const value = values[at] ?? "";
  if (!kind.test(value)) {
    throw new Error(`${value} is not ${told}`);
  }
  return value;
"""


def cli_source(module: Module, dialect: Dialect) -> str:
    """The file that runs the commands of a module."""
    words = {function.name: [name.upper() for name, _ in function.parameters] for function in module.functions}
    synopsis = [f"       {module.name} {' '.join((name, *rest))}" for name, rest in words.items()]
    usage = "\n".join((f"usage: {module.name} [--help] [--version]", *synopsis, ""))
    cases = "".join(map(_case, module.functions))
    body = _BODY.format(rest=_CASES.format(cases=cases) if cases else _NO_CASES)
    ending = dialect.shape("Ending", "{ code: number, output: string, complaint: string }")
    asked = {"words": "readonly string[]"}
    return "\n".join(
        (
            f"{imports(module, dialect, '.')}\n{ending}",
            f"const USAGE = {json.dumps(usage)};\n",
            dialect.function("Run the command line and say how it ends.", "run", asked, "Ending", body),
            *_endings(module, dialect),
            *_readers(module, dialect),
        )
    )


def _case(function: Function) -> str:
    values = ", ".join(f"{kind}(values, {at})" for at, (_, kind) in enumerate(function.parameters))
    call = f"printed({function.name}({values}))"
    return f'      case "{function.name}":\n        return counted(values, {len(function.parameters)}) ?? {call};\n'


def _endings(module: Module, dialect: Dialect) -> Iterator[str]:
    about = "Return how a command that printed this ends."
    yield dialect.function(about, "printed", {"value": "string | number | boolean"}, "Ending", _PRINTED)
    about = "Return how a command that was not understood ends."
    yield dialect.function(about, "misused", {"why": "string"}, "Ending", _MISUSED)
    if module.functions:
        about = "Return how a command with the wrong number of words ends."
        taken = {"values": "readonly string[]", "wanted": "number"}
        yield dialect.function(about, "counted", taken, "Ending | null", _COUNTED)


def _readers(module: Module, dialect: Dialect) -> Iterator[str]:
    used = dict.fromkeys(kind for function in module.functions for _, kind in function.parameters)
    values = {"values": "readonly string[]", "at": "number"}
    for kind in used:
        yield dialect.function(f"Return a {kind} that was given.", kind, values, TYPES[kind], _READERS[kind])
    if used.keys() - {"text"}:
        more = {**values, "kind": "RegExp", "told": "string"}
        yield dialect.function("Return a word that is of a kind.", "matched", more, "string", _MATCHED)
