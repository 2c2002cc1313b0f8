"""A connection to one MCP server: the protocol's own library, in a thread that has an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import wait
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from milepost.agents.tool_agent.mcp.sandboxed_server import walled_transport
from milepost.agents.tool_agent.mcp.server import McpServer
from milepost.core.ports import Stops, Terminal

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import Transport, TransportStreams
    from mcp_types import CallToolResult

T = TypeVar("T")

LOOK_S = 0.2  # how soon a stop is noticed while the server works
LONGEST_REASON = 500
MOST_PAGES = 20
_CLOSING_S = 15.0


class ServerFailed(Exception):
    """Says why an MCP server did not do what it was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A tool as its server describes it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a server says that came of a call."""

    text: str
    failed: bool


class Connection:
    """Speaks with one server, which is started for it; every method raises ServerFailed."""

    def __init__(
        self, server: McpServer, *, terminal: Terminal, folder: Path, home: Path, timeout_s: float, stops: Stops
    ) -> None:
        self._server = server
        self._stops = stops
        self._ended = ""
        self._loop = asyncio.new_event_loop()
        self._leave = asyncio.Event()
        self._came_of_opening: Client | BaseException | None = None
        self._opened = asyncio.Event()
        self._transport = _transport(server, terminal, folder, home, timeout_s, self._note_end)
        self._thread = threading.Thread(target=self._live, name=f"MCP server {server.name}", daemon=True)
        self._thread.start()

    def tools(self) -> tuple[Listed, ...]:
        """All its tools."""
        start_s = self._server.start_s
        return self._wait_for(_listed, start_s=start_s, timeout_s=start_s)

    def call(self, tool: str, arguments: Mapping[str, Any], *, timeout_s: float) -> Answered:
        """What came of a tool's use."""
        start_s, within_s = min(timeout_s, self._server.start_s), min(timeout_s, self._server.timeout_s)
        return self._wait_for(lambda client: _called(client, tool, arguments), start_s=start_s, timeout_s=within_s)

    def close(self) -> None:
        """End the connection and the program; returns when both are gone."""
        self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join(_CLOSING_S)

    def _wait_for(self, ask: Callable[[Client], Coroutine[Any, Any, T]], *, start_s: float, timeout_s: float) -> T:
        async def asked() -> T:
            client = await self._wait_for_client(start_s)
            async with asyncio.timeout(timeout_s):
                return await ask(client)

        answer = asyncio.run_coroutine_threadsafe(asked(), self._loop)
        try:
            while not wait((answer,), LOOK_S).done:
                self._stops.check()
        finally:
            answer.cancel()
        try:
            return answer.result()
        except TimeoutError:
            raise ServerFailed(self._reason(f"it did not answer within {timeout_s:g} s")) from None
        except Exception as error:
            raise ServerFailed(self._reason(_words(error))) from error

    def _reason(self, what: str) -> str:
        return f"the MCP server {self._server.name!r} failed: {self._ended or what}"

    def _note_end(self, how: str) -> None:
        self._ended = how

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._session())
        finally:
            self._loop.close()

    async def _wait_for_client(self, start_s: float) -> Client:
        try:
            async with asyncio.timeout(start_s):
                await self._opened.wait()
        except TimeoutError:
            raise ServerFailed(f"it was not ready within {start_s:g} s") from None
        assert self._came_of_opening is not None
        if isinstance(self._came_of_opening, BaseException):
            raise self._came_of_opening
        return self._came_of_opening

    async def _session(self) -> None:
        """Open the connection and keep it until it is to be left; one that is not open by then is cut off."""
        speaking = asyncio.ensure_future(self._speak())
        await self._leave.wait()
        if not self._opened.is_set():
            speaking.cancel()
        await asyncio.wait((speaking,))

    async def _speak(self) -> None:
        from mcp import Client
        from mcp_types import Implementation

        try:
            about = Implementation(name="milepost", version=version("milepost"))
            async with Client(self._transport, client_info=about) as client:
                self._open_with(client)
                await self._leave.wait()
        except BaseException as error:
            self._open_with(error)

    def _open_with(self, what: Client | BaseException) -> None:
        """Let go on who waits for the connection; what comes after the first is nobody's any more."""
        if self._came_of_opening is None:
            self._came_of_opening = what
            self._opened.set()


def _transport(
    server: McpServer,
    terminal: Terminal,
    folder: Path,
    home: Path,
    timeout_s: float,
    on_end: Callable[[str], None],
) -> Transport:
    if server.command:
        return walled_transport(terminal, server, folder=folder, home=home, timeout_s=timeout_s, on_end=on_end)
    return _web_transport(server)


@asynccontextmanager
async def _web_transport(server: McpServer) -> AsyncIterator[TransportStreams]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(server.timeout_s)
    async with (
        httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout) as web,
        streamable_http_client(server.url, http_client=web) as streams,
    ):
        yield streams


async def _listed(client: Client) -> tuple[Listed, ...]:
    found: list[Listed] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [
            Listed(name=tool.name, description=tool.description or "", parameters=tool.input_schema)
            for tool in page.tools
        ]
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(found)


async def _called(client: Client, tool: str, arguments: Mapping[str, Any]) -> Answered:
    result = await client.call_tool(tool, dict(arguments))
    return Answered(text=_text(result), failed=bool(result.is_error))


def _text(result: CallToolResult) -> str:
    """What a result says; what is no text is named."""
    parts = []
    for part in result.content:
        match part.type:
            case "text":
                parts.append(part.text)
            case "resource" if (text := getattr(part.resource, "text", None)) is not None:
                parts.append(f"{part.resource.uri}:\n{text}")
            case "resource_link":
                parts.append(f"[a link to {part.uri}]")
            case kind:
                parts.append(f"[{kind}, which cannot be shown]")
    return "\n".join(parts) or "nothing was said"


def _words(error: BaseException) -> str:
    """What an error says, of several together the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split())[:LONGEST_REASON] or type(error).__name__
