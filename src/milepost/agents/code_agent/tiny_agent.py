"""An agent of one's own tools: a model that writes Python, and functions of this program that its code can call."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Collection, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from milepost.agents.code_agent.agent_memory import AgentMemory
from milepost.agents.code_agent.blocks import NoBlock
from milepost.agents.code_agent.conversation import CodeConversation
from milepost.agents.code_agent.ending import AttemptOver, Time
from milepost.agents.code_agent.host_functions import HostFunctions
from milepost.agents.code_agent.signatures import listed
from milepost.agents.code_agent.steps import Step, report
from milepost.agents.models.ask import PATIENCE_S, Asker
from milepost.agents.models.live import ModelSetup, live_model
from milepost.agents.models.model import Model
from milepost.agents.prompts import filled
from milepost.core.attempt import Assignment
from milepost.core.calls import Usage
from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import ExecutionTimeout, MilepostError, Misuse
from milepost.core.ports import Unstopped
from milepost.sandbox.python_executor import PythonExecutor

WINDOW_TOKENS = 200_000
_SIGNALS: tuple[Literal["uncertain", "explore", "commit"], ...] = ("uncertain", "explore", "commit")
_OURS = frozenset({"store", "recall", "observe", "fail", "final_answer", *_SIGNALS})


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyRun:
    """How a task went: `answer` and `verified_by` are what the model's code gave to `final_answer`."""

    state: Literal["completed", "step_limit_reached", "timed_out", "failed"]
    answer: Any = None
    verified_by: str | None = None
    output: str = ""
    steps: int = 0
    error: str = ""
    usage: Usage = field(default_factory=Usage)


def final_answer(value: object, verified_by: str | None = None) -> None:
    """End the task with an answer, and say what has verified it if anything did."""


class TinyCodeAgent:
    """A model that works on tasks by writing Python, which can call `tools`: functions of this process.

    `model` is a name such as `anthropic:claude-sonnet-5`, or an object; `base_url` is where a server of one's own is.
    The code runs at `trust_level`, the strongest of this machine if it is left out, within `limits`: `steps` answers,
    `timeout_s` for each step. `imports` and `extra_imports` are as for `PythonExecutor`. `timeout_s` bounds a task.
    `memory` keeps what was stored and observed from task to task. `say` is told what happens.
    """

    def __init__(
        self,
        tools: Sequence[Callable[..., Any]],
        model: Model | str,
        *,
        base_url: str = "",
        trust_level: TrustLevel | str | None = None,
        limits: ExecutionLimits | None = None,
        imports: Collection[str] | None = None,
        extra_imports: Collection[str] = (),
        instructions: str = "",
        timeout_s: float = 600.0,
        memory: AgentMemory | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.memory = memory or AgentMemory()
        self._tools = {_name(tool): tool for tool in tools}
        self._model = live_model(ModelSetup(name=model, base_url=base_url), {}) if isinstance(model, str) else model
        self._limits = limits or ExecutionLimits()
        self._open = partial(PythonExecutor, trust_level, imports=imports, extra_imports=extra_imports)
        self._instructions = instructions
        self._timeout_s = timeout_s
        self._say = say

    def run(self, task: str, *, max_steps: int | None = None) -> Any:
        """The answer to a task; raises `ExecutionTimeout`, or `MilepostError` where there is none."""
        done = self.result(task, max_steps=max_steps)
        match done.state:
            case "completed":
                return done.answer
            case "timed_out":
                raise ExecutionTimeout(done.error, "give it more time: timeout_s", timeout_s=self._timeout_s)
            case "step_limit_reached":
                raise MilepostError(done.error, "allow more: max_steps, or limits with more steps")
            case "failed":
                raise MilepostError(done.error, "result() returns what there is instead of raising")

    def result(self, task: str, *, max_steps: int | None = None) -> TinyRun:
        """How a task went, however it ended."""
        most = max_steps or self._limits.steps
        asker = Asker(self._model, patience_s=PATIENCE_S, clock=time.monotonic, stops=Unstopped(), say=self._say)
        place, left = Assignment(run="tiny", task="1", title=task, text="", attempt=1), Time(self._timeout_s)
        with self._open(limits=replace(self._limits, steps=most)) as executor:
            functions = self._functions()
            for name, function in functions.items():
                executor.inject(name, function)
            prompt = self._prompt(task, executor)
            talk = CodeConversation(place, prompt, asker, left, WINDOW_TOKENS)
            printed: list[str] = []
            try:
                return self._go_on(talk, executor, left, most, printed)
            except AttemptOver as end:
                state: Literal["timed_out", "failed"] = "timed_out" if end.status == "timed_out" else "failed"
                return TinyRun(state=state, output="".join(printed), error=end.said, usage=talk.usage)

    def _go_on(
        self, talk: CodeConversation, executor: PythonExecutor, left: Time, most: int, printed: list[str]
    ) -> TinyRun:
        for number in range(1, most + 1):
            block = talk.ask(self.memory.to_context())
            if isinstance(block, NoBlock):
                self._say(f"the model's answer cannot be used: {block.why}")
                talk.remind(block.why)
                continue
            if block.words:
                self._say(block.words)
            started = time.monotonic()
            ran = executor.run(block.code, timeout_s=left.left_s())
            left.spend(time.monotonic() - started)
            printed.append(ran.output)
            if ran.termination == "not_started" and not ran.error:
                raise AttemptOver("gave_up", "the code cannot be run")
            if ran.is_final:
                return TinyRun(
                    state="completed",
                    answer=ran.final_value,
                    verified_by=ran.verified_by,
                    output="".join(printed),
                    steps=number,
                    usage=talk.usage,
                )
            step = Step(
                output=ran.output, error=ran.error or "", ended=ran.termination not in ("exited", "not_started")
            )
            talk.tell(report(step, number, block.code, self._tools, limit=self._limits.output_bytes))
        why = f"no final answer after {most} steps"
        return TinyRun(state="step_limit_reached", output="".join(printed), steps=most, error=why, usage=talk.usage)

    def _functions(self) -> dict[str, Callable[..., Any]]:
        """What the code can call: the tools, the scratchpad and the signals."""
        memory, context = self.memory, copy_context()  # code calls from another thread: its signals belong to us

        def signal(kind: Literal["uncertain", "explore", "commit"], text: str) -> None:
            context.run(memory.signalled, kind, text)

        pad: dict[str, Callable[..., Any]] = {
            name: getattr(memory, name) for name in ("store", "recall", "observe", "fail")
        }
        return {**pad, **{kind: partial(signal, kind) for kind in _SIGNALS}, **self._tools}

    def _prompt(self, task: str, executor: PythonExecutor) -> str:
        notes = [getattr(HostFunctions, name) for name in ("store", "recall", "observe", "fail", *_SIGNALS)]
        functions = listed([*self._tools.values(), *notes, final_answer])
        whole = f"{task}\n\n{self._instructions}".strip()
        return filled("own_tools", task=whole, functions=functions, held=executor.held_in_words)


def _name(tool: Callable[..., Any]) -> str:
    """The name under which code calls a tool; raises for what code cannot call."""
    name = getattr(tool, "__name__", "")
    if not name.isidentifier():
        raise Misuse(f"{tool!r} has no name that code could call", "give a function that was made with def")
    if name in _OURS:
        raise Misuse(f"a tool cannot be called {name!r}: that function is there already", "rename it")
    if inspect.iscoroutinefunction(tool):
        raise Misuse(f"the tool {name!r} is asynchronous", "wrap it: def tool(...): return asyncio.run(...)")
    return name
