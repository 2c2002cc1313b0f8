"""Who may come in over HTTP: the right host, the right origin, the right token, and no slow body."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from milepost.serving.read_request import Headers, Timed, only

BODY_S: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What a request must name to be let in: one of the hosts, no origin but ours, the token if there is one."""

    hosts: frozenset[str]
    origins: frozenset[str]
    token: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRefused:
    """Why a request is not let in; `challenge` is what its client is to come back with."""

    status: int
    reason: str
    challenge: str | None = None


def refusal(headers: Headers, wanted: Admission) -> AdmissionRefused | None:
    """Why a request with these headers is not let in, or None; a header that is there twice is never right."""
    host, origin = only(headers, b"host"), only(headers, b"origin")
    if host is None or host.lower() not in wanted.hosts:
        return AdmissionRefused(status=421, reason="this server has another name")
    if origin is not None and origin.lower() not in wanted.origins:
        return AdmissionRefused(status=403, reason="no page of another origin may talk to this server")
    return None if wanted.token is None else _without_token(only(headers, b"authorization"), wanted.token)


def _without_token(authorization: str | None, token: str) -> AdmissionRefused | None:
    scheme, _, given = (authorization or "").partition(" ")
    if scheme.lower() != "bearer":
        return AdmissionRefused(status=401, reason="a bearer token is needed", challenge='Bearer realm="milepost"')
    if hmac.compare_digest(given.strip().encode(), token.encode()):
        return None
    wrong = 'Bearer realm="milepost", error="invalid_token"'
    return AdmissionRefused(status=401, reason="this is not the token of this server", challenge=wrong)


class Door:
    """Refuses before a byte of the body is read; what it lets in must bring its body in time."""

    def __init__(self, app: ASGIApp, wanted: Admission) -> None:
        self._app, self._wanted = app, wanted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = refusal(scope["headers"], self._wanted)
        if refused is not None:
            await _refuse(refused, send)
            return
        await self._app(scope, Timed(receive, BODY_S), send)


async def _refuse(refused: AdmissionRefused, send: Send) -> None:
    body = json.dumps({"error": refused.reason}).encode()
    headers = [
        (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close"),
    ]  # fmt: skip
    if refused.challenge:
        headers.append((b"www-authenticate", refused.challenge.encode()))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
