"""The page itself: the shell and the files that it loads."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

STATIC: Final = Path(__file__).parent / "static"


def routes() -> list[BaseRoute]:
    """The shell at `/`, its files below `/static`."""
    return [Route("/", _shell), Mount("/static", StaticFiles(directory=STATIC, check_dir=False))]


async def _shell(_: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers={"cache-control": "no-store"})
