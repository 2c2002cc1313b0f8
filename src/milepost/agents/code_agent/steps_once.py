"""The steps of one attempt: each is run once, and what it came to is recorded."""

from __future__ import annotations

from collections.abc import Callable

from milepost.agents.clip import clip
from milepost.agents.code_agent.ending import AttemptOver, Time
from milepost.agents.code_agent.host_functions import HostFunctions
from milepost.agents.code_agent.restored_state import Past
from milepost.agents.code_agent.scratchpad import Pad
from milepost.agents.code_agent.session import KeptSession, Ran
from milepost.agents.code_agent.steps import LONGEST_ERROR, Step, answer_as_text, step_of
from milepost.agents.models.as_json import digest
from milepost.core.attempt import Workspace
from milepost.core.calls import Call, Reply
from milepost.core.commands import enforced_by_all
from milepost.core.ports import Tools


class Work:
    """Runs the code of an attempt, and knows what the steps so far left."""

    def __init__(
        self,
        workspace: Workspace,
        tools: Tools,
        session: KeptSession,
        *,
        time: Time,
        clock: Callable[[], float],
        step_timeout_s: float,
    ) -> None:
        self._workspace = workspace
        self._tools = tools
        self._session = session
        self._time = time
        self._clock = clock
        self._step_timeout_s = step_timeout_s
        self._past = Past()
        self._held: list[tuple[str, ...]] = []
        self.pad = Pad()

    @property
    def enforced(self) -> tuple[str, ...]:
        """What the sandbox held for all code and all commands."""
        return enforced_by_all(self._held)

    def run(self, code: str, number: int) -> Step:
        """What came of a step: from the record where it was run before, else by running it."""
        timeout_s = min(self._time.left_s(), self._step_timeout_s)
        self._tools.say(summary(code, number))
        call = Call(
            kind="tool",
            name="python",
            summary=summary(code, number),
            request=digest([number, code]),
            changes=True,
        )
        reply = self._tools.logbook.once(call, lambda: self._make(code, timeout_s))
        if reply.refused:
            return Step(error=f"PermissionError: this step was not allowed: {reply.refused}", is_run=False)
        self._time.spend(reply.body["seconds"])
        step = step_of(reply.body)
        self._past = self._past.after(code if step.is_run else "", step.kept)
        self._held.extend(step.enforced)
        for note in step.notes:
            self.pad.add(note)
        return step

    def _make(self, code: str, timeout_s: float) -> Reply:
        started = self._clock()
        hands = HostFunctions(
            self._workspace,
            self._tools,
            pad=self.pad.copy(),
            timeout_s=timeout_s,
            say=self._session.lines.put,
        )
        ran = self._session.run(code, self._past, hands.functions, timeout_s=timeout_s)
        step = self._step(ran, hands)
        return Reply(body={**step.plain(), "seconds": self._clock() - started}, failed=step.failed)

    def _step(self, ran: Ran, hands: HostFunctions) -> Step:
        done, redact = ran.result, self._tools.redact
        if done is None:
            return Step(is_run=False, error="it needs names that are lost", lost=ran.lost, kept=ran.kept)
        if done.termination == "not_started":
            raise AttemptOver("gave_up", f"the code cannot be run: {done.error}")
        verified_by = None if done.verified_by is None else clip(redact(done.verified_by), LONGEST_ERROR)
        return Step(
            output=redact(done.output),
            error=clip(redact(done.error or ""), LONGEST_ERROR),
            ended=ran.kept is None,
            answer=redact(answer_as_text(done.final_value)) if done.is_final else None,
            verified_by=verified_by,
            gave_up=hands.gave_up,
            forged=done.forged,
            lost=ran.lost,
            notes=tuple(hands.notes),
            kept=ran.kept,
            enforced=(done.enforced, *hands.enforced),
        )


def summary(code: str, number: int) -> str:
    """A step in one short line for people: its number, and what its first line of code says."""
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    return f"step {number}: {lines[0][:120]}" + (f" … ({len(lines)} lines)" if len(lines) > 1 else "")
