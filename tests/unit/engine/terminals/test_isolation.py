from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.commands import TrustLevel
from milepost.core.errors import MilepostError, SandboxRefused, SettingInvalid
from milepost.engine.project.settings.settings import Settings
from milepost.engine.terminals.isolation import Isolation, hold_for, hold_of
from milepost.sandbox.container.commands import Container, container_named
from milepost.sandbox.executors import holder_named
from tests.unit.engine.run.test_next_step import ORDER

CONTAINER = {"container": "podman", "image": "pocket:1"}


@pytest.mark.parametrize(
    ("hold", "words", "level"),
    [
        (Isolation(by=TrustLevel.SANDBOXED), "sandboxed", "sandboxed"),
        (Isolation(by=TrustLevel.ISOLATED, downgraded=True), "isolated (downgraded-from-sandboxed)", "isolated"),
        (Isolation(by=Container(program="docker", image="a/b:1")), "container (docker a/b:1)", ""),
    ],
)
def test_what_holds_is_told_in_a_few_words(hold: Isolation, words: str, level: str) -> None:
    assert (str(hold), hold.level) == (words, level)


def test_a_resumed_run_is_held_as_it_was_ordered() -> None:
    assert hold_of(replace(ORDER, downgraded=True)) == Isolation(by=TrustLevel.ISOLATED, downgraded=True)
    recorded = Settings.model_validate({"sandbox": CONTAINER}).sandbox.model_dump(mode="json")
    held = hold_of(replace(ORDER, trust="", sandbox=recorded))
    assert held == Isolation(by=Container(program="podman", image="pocket:1"))


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"sandbox": CONTAINER | {"network": ["a.org"]}}, "single hosts, as [sandbox] network requires"),
        (
            {"sandbox": CONTAINER | {"install_network": ["a.org"]}},
            "single hosts, as [sandbox] install_network requires",
        ),
        (
            {"sandbox": CONTAINER, "agents": {"command": {"network": ["a.org"]}}},
            "single hosts, as [agents.command] network requires",
        ),
        ({"sandbox": CONTAINER | {"disk_mb": 10}}, "limit the disk, as disk_mb in [sandbox] requires"),
    ],
)
def test_what_no_container_can_hold_is_refused_with_the_setting_that_asks_for_it(
    sections: dict[str, object], told: str
) -> None:
    with pytest.raises(SandboxRefused) as refused:
        hold_for(Settings.model_validate(sections))
    assert refused.value.message == f"a container cannot {told.replace('single', 'restrict the network to single')}"
    assert "container" in refused.value.advice


def test_a_container_that_cannot_be_had_is_refused_before_a_run_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SandboxRefused, match="podman is not installed"):
        hold_for(Settings.model_validate({"sandbox": CONTAINER}))


def test_a_container_stands_in_the_place_of_a_trust_level() -> None:
    with pytest.raises(SettingInvalid, match="not both"):
        hold_for(Settings.model_validate({"sandbox": CONTAINER, "run": {"trust": "isolated"}}))
    with pytest.raises(SettingInvalid, match="not both"):
        holder_named("isolated", "podman", "pocket:1")
    assert holder_named(None, "podman", "pocket:1") == Container(program="podman", image="pocket:1")
    assert holder_named("isolated", None, None) is TrustLevel.ISOLATED


@pytest.mark.parametrize(
    ("program", "image", "told"),
    [("podman", "", "need an image"), ("", "pocket:1", "needs a container program"), ("lxc", "pocket:1", "'lxc'")],
)
def test_a_container_takes_a_program_and_an_image(program: str, image: str, told: str) -> None:
    with pytest.raises(MilepostError, match=told):
        container_named(program, image)
    assert container_named("", "") is None
