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

LARGEST_BODY, ANSWER_S = 1_000_000, 2.0
_DAY_S = 86_400.0
_STATUS = re.compile(rb"HTTP/1\.\d (\d{3})\b")
_PARTS = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    body: bytes
    expires_at: float | None = None


class HttpProbe:
    """Measures `up@NAME`, `ms@NAME`, `status@NAME`, and for https `tls_days@NAME`."""

    def __init__(
        self,
        name: str,
        url: str,
        *,
        expected: str = "",
        timeout_s: float = ANSWER_S,
        trusted: ssl.SSLContext | None = None,
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
        said, known = bytearray(), None
        while known is None and len(said) < LARGEST_BODY and (more := await reader.read(65_536)):
            said += more
            known = _whole(bytes(said))
        status, body = known or _parsed(bytes(said))
        certificate = writer.get_extra_info("peercert") or {}
        until = certificate.get("notAfter")
        return Answer(status=status, body=body, expires_at=ssl.cert_time_to_seconds(until) if until else None)
    finally:
        writer.close()


def _whole(said: bytes) -> tuple[int, bytes] | None:
    """Status and body of an answer that tells its length, once all of it is there: what most do, and the least work."""
    head, gap, body = said.partition(b"\r\n\r\n")
    status, length = _STATUS.match(head), _LENGTH.search(head + b"\r\n")
    if not gap or status is None or status[1].startswith(b"1") or _PARTS.search(head):
        return None
    if length is None or len(body) < int(length[1]):
        return None
    return int(status[1]), body[: int(length[1])]


def _parsed(said: bytes) -> tuple[int, bytes]:
    """Status and body of any answer that has ended, or is as long as is read."""
    response = http.client.HTTPResponse(_Said(said), method="GET")  # type: ignore[arg-type]
    response.begin()
    try:
        return response.status, response.read(LARGEST_BODY)
    except http.client.IncompleteRead as part:
        if len(said) < LARGEST_BODY:
            raise
        return response.status, part.partial


class _Said:
    """What was received, in the place of a socket."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._content)
