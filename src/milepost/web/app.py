"""The application: a family of routes a module. Who may ask is decided before it is asked."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import milepost
from milepost.core.errors import RunUnknown
from milepost.web import asking, opening, pages, stream, values
from milepost.web.opening import Entrance
from milepost.web.site import Site


def application(site: Site, entrance: Entrance) -> Starlette:
    """All that the page asks for; an error is one line and what to do about it."""
    return Starlette(
        routes=[
            *pages.routes(site),
            *opening.routes(entrance),
            *stream.routes(site),
            *values.routes(site),
            *asking.routes(site),
        ],
        exception_handlers={milepost.MilepostError: _complain},
    )


async def _complain(_: Request, error: Exception) -> Response:
    assert isinstance(error, milepost.MilepostError)
    status = 404 if isinstance(error, RunUnknown) else 400 if isinstance(error, milepost.Misuse) else 503
    return JSONResponse({"error": error.message, "advice": error.advice}, status)
