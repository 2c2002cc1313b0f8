"""The application: a family of routes a module. Who may ask is decided before it is asked."""

from __future__ import annotations

from starlette.applications import Starlette

from milepost.web import action_routes, login, pages, read_routes, stream_routes
from milepost.web.login import Entrance
from milepost.web.page_facts import PageFacts


def application(site: PageFacts, entrance: Entrance) -> Starlette:
    """All that the page asks for; an error is one line and what to do about it."""
    app = Starlette(
        routes=[
            *pages.routes(),
            *login.routes(entrance),
            *stream_routes.routes(site),
            *read_routes.routes(site),
            *action_routes.routes(site),
        ],
    )
    app.router.redirect_slashes = False  # to redirect, it would read the query as text, which not every query is
    return app
