"""The application: a family of routes a module. Who may ask is decided before it is asked."""

from __future__ import annotations

from starlette.applications import Starlette

from milepost.web import asking, opening, pages, stream, values
from milepost.web.opening import Entrance
from milepost.web.site import Site


def application(site: Site, entrance: Entrance) -> Starlette:
    """All that the page asks for; an error is one line and what to do about it."""
    return Starlette(
        routes=[
            *pages.routes(),
            *opening.routes(entrance),
            *stream.routes(site),
            *values.routes(site),
            *asking.routes(site),
        ],
    )
