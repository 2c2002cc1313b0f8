"""Asks an address as a user would: whether it answers, how fast, with what, and how long its certificate is good."""

from __future__ import annotations

import asyncio
import http.client
import io
import re
import ssl
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from milepost.core.shipping import Measurement

LARGEST_BODY = 1_000_000
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    body: bytes
    expires_at: float | None = None


class HttpProbe:
    """Measures `up@NAME`, `ms@NAME`, `status@NAME`, and for https `tls_days@NAME`."""

    def __init__(
        self, name: str, url: str, *, expected: str = "", timeout_s: float = 2.0, trusted: ssl.SSLContext | None = None
    ) -> None:
        """`expected`: a regular expression that the body has to contain."""
        self._name, self._url, self._timeout_s = name, url, timeout_s
        self._expected = re.compile(expected.encode())
        self._trusted = trusted

    async def sample(self) -> tuple[Measurement, ...]:
        at, started = time.time(), time.monotonic()
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await ask(self._url, self._trusted)
        except (OSError, TimeoutError, EOFError, ValueError, http.client.HTTPException):
            answer = None
        found: dict[str, float | None] = {"up": 0.0, "ms": None, "status": None}
        if answer is not None:
            well = answer.status < 400 and self._expected.search(answer.body) is not None
            ms = (time.monotonic() - started) * 1000
            found = {"up": float(well), "ms": ms, "status": float(answer.status)}
            if answer.expires_at is not None:
                found["tls_days"] = (answer.expires_at - at) / _DAY_S
        return tuple(Measurement(metric=f"{key}@{self._name}", value=value, at=at) for key, value in found.items())


async def ask(url: str, trusted: ssl.SSLContext | None = None) -> Answer:
    """One GET on a connection of its own; raises what was in the way."""
    place = urlsplit(url)
    if place.scheme not in ("http", "https") or not place.hostname:
        raise ValueError(f"{url!r} is not an address of http or https")
    secure = place.scheme == "https"
    context = (trusted or ssl.create_default_context()) if secure else None
    port = place.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(place.hostname, port, ssl=context)
    try:
        path = (place.path or "/") + (f"?{place.query}" if place.query else "")
        head = f"GET {path} HTTP/1.1\r\nHost: {place.netloc.rpartition('@')[2]}\r\nConnection: close\r\n"
        writer.write(f"{head}User-Agent: milepost\r\nAccept: */*\r\n\r\n".encode())
        await writer.drain()
        said = bytearray()
        while len(said) < LARGEST_BODY and (more := await reader.read(65_536)):
            said += more
        response = http.client.HTTPResponse(_Said(bytes(said)), method="GET")  # type: ignore[arg-type]
        response.begin()
        try:
            body = response.read(LARGEST_BODY)
        except http.client.IncompleteRead as part:
            if len(said) < LARGEST_BODY:
                raise
            body = part.partial
        certificate = writer.get_extra_info("peercert") or {}
        until = certificate.get("notAfter")
        return Answer(status=response.status, body=body, expires_at=ssl.cert_time_to_seconds(until) if until else None)
    finally:
        writer.close()


class _Said:
    """What was received, in the place of a socket."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._content)
