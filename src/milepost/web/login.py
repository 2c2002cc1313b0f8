"""The way in: a key in an address is given for a cookie, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from milepost.web.access import AGAIN, Admission, has_cookie
from milepost.web.login_keys import TOKEN_S, Keys

# A redirect would not do: after a click on another site a strict cookie is not sent along with one.
_OPENED: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<link rel="icon" href="/static/icon.svg"><title>Milepost</title></html>'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """What lets a page in: the keys, the token that it must bring from then on, whether that goes over https alone."""

    keys: Keys
    wanted: Admission
    token: Callable[[], str]
    secure: bool
    on_opened: Callable[[], None]


def routes(entrance: Entrance) -> list[BaseRoute]:
    """`/open`, where the printed address leads."""

    async def opening(request: Request) -> Response:
        return _opened(entrance, request)

    return [Route("/open", opening)]


def _opened(entrance: Entrance, request: Request) -> Response:
    """Let a page in that has a good key or was let in before; one that only looks ahead uses no key up."""
    if request.method != "GET" or "prefetch" in request.headers.get("sec-purpose", ""):
        return PlainTextResponse("", 503)
    known = has_cookie(request.scope["headers"], entrance.wanted)
    if not known and not entrance.keys.use(request.query_params.get("key", "")):
        return PlainTextResponse(f"This address was used before, or is too old: {AGAIN}.\n", 401)
    response = HTMLResponse(_OPENED)
    response.set_cookie(
        entrance.wanted.cookie,
        entrance.token(),
        max_age=TOKEN_S,
        path="/",
        secure=entrance.secure,
        httponly=True,
        samesite="strict",
    )
    entrance.on_opened()
    return response
