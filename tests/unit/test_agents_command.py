"""The command agent, as far as it can be told without running a program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.agents.command import CommandAgent, outcome_of, readable_paths
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
    }


SOON, NEVER = '{"retry_after_s": 1.5}', '{"retry_after_s": -1}'


@pytest.mark.parametrize(
    ("ended", "status", "says"),
    [
        (result("exited", 0, stdout="All done.\n"), "finished", "All done."),
        (result("exited", 1, stdout="All done.\n"), "gave_up", "exit 1\nAll done."),
        (result("exited", 75), "limited", "limit reached: try again in 60 s"),
        (
            result("exited", 75, stdout='{"retry_after_s": 1.5}\n'),
            "limited",
            '{"retry_after_s": 1.5}\nlimit reached: try again in 1.5 s',
        ),
        (
            result("exited", 75, stdout='{"retry_after_s": -1}'),
            "limited",
            '{"retry_after_s": -1}\nlimit reached: try again in 60 s',
        ),
        (result("exited", 75, stdout="[1]"), "limited", "[1]\nlimit reached: try again in 60 s"),
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
