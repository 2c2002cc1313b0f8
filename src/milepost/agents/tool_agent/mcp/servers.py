"""The MCP servers of one attempt: listed once, started when they are needed, and gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from milepost.agents.models.as_json import digest
from milepost.agents.models.model import ToolCall, ToolSpec
from milepost.agents.prompts import filled, quoted
from milepost.agents.tool_agent.mcp.connection import Connection, Listed, ServerFailed
from milepost.agents.tool_agent.mcp.server import PREFIX, McpServer, name_for_model
from milepost.agents.tool_agent.tools.calls import Use
from milepost.core.attempt import Workspace
from milepost.core.calls import Call, Reply
from milepost.core.errors import SettingInvalid
from milepost.core.ports import Tools

MOST_TOOLS = 64  # of one server
LONGEST_DESCRIPTION = 1_000
LONGEST_PARAMETERS = 10_000
LONGEST_ANSWER = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer:
    """A tool of a server as the model knows it."""

    server: McpServer
    tool: str
    spec: ToolSpec


class Servers:
    """Lists and uses the tools of the servers. What they listed is recorded: after a crash, nothing is started for it.

    Their programs are started when the first call to them is made that was not made before.
    """

    def __init__(self, servers: tuple[McpServer, ...], workspace: Workspace, tools: Tools) -> None:
        self._servers = servers
        self._workspace = workspace
        self._tools = tools
        self._offers: dict[str, _Offer] = {}
        self._open: dict[str, Connection] = {}
        self._exit = ExitStack()

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._open.values():
            connection.close()
        self._exit.close()

    @staticmethod
    def owns(name: str) -> bool:
        """Whether a tool of this name would be a server's."""
        return name.startswith(PREFIX)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(offer.spec for offer in self._offers.values())

    def list_tools(self) -> None:
        """Find out what there is; raises ServerFailed when a server does not answer or lacks a tool that is wanted."""
        for server in self._servers:
            reply = self._tools.logbook.once(_listing(server), lambda server=server: self._listed(server))  # type: ignore[misc]
            if reply.refused:
                raise ServerFailed(f"the MCP server {server.name!r} was not asked: {reply.refused}")
            for tool in reply.body["tools"]:
                self._offer(server, **tool)

    def use(self, call: ToolCall, *, timeout_s: float) -> Use:
        """What came of a call to a server's tool; its words are fenced."""
        if call.problem:
            return Use(text=f"error: {call.problem}", failed=True)
        offer = self._offers[call.name]
        try:
            answered = self._connection(offer.server).call(offer.tool, call.arguments, timeout_s=timeout_s)
        except ServerFailed as failure:
            self._drop(offer.server)
            return Use(text=f"error: {failure}", failed=True)
        said = quoted(self._tools.redact(answered.text), limit=LONGEST_ANSWER)
        text = filled("tool_server", server=offer.server.name, text=said)
        return Use(text=f"error: the tool failed\n{text}" if answered.failed else text, failed=answered.failed)

    def _listed(self, server: McpServer) -> Reply:
        tools = [tool for tool in self._connection(server).tools() if server.offers(tool.name)]
        missing = sorted(set(server.tools or ()) - {tool.name for tool in tools})
        if missing:
            raise ServerFailed(f"the MCP server {server.name!r} has no tool {', '.join(map(repr, missing))}")
        if len(tools) > MOST_TOOLS:
            raise ServerFailed(
                f"the MCP server {server.name!r} has {len(tools)} tools, more than {MOST_TOOLS}: "
                f"name those to be used under [mcp.{server.name}] tools"
            )
        plain = [self._plain(tool) for tool in tools if self._fits(server, tool)]
        return Reply(body={"text": "\n".join(tool.name for tool in tools), "tools": plain})

    def _fits(self, server: McpServer, tool: Listed) -> bool:
        """Whether a tool can be told to a model; people are told of one that cannot."""
        fits = tool.parameters.get("type") == "object" and len(str(tool.parameters)) <= LONGEST_PARAMETERS
        if not fits:
            self._tools.say(f"the tool {tool.name!r:.100} of {server.name} is left out: its parameters are too large")
        return fits

    def _plain(self, tool: Listed) -> dict[str, Any]:
        """A tool as it is recorded; its server's words are cut to what a description may need."""
        words = " ".join(self._tools.redact(tool.description).split())[:LONGEST_DESCRIPTION]
        return {"name": tool.name, "description": words, "parameters": self._redacted(dict(tool.parameters))}

    def _redacted(self, value: Any) -> Any:
        """A value of JSON with every text in it redacted."""
        match value:
            case str():
                return self._tools.redact(value)
            case list():
                return [self._redacted(each) for each in value]
            case dict():
                return {self._tools.redact(name): self._redacted(each) for name, each in value.items()}
            case _:
                return value

    def _offer(self, server: McpServer, name: str, description: str, parameters: Mapping[str, Any]) -> None:
        known = name_for_model(server.name, name)
        told = f"A tool of the server {server.name}, which says of it: {description}"
        spec = ToolSpec(name=known, description=told, parameters=parameters)
        self._offers[known] = _Offer(server=server, tool=name, spec=spec)

    def _connection(self, server: McpServer) -> Connection:
        if server.name not in self._open:
            require_library(server)
            self._tools.say(f"starting the MCP server {server.name}")
            self._open[server.name] = Connection(
                server,
                terminal=self._tools.terminal,
                folder=self._workspace.folder,
                home=self._home(server),
                timeout_s=self._tools.timeout_s,
                stops=self._tools.stops,
            )
        return self._open[server.name]

    def _drop(self, server: McpServer) -> None:
        """End what failed: the next call begins anew."""
        if connection := self._open.pop(server.name, None):
            connection.close()

    def _home(self, server: McpServer) -> Path:
        """A home that the attempt's own commands cannot enter."""
        if self._workspace.kept is not None:
            return self._workspace.kept / f"mcp-{server.name}"
        folder = self._exit.enter_context(
            tempfile.TemporaryDirectory(prefix="milepost-mcp-", ignore_cleanup_errors=True)
        )
        return Path(folder) / server.name


def require_library(server: McpServer) -> None:
    """Raise when the library is missing that speaks with servers."""
    if find_spec("mcp") is None:
        raise SettingInvalid(
            f"the MCP server {server.name!r} needs the package mcp, which is not installed",
            "pip install 'milepost[mcp]'",
        )


def _listing(server: McpServer) -> Call:
    asked = digest(
        [server.name, list(server.command), server.url, None if server.tools is None else list(server.tools)]
    )
    return Call(
        kind="tool", name=f"{PREFIX}{server.name}", summary=f"listing the tools of {server.name}", request=asked
    )
