"""Milepost's tools as real programs have them after one line in their settings. Absent programs are skipped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the package mcp is not installed: pip install 'milepost[mcp]'")

from tests.e2e.conftest import Sandbox, make_machine
from tests.fakes.model_server import ModelServer
from tests.live.installed import needed

PROMPT = "# Task 1.1: Which tasks are open?\n"
PLANNED = '"open":1,"done":0,"tasks":[{"id":"1.1","title":"Write a"}]'
WAIT: Mapping[str, Any] = {"calls": [{"name": "WaitForMcpServers", "arguments": {}}]}
CLAUDE = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "MCP_TIMEOUT": "60000",
}
CODEX = """
model = "gpt-4.1"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
[features]
plugins = false
"""
PATIENCE = "startup_timeout_sec = 60\nrequired = true\n"  # on a machine that has much to do


@dataclass(frozen=True)
class Desk:
    """A user's machine with a program on it, and `milepost` on the path."""

    machine: Sandbox
    program: Path
    own: Mapping[str, str]

    def __call__(self, *words: str, stdin: str = "") -> str:
        """What the program prints, which must succeed."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [str(self.program), *words],
            input=stdin,
            cwd=self.machine.repo,
            env={"PATH": path, "HOME": str(self.machine.home), **self.own},
            capture_output=True,
            text=True,
            timeout=150,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def left_running(self) -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.fsencode(self.machine.home) in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Sandbox:
    if not (Path(sys.executable).parent / "milepost").exists():
        pytest.skip("the program milepost is not beside this interpreter: pip install -e .")
    made = make_machine(tmp_path)
    made.roadmap("- [ ] **1.1** Write a\n  Verify: `true`\n")
    return made


def scripted(machine: Sandbox, *answers: Mapping[str, Any]) -> ModelServer:
    return ModelServer({"tasks": {"*": [[*answers, {"text": "One."}]]}}, machine.home / "log", folder=machine.repo)


def left_in_the_end(desk: Desk) -> list[str]:
    """The processes that stay, however long one waits."""
    deadline = time.monotonic() + 60
    while desk.left_running() and time.monotonic() < deadline:
        time.sleep(0.1)
    return desk.left_running()


def test_claude_code_uses_a_tool_after_one_line(machine: Sandbox) -> None:
    use = {"calls": [{"name": "mcp__milepost__plan", "arguments": {}}]}
    with scripted(machine, *[WAIT] * 6, use) as server:
        own = {**CLAUDE, "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "a-key"}
        claude = Desk(machine, needed("claude"), own)
        claude("mcp", "add", "milepost", "--", "milepost", "mcp")
        allowed = ("--allowedTools", "mcp__milepost__plan,WaitForMcpServers")
        claude("-p", "--model", "claude-sonnet-4-5", *allowed, stdin=PROMPT)

        offered, returned = server.questions[-1].asked.tools, server.questions[-1].asked.returned
        assert len([name for name in offered if name.startswith("mcp__milepost__")]) == 8
        assert PLANNED in returned[-1], returned
        assert left_in_the_end(claude) == []


def test_codex_uses_a_tool_after_one_line(machine: Sandbox) -> None:
    with scripted(machine, {"calls": [{"name": "mcp__milepost.plan", "arguments": {}}]}) as server:
        settings = machine.home / ".codex" / "config.toml"
        settings.parent.mkdir()
        settings.write_text(CODEX.format(url=server.base_url))
        codex = Desk(machine, needed("codex"), {"OPENAI_API_KEY": "a-key"})
        codex("mcp", "add", "milepost", "--", "milepost", "mcp")
        assert '[mcp_servers.milepost]\ncommand = "milepost"\nargs = ["mcp"]\n' in settings.read_text()
        settings.write_text(settings.read_text().replace('args = ["mcp"]\n', f'args = ["mcp"]\n{PATIENCE}'))
        codex("exec", "--json", "-", stdin=PROMPT)

        returned = server.questions[-1].asked.returned
        assert PLANNED in returned[-1], returned
        assert left_in_the_end(codex) == []
