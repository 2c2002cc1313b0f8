"""Serve the fixtures until SIGINT or SIGTERM; the first line printed is the address."""

from __future__ import annotations

import asyncio
import sys

from milepost.mcp.http import Address
from tests.mcp.conformance_server import serve_conformance


def _show(address: Address) -> None:
    sys.stdout.write(f"{address.url}\n")
    sys.stdout.flush()


asyncio.run(serve_conformance(on_ready=_show))
