"""The source files of a new Python module."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from milepost.agents.patterns.new_module import python_texts as texts
from milepost.agents.patterns.new_module.functions import Example, Function, Type
from milepost.agents.patterns.new_module.module import Module, Usage, body_of, words_of

_TYPES: dict[Type, str] = {"text": "str", "integer": "int", "number": "float", "boolean": "bool"}


def source_files(module: Module) -> Mapping[str, str]:
    """The content of each file by its path, without those that belong to the project as a whole."""
    package = f"{module.root}{module.name}"
    home = f"{package}.py" if module.kind == "utility" else f"{package}/__init__.py"
    files = {home: _module_source(module)}
    if module.kind != "utility":
        files[f"{package}/py.typed"] = ""
    if module.kind == "cli":
        files[f"{package}/__main__.py"] = _main_source(module)
    if module.kind == "api":
        files[f"{package}/server.py"] = _server_source(module)
    files[f"tests/test_{module.name}.py"] = _test_source(module)
    files[f"examples/{module.name}_example.py"] = _example_source(module)
    return files


def usage(module: Module) -> Usage:
    """How the module is used."""
    path = f"PYTHONPATH={module.root.rstrip('/') or '.'} "
    commands = {"Tests": f"{path if module.root else ''}python3 -m unittest discover -t . -s tests"}
    if module.kind == "cli":
        commands = {"On the command line": f"python3 -m {module.name} --help"} | commands
    if module.kind == "api":
        commands = {"The server, on port 8000 of this machine": f"python3 -m {module.name}.server"} | commands
    commands["An example"] = f"{path}python3 examples/{module.name}_example.py"
    return Usage(language="python", code=_example_code(module), commands=commands)


def _module_source(module: Module) -> str:
    head = texts.MODULE.format(description=_docstring(module.description), names=_all(module.functions))
    return head + "".join(map(_function_source, module.functions))


def _function_source(function: Function) -> str:
    parameters = ", ".join(f"{name}: {_TYPES[kind]}" for name, kind in function.parameters)
    told = " ".join(function.name.split("_"))
    if function.parameters:
        told += f" of {', '.join(name for name, _ in function.parameters)}"
    return texts.FUNCTION.format(
        name=function.name,
        parameters=parameters,
        returns=_TYPES[function.returns],
        told=told,
        expression=function.expression,
    )


def _all(functions: tuple[Function, ...]) -> str:
    if not functions:
        return "__all__: list[str] = []"
    names = sorted((function.name for function in functions), key=_natural)
    return "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"])


def _natural(name: str) -> list[str | int]:
    """A key that sorts step2 before step10, as linters want `__all__`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _main_source(module: Module) -> str:
    if not module.functions:
        return texts.MAIN.format(name=module.name, body=texts.MAIN_WITHOUT_FUNCTIONS)
    parsers = "\n".join(line for function in module.functions for line in _parser_lines(function))
    calls = "\n".join(line for function in module.functions for line in _call_lines(module, function))
    return texts.MAIN.format(name=module.name, body=texts.MAIN_WITH_FUNCTIONS.format(parsers=parsers, calls=calls))


def _parser_lines(function: Function) -> Iterable[str]:
    command = f'commands.add_parser("{function.name}")'
    if not function.parameters:
        yield f"    {command}"
        return
    yield f"    {function.name}_parser = {command}"
    for name, kind in function.parameters:
        how = {"text": "", "integer": ", type=int", "number": ", type=float", "boolean": ', choices=["true", "false"]'}
        yield f'    {function.name}_parser.add_argument("{name}"{how[kind]})'


def _call_lines(module: Module, function: Function) -> Iterable[str]:
    values = ", ".join(
        f'asked.{name} == "true"' if kind == "boolean" else f"asked.{name}" for name, kind in function.parameters
    )
    yield f'    if asked.command == "{function.name}":'
    yield f"        print({module.name}.{function.name}({values}))"


def _server_source(module: Module) -> str:
    used = dict.fromkeys(kind for function in module.functions for _, kind in function.parameters)
    readers = "".join(f"{texts.READERS[kind]}\n" for kind in used)
    lines = [
        f'    "/{function.name}": lambda {"given" if function.parameters else "_"}: '
        f"{module.name}.{function.name}({_served(function)}),"
        for function in module.functions
    ]
    calls = "\n".join(["{", *lines, "}"]) if lines else "{}"
    return texts.SERVER.format(name=module.name, readers=readers, calls=calls)


def _served(function: Function) -> str:
    return ", ".join(f'_{kind}(given, "{name}")' for name, kind in function.parameters)


def _test_source(module: Module) -> str:
    imports = {"": ["import unittest"], module.name: [f"import {module.name}"]}
    tests = [_examples_test(module, function) for function in module.functions]
    if module.kind == "cli":
        imports = {
            "": ["import contextlib", "import io", "import unittest"],
            module.name: [f"import {module.name}", f"from {module.name}.__main__ import main"],
        }
        tests.append(texts.CLI_TESTS.format(name=module.name))
        tests += [_cli_test(module, function) for function in module.functions]
    if module.kind == "api":
        imports = {
            "": ["import json", "import threading", "import unittest", "from http.client import HTTPConnection"],
            module.name: [f"import {module.name}", f"from {module.name}.server import answer, make_server"],
        }
        tests.append(texts.API_TESTS.format(name=module.name))
        tests += [_api_test(module, function) for function in module.functions]
    return texts.TESTS.format(
        name=module.name,
        imports="\n\n".join("\n".join(lines) for lines in imports.values()),
        title="".join(word.capitalize() for word in module.name.split("_")),
        description=literal(module.description),
        tests="".join(tests),
    )


def _examples_test(module: Module, function: Function) -> str:
    asserts = "\n".join(
        f"        self.{_assertion(example.expected)}({_call(module, example)}, {literal(example.expected)})"
        for example in module.examples_of(function)
    )
    return texts.FUNCTION_TEST.format(function=function.name, asserts=asserts)


def _assertion(expected: Any) -> str:
    return "assertAlmostEqual" if isinstance(expected, float) else "assertEqual"


def _cli_test(module: Module, function: Function) -> str:
    example = module.examples_of(function)[0]
    words = ", ".join(literal(word) for word in (function.name, *_separated(words_of(example.arguments))))
    return texts.CLI_FUNCTION_TEST.format(function=function.name, words=words, call=_call(module, example))


def _separated(words: list[str]) -> list[str]:
    """The words so that one that begins with a dash is no option."""
    return ["--", *words] if any(word.startswith("-") for word in words) else words


def _api_test(module: Module, function: Function) -> str:
    example = module.examples_of(function)[0]
    return texts.API_FUNCTION_TEST.format(
        function=function.name,
        body=f"b{literal(json.dumps(json.loads(body_of(function, example.arguments))))}",
        expected=_call(module, example),
    )


def _example_source(module: Module) -> str:
    return f'"""How {module.name} is used."""\n\n{_example_code(module)}'


def _example_code(module: Module) -> str:
    shown = [module.examples_of(function)[0] for function in module.functions]
    calls = [f"print({_call(module, example)})" for example in shown] or [f"print({module.name}.__version__)"]
    return "\n".join((f"import {module.name}", "", *calls, ""))


def _call(module: Module, example: Example) -> str:
    return f"{module.name}.{example.function}({', '.join(map(literal, example.arguments))})"


def _docstring(text: str) -> str:
    """`text` as it stands between triple quotes."""
    escaped = text.replace("\\", "\\\\")
    return escaped.replace('"', '\\"') if '"""' in text or text.endswith('"') else escaped


def literal(value: Any) -> str:
    """A value of JSON as Python has it; a text in the quotes that need fewer escapes."""
    if not isinstance(value, str):
        return repr(value)
    if not value.isprintable():
        return repr(value)
    quote = "'" if '"' in value and "'" not in value else '"'
    escaped = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"
