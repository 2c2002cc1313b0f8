"""Serve the fixtures by hand: python -m milepost.mcp.conformance --port 8765."""

from __future__ import annotations

import argparse
import asyncio
import sys

from milepost.core.errors import MilepostError
from milepost.mcp.conformance import HELP, serve_conformance
from milepost.mcp.http import Address


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m milepost.mcp.conformance", description=HELP)
    words.add_argument("--port", type=int, default=0, help="0 is any that is free")
    try:
        asyncio.run(serve_conformance(port=words.parse_args().port, on_ready=_tell))
    except MilepostError as error:
        sys.stderr.write(f"{error.message}: {error.advice}\n")
        return error.exit_code
    return 0


def _tell(address: Address) -> None:
    sys.stdout.write(f"{address.url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
