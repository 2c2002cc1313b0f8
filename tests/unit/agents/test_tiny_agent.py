"""An agent of one's own tools at trust level `local`: only the model's mind is a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from milepost import AgentMemory, ExecutionLimits, ExecutionTimeout, MilepostError, Misuse, TinyCodeAgent
from milepost.agents.code_agent.agent_memory import collect_signals
from milepost.agents.models.faults import Fault
from milepost.agents.models.model import Answer, Conversation, Prompt
from milepost.core.attempt import Signal
from milepost.core.calls import Usage

pytest.importorskip("pydantic_monty", reason="trust level 'local' needs pydantic-monty")

PRICES = {"tea": 3, "milk": 2}


def price_of(item: str) -> int:
    """The price of an item."""
    return PRICES[item]


class Scripted:
    """Says one piece of code after the other."""

    name, price_known = "scripted", True

    def __init__(self, *pieces: str | Exception) -> None:
        self._pieces = list(pieces)
        self.told: list[str] = []

    def most(self, conversation: Conversation) -> Usage:
        return Usage()

    def answer(self, conversation: Conversation) -> Answer:
        last = conversation.messages[-1]
        assert isinstance(last, Prompt)
        self.told.append(last.text)
        piece = self._pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return Answer(text=piece if "```" in piece else f"I go on.\n```python\n{piece}\n```")


def agent(*pieces: str | Exception, tools: tuple[Callable[..., Any], ...] = (price_of,), **more: Any) -> TinyCodeAgent:
    return TinyCodeAgent(tools, Scripted(*pieces), trust_level="local", **more)


def test_its_code_calls_the_tools_and_its_answer_is_the_value() -> None:
    model = Scripted(
        "total = price_of('tea')\nprint(total)", "final_answer(total + price_of('milk'), verified_by='sum')"
    )
    done = TinyCodeAgent([price_of], model, trust_level="local").result("What do tea and milk cost?")
    assert (done.state, done.answer, done.verified_by, done.steps, done.output) == ("completed", 5, "sum", 2, "3\n")
    assert "What do tea and milk cost?" in model.told[0]
    assert "`price_of(item: str) -> int`: The price of an item." in model.told[0]
    assert "3" in model.told[1]


def test_an_error_of_a_tool_comes_back_with_its_signature_and_the_agent_goes_on() -> None:
    model = Scripted("price_of('gold')", "final_answer('unknown')")
    assert TinyCodeAgent([price_of], model, trust_level="local").run("The price of gold?") == "unknown"
    assert "KeyError" in model.told[1] and "price_of(item: str) -> int" in model.told[1]


def test_a_second_task_knows_the_memory_and_not_the_answer_of_the_first() -> None:
    model = Scripted("store('rate', 2)\nobserve('rates are daily')\nfinal_answer(1)", "final_answer(recall('rate'))")
    tiny = TinyCodeAgent([price_of], model, trust_level="local")
    assert (tiny.run("first"), tiny.run("second")) == (1, 2)
    assert "rates are daily" in model.told[1]
    tiny.memory.clear()
    assert tiny.memory.to_context() == ""


def test_signals_of_its_code_reach_the_collector() -> None:
    heard: list[Signal] = []
    with collect_signals(heard.append):
        agent("uncertain('two prices')\ncommit('the lower one')\nfinal_answer(1)").run("task")
    assert [(one.kind, one.text) for one in heard] == [("uncertain", "two prices"), ("commit", "the lower one")]


@pytest.mark.parametrize(
    ("imports", "code", "answer"),
    [
        ({}, "import math\nfinal_answer(math.floor(1.5))", 1),
        ({"imports": ()}, "import math", None),
        ({"imports": ("json",)}, "import json\nfinal_answer(json.dumps([1]))", "[1]"),
        ({}, "import sys", None),
        ({"extra_imports": ("sys",)}, "import sys\nfinal_answer(1)", 1),
    ],
)
def test_what_it_may_import_is_widened_and_narrowed(imports: dict[str, Any], code: str, answer: object) -> None:
    tiny = agent(code, "final_answer(None)", **imports)
    assert tiny.run("task") == answer


def test_steps_and_time_have_bounds_that_are_told_apart() -> None:
    with pytest.raises(MilepostError, match="no final answer after 2 steps"):
        agent("1", "2", "3", limits=ExecutionLimits(steps=2)).run("task")
    with pytest.raises(MilepostError, match="no final answer after 1 steps"):
        agent("1", "2", limits=ExecutionLimits(steps=2)).run("task", max_steps=1)
    with pytest.raises(ExecutionTimeout) as late:
        agent(TimeoutError(), timeout_s=9.0).run("task")
    assert late.value.timeout_s == 9.0 and isinstance(late.value, TimeoutError)
    refused = agent(Fault("rejected", "HTTP 401")).result("task")
    assert (refused.state, refused.error) == ("failed", "HTTP 401")


def test_a_step_that_runs_too_long_ends_its_session_and_the_model_is_told() -> None:
    model = Scripted("while True:\n    pass", "final_answer('stopped')")
    tiny = TinyCodeAgent([price_of], model, trust_level="local", limits=ExecutionLimits(timeout_s=0.2))
    assert tiny.run("task") == "stopped"
    assert "ran longer than 0.2 s" in model.told[1]


def test_what_code_could_not_call_is_refused_when_it_is_given() -> None:
    async def later() -> None: ...

    def recall() -> None: ...

    for tool, why in ((later, "asynchronous"), (recall, "is there already"), (lambda: 1, "has no name")):
        with pytest.raises(Misuse, match=why):
            agent("1", tools=(tool,))


def test_a_memory_by_itself_stores_recalls_and_shows() -> None:
    memory = AgentMemory()
    memory.store("total", 5)
    memory.observe("prices are gross")
    memory.fail("guessing", "was wrong")
    assert (memory.recall("total"), memory.recall("nothing"), memory.recall("nothing", 0)) == (5, None, 0)
    assert (memory.variables, memory.observations) == ({"total": 5}, ("prices are gross",))
    assert memory.failed_approaches == ("guessing: was wrong",)
    assert all(said in memory.to_context() for said in ("total = 5", "prices are gross", "guessing: was wrong"))
    assert set(memory.to_namespace()) == {"total", "store", "recall", "observe", "fail"}
