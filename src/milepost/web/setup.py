"""A page and its previews put together: what is told, who is let in, and what a browser may show of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from milepost import events, reports
from milepost.serving.listen import LOOPBACK
from milepost.web.access import Admission, Guard
from milepost.web.app import application
from milepost.web.built_app import App, app_named
from milepost.web.login import Entrance
from milepost.web.login_keys import Keys, Secret
from milepost.web.page_facts import PageFacts
from milepost.web.preview import Names, Previews, previews
from milepost.web.response_headers import page_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class WebWish:
    """What is asked of a page; a port of None is the usual one or the next that is free, 0 any that is free.

    `url` is the address that a tunnel gives it, `app` the folder or the address of what the project builds.
    """

    roadmap: Path | None = None
    database: str | None = field(default=None, repr=False)
    run: str | None = None
    host: str = LOOPBACK
    port: int | None = None
    preview_port: int | None = None
    url: str | None = None
    app: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What a page is made of; `origins` are the page's own, that of this machine first."""

    site: PageFacts
    names: Names | None
    origins: tuple[str, ...]
    secret: Secret = field(repr=False)

    @property
    def port(self) -> int:
        return urlsplit(self.origins[0]).port or 80

    def page(self, keys: Keys, on_opened: Callable[[], None]) -> ASGIApp:
        """The page's server, guarded."""
        wanted = Admission(
            hosts=frozenset(urlsplit(origin).netloc for origin in self.origins),
            origins=frozenset(self.origins),
            cookie=f"milepost_{self.port}",
            signed=self.secret.signed,
        )
        secure = self.origins[-1].startswith("https:")
        entrance = Entrance(keys=keys, wanted=wanted, token=self.secret.token, secure=secure, on_opened=on_opened)
        return Guard(application(self.site, entrance), wanted, page_policy(self._frames()))

    def previews(self) -> ASGIApp | None:
        """The previews' server; None where they have no name."""
        if self.names is None or self.site.app is None:
            return None
        shown = Previews(report=partial(_report, self.site), app=self.site.app, page=self.origins[0])
        return previews(self.names, shown)

    def _frames(self) -> tuple[str, ...]:
        if self.names is None or self.site.app is None:
            return ()
        addresses = (self.site.preview, self.site.app.url)
        return tuple(f"http://{urlsplit(address).netloc}" for address in addresses)


def site_of(wish: WebWish, roadmap: Path, stream: events.EventStream, names: Names | None) -> PageFacts:
    """What the page's routes need to know."""
    app: App | None = app_named(wish.app, roadmap.parent, names.app_url) if names else None
    return PageFacts(
        roadmap=roadmap,
        stream=stream,
        database=wish.database,
        run=wish.run,
        preview=names.report_url if names else "",
        app=app,
    )


def _report(site: PageFacts, run: str) -> str:
    """The report of a run as a page of its own; the one that the site begins with unless another is named."""
    return reports.to_html(reports.of_run(site.roadmap, run=run or site.run, database=site.database))
