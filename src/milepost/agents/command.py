"""The command agent: any program that takes a prompt and changes files.

The program says nothing that is believed: its exit code is its opinion, the workspace is its work. Its words say where
the prompt goes: `{prompt}` is filled with it, `{prompt_file}` with the path of a file that holds it, and without either
it is on stdin.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from milepost.agents.clip import clip, last_lines
from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.outside_names import absolute_paths, is_led_out, is_path
from milepost.agents.prompt import prompt_for
from milepost.core.attempt import LIMIT_REACHED, Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.commands import Command, CommandResult, Line, ending_in_words
from milepost.core.ports import Tools
from milepost.core.stated_time import LONGEST_WAIT_S, stated_wait_s

LONGEST_SAID = 4_000
LONGEST_SESSION = 500
LIMITED = 75  # EX_TEMPFAIL of sysexits.h: try again later
LONGEST_WORD_BYTES = 131_071  # what Linux takes as one word of a command line, without the zero at its end

_PLACE = re.compile(r"\{(prompt|prompt_file|workspace)\}")
_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
_SCRIPT_OPTION = re.compile(r"-[a-z]*c")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """Runs `argv` in the workspace, its places filled."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        prompt, places = prompt_for(assignment), places_in(self.argv)
        values = {"prompt": prompt, "workspace": str(workspace.folder)}
        if "prompt_file" in places:
            values["prompt_file"] = str(_write_new(prompt, workspace.scratch, prefix="prompt-", suffix=".md"))
        argv = filled_words(self.argv, values)
        if problem := misplaced(self.argv) or unfit(argv):
            return Outcome(status="gave_up", said=problem)
        letter = _write_new(assignment_json(assignment), workspace.scratch, prefix="assignment-", suffix=".json")

        def say(line: Line) -> None:
            if line.stream == "stdout":
                tools.say(line.text)
                if session := session_in(line.text):
                    tools.logbook.note_session(session)

        command = Command(
            argv=argv,
            cwd=workspace.folder,
            scratch=workspace.scratch,
            env={**GIT_IDENTITY, **self.env, **_going_on(tools.logbook.session), "MILEPOST_ASSIGNMENT": str(letter)},
            stdin="" if places & {"prompt", "prompt_file"} else prompt,
            timeout_s=tools.timeout_s,
            idle_timeout_s=tools.idle_timeout_s,
            readable=readable_paths(self.argv, self.env.get("PATH")),
        )
        return outcome_of(tools.terminal.run(command, say), command)


def places_in(argv: tuple[str, ...]) -> frozenset[str]:
    """The names of the places in a command that are to be filled."""
    return frozenset(name for word in argv for name in _PLACE.findall(word))


def filled_words(argv: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """The command with its places filled, whole words or parts of them; what is filled in has no places."""
    return tuple(_PLACE.sub(lambda place: values[place[1]], word) for word in argv)


def misplaced(argv: tuple[str, ...]) -> str:
    """Why the prompt cannot go where a command has its place: a shell would run what the task's text says."""
    scripts = (word for option, word in pairwise(argv) if _SCRIPT_OPTION.fullmatch(option))
    if Path(argv[0]).name in _SHELLS and any("{prompt}" in script for script in scripts):
        return 'the prompt would be part of a script: write "$1" for {prompt} in it, and after it sh {prompt}'
    return ""


def unfit(argv: tuple[str, ...]) -> str:
    """Why a command cannot be started with these words; empty when it can."""
    longest = max(len(word.encode(errors="replace")) for word in argv)
    if longest > LONGEST_WORD_BYTES:
        return (
            f"the prompt is an argument of {longest} bytes on the command line, and at most {LONGEST_WORD_BYTES} fit:  "
            "write {prompt_file} for {prompt}, or leave it out to get the prompt on stdin"
        )
    if any("\0" in word for word in argv):
        return "the prompt contains a NUL, which a command line cannot pass: write {prompt_file} for {prompt}"
    return ""


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
            "notes": assignment.notes,
        },
        indent=2,
    )


def readable_paths(argv: tuple[str, ...], search_path: str | None = None) -> tuple[Path, ...]:
    """What the program needs to see beside the workspace: its folder, and the absolute paths it is given."""
    is_above = ".." in Path(argv[0]).parts  # which a person agreed to; where a link leads nobody was told
    is_linked = is_path(argv[0]) and not is_above and is_led_out(argv[0])
    program = None if is_linked else shutil.which(argv[0], path=search_path)
    folders = [] if program is None else [Path(program).parent, Path(program).resolve().parent]
    # A program that lies in the home, or above it, would otherwise make all of that readable.
    home = Path("~").expanduser().resolve()
    named = [Path(program) if home.is_relative_to(folder.resolve()) else folder for folder in folders if program]
    named += map(Path, absolute_paths(argv))
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
        said = f"{clip(complaint, LONGEST_SAID)}\n{LIMIT_REACHED}{_stated_wait(result.stdout, complaint)}".strip()
        return Outcome(status="limited", said=said, enforced=result.enforced)
    reason = ending_in_words(result, program=command.argv[0], timeout_s=command.timeout_s)
    status: OutcomeStatus = "timed_out" if result.termination in ("timeout", "idle") else "gave_up"
    said = f"{reason}\n{clip(complaint, LONGEST_SAID)}".rstrip()
    return Outcome(status=status, said=said, enforced=result.enforced)


def _stated_wait(stdout: str, complaint: str) -> str:
    """The wait that the last line states as `{"retry_after_s": N}`, or the last words in their own way; else empty."""
    lines = stdout.strip().splitlines()
    try:
        stated = float(json.loads(lines[-1])["retry_after_s"]) if lines else 0.0
    except (ValueError, TypeError, KeyError):
        stated = 0.0
    wait_s = stated_wait_s(complaint, time.time()) if stated <= 0 else min(stated, LONGEST_WAIT_S)
    return "" if wait_s is None else f": try again in {wait_s:g} s"


def _write_new(text: str, scratch: Path, *, prefix: str, suffix: str) -> Path:
    """The path of a new file: earlier agents wrote in this folder, and a known name could be a link of theirs."""
    scratch.mkdir(parents=True, exist_ok=True)
    file, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=scratch)
    with os.fdopen(file, "w", encoding="utf-8", errors="replace") as stream:
        os.fchmod(file, 0o644)  # the sandbox may run the program as another user
        stream.write(text)
    return Path(name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long for a path, or in a folder that may not be entered
        return False
