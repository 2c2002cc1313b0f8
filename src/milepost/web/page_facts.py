"""What the routes of the page need to know: whose roadmap it is, its stream of events, where previews are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from milepost import events
from milepost.core.errors import RunUnknown
from milepost.web.built_app import App


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """One served page. `database` is the server that runs are submitted to, None for what the settings say.

    `run` is the run that the page opens with, None for the newest. `preview` is the address on the other name, below
    which the report is shown; empty where there is none. `app` is what the project builds.
    """

    roadmap: Path
    stream: events.EventStream
    database: str | None = field(default=None, repr=False)
    run: str | None = None
    preview: str = ""
    app: App | None = None


def run_named(site: PageFacts, given: str) -> str:
    """The run that a question is about: the one it names, else the site's own, else the newest; empty without any."""
    runs = site.stream.runs()
    wanted = (given or site.run or "").lower()
    if not wanted:
        return runs[0].run if runs else ""
    if any(glance.run == wanted for glance in runs):
        return wanted
    known = ", ".join(glance.run for glance in runs[:5])
    raise RunUnknown(f"there is no run {wanted[:40]!r} here", f"the newest are: {known}" if known else "milepost run")


def glance_json(glance: events.RunGlance) -> dict[str, Any]:
    """A run in a few facts, for the page."""
    return asdict(glance)
