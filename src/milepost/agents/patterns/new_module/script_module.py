"""The source files of a new JavaScript or TypeScript module."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.agents.patterns.new_module import script_cli, script_server
from milepost.agents.patterns.new_module.module import Module, Usage
from milepost.agents.patterns.new_module.script_dialect import TYPES, Dialect
from milepost.agents.patterns.new_module.script_tests import call_of, test_source


def source_files(module: Module, dialect: Dialect) -> Mapping[str, str]:
    """The content of each file by its path, without those that belong to the project as a whole."""
    end = dialect.suffix
    files = {f"src/{module.name}{end}": _module_source(module, dialect)}
    if module.kind == "cli":
        files[f"src/{module.name}-cli{end}"] = script_cli.cli_source(module, dialect)
        files[f"bin/{module.name}{end}"] = script_cli.PROGRAM.format(name=module.name, end=end)
    if module.kind == "api":
        files[f"src/{module.name}-server{end}"] = script_server.server_source(module, dialect)
        files[f"bin/{module.name}-server{end}"] = script_server.PROGRAM.format(name=module.name, end=end)
    files[f"tests/{module.name}.test{end}"] = test_source(module, dialect)
    files[f"examples/{module.name}-example{end}"] = f"// How {module.name} is used.\n{_example_code(module, dialect)}"
    return files


def usage(module: Module, dialect: Dialect) -> Usage:
    """How the module is used."""
    end = dialect.suffix
    commands = {"Tests": "npm test"}
    if module.kind == "cli":
        commands = {"On the command line": f"node bin/{module.name}{end} --help"} | commands
    if module.kind == "api":
        commands = {"The server, on port 8000 of this machine": f"node bin/{module.name}-server{end}"} | commands
    commands["An example"] = f"node examples/{module.name}-example{end}"
    if dialect.typed:
        commands["Types (Node.js 22.18 or newer runs the files as they are)"] = (
            "npm install --save-dev typescript @types/node && npx tsc"
        )
    return Usage(
        language="typescript" if dialect.typed else "javascript", code=_example_code(module, dialect), commands=commands
    )


def _module_source(module: Module, dialect: Dialect) -> str:
    parts = [f"/** {_comment(module.description)} */\n\nexport const version = \"0.1.0\";\n"]  # fmt: skip
    for function in module.functions:
        of = f" of {', '.join(name for name, _ in function.parameters)}" if function.parameters else ""
        parts.append(
            dialect.function(
                f"Return {function.name}{of}.",
                function.name,
                {name: TYPES[kind] for name, kind in function.parameters},
                TYPES[function.returns],
                f"  return {function.expression};\n",
            )
        )
    return "\n".join(parts)


def _example_code(module: Module, dialect: Dialect) -> str:
    shown = [module.examples_of(function)[0] for function in module.functions]
    names = ", ".join(sorted(example.function for example in shown)) or "version"
    calls = "".join(f"console.log({call_of(example)});\n" for example in shown) or "console.log(version);\n"
    return f'import {{ {names} }} from "../src/{module.name}{dialect.suffix}";\n\n{calls}'


def _comment(text: str) -> str:
    return text.replace("*/", "* /")
