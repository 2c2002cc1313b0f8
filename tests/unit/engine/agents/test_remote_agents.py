"""Names of agents that work on other machines: refused here only when they can be nobody's."""

from __future__ import annotations

import pytest

from milepost.core.errors import AgentUnknown
from milepost.engine.agents.remote_agents import AtWorkers, require_name

NOBODYS = (
    "bogus",
    "acp:",
    "acp:claude",
    "claude:x",
    "command:",
    "command:'x",
    "command:''",
    "pattern:none",
    "replay: ",
    "tool:x",
    "object:Mine",
)


@pytest.mark.parametrize("name", NOBODYS)
def test_a_name_that_means_no_agent_anywhere_is_refused(name: str) -> None:
    with pytest.raises(AgentUnknown):
        AtWorkers()[name]


@pytest.mark.parametrize(
    "name",
    ["tool", "code", "claude", "acp:mine", "command:only-there --fast", "command:./not/here", "replay:not-here.json"],
)
def test_what_only_a_worker_can_know_is_not_asked_here(name: str) -> None:
    require_name(name)
    assert name in AtWorkers()
