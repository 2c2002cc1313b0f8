"""The target that asks a server for the tools over MCP: what it answers is never a mistake of its own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from milepost.mcp.profiles import build
from tests.fuzz.run import Target
from tests.mcp.serving import MILEPOST_MCP, memory_kb, started
from tests.mcp.wire import META

ROADMAP = "# Roadmap\n\n- [ ] **1.1** Say hello\n  - Verify: true\n- [x] **1.2** Done\n"
MOST_GROWTH_KB = 400_000
_WORDS = (
    *("1.1", "1.2", "latest", "../../etc/passwd", "/", "..", "\0", "7f3a", "a" * 5000, "*", "%00", "{{", "-1", "0"),
    *("main", "HEAD", "milepost/7f3a", "' OR 1=1 --", "\ud800", "\u202e", "~", "", "refs/heads/main", ":(top)", "-x"),
)

words = st.one_of(st.sampled_from(_WORDS), st.text(max_size=20))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), words),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=8,
)


@contextmanager
def _project() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "ROADMAP.md").write_text(ROADMAP)
        subprocess.run(["git", "init", "--quiet"], cwd=place, check=True)
        subprocess.run(["git", "add", "--all"], cwd=place, check=True)
        owner = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *owner, "commit", "--quiet", "--message", "a"], cwd=place, check=True)
        yield place


@contextmanager
def mcp() -> Iterator[Target]:
    """Requests to a server in a process of its own: it answers each, and the plan afterwards."""
    with _project() as folder, started((*MILEPOST_MCP, "--profile", "full"), folder, dict(os.environ)) as process:
        tools = {tool.name: tool.parameters for tool in build("full", folder)._tool_manager.list_tools()}
        asked = _Asked(process)
        began_kb = memory_kb(process.pid)

        def check(request: tuple[str, Any]) -> None:
            method, params = request
            asked.put(method, params)
            if asked.number % 50 == 0:
                answer = asked.put("tools/call", {"name": "plan", "arguments": {}})
                assert answer["result"]["structuredContent"]["open"] == 1, answer
                assert memory_kb(process.pid) - began_kb < MOST_GROWTH_KB, "the server grows"

        yield Target(inputs=_requests(tools), check=check)


class _Asked:
    """A conversation with a server, one request at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.number = 0

    def put(self, method: str, params: Any) -> dict[str, Any]:
        """The answer to a request; an internal error of the server is a finding."""
        self.number += 1
        given = {**params, "_meta": META} if isinstance(params, dict) and "_meta" not in params else params
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": given}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode("utf-8", "replace") + b"\n")
        self._process.stdin.flush()
        while line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self.number:
                assert answer.get("error", {}).get("code") != -32603, answer
                return answer
            if answer.get("id") is None and "error" in answer:
                return answer
        raise AssertionError(f"the server ended with {self._process.wait()}")


def _requests(tools: dict[str, Any]) -> st.SearchStrategy[tuple[str, Any]]:
    named = st.sampled_from(sorted(set(tools) - {"execute_agent_code"}))
    call = named.flatmap(lambda name: st.tuples(st.just("tools/call"), _call(name, tools[name])))
    uris = st.builds(
        "milepost://{}/{}{}".format,
        st.sampled_from(["roadmap", "runs", "proofs", "lessons", "x"]),
        words,
        st.sampled_from(["", "/events", "/events?after=1", "?after=x"]),
    )
    read = st.builds(lambda uri: ("resources/read", {"uri": uri}), uris)
    prompt = st.builds(lambda name, task: ("prompts/get", {"name": name, "arguments": {"task": task}}), words, words)
    methods = st.sampled_from(["tools/list", "resources/list", "prompts/list", "ping", "logging/setLevel", "x", ""])
    return st.one_of(call, call, read, prompt, st.tuples(methods, values))


def _call(name: str, schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    known = {key: st.one_of(words, values) for key in schema.get("properties", {})}
    arguments = st.fixed_dictionaries({}, optional=known)
    return st.builds(lambda given, more: {"name": name, "arguments": {**given, **more}}, arguments, _little)


_little = st.one_of(st.just({}), st.dictionaries(words, values, max_size=1))
