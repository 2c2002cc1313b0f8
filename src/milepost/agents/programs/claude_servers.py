"""The servers of tools that Claude Code is given: the repository's, and of the user's those that need no key or host.

The repository's run inside the walls like everything of the agent, and have no keys. Of the user's, one with a key or
an address is given only where the settings name it, which a person agreed to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milepost.sources.parse_documents import json_of, table

SERVERS_OF_PROJECT = ".mcp.json"
SERVERS_OF_USER = ".claude.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeServers:
    """The names of the repository's servers, the user's as their settings say them, and those that are not given."""

    projects: tuple[str, ...] = ()
    users: Mapping[str, Any] = field(default_factory=dict)
    left: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The permission to use each server's tools, as its command line takes it."""
        names = dict.fromkeys((*self.projects, *self.users))
        return tuple(f"mcp__{re.sub(r'[^a-zA-Z0-9_-]', '_', name)}" for name in names)

    @property
    def given(self) -> tuple[str, ...]:
        """What of them is given and what is not, in words."""
        names = ", ".join(dict.fromkeys((*self.projects, *self.users)))
        left = ", ".join(self.left)
        why = "have a key or an address, and servers under [agents.claude] does not name them"
        return (*([f"MCP servers: {names}"] if names else []), *([f"not given: {left} ({why})"] if left else []))


def servers_of(project: str, users: str, *, folder: Path, named: Collection[str]) -> ClaudeServers:
    """The servers by the repository's and the user's settings; `folder` is where the user works on the repository."""
    own = _users(users, folder)
    given = {name: server for name, server in own.items() if name in named or not _reaches(server)}
    return ClaudeServers(
        projects=tuple(_servers(json_of(project))), users=given, left=tuple(name for name in own if name not in given)
    )


def _users(text: str, folder: Path) -> dict[str, Mapping[str, Any]]:
    """The user's servers for everywhere, and those for this folder or one above it."""
    settings = json_of(text)
    projects = table(settings.get("projects"))
    near = next((projects[str(place)] for place in (folder, *folder.parents) if str(place) in projects), None)
    return {**_servers(settings), **_servers(table(near))}


def _servers(settings: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    servers = settings.get("mcpServers")
    named = servers.items() if isinstance(servers, dict) else ()
    return {name: server for name, server in named if name.isprintable() and isinstance(server, dict)}


def _reaches(server: Mapping[str, Any]) -> bool:
    return bool(server.get("env") or server.get("headers") or server.get("url"))
