"""Patterns, and the agent that executes them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.agents.patterns.python_module import PythonModule, source_files
from milepost.agents.patterns.registry import pattern_named
from milepost.core.errors import PatternInputsInvalid

MODULE = pattern_named("module_creation")


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("library", ("durations/__init__.py", "tests/__init__.py", "tests/test_durations.py")),
        ("cli", ("durations/__init__.py", "durations/__main__.py", "tests/__init__.py", "tests/test_durations.py")),
        ("utility", ("durations.py", "tests/__init__.py", "tests/test_durations.py")),
    ],
)
def test_a_module_is_written_once_and_the_second_time_changes_nothing(
    kind: str, files: tuple[str, ...], tmp_path: Path
) -> None:
    inputs = {"name": "durations", "kind": kind, "functions": "parse, show"}

    assert MODULE.execute(inputs, tmp_path) == files
    written = contents(tmp_path)
    assert tuple(sorted(written)) == files
    assert MODULE.execute(inputs, tmp_path) == ()
    assert contents(tmp_path) == written


def test_a_missing_file_is_written_again_beside_the_others(tmp_path: Path) -> None:
    MODULE.execute({"name": "durations"}, tmp_path)
    (tmp_path / "tests" / "test_durations.py").unlink()
    (tmp_path / "tests" / "__init__.py").write_text('"""Our tests."""\n')

    assert MODULE.execute({"name": "durations"}, tmp_path) == ("tests/test_durations.py",)
    assert (tmp_path / "tests" / "__init__.py").read_text() == '"""Our tests."""\n'


def test_files_with_other_content_stay_and_every_one_is_named(tmp_path: Path) -> None:
    theirs = {"durations/__init__.py": "mine = 1\n", "tests/test_durations.py": "", "durations.py": ""}
    for path, content in theirs.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)

    with pytest.raises(PatternInputsInvalid) as refusal:
        MODULE.execute({"name": "durations", "kind": "cli"}, tmp_path)

    assert refusal.value.message.split("; ") == [
        "durations/__init__.py is there already, with other content",
        "tests/test_durations.py is there already, with other content",
        "durations.py is there already and would be imported by the same name",
    ]
    assert contents(tmp_path) == theirs


def test_every_problem_is_told_at_once() -> None:
    inputs = {
        "name": "Bad-Name",
        "language": "cobol",
        "kind": "poem",
        "description": "two\nlines",
        "functions": "parse, parse, 2x, str, class, Größe",
        "colour": "red",
    }

    assert MODULE.validate_inputs(inputs) == (
        "colour is not known; known are name, language, kind, description, functions",
        "name must match ^[a-z][a-z0-9_]*\\Z, not 'Bad-Name'",
        "language must be one of python, javascript, typescript, not 'cobol'",
        "kind must be one of library, cli, utility, not 'poem'",
        "description must be one line of printable text",
        "functions: '2x' cannot name a function",
        "functions: 'str' cannot name a function",
        "functions: 'class' cannot name a function",
        "functions: 'Größe' cannot name a function",
        "functions: 'parse' is given 2 times",
    )


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({}, "name is missing"),
        ({"name": "x\n"}, "name must match"),
        ({"name": "class"}, "is a word of Python"),
        ({"name": "json"}, "would hide a module"),
        ({"name": "tests"}, "would hide a module"),
        ({"name": "x", "language": "typescript"}, "typescript is not supported yet"),
        ({"name": "x", "description": " "}, "one line of printable text"),
        ({"name": "x", "description": ""}, "description must not be empty"),
        ({"name": "x", "description": "x" * 101}, "at most 100 characters, not 101"),
    ],
)
def test_inputs_that_cannot_be_used_write_nothing(inputs: dict[str, str], says: str, tmp_path: Path) -> None:
    assert any(says in problem for problem in MODULE.validate_inputs(inputs))
    with pytest.raises(PatternInputsInvalid, match=says):
        MODULE.execute(inputs, tmp_path)
    assert list(tmp_path.iterdir()) == []


@given(st.text(st.sampled_from("\"'\\{x}n% "), min_size=1))
def test_any_description_stands_in_the_module_as_it_was_given(description: str) -> None:
    files = source_files(PythonModule(name="durations", kind="utility", description=description))
    module = ModuleType("durations")

    exec(files["durations.py"], module.__dict__)

    assert (module.__doc__ or "").strip() == description.strip()  # Python 3.13 takes the spaces off itself
    compile(files["tests/test_durations.py"], "test_durations.py", "exec")
