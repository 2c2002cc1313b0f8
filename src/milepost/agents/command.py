"""The command agent: any program that takes a prompt and changes files.

The program says nothing that is believed: its exit code is its opinion, the workspace is its work.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from milepost.agents.clip import clip, last_lines
from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.commands import Command, CommandResult, Line, ending_in_words
from milepost.core.ports import Tools

LONGEST_SAID = 4_000
LONGEST_SESSION = 500
LIMITED = 75  # EX_TEMPFAIL of sysexits.h: try again later
WAIT_S = 60.0
LONGEST_WAIT_S = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """Runs `argv` in the workspace with the prompt on stdin."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        letter = _write_letter(assignment_json(assignment), workspace.scratch)

        def say(line: Line) -> None:
            if line.stream == "stdout":
                tools.say(line.text)
                if session := session_in(line.text):
                    tools.logbook.note_session(session)

        command = Command(
            argv=self.argv,
            cwd=workspace.folder,
            scratch=workspace.scratch,
            env={**GIT_IDENTITY, **self.env, **_going_on(tools.logbook.session), "MILEPOST_ASSIGNMENT": str(letter)},
            stdin=prompt_for(assignment),
            timeout_s=tools.timeout_s,
            idle_timeout_s=tools.idle_timeout_s,
            readable=readable_paths(self.argv, self.env.get("PATH")),
        )
        return outcome_of(tools.terminal.run(command, say), command)


def assignment_json(assignment: Assignment) -> str:
    """The assignment as the program reads it from the file that MILEPOST_ASSIGNMENT names."""
    return json.dumps(
        {
            "run": assignment.run,
            "task": assignment.task,
            "title": assignment.title,
            "text": assignment.text,
            "attempt": assignment.attempt,
            "files": assignment.files,
            "verify": assignment.verify,
            "evidence": assignment.evidence,
            "lessons": assignment.lessons,
        },
        indent=2,
    )


def readable_paths(argv: tuple[str, ...], search_path: str | None = None) -> tuple[Path, ...]:
    """What the program needs to see beside the workspace: its folder, and the absolute paths it is given."""
    program = shutil.which(argv[0], path=search_path)
    folders = [] if program is None else [Path(program).parent, Path(program).resolve().parent]
    # A program that lies in / would otherwise make the whole machine readable.
    named = [Path(program)] if program is not None and Path("/") in folders else folders
    values = (word.partition("=")[2] if word.startswith("-") else word for word in argv)
    named += [Path(value) for value in values if value.startswith("/")]
    return tuple(dict.fromkeys(path for path in named if _exists(path)))


def session_in(line: str) -> str:
    """The session that a line `{"session": "…"}` notes: where the program can go on if it is cut short; else empty."""
    if not line.startswith('{"session"') or len(line) > LONGEST_SESSION:
        return ""
    try:
        said = json.loads(line)
    except ValueError:
        return ""
    session = said.get("session") if isinstance(said, dict) else None
    return session if isinstance(session, str) else ""


def _going_on(session: str) -> dict[str, str]:
    return {"MILEPOST_SESSION": session} if session else {}


def outcome_of(result: CommandResult, command: Command) -> Outcome:
    """What the end of the program means; its last words are kept."""
    spoken = last_lines(result.stdout)
    complaint = "\n".join(part for part in (spoken, last_lines(result.stderr)) if part)
    if result.succeeded:
        said = clip(spoken, LONGEST_SAID)
        return Outcome(status="finished", said=said, enforced=result.enforced, printed=result.stdout)
    if result.exit_code == LIMITED:
        said = f"{clip(complaint, LONGEST_SAID)}\nlimit reached: try again in {_stated_wait(result.stdout):g} s".strip()
        return Outcome(status="limited", said=said, enforced=result.enforced)
    reason = ending_in_words(result, program=command.argv[0], timeout_s=command.timeout_s)
    status: OutcomeStatus = "timed_out" if result.termination in ("timeout", "idle") else "gave_up"
    said = f"{reason}\n{clip(complaint, LONGEST_SAID)}".rstrip()
    return Outcome(status=status, said=said, enforced=result.enforced)


def _stated_wait(stdout: str) -> float:
    """The seconds that the last line states as `{"retry_after_s": N}`, or a minute."""
    lines = stdout.strip().splitlines()
    try:
        stated = float(json.loads(lines[-1])["retry_after_s"]) if lines else WAIT_S
    except (ValueError, TypeError, KeyError):
        return WAIT_S
    return min(stated, LONGEST_WAIT_S) if stated > 0 else WAIT_S


def _write_letter(text: str, scratch: Path) -> Path:
    """The path of a new file: earlier agents wrote in this folder, and a known name could be a link of theirs."""
    scratch.mkdir(parents=True, exist_ok=True)
    file, name = tempfile.mkstemp(prefix="assignment-", suffix=".json", dir=scratch)
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        os.fchmod(file, 0o644)  # the sandbox may run the program as another user
        stream.write(text)
    return Path(name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long for a path, or in a folder that may not be entered
        return False
