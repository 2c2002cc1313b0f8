"""MCP Inspector's command line, a client that others wrote, lists and calls the tools of the product."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.installed import needed
from tests.mcp.serving import LONGEST_S, MILEPOST_MCP, ROOT, served

TOKEN = "a-token-for-this-test-alone"
TOOLS = {"query_memory", "plan", "run_start", "run_status", "run_cancel", "answer", "proof", "execute_agent_code"}

Inspector = Callable[..., dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ROADMAP.md").write_text("# Roadmap\n\n- [ ] Say hello\n")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


@pytest.fixture(params=["stdio", "http"])
def inspector(request: pytest.FixtureRequest, project: Path, tmp_path: Path) -> Iterator[Inspector]:
    """Asks the Inspector for a method of the server, over one transport or the other."""
    node = needed("mcp-suite")
    program = node.parents[2] / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

    def asked(target: list[str], *words: str) -> dict[str, Any]:
        ended = subprocess.run(
            [str(node), str(program), "--cli", *target, *words],
            env=os.environ | {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")},
            cwd=project,
            capture_output=True,
            text=True,
            timeout=3 * LONGEST_S,
        )
        assert ended.returncode == 0, ended.stderr
        return dict(json.loads(ended.stdout))

    if request.param == "stdio":
        yield lambda *words: asked([*MILEPOST_MCP, "-e", f"PYTHONPATH={ROOT / 'src'}"], *words)
        return
    with served(*MILEPOST_MCP, "--http", cwd=project, MILEPOST_MCP_TOKEN=TOKEN) as server:
        yield lambda *words: asked([server.url, "--header", f"Authorization: Bearer {TOKEN}"], *words)


def test_the_inspector_lists_and_calls_the_tools(inspector: Inspector) -> None:
    listed = inspector("--method", "tools/list", "--strict")
    called = inspector("--method", "tools/call", "--tool-name", "plan", "--tool-arg", "limit=1")

    assert {tool["name"] for tool in listed["tools"]} == TOOLS
    assert called["structuredContent"]["tasks"][0]["title"] == "Say hello"
