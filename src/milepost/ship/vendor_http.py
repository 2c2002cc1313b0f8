"""Sends one request, and follows nobody: a redirected token would be a token given away."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from milepost.core.errors import TargetRefused
from milepost.core.shipping import VendorRequest

# An answer that is longer is none of a vendor's.
LONGEST_ANSWER = 32_000_000
_WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came back. A status of 0: nothing, and `content` says why."""

    status: int
    content: bytes
    retry_after_s: float | None = None


def send(request: VendorRequest, token: str, content: bytes | None, addresses: Mapping[str, str]) -> Heard:
    """Send a request once. `addresses` says where else an origin is; every other one is asked by TLS alone."""
    asked = urlsplit(request.url)
    at = urlsplit(addresses.get(f"{asked.scheme}://{asked.netloc}", request.url))
    if asked.scheme != "https":
        raise TargetRefused(f"{asked.netloc!r} was named without https, and is not asked", "")
    if "\r" in token or "\n" in token:
        raise TargetRefused(f"the variable {request.token_from} has more than one line", "it should hold a token alone")
    path = asked.path + (f"?{asked.query}" if asked.query else "")
    headers = {"User-Agent": "milepost", "Accept": "application/json", **dict(request.headers)}
    if content is not None:
        headers["Content-Type"] = "application/json"
    if token:
        headers["Authorization"] = f"{request.token_scheme} {token}"
    timeout_s = min(request.timeout_s, _WAIT_S)
    connection = (
        http.client.HTTPConnection(at.hostname or "", at.port, timeout=timeout_s)
        if at.scheme == "http"
        else http.client.HTTPSConnection(
            at.hostname or "", at.port, timeout=timeout_s, context=ssl.create_default_context()
        )
    )
    try:
        if request.body is not None:
            headers |= {"Content-Length": str(request.body.stat().st_size)}
            headers.setdefault("Content-Type", "application/octet-stream")
            with request.body.open("rb") as file:
                connection.request(request.method, path or "/", body=file, headers=headers)
        else:
            connection.request(request.method, path or "/", body=content, headers=headers)
        response = connection.getresponse()
        said = response.read(LONGEST_ANSWER)
        return Heard(status=response.status, content=said, retry_after_s=_seconds(response.getheader("Retry-After")))
    except (OSError, http.client.HTTPException) as error:
        return Heard(status=0, content=(str(error) or type(error).__name__).encode())
    finally:
        connection.close()


def _seconds(stated: str | None) -> float | None:
    """What `Retry-After` says in seconds; a date, which nobody here sends, is passed over."""
    with suppress(ValueError):
        return max(0.0, float(stated)) if stated else None
    return None
