"""The command agent, as far as it can be told without running a program."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.agents.command import LONGEST_WORD_BYTES, CommandAgent, outcome_of, readable_paths
from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Assignment, OutcomeStatus, Workspace
from milepost.core.commands import Command, CommandResult, Line, Termination
from milepost.core.ports import Tools

ASSIGNMENT = Assignment(
    run="r1",
    task="1.1",
    title="Parse durations",
    text="as 1h30m…",
    attempt=2,
    files=("durations.py",),
    verify=("pytest",),
    evidence=("got 90",),
    lessons=("look twice",),
)


class TalkingTerminal:
    """Says one line on each stream, and keeps the command and the assignment that it named."""

    def __init__(self) -> None:
        self.command: Command | None = None
        self.assignment: object = None

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.command = command
        self.assignment = json.loads(Path(command.env["MILEPOST_ASSIGNMENT"]).read_text())
        assert on_line is not None
        on_line(Line(stream="stdout", text="working"))
        on_line(Line(stream="stderr", text="debug"))
        return result("exited", 0)


def result(termination: Termination, exit_code: int | None, *, stdout: str = "", error: str = "") -> CommandResult:
    return CommandResult(
        termination=termination,
        exit_code=exit_code,
        stdout=stdout,
        stderr="",
        duration_ms=1,
        enforced=("network",),
        error=error,
    )


def test_the_program_gets_the_prompt_the_assignment_and_an_identity(tmp_path: Path) -> None:
    terminal = TalkingTerminal()
    said: list[str] = []
    workspace = Workspace(folder=tmp_path / "workspace", scratch=tmp_path / "scratch", base="0" * 40)
    tools = Tools(terminal=terminal, say=said.append, timeout_s=30, idle_timeout_s=10)

    outcome = CommandAgent(argv=("sh", "-c", ":"), env={"GIT_AUTHOR_NAME": "Ann", "KEY": "x"}).act(
        ASSIGNMENT, workspace, tools
    )

    assert (outcome.status, outcome.enforced) == ("finished", ("network",))
    assert said == ["working"]
    command = terminal.command
    assert command is not None
    assert (command.argv, command.cwd, command.scratch) == (("sh", "-c", ":"), workspace.folder, workspace.scratch)
    assert (command.timeout_s, command.idle_timeout_s) == (30, 10)
    assert command.stdin == prompt_for(ASSIGNMENT)
    assert (command.env["KEY"], command.env["GIT_AUTHOR_NAME"]) == ("x", "Ann")
    assert command.env["GIT_COMMITTER_EMAIL"] == "agent@milepost.invalid"
    assert not Path(command.env["MILEPOST_ASSIGNMENT"]).is_relative_to(workspace.folder)
    assert terminal.assignment == {
        "run": "r1",
        "task": "1.1",
        "title": "Parse durations",
        "text": "as 1h30m…",
        "attempt": 2,
        "files": ["durations.py"],
        "verify": ["pytest"],
        "evidence": ["got 90"],
        "lessons": ["look twice"],
        "notes": [],
    }


SOON, NEVER = '{"retry_after_s": 1.5}', '{"retry_after_s": -1}'


@pytest.mark.parametrize(
    ("ended", "status", "says"),
    [
        (result("exited", 0, stdout="All done.\n"), "finished", "All done."),
        (result("exited", 1, stdout="All done.\n"), "gave_up", "exit 1\nAll done."),
        (result("exited", 75), "limited", "limit reached"),
        (
            result("exited", 75, stdout='{"retry_after_s": 1.5}\n'),
            "limited",
            '{"retry_after_s": 1.5}\nlimit reached: try again in 1.5 s',
        ),
        (
            result("exited", 75, stdout='{"retry_after_s": -1}'),
            "limited",
            '{"retry_after_s": -1}\nlimit reached',
        ),
        (result("exited", 75, stdout="[1]"), "limited", "[1]\nlimit reached"),
        (result("timeout", None), "timed_out", "timed out after 30 s"),
        (result("idle", None), "timed_out", "was stopped: it said nothing for too long"),
        (result("signalled", None, error="ended by SIGSEGV"), "gave_up", "was ended by SIGSEGV"),
        (result("killed", None), "gave_up", "was ended by a signal"),
        (result("output", None, error="wrote more than 9 bytes"), "gave_up", "was stopped: it wrote more than 9 bytes"),
        (result("not_started", None, error="bad format"), "gave_up", "could not start: bad format"),
        (result("not_started", None, error="'agent' is not on PATH: /bin"), "gave_up", "not found: agent"),
    ],
)
def test_the_end_of_the_program_is_its_opinion(
    ended: CommandResult, status: OutcomeStatus, says: str, tmp_path: Path
) -> None:
    command = Command(argv=("agent",), cwd=tmp_path, scratch=tmp_path, timeout_s=30, idle_timeout_s=10)

    outcome = outcome_of(ended, command)

    assert (outcome.status, outcome.said, outcome.enforced) == (status, says, ("network",))


def test_the_folder_of_the_program_and_the_absolute_paths_it_is_given_are_readable(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "agent"
    program.parent.mkdir()
    real = tmp_path / "lib" / "agent-1.0"
    real.parent.mkdir()
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    program.symlink_to(real)
    rules = tmp_path / "rules.md"
    rules.touch()
    notes = tmp_path / "notes.md"
    notes.touch()
    words = (str(rules), f"--notes={notes}", "/no/such/file", "relative", f"sed=s{tmp_path}", "/" + "x" * 5000)

    assert readable_paths((str(program), *words)) == (program.parent, real.parent, program, rules, notes)
    assert readable_paths(("agent", *words), str(program.parent)) == (program.parent, real.parent, rules, notes)
    assert readable_paths(("no-such-program-anywhere",)) == ()


def test_the_assignment_is_not_written_through_a_link_that_an_earlier_agent_left(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("assignment.json", "assignment-.json"):
        (scratch / name).symlink_to(precious)
    terminal = TalkingTerminal()
    tools = Tools(terminal=terminal, say=lambda _: None, timeout_s=30)

    CommandAgent(argv=("sh",)).act(ASSIGNMENT, Workspace(folder=tmp_path, scratch=scratch, base="0"), tools)

    assert precious.read_text() == "mine"
    assert terminal.command is not None
    assert not Path(terminal.command.env["MILEPOST_ASSIGNMENT"]).is_symlink()


def told(argv: tuple[str, ...], tmp_path: Path, *, text: str = "as 1h30m") -> tuple[Command | None, str, str]:
    """The command that came of a template, the prompt it is to deliver, and what the agent said."""
    terminal = TalkingTerminal()
    workspace = Workspace(folder=tmp_path / "workspace", scratch=tmp_path / "scratch", base="0" * 40)
    tools = Tools(terminal=terminal, say=lambda _: None, timeout_s=30)
    assignment = replace(ASSIGNMENT, evidence=(text,) * 20)
    outcome = CommandAgent(argv=argv).act(assignment, workspace, tools)
    return terminal.command, prompt_for(assignment), f"{outcome.status}: {outcome.said}"


def test_the_words_of_the_command_say_where_the_prompt_goes(tmp_path: Path) -> None:
    command, prompt, _ = told(("sh", "-p", "{prompt}", "--in={workspace}", "{other} {}"), tmp_path)
    assert command is not None
    assert command.argv == ("sh", "-p", prompt, f"--in={tmp_path / 'workspace'}", "{other} {}")
    assert command.stdin == ""

    command, prompt, _ = told(("sh", "--message-file={prompt_file}"), tmp_path)
    assert command is not None
    assert command.stdin == ""
    path = Path(command.argv[1].partition("=")[2])
    assert path.read_text() == prompt
    assert path.is_relative_to(tmp_path / "scratch")


def test_what_is_filled_in_is_not_filled_again(tmp_path: Path) -> None:
    command, prompt, _ = told(("sh", "{prompt}"), tmp_path, text="{workspace} {prompt_file} {prompt}")

    assert command is not None
    assert command.argv == ("sh", prompt)
    assert "{workspace} {prompt_file} {prompt}" in prompt


@pytest.mark.parametrize("text", ["x" * 12_000, "é" * 7_000])
def test_a_prompt_too_long_for_a_word_is_refused_before_anything_is_started(text: str, tmp_path: Path) -> None:
    command, prompt, said = told(("sh", "-p", "{prompt}"), tmp_path, text=text)
    assert len(prompt.encode()) > 200_000
    assert command is None
    assert said.startswith(f"gave_up: the prompt is an argument of {len(prompt.encode())} bytes")
    assert str(LONGEST_WORD_BYTES) in said and "{prompt_file}" in said

    command, prompt, _ = told(("sh", "{prompt_file}"), tmp_path, text=text)
    assert command is not None
    assert Path(command.argv[1]).read_text() == prompt

    command, prompt, _ = told(("sh",), tmp_path, text=text)
    assert command is not None
    assert command.stdin == prompt


def test_a_prompt_with_a_nul_in_it_is_not_put_on_the_command_line(tmp_path: Path) -> None:
    command, _, said = told(("sh", "-p", "{prompt}"), tmp_path, text="one\0two")

    assert command is None
    assert "NUL" in said


@pytest.mark.parametrize("shell", ["sh", "/bin/bash"])
def test_the_prompt_never_becomes_part_of_a_shell_script(shell: str, tmp_path: Path) -> None:
    command, _, said = told((shell, "-ec", "agent '{prompt}'"), tmp_path)
    assert command is None
    assert "part of a script" in said

    command, prompt, _ = told((shell, "-ec", 'agent "$1"', "sh", "{prompt}"), tmp_path)
    assert command is not None
    assert command.argv[-1] == prompt


def test_a_program_that_lies_in_the_home_makes_itself_readable_and_not_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder in ("home", "home/bin"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent").write_text("#!/bin/sh\n")
        (tmp_path / folder / "agent").chmod(0o755)

    assert readable_paths((str(tmp_path / "home/agent"),)) == (tmp_path / "home/agent",)
    assert tmp_path / "home/bin" in readable_paths((str(tmp_path / "home/bin/agent"),))
