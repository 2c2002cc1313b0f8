from __future__ import annotations

import pytest

from milepost.verify.programs.command_line import argv_of, module_arguments


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("pytest tests/x.py", ("pytest", "tests/x.py")),
        ("grep -q 'a | b; $c' notes.md", ("grep", "-q", "a | b; $c", "notes.md")),
        ("pytest 'tests/x.py::test[a-1]'", ("pytest", "tests/x.py::test[a-1]")),
        (r"grep a\|b notes.md", ("grep", "a|b", "notes.md")),
        ("python -m pytest  # the slow ones too", ("python", "-m", "pytest")),
        ("", ()),
        ("  # nothing yet", ()),
    ],
)
def test_a_plain_line_is_split_and_run_without_a_shell(line: str, argv: tuple[str, ...]) -> None:
    assert argv_of(line) == argv


@pytest.mark.parametrize(
    "line",
    [
        "cat a | grep b",
        "make && make test",
        "false || true",
        "a; b",
        "echo x > out",
        "sort < in",
        "echo $HOME",
        'echo "$HOME"',
        "echo `date`",
        "ls *.py",
        "ls ~/x",
        "MODE=fast make",
        "cd sub",
        "! grep -q TODO a.py",
        "echo 'unclosed",
    ],
)
def test_a_line_with_shell_syntax_is_given_whole_to_a_shell(line: str) -> None:
    assert argv_of(line) == ("/bin/sh", "-c", line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("python -m pytest -q", ("pytest", "-q")),
        ("/opt/venv/bin/python3.12 -W error -m unittest x", ("unittest", "x")),
        ("python tool.py -m pytest", None),
        ("python -m", None),
        ("make -m pytest", None),
    ],
)
def test_a_module_is_known_by_how_python_is_called(line: str, expected: tuple[str, ...] | None) -> None:
    assert module_arguments(argv_of(line)) == expected
