"""The server over streamable HTTP: on this machine alone unless asked otherwise, for whoever has the token."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http import EventStore
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from milepost.core.errors import SettingInvalid
from milepost.mcp.admission import Admission, Door
from milepost.serving.httpd import Httpd, ending_on_signals
from milepost.serving.listen import LOOPBACK, bound, host_names

PATH: Final = "/mcp"
BODY_BYTES: Final = 1024 * 1024
SESSIONS: Final = 1_000
SHORTEST_TOKEN: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server is reached, and the token that it asks for, if any."""

    url: str
    token: str | None


Ready = Callable[[Address], None]


def new_token() -> str:
    """A token that nobody can guess, in letters that no shell or header minds."""
    return secrets.token_urlsafe(32)


async def serve_http(
    server: MCPServer[dict[str, Any]], *, host: str = LOOPBACK, port: int = 0, token: str | None = None, on_ready: Ready
) -> None:
    """Serve until SIGINT, SIGTERM or cancellation; `on_ready` hears the address and the token, new if none is given."""
    wanted = new_token() if token is None else checked(token)
    await serve(server, host=host, port=port, token=wanted, ready=on_ready)


async def serve(
    server: MCPServer[dict[str, Any]],
    *,
    host: str = LOOPBACK,
    port: int,
    token: str | None,
    ready: Ready,
    events: EventStore | None = None,
) -> None:
    """Serve whoever has the token, or everybody on this machine if there is none to have."""
    with bound(host, port) as listening:
        names = host_names(host, listening.getsockname()[1])
        address = Address(url=f"http://{names[0]}{PATH}", token=token)
        httpd = Httpd(application(server, names, token, events), lambda: ready(address))
        serving = asyncio.ensure_future(httpd.serve(sockets=[listening]))
        try:
            with ending_on_signals(httpd.stop):
                await asyncio.shield(serving)
        except asyncio.CancelledError:
            httpd.stop()
            await serving
            raise


def application(
    server: MCPServer[dict[str, Any]], names: tuple[str, ...], token: str | None, events: EventStore | None
) -> ASGIApp:
    """The server as an app behind its door; the SDK looks at hosts and origins a second time."""
    origins = [f"http://{name}" for name in names]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_BYTES,
        max_sessions=SESSIONS,
        event_store=events,
        retry_interval=500 if events is not None else None,
        transport_security=TransportSecuritySettings(allowed_hosts=list(names), allowed_origins=origins),
    )
    return Door(app, Admission(hosts=frozenset(names), origins=frozenset(origins), token=token))


def checked(token: str) -> str:
    """The token that a person gave, if it can be sent as a header and is long enough to be one."""
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        wanted = f"use at least {SHORTEST_TOKEN} letters, digits and symbols without spaces"
        raise SettingInvalid("the token is too short or has characters that a header cannot have", f"give {wanted}")
    return token
