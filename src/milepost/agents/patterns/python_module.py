"""The source files of a new Python module."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["library", "cli", "utility"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonModule:
    """A module to be written: its name, what it is for, and the functions it begins with."""

    name: str
    kind: Kind
    description: str
    functions: tuple[str, ...] = ()


def source_files(module: PythonModule) -> Mapping[str, str]:
    """The content of each file by its path."""
    home = f"{module.name}.py" if module.kind == "utility" else f"{module.name}/__init__.py"
    files = {home: _module_source(module)}
    if module.kind == "cli":
        files[f"{module.name}/__main__.py"] = _main_source(module)
    files["tests/__init__.py"] = ""
    files[f"tests/test_{module.name}.py"] = _test_source(module)
    return files


_MODULE = '''\
"""{description}"""

{names}

__version__ = "0.1.0"
'''

_FUNCTION = '''

def {function}(*words: str) -> str:
    """Return what {function} makes of the words."""
    raise NotImplementedError("{function} is not written yet")
'''

_MAIN = '''\
"""The command line: python3 -m {name}."""

import argparse
import sys
from collections.abc import Sequence

import {name}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="{name}", description={name}.__doc__)
    parser.add_argument("--version", action="version", version={name}.__version__)
{body}
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

_MAIN_WITHOUT_FUNCTIONS = """\
    parser.parse_args(arguments)
    parser.print_help()"""

_MAIN_WITH_FUNCTIONS = """\
    parser.add_argument("command", nargs="?", choices={name}.__all__)
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args(arguments)
    if asked.command is None:
        parser.print_help()
        return 0
    try:
        print(getattr({name}, asked.command)(*asked.words))
    except NotImplementedError as error:
        print(error, file=sys.stderr)
        return 1"""

_TESTS = '''\
"""Tests of {name}."""

import unittest

import {name}


class {title}Test(unittest.TestCase):
    def test_it_says_what_it_is_for(self) -> None:
        self.assertIn({description}, {name}.__doc__ or "")

    def test_its_version_is_numbers_between_dots(self) -> None:
        self.assertRegex({name}.__version__, r"^\\d+\\.\\d+\\.\\d+")
'''

_FUNCTION_TEST = """
    def test_{function}_is_offered_and_says_what_it_does(self) -> None:
        self.assertIn("{function}", {name}.__all__)
        self.assertTrue({name}.{function}.__doc__)
"""

_MAIN_TESTS = '''\
"""Tests of {name}."""

import contextlib
import io
import unittest

import {name}
from {name}.__main__ import main


class {title}Test(unittest.TestCase):
    def test_it_says_what_it_is_for(self) -> None:
        self.assertIn({description}, {name}.__doc__ or "")

    def test_without_a_command_it_shows_its_help(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(main([]), 0)
        self.assertIn("usage: {name}", output.getvalue())

    def test_it_tells_its_version(self) -> None:
        with (
            contextlib.redirect_stdout(io.StringIO()) as output,
            self.assertRaises(SystemExit) as end,
        ):
            main(["--version"])
        self.assertEqual(end.exception.code, 0)
        self.assertEqual(output.getvalue().strip(), {name}.__version__)

    def test_an_unknown_option_is_misuse(self) -> None:
        with (
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(SystemExit) as end,
        ):
            main(["--no-such-option"])
        self.assertEqual(end.exception.code, 2)
'''

_TESTS_END = """

if __name__ == "__main__":
    unittest.main()
"""


def _module_source(module: PythonModule) -> str:
    head = _MODULE.format(
        description=_docstring(module.description),
        names=_all(module.functions),
    )
    return head + "".join(_FUNCTION.format(function=function) for function in module.functions)


def _all(functions: tuple[str, ...]) -> str:
    if not functions:
        return "__all__: list[str] = []"
    return "\n".join(["__all__ = [", *(f'    "{name}",' for name in sorted(functions, key=_natural)), "]"])


def _natural(name: str) -> list[str | int]:
    """A key that sorts step2 before step10, as linters want `__all__`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _main_source(module: PythonModule) -> str:
    body = _MAIN_WITH_FUNCTIONS if module.functions else _MAIN_WITHOUT_FUNCTIONS
    return _MAIN.format(name=module.name, body=body.format(name=module.name))


def _test_source(module: PythonModule) -> str:
    template = _MAIN_TESTS if module.kind == "cli" else _TESTS
    title = "".join(word.capitalize() for word in module.name.split("_"))
    head = template.format(name=module.name, title=title, description=_literal(module.description))
    tests = (_FUNCTION_TEST.format(name=module.name, function=function) for function in module.functions)
    return head + "".join(tests) + _TESTS_END


def _docstring(text: str) -> str:
    """`text` as it stands between triple quotes."""
    escaped = text.replace("\\", "\\\\")
    return escaped.replace('"', '\\"') if '"""' in text or text.endswith('"') else escaped


def _literal(text: str) -> str:
    """`text` as a string of Python, in the quotes that need fewer escapes."""
    quote = "'" if '"' in text and "'" not in text else '"'
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"
