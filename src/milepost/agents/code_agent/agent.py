"""The code agent's loop: ask the model, run its code, tell it what came of it.

Every question and every step goes through the attempt's logbook. After a crash the loop is gone through again from the
start: what was answered or run before comes from there. So nothing here may depend on anything but the assignment and
what the logbook gives; variables of the lost session are made again from what the recorded steps kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from milepost.agents.code_agent.blocks import NoBlock
from milepost.agents.code_agent.conversation import CodeConversation
from milepost.agents.code_agent.ending import AttemptOver, Time
from milepost.agents.code_agent.file_tools import TOOLS
from milepost.agents.code_agent.host_functions import FUNCTIONS, HostFunctions
from milepost.agents.code_agent.scratchpad import signals_in
from milepost.agents.code_agent.session import KeptSession
from milepost.agents.code_agent.signatures import listed
from milepost.agents.code_agent.steps import Step, report, said_at_the_end
from milepost.agents.code_agent.steps_once import Work
from milepost.agents.models.ask import PATIENCE_S, Asker
from milepost.agents.models.model import Model
from milepost.agents.prompt import prompt_for
from milepost.agents.prompts import filled
from milepost.agents.tool_agent.cost_bound import CostReached, Tally
from milepost.core.attempt import Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.commands import ExecutionLimits
from milepost.core.ports import Stops, Tools

LIMITS = ExecutionLimits(
    timeout_s=600.0,
    memory_mb=1024,
    output_bytes=20_000,
    steps=50,
    processes=256,
    open_files=1024,
    file_mb=256,
    disk_mb=1024,
    inodes=50_000,
)
WINDOW_TOKENS = 200_000  # where nobody says how large the model's window is


def final_answer(value: object, verified_by: str | None = None) -> None:
    """End the attempt: say what you did, and what you ran to be sure of it. Once, as the last thing."""


ALL_FUNCTIONS: dict[str, Callable[..., object]] = {
    each.__name__: each for each in (*TOOLS, *(getattr(HostFunctions, name) for name in FUNCTIONS), final_answer)
}


class CodeAgent:
    """An agent that lets a model work by writing Python.

    `limits.steps` is how many answers the model has, `limits.timeout_s` how long one step may take, `max_usd` what an
    attempt may cost; `window_tokens` how long a question may be.
    """

    def __init__(
        self,
        model: Model,
        *,
        limits: ExecutionLimits = LIMITS,
        max_usd: float | None = None,
        window_tokens: int = WINDOW_TOKENS,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        stops: Stops | None = None,
    ) -> None:
        self._model = model
        self._limits = limits
        self.max_usd = max_usd
        self._window_tokens = window_tokens
        self._patience_s = patience_s
        self._clock = clock
        self._stops = stops

    @property
    def price_known(self) -> bool:
        """Whether a bound in money can hold for this agent."""
        return self._model.price_known

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        tools = replace(tools, logbook=Tally(tools.logbook, agent="code", max_usd=self.max_usd))
        stops, left = self._stops or tools.stops, Time(tools.timeout_s)
        asker = Asker(
            self._model,
            patience_s=self._patience_s,
            clock=self._clock,
            stops=stops,
            say=tools.say,
            logbook=tools.logbook,
        )
        session = KeptSession(tools.open_interpreter, workspace.folder, self._limits, stops, tools.say)
        talk = CodeConversation(assignment, prompt_of(assignment), asker, left, self._window_tokens)
        work = Work(
            workspace,
            tools,
            session,
            time=left,
            clock=self._clock,
            step_timeout_s=self._limits.timeout_s,
        )
        if not self.price_known:
            tools.say(f"the price of {self._model.name} is not known: its answers are counted as $0")
        try:
            status, said = self._go_on(talk, work, tools)
        except AttemptOver as end:
            status, said = end.status, end.said
        except CostReached as end:
            status, said = "gave_up", str(end)
        finally:
            session.close()
        signals = signals_in(work.pad.notes)
        return Outcome(status=status, said=said, usage=talk.usage, enforced=work.enforced, signals=signals)

    def _go_on(self, talk: CodeConversation, work: Work, tools: Tools) -> tuple[OutcomeStatus, str]:
        for number in range(1, self._limits.steps + 1):
            block = talk.ask(tools.redact(work.pad.shown()))
            if isinstance(block, NoBlock):
                tools.say(f"the model's answer cannot be used: {block.why}")
                talk.remind(block.why)
                continue
            for line in block.words.splitlines():
                tools.say(line)
            (self._stops or tools.stops).check()
            step = work.run(block.code, number)
            pass_on(step, tools)
            if step.gave_up is not None:
                return "gave_up", step.gave_up
            if step.answer is not None:
                return "finished", said_at_the_end(step)
            talk.tell(report(step, number, block.code, ALL_FUNCTIONS, limit=self._longest_report))
        return "gave_up", f"stopped after {self._limits.steps} steps without a final answer"

    @property
    def _longest_report(self) -> int:
        """How much of what a step printed the model is told: with the task, it must fit into the window."""
        return min(self._limits.output_bytes, self._window_tokens // 2)


def pass_on(step: Step, tools: Tools) -> None:
    """Tell people and the engine what a step says of itself."""
    for signal in signals_in(step.notes):
        tools.signal(signal)
    if step.forged:
        tools.say("the code put messages on its channel that nobody had asked for")
    if step.error:
        tools.say(f"error: {step.error.splitlines()[0]}")


def prompt_of(assignment: Assignment) -> str:
    """All that the model is told before its first step."""
    return filled("code", assignment=prompt_for(assignment), functions=listed(ALL_FUNCTIONS.values()))
