"""Whoever reaches the database gets no more of a worker's machine than its own settings give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.core.commands import TrustLevel
from milepost.core.errors import AgentUnknown, SettingInvalid
from milepost.engine.agents.factory import AgentFactory
from milepost.engine.project.settings.run import RunSettings
from milepost.engine.project.settings.sandbox import SandboxSettings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.settings.verify import VerifySettings
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.workers.own_limits import refuse_excess
from tests.unit.engine.run.test_next_step import ORDER

READING = "command:cp /home/worker/.ssh/id taken"


def order(sandbox: dict[str, Any] | None = None, checks: dict[str, Any] | None = None, **other: Any) -> RunSpec:
    plain = SandboxSettings(**(sandbox or {})).model_dump(mode="json")
    return replace(ORDER, sandbox=plain, checks=VerifySettings(**(checks or {})).model_dump(mode="json"), **other)


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        (order({"readable": ["/home/worker/.ssh"]}), "sandbox.readable"),
        (order({"network": "open"}), "sandbox.network"),
        (order({"container": "docker", "image": "mine"}), "sandbox.container, sandbox.image"),
        (order({"secrets": {"TOKEN": {"programs": ["curl"]}}}), "sandbox.secrets.TOKEN.programs"),
        (order(checks={"python": "/home/worker/bin/deploy"}), "verify.python"),
        (order(checks={"hidden": "/home/worker/.ssh"}), "verify.hidden"),
        (order(agent=READING), f"agent {READING!r}"),
    ],
)
def test_a_run_that_wants_more_than_a_worker_gives_is_refused(wanted: RunSpec, key: str) -> None:
    with pytest.raises(SettingInvalid) as refused:
        refuse_excess(wanted, Settings())
    assert key in refused.value.message


def test_what_the_worker_gives_itself_a_run_may_have() -> None:
    own = Settings(run=RunSettings(agent=READING), sandbox=SandboxSettings(network=["a.example"], readable=["/opt/x"]))
    refuse_excess(order({"network": ["a.example"], "readable": ["/opt/x"]}, agent=READING), own)
    refuse_excess(order({"network": "none"}), Settings())
    with pytest.raises(SettingInvalid):
        refuse_excess(order({"network": ["a.example", "b.example"]}), own)


def test_a_worker_that_wants_the_strongest_walls_takes_no_run_with_weaker_ones() -> None:
    own = Settings(run=RunSettings(trust=TrustLevel.SANDBOXED))
    refuse_excess(order(trust="sandboxed"), own)
    with pytest.raises(SettingInvalid, match="trust level isolated"):
        refuse_excess(order(trust="isolated"), own)


def test_an_agent_that_a_roadmap_names_reads_no_path_of_a_worker() -> None:
    settings = Settings()
    staff = AgentFactory(settings=settings, folder=Path("/"), given={}, outside=settings.named_agents)
    with pytest.raises(AgentUnknown, match="names paths outside the repository"):
        staff.agent(READING)
