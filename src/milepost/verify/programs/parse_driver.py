"""Parses files with the project's own interpreter: Python, JSON, TOML, YAML, XML.

Run as a script. Its input is a JSON list of [kind, path]; its output a JSON object: `broken` holds [index, line,
message] of each file that does not parse, `unread` the indices of those it has no parser for.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

LONGEST_MESSAGE = 200
COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
COMMA_AT_THE_END = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[\]}])')


class NoParser(Exception):
    pass


class Broken(Exception):
    def __init__(self, line: int | None, message: str) -> None:
        super().__init__(message)
        self.line = line or 0


def parse_python(content: bytes, path: str) -> None:
    try:
        compile(content, path, "exec", dont_inherit=True)
    except SyntaxError as problem:
        raise Broken(problem.lineno, problem.msg) from None


def parse_json(content: bytes, path: str) -> None:
    _load_json(content.decode("utf-8-sig"))


def parse_jsonc(content: bytes, path: str) -> None:
    """JSON as editors and compilers read it in their settings: with comments, and commas at the end."""
    text = content.decode("utf-8-sig")
    plain = COMMENT_OR_STRING.sub(lambda hit: hit[0] if hit[0][0] == '"' else re.sub(r"[^\n]", " ", hit[0]), text)
    _load_json(COMMA_AT_THE_END.sub(lambda hit: hit[1] or " ", plain))


def parse_toml(content: bytes, path: str) -> None:
    tomllib = _first_of("tomllib", "tomli")
    try:
        tomllib.loads(content.decode("utf-8"))
    except tomllib.TOMLDecodeError as problem:
        line = re.search(r"at line (\d+)", str(problem))
        raise Broken(int(line[1]) if line else 0, str(problem)) from None


def parse_yaml(content: bytes, path: str) -> None:
    yaml = _first_of("yaml")
    try:
        for _ in yaml.parse(content):
            pass
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        raise Broken(mark.line + 1 if mark else 0, getattr(problem, "problem", None) or str(problem)) from None


def parse_xml(content: bytes, path: str) -> None:
    from xml.parsers import expat

    try:
        expat.ParserCreate().Parse(content, True)
    except expat.ExpatError as problem:
        raise Broken(problem.lineno, expat.ErrorString(problem.code)) from None


def _first_of(*names: str) -> Any:
    for name in names:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    raise NoParser


def _load_json(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        raise Broken(problem.lineno, problem.msg) from None


PARSERS = {
    "python": parse_python,
    "json": parse_json,
    "jsonc": parse_jsonc,
    "toml": parse_toml,
    "yaml": parse_yaml,
    "xml": parse_xml,
}


def main() -> None:
    warnings.simplefilter("ignore")
    broken: list[list[object]] = []
    unread: list[int] = []
    for index, (kind, path) in enumerate(json.load(sys.stdin)):
        try:
            content = Path(path).read_bytes()
            PARSERS[kind](content, path)
        except NoParser:
            unread.append(index)
        except Broken as problem:
            broken.append([index, problem.line, str(problem)[:LONGEST_MESSAGE]])
        except UnicodeDecodeError as problem:
            broken.append([index, content[: problem.start].count(b"\n") + 1, "it is not UTF-8"])
        except (OSError, ValueError, RecursionError, MemoryError, OverflowError) as problem:
            broken.append([index, 0, f"{type(problem).__name__}: {problem}"[:LONGEST_MESSAGE]])
    json.dump({"broken": broken, "unread": unread}, sys.stdout)


if __name__ == "__main__":
    main()
