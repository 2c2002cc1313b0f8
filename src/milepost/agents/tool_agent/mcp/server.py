"""An MCP server as the settings name it, and the names that its tools have for a model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from milepost.core.commands import NO_NETWORK, Network
from milepost.core.errors import SettingInvalid

PREFIX = "mcp__"
LONGEST_NAME = 64  # what the strictest of the providers takes
_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_-]{0,18}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A program that is started for an attempt, or an address that is asked.

    `env` is all that a program is given beside what every command gets, `headers` what is sent to an address. Of its
    tools only `tools` are offered: absent means all, empty none. `readable` adds to what a program may read. It has
    `start_s` to start and to list its tools, and `timeout_s` for each call.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tools: tuple[str, ...] | None = None
    start_s: float = 60.0
    timeout_s: float = 60.0
    network: Network = NO_NETWORK
    readable: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or "__" in self.name:
            raise SettingInvalid(
                f"the MCP server {self.name!r} has an invalid name",
                "start with a letter; then letters, digits, and - or single _ between them, at most 20: [mcp.NAME]",
            )
        if bool(self.command) == bool(self.url):
            raise SettingInvalid(
                f"the MCP server {self.name!r} needs a command or a url, but not both",
                f'write command = ["program", "word"] or url = "https://…" under [mcp.{self.name}]',
            )
        if self.url and (urlsplit(self.url).scheme not in ("http", "https") or not urlsplit(self.url).hostname):
            raise SettingInvalid(
                f"the url {self.url!r} of the MCP server {self.name!r} is not a web address",
                "write it with http:// or https://",
            )

    def offers(self, tool: str) -> bool:
        """Whether a tool of the server may be used."""
        return self.tools is None or tool in self.tools


def name_for_model(server: str, tool: str) -> str:
    """The name of a server's tool that every provider takes: `mcp__SERVER__TOOL`, cut and marked where it must be."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    name = f"{PREFIX}{server}__{plain}"
    if plain == tool and len(name) <= LONGEST_NAME:
        return name
    mark = hashlib.sha256(tool.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{name[: LONGEST_NAME - 9]}_{mark}"
