"""The official conformance suite passes, and a fixture that is missing is noticed though the suite would not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from milepost.mcp.server import new_server
from tests.live.installed import needed
from tests.mcp.conformance_server import INSTRUCTIONS, build_conformance
from tests.mcp.fixtures import MODES, Mode, astray
from tests.mcp.run import run
from tests.mcp.suite import LEGS, Result, scenario_of


def test_every_scenario_of_both_versions_of_the_protocol_passes(capsys: pytest.CaptureFixture[str]) -> None:
    node = needed("mcp-suite")

    code = run(node)

    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("mode", MODES)
def test_a_fixture_that_is_missing_and_one_too_many_are_told_by_name(mode: Mode) -> None:
    server = new_server(instructions=INSTRUCTIONS)
    build_conformance(server)
    assert asyncio.run(astray(server, mode)) == []

    server.remove_tool("test_simple_text")
    server.add_tool(str.upper, name="test_unheard_of")

    assert asyncio.run(astray(server, mode)) == ["tool test_simple_text", "tool test_unheard_of"]


@pytest.mark.parametrize(
    ("status", "clean"), [("SUCCESS", True), ("FAILURE", False), ("WARNING", False), ("SKIPPED", False)]
)
def test_a_scenario_is_clean_only_if_all_of_its_checks_passed(tmp_path: Path, status: str, clean: bool) -> None:
    checks = tmp_path / "server-tools-list-2026-11-17T06-19-55-066Z/checks.json"
    checks.parent.mkdir()
    checks.write_text(json.dumps([{"id": "one", "status": "SUCCESS"}, {"id": "two", "status": status}]))

    scenario = scenario_of(checks)

    assert (scenario.name, scenario.clean) == ("tools-list", clean)
    assert Result(leg=LEGS[0], scenarios=(scenario,), problems=()).clean is clean
