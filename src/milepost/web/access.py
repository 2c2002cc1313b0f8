"""Who may ask the page's server: by the right name, from the page itself, with its cookie; and what the page may do.

It is the outermost layer: what it refuses is not read any further.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from milepost.serving.read_request import Headers, Timed, only
from milepost.web.response_headers import under_policy

BODY_BYTES: Final = 64 * 1024
BODY_S: Final = 20.0
AGAIN: Final = "run `milepost web` again and open the address that it prints"

_READING: Final = ("GET", "HEAD")
_SHELL: Final = ("/", "/open")
_LONGEST_LENGTH: Final = 20  # Python reads no number without end


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What a request must name to be let in: one of the hosts, no origin but ours, the cookie with a token."""

    hosts: frozenset[str]
    origins: frozenset[str]
    cookie: str
    signed: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """A request, as far as it matters to who may ask."""

    method: str
    path: str
    headers: Headers


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRefused:
    """Why a request is not let in, and what to do about it."""

    status: int
    error: str
    advice: str = ""


_ANOTHER_NAME = RequestRefused(status=421, error="this server has another name", advice=AGAIN)
_ANOTHER_SITE = RequestRefused(status=403, error="pages of other sites may not use this server")
_NO_SOCKET = RequestRefused(status=400, error="this server speaks only HTTP")
_NO_METHOD = RequestRefused(status=405, error="only GET and POST are supported here")
_NO_COOKIE = RequestRefused(status=401, error="this page has no access", advice=AGAIN)
_NOT_THE_PAGE = RequestRefused(status=403, error="a change must come from the page itself")
_NO_JSON = RequestRefused(status=415, error="a change must be sent as JSON")
_TOO_LARGE = RequestRefused(status=413, error=f"a request has at most {BODY_BYTES} bytes")
_TOO_SLOW = RequestRefused(status=408, error="the rest of the request did not arrive")


def refusal(asked: PageRequest, wanted: Admission) -> RequestRefused | None:
    """Why a request is not let in, or None."""
    host, origin = only(asked.headers, b"host"), only(asked.headers, b"origin")
    if host is None or host.lower() not in wanted.hosts:
        return _ANOTHER_NAME
    if (origin is not None and origin not in wanted.origins) or not _from_here(asked):
        return _ANOTHER_SITE
    if "websocket" in (only(asked.headers, b"upgrade") or "").lower():
        return _NO_SOCKET
    if asked.method not in (*_READING, "POST"):
        return _NO_METHOD
    if asked.method in _READING and (asked.path in _SHELL or asked.path.startswith("/static/")):
        return None
    if not has_cookie(asked.headers, wanted):
        return _NO_COOKIE
    return None if asked.method in _READING else _unlike_the_page(asked.headers, origin)


def has_cookie(headers: Headers, wanted: Admission) -> bool:
    """Whether a request brings the cookie with a good token; another port of this host may have set one, too."""
    cookies = "; ".join(value.decode("latin-1") for key, value in headers if key.lower() == b"cookie")
    pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
    given = [value for name, _, value in pairs if name == wanted.cookie]
    return any(wanted.signed(value) for value in given)


def _from_here(asked: PageRequest) -> bool:
    """Whether the page or a person asks; links from anywhere may open the shell, which holds nothing."""
    site = only(asked.headers, b"sec-fetch-site")
    if site in (None, "same-origin", "none"):
        return True
    as_a_page = only(asked.headers, b"sec-fetch-dest") == "document" and only(asked.headers, b"origin") is None
    return as_a_page and asked.method == "GET" and asked.path in _SHELL


def _unlike_the_page(headers: Headers, origin: str | None) -> RequestRefused | None:
    """Why a change does not come from the page itself: forms of other sites can send none of this."""
    if origin is None or only(headers, b"x-milepost") != "1":
        return _NOT_THE_PAGE
    kind = (only(headers, b"content-type") or "").partition(";")[0].strip().lower()
    length = only(headers, b"content-length") or "0"
    if kind != "application/json":
        return _NO_JSON
    return None if length.isdecimal() and len(length) < _LONGEST_LENGTH and int(length) <= BODY_BYTES else _TOO_LARGE


class Guard:
    """Refuses before a byte of the body is read; what it lets in has a body that is there, whole and not large."""

    def __init__(self, app: ASGIApp, wanted: Admission, policy: dict[str, str]) -> None:
        self._app, self._wanted, self._policy = app, wanted, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            await self._answer(scope, receive, under_policy(send, self._policy, scope["path"]))
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = PageRequest(method=scope["method"], path=scope["path"], headers=scope["headers"])
        refused = refusal(asked, self._wanted)
        if refused is None and asked.method == "POST":
            body = await whole_body(receive)
            if isinstance(body, RequestRefused):
                refused = body
            else:
                receive = _replayed(body, receive)
        if refused is not None:
            await refuse(refused, send)
        else:
            await self._app(scope, receive, self._while_let_in(asked, send))

    def _while_let_in(self, asked: PageRequest, send: Send) -> Send:
        """An answer that goes on for long ends once its token is void; the client counts as gone then."""
        ended = False

        async def sending(message: Message) -> None:
            nonlocal ended
            if ended:
                return
            ended = message.get("more_body", False) and refusal(asked, self._wanted) is not None
            await send({"type": "http.response.body", "body": b""} if ended else message)

        return sending


async def whole_body(receive: Receive) -> bytes | RequestRefused:
    """The body of a request, unless it is too large or does not come in time."""
    body, timed = bytearray(), Timed(receive, BODY_S)
    while (message := await timed())["type"] == "http.request":
        body += message.get("body", b"")
        if len(body) > BODY_BYTES:
            return _TOO_LARGE
        if not message.get("more_body", False):
            return bytes(body)
    return _TOO_SLOW


def _replayed(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return messages.pop() if messages else await receive()

    return receiving


async def refuse(refused: RequestRefused, send: Send) -> None:
    """Say why in JSON, and close the connection: nothing more is read from it."""
    body = json.dumps({"error": refused.error, "advice": refused.advice}).encode()
    headers = [
        (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close"),
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
