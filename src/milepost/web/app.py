"""The application: a family of routes a module, behind nothing; who may ask is decided before it is asked."""

from __future__ import annotations

from starlette.applications import Starlette

from milepost.web import pages, stream
from milepost.web.site import Site


def application(site: Site) -> Starlette:
    """All that the page asks for."""
    return Starlette(routes=[*pages.routes(site), *stream.routes(site)])
