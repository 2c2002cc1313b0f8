"""The stream of a run's events, as server-sent events."""

from __future__ import annotations

from starlette.routing import BaseRoute

from milepost.web.site import Site


def routes(site: Site) -> list[BaseRoute]:
    """`/api/runs`, `/api/stream`, `/api/lines` and `/api/summary`."""
    return []
