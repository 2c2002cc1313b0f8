"""What the settings say of the network holds for agents and for checks, and what was refused is written down."""

from __future__ import annotations

import json
import socket
from contextlib import closing

from tests import places
from tests.e2e.conftest import Sandbox

# Notes whether the agent gets to a port of the machine.
CALLER = """
import pathlib, socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20).close()
    said = "reached"
except OSError:
    said = "refused"
pathlib.Path("said.txt").write_text(said + "\\n")
"""


def test_an_agent_reaches_what_the_settings_name_and_the_rest_is_in_the_audit(sandbox: Sandbox) -> None:
    caller = sandbox.home / "caller.py"
    caller.write_text(CALLER)
    with closing(socket.create_server(("127.0.0.1", 0), backlog=8)) as server:
        port = server.getsockname()[1]
        agent = f"command:python3 {caller} {port}"
        sandbox.roadmap("- [ ] T1 Call\n  - Files: said.txt\n  - Verify: grep refused said.txt\n")
        first = sandbox.milepost("run", "--agent", agent, "--trust", "isolated", "--json")
        assert first.code == 0, first
        audit = [json.loads(line) for line in (places.state(sandbox.repo) / "audit.jsonl").read_text().splitlines()]
        assert [row["refused"] for row in audit if "refused" in row] == [[f"connect 127.0.0.1:{port}"]]

        sandbox.write("milepost.toml", f'[agents.command]\nnetwork = ["127.0.0.1:{port}"]\n')
        sandbox.roadmap("- [ ] T2 Call again\n  - Files: said.txt\n  - Verify: grep reached said.txt\n")
        second = sandbox.milepost("run", "--agent", agent, "--trust", "isolated", "--json")
        assert second.code == 0, second
