"""How an agent is let work."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from milepost.agents.code_agent.agent import CodeAgent
from milepost.agents.models.model import Answer, Conversation
from milepost.agents.tool_agent.agent import ToolAgent
from milepost.core.attempt import Assignment, Workspace
from milepost.core.calls import Usage
from milepost.core.ports import Tools
from milepost.engine.attempt.act import PRICELESS, _let_act


class Priceless:
    """A model that must not be asked: nobody knows what that costs."""

    name = "priceless"
    price_known = False

    def most(self, conversation: Conversation) -> Usage:
        return Usage()

    def answer(self, conversation: Conversation) -> Answer:
        raise AssertionError("it was asked")


@pytest.mark.parametrize("kind", [ToolAgent, CodeAgent])
@pytest.mark.parametrize(("max_usd", "bounded_usd"), [(1.0, False), (None, True)])
def test_an_agent_with_any_bound_in_money_is_not_let_work_where_its_price_is_not_known(
    kind: type[ToolAgent] | type[CodeAgent], max_usd: float | None, bounded_usd: bool, tmp_path: Path
) -> None:
    agent = kind(Priceless(), max_usd=max_usd)
    outfitter = SimpleNamespace(terminal_for=lambda workspace, terminal: nullcontext(terminal))
    here: Any = SimpleNamespace(examiner=SimpleNamespace(outfitter=outfitter), agent=lambda name: agent)
    effort: Any = SimpleNamespace(agent="ours")
    no_terminal: Any = None

    outcome = _let_act(
        here,
        effort,
        Assignment(run="r1", task="1.1", title="Write notes", text="", attempt=1),
        Workspace(folder=tmp_path, scratch=tmp_path / "scratch", base="0" * 40),
        Tools(terminal=no_terminal, say=lambda _: None, timeout_s=60),
        bounded_usd=bounded_usd,
    )

    assert (outcome.status, outcome.said) == ("gave_up", PRICELESS)
