"""A line as models write it, as the words that are judged and run."""

from __future__ import annotations

import pytest

from milepost.agents.models.model import ToolCall
from milepost.agents.shell_line import shell, words_of
from milepost.agents.tool_agent.tools.specs import argv_of
from milepost.sandbox.command_risk import danger_of


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest -q tests/test_a.py::test_b", ("pytest", "-q", "tests/test_a.py::test_b")),
        (" git commit -m 'a b' ", ("git", "commit", "-m", "a b")),
    ],
)
def test_a_line_that_needs_no_shell_runs_without_one(line: str, words: tuple[str, ...]) -> None:
    assert words_of(line) == words


@pytest.mark.parametrize(
    "line",
    [
        *("cd src && pytest", "A=1 pytest", "cat a | head", "ls *.py", "echo $HOME", "echo 'open", "a; b", "a > b"),
        *("cd src", "export A", "source venv/bin/activate", "ls ~", "a\nb", "echo \\x", "! true", "a # b", "echo é"),
    ],
)
def test_any_other_line_is_read_by_a_shell(line: str) -> None:
    assert words_of(line) == (shell(), "-c", line)


@pytest.mark.parametrize("line", ["rm -rf ~", "cd / && rm -rf *", "true; sudo reboot", "git push --force origin main"])
def test_what_a_line_would_run_is_judged_in_every_part(line: str) -> None:
    assert danger_of(argv_of(ToolCall(id="1", name="execute", arguments={"command": line})), ("/w",)) is not None
    assert danger_of(words_of("cd src && pytest -q"), ("/w",)) is None
