"""A run that is resumed or retried has the agents that a person let it have, and no others that reach outside."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.errors import AgentUnknown, MilepostError, SettingsNotAgreed
from milepost.engine.project import consent
from milepost.engine.project.project import Project
from milepost.engine.project.settings.run import RunSettings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.run_spec import Repairs, RunSpec
from milepost.engine.run.recorded_agents import note_agents, require_agreed_order
from tests import places
from tests.environment import YES
from tests.unit.engine.run.test_next_step import ORDER

READING = "command:cp /home/somebody/.ssh/id taken"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.delenv(YES)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(consent, "_for_this_process", set())
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "ROADMAP.md").write_text("- [ ] 1.1 One\n  - Verify: test -f a.txt\n")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    commit(folder)
    places.made_state(folder)
    return Project.find(folder / "ROADMAP.md")


def commit(folder: Path) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    subprocess.run(["git", *who, "commit", "--quiet", "--message", "One"], cwd=folder, check=True)
    return head(folder)


def head(folder: Path) -> str:
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True).stdout.strip()


def recorded(project: Project, **said: object) -> RunSpec:
    return replace(ORDER, roadmap="ROADMAP.md", base=head(project.roadmap.parent), **said)  # type: ignore[arg-type]


@pytest.mark.parametrize("said", [{"agent": READING}, {"repairs": Repairs(fallback=(READING,))}])
def test_an_agent_that_only_a_record_names_is_refused(project: Project, said: dict[str, object]) -> None:
    order = recorded(project, **said)
    with pytest.raises(AgentUnknown, match="nobody agreed"):
        require_agreed_order(project, Settings(), order)
    note_agents(project, order)
    require_agreed_order(project, Settings(), order)


def test_an_agent_of_the_settings_that_were_agreed_to_goes_on(project: Project) -> None:
    require_agreed_order(project, Settings(run=RunSettings(agent=READING)), recorded(project, agent=READING))


def test_a_roadmap_that_names_an_agent_is_asked_about_again(project: Project) -> None:
    project.roadmap.write_text(f"- [ ] 1.1 One\n  - Agent: {READING}\n  - Verify: test -f a.txt\n")
    commit(project.roadmap.parent)
    with pytest.raises(MilepostError) as refused:
        require_agreed_order(project, Settings(), recorded(project))
    assert isinstance(refused.value, SettingsNotAgreed)
    assert refused.value.question.agree is not None
    refused.value.question.agree()
    require_agreed_order(project, Settings(), recorded(project))
