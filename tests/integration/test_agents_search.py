"""Searching the lines of files in the sandbox: by ripgrep where there is one, and by Python everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.models.model import ToolCall
from milepost.agents.tool_agent.tools.calls import ToolCalls, Use
from milepost.agents.tool_agent.tools.long_results import LongResults
from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line, TrustLevel
from milepost.core.ports import Terminal
from milepost.sandbox.terminal import WalledTerminal
from tests.tools import need, needs


class Without:
    """A terminal on which one program is not found, the other whatever the name."""

    def __init__(self, terminal: Terminal, program: str) -> None:
        self._terminal = terminal
        self._program = program

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        argv = ("no-such-program-here", *command.argv[1:]) if command.argv[0] == self._program else command.argv
        return self._terminal.run(replace(command, argv=argv), on_line)


@pytest.fixture(scope="module", params=[TrustLevel.ISOLATED, TrustLevel.SANDBOXED])
def walled(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    with WalledTerminal(trust=request.param) as terminal:
        yield terminal


@pytest.fixture(params=["python3", "rg"])
def terminal(request: pytest.FixtureRequest, walled: Terminal) -> Terminal:
    need(request.param)
    return Without(walled, "rg" if request.param == "python3" else "python3")


@pytest.fixture
def grep(tmp_path: Path, terminal: Terminal) -> Callable[..., Use]:
    folder = tmp_path / "workspace"
    for name, text in {
        "a.py": "import os\nTODO = 'ä'\r\n",
        "src/b.py": "x = 1  # todo: later\n" + "y" * 5_000 + " TODO\n",
        "src/c.txt": "TODO in a text\n",
        ".github/ci.yml": "# TODO\n",
        ".git/config": "TODO\n",
        "node_modules/d.js": "TODO\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "binary").write_bytes(b"\0TODO\n")
    (tmp_path / "outside.txt").write_text("TODO outside\n")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    workspace = Workspace(folder=folder, scratch=tmp_path / "scratch", base="0" * 40)
    hands = ToolCalls(workspace, terminal, LongResults(workspace))

    def asked(timeout_s: float = 30, **arguments: Any) -> Use:
        return hands.use(ToolCall(id="1", name="grep", arguments=arguments), timeout_s=timeout_s)

    return asked


def test_lines_are_found_with_their_files_and_numbers(grep: Callable[..., Use]) -> None:
    found = grep(pattern="TODO")

    assert not found.failed and found.enforced
    lines = sorted(found.text.splitlines())
    places = [line.rsplit(":", 1)[0] for line in lines if "yyy" not in line]
    assert places == [".github/ci.yml:1", "a.py:2", "src/c.txt:1"]
    assert lines[1] == "a.py:2:TODO = 'ä'"
    [long] = [line for line in lines if "yyy" in line]
    assert long.startswith("src/b.py:2:yyy") and len(long) < 1_000


def test_a_search_is_narrowed_by_folder_name_and_case(grep: Callable[..., Use]) -> None:
    assert grep(pattern="todo:", path="src").text == "src/b.py:1:x = 1  # todo: later"
    assert grep(pattern="IMPORT", ignore_case=True, glob="*.py").text == "a.py:1:import os"
    assert grep(pattern="TODO", path="a.py").text == "a.py:2:TODO = 'ä'"
    assert grep(pattern="TODO", glob="src/**/*.txt").text == "src/c.txt:1:TODO in a text"
    assert grep(pattern="nowhere").text == "no line matches"
    assert grep(pattern="-e TODO").text == "no line matches"
    assert grep(pattern="(").failed
    assert grep(pattern="TODO", path="link.txt").failed


def test_a_pattern_that_would_take_for_ever_is_ended_in_the_sandbox(walled: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 60 + "b\n")
    workspace = Workspace(folder=tmp_path, scratch=tmp_path / "scratch", base="0" * 40)
    hands = ToolCalls(workspace, Without(walled, "rg"), LongResults(workspace))

    call = ToolCall(id="1", name="grep", arguments={"pattern": "^(a+)+$"})
    found = hands.use(call, timeout_s=2)

    assert found.failed and "timed out after 2 s" in found.text


@needs("rg")
def test_ripgrep_leaves_out_what_git_ignores(walled: Terminal, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("built.txt\n")
    (tmp_path / "built.txt").write_text("TODO\n")
    (tmp_path / "a.txt").write_text("TODO\n")
    workspace = Workspace(folder=tmp_path, scratch=tmp_path / "scratch", base="0" * 40)

    found = ToolCalls(workspace, walled, LongResults(workspace)).use(
        ToolCall(id="1", name="grep", arguments={"pattern": "TODO"}), timeout_s=30
    )

    assert found.text == "a.txt:1:TODO"
