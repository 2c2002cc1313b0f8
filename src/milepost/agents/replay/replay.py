"""Replay: an agent whose attempts were recorded, or written down, beforehand, in a cassette.

The calls are run, and their limits held, by the same loop that a live model uses. A recorded attempt is played once: an
attempt that was not recorded gives up and says so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from milepost.agents.models.as_json import digest
from milepost.agents.models.model import Answer, Conversation, Model
from milepost.agents.replay.cassette import Cassette, RecordedAnswer, RecordedDiff, RecordedEnd, RecordedTalk
from milepost.agents.tool_agent.agent import ToolAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.commands import Command, enforced_by_all
from milepost.core.errors import AgentUnknown, CassetteExhausted
from milepost.core.ports import Agent, Tools

LONGEST_PAUSE_S = 5.0
APPLY_S = 120.0
PATCH = "recorded.patch"
Loops = Mapping[str, Callable[[Model], Agent]]

_LIMIT = re.compile(r"(limit reached: try again in) [\d.]+ s")


def load_cassette(path: Path) -> Cassette:
    """The cassette in a file; SettingInvalid says what is wrong in it, and where."""
    from milepost.agents.replay.cassette_file import read  # pydantic takes its time to import

    return read(path)


class ReplayModel:
    """Gives the recorded answers of one attempt: to its third question, the third.

    Where nobody counts the questions, it is the one after as many answers as the conversation has.
    """

    price_known = True

    def __init__(self, talk: RecordedTalk, place: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        self.name = "replay" if talk.agent == "tool" else f"replay:{talk.agent}"
        self.ran_out = False
        self._talk = talk
        self._place = place
        self._pause = pause

    def most(self, conversation: Conversation) -> Usage:
        number = self._number(conversation)
        return self._talk.answers[number].answer.usage if number < len(self._talk.answers) else Usage()

    def answer(self, conversation: Conversation) -> Answer:
        recorded = self._recorded(conversation)
        pause_s = min(recorded.seconds, LONGEST_PAUSE_S)
        if pause_s > 0:
            self._pause(min(pause_s, conversation.timeout_s))
        if pause_s > conversation.timeout_s:
            raise TimeoutError
        return recorded.answer

    def _recorded(self, conversation: Conversation) -> RecordedAnswer:
        answers, number = self._talk.answers, self._number(conversation)
        if number >= len(answers):
            self.ran_out = True
            raise CassetteExhausted(
                f"the cassette ends after {len(answers)} answers in {self._place}",
                "record an answer without calls as the last one",
            )
        return answers[number]

    def _number(self, conversation: Conversation) -> int:
        return conversation.number - 1 if conversation.number else conversation.answered


def _code_agent(model: Model) -> Agent:
    from milepost.agents.code_agent.agent import CodeAgent  # most cassettes need none

    return CodeAgent(model)


LOOPS: Loops = {"tool": ToolAgent, "code": _code_agent}


class ReplayAgent:
    """Does attempts by replaying a cassette, each through the loop that it was recorded with."""

    def __init__(
        self, cassette: Cassette, *, loops: Loops | None = None, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._cassette = cassette
        self._loops = LOOPS if loops is None else loops
        self._pause = pause

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        try:
            recorded = self._cassette.attempt(assignment.task, assignment.attempt)
        except CassetteExhausted as error:
            return Outcome(status="gave_up", said=error.message)
        match recorded:
            case RecordedTalk():
                return self._talked(recorded, assignment, workspace, tools)
            case RecordedDiff():
                return _applied(recorded, workspace, tools)
            case _ as never:
                assert_never(never)

    def _talked(self, talk: RecordedTalk, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        if talk.agent not in self._loops:
            raise AgentUnknown(
                f"attempt {assignment.attempt} at task {assignment.task!r} was recorded with the agent {talk.agent!r}, "
                "which does not replay here",
                "name another agent for this task",
            )
        place = f"attempt {assignment.attempt} at task {assignment.task!r}"
        model = ReplayModel(talk, place, pause=self._pause)
        outcome = self._loops[talk.agent](model).act(assignment, workspace, tools)
        return _ended(outcome, talk.end) if model.ran_out and talk.end is not None else outcome


def _applied(recorded: RecordedDiff, workspace: Workspace, tools: Tools) -> Outcome:
    """Change the workspace as the recorded agent did, once, and end as it did."""
    enforced: tuple[str, ...] = ()
    if recorded.diff.strip():
        tools.say("changing the files as it was recorded")
        call = Call(
            kind="tool",
            name="apply",
            summary="applying the recorded change",
            request=digest(recorded.diff.hex()),
            changes=True,
        )
        reply = tools.logbook.once(call, lambda: _apply(recorded.diff, workspace, tools))
        enforced = tuple(reply.body.get("enforced", ()))
        if reply.failed:
            said = f"the recorded change does not fit: {reply.body.get('text', reply.refused)}"
            return Outcome(status="gave_up", said=said, enforced=enforced)
    return _ended(Outcome(status="finished", usage=recorded.usage, enforced=enforced), recorded.end)


def _apply(diff: bytes, workspace: Workspace, tools: Tools) -> Reply:
    """Bring the files to what they were at the base, where an attempt before left others, and change them."""
    patch = workspace.scratch / PATCH
    patch.write_bytes(diff)
    back = (("git", "reset", "--hard", "--quiet"), ("git", "clean", "-d", "--force", "--quiet"))
    commands = (
        *(back if (workspace.folder / ".git").is_dir() else ()),
        ("git", "apply", "--whitespace=nowarn", str(patch)),
    )
    held: list[tuple[str, ...]] = []
    for argv in commands:
        command = Command(argv=argv, cwd=workspace.folder, scratch=workspace.scratch, timeout_s=APPLY_S)
        result = tools.terminal.run(command)
        held.append(result.enforced)
        if result.exit_code != 0:
            break
    patch.unlink(missing_ok=True)
    said = tools.redact((result.stderr or result.stdout or result.error).strip())
    return Reply(body={"text": said, "enforced": list(enforced_by_all(held))}, failed=result.exit_code != 0)


def _ended(outcome: Outcome, end: RecordedEnd) -> Outcome:
    """The outcome with the recorded end; nobody waits for a service that is not asked."""
    return replace(outcome, status=end.status, said=_LIMIT.sub(r"\1 1 s", end.said))
