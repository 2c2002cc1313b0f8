"""A libSQL server (sqld, Turso) over HTTP: each call is one request of the protocol hrana 2, so no session can be lost.

On the standard library's HTTP client: one small request at a time needs no more, nothing further has to be installed,
and its sockets can be cut off when an answer takes too long.
"""

from __future__ import annotations

import base64
import http.client
import ipaddress
import json
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from milepost.core.errors import DatabaseAway, DatabaseRefuses, SettingInvalid, ValueRefused
from milepost.core.secrets.shapes import MASK
from milepost.store.connection_timeout import PATIENCE, Patience, within
from milepost.store.dialect import SQLITE, kept, statements
from milepost.store.rows import Row, Statement

SCHEMES = ("libsql", "http", "https")
LARGEST_ANSWER = 32_000_000  # bytes
LONGEST_COMPLAINT = 300  # signs of what a server says
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
TOO_LONG = ("ARGS_INVALID", "SQLITE_TOOBIG", "RESPONSE_TOO_LARGE")
WRONG = "libsql://host, https://host or http://host:port, without a name, a password or a token in it"

# What a connection that was kept open meets when the server has ended it meanwhile.
_ENDED = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a libSQL server listens."""

    host: str
    port: int
    path: str
    encrypted: bool

    def __str__(self) -> str:
        return f"{'https' if self.encrypted else 'http'}://{self.host}:{self.port}"


class LibsqlServer:
    """Runs statements on a server; used by one thread at a time. No connection is made before the first call."""

    def __init__(self, place: str, token: str = "", patience: Patience = PATIENCE) -> None:
        self._address = address_of(place, with_token=bool(token))
        if not token.isascii() or any(sign.isspace() or not sign.isprintable() for sign in token):
            raise SettingInvalid(
                "the token of the database contains invalid characters", "one word, without line breaks"
            )
        self._token = token
        self._patience = patience
        self._connection: http.client.HTTPConnection | None = None

    def script(self, sql: str) -> None:
        """Run the statements of a schema; harmless when repeated."""
        self.apply([(statement, ()) for statement in statements(sql, SQLITE)])

    def apply(self, wanted: Sequence[Statement]) -> None:
        """Run statements that count as one: all of them, or none."""
        result = self._ask({"type": "batch", "batch": {"steps": steps_of(wanted)}})
        results, errors = _listed(result, "step_results"), _listed(result, "step_errors")
        committed = len(wanted) + 1
        if len(results) <= committed or results[committed] is None:
            raise self._refusal(next((error for error in errors if error), None))

    def read(self, sql: str, *values: object) -> list[Row]:
        result = self._ask({"type": "execute", "stmt": statement_of(sql, values)})
        try:
            return [tuple(map(_value, row)) for row in _listed(result, "rows")]
        except (KeyError, TypeError, ValueError) as error:
            raise self._misread() from error

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps({"baton": None, "requests": [request, {"type": "close"}]}, ensure_ascii=False).encode()
        status, answer = self._post(body)
        if status != http.client.OK:
            raise self._unwilling(status, answer)
        try:
            first = json.loads(answer)["results"][0]
            if first["type"] == "ok":
                result: dict[str, Any] = first["response"]["result"]
                return result
            error = first["error"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as broken:
            raise self._misread() from broken
        raise self._refusal(error)

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """Send a request and get the answer; once more where the connection that was kept had ended meanwhile."""
        was_kept = self._connection is not None
        try:
            return self._exchange(body)
        except _ENDED as error:
            self.close()
            if not was_kept:
                raise self._away(error) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._away(error) from error
        return self._post(body)

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        connection = self._connected()
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        with within(self._patience.answer_s, connection.sock.fileno()):
            connection.request("POST", f"{self._address.path}/v2/pipeline", body, headers)
            response = connection.getresponse()
            answer = response.read(LARGEST_ANSWER + 1)
        if len(answer) > LARGEST_ANSWER:
            self.close()
            raise ValueRefused(f"{self._address} answers with more than {LARGEST_ANSWER:,} bytes", "ask for less")
        if response.length:
            raise http.client.IncompleteRead(answer[:0], response.length)
        if response.will_close:
            self.close()
        return response.status, answer

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            at, wait_s = self._address, self._patience.connect_s
            connection = (
                http.client.HTTPSConnection(at.host, at.port, timeout=wait_s, context=ssl.create_default_context())
                if at.encrypted
                else http.client.HTTPConnection(at.host, at.port, timeout=wait_s)
            )
            connection.connect()
            connection.sock.settimeout(None)  # what bounds an answer is `within`, and nothing beside it
            self._connection = connection
        return self._connection

    def _away(self, error: Exception) -> DatabaseAway:
        said = self._fit(str(error) or type(error).__name__)
        return DatabaseAway(f"{self._address} does not answer: {said}", "make sure that it runs and can be reached")

    def _unwilling(self, status: int, answer: bytes) -> DatabaseAway | DatabaseRefuses:
        said = self._fit(answer.decode("utf-8", "replace"))
        if status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
            return DatabaseRefuses(f"{self._address} refuses access ({status}): {said}", "check its token")
        if status == http.client.REQUEST_ENTITY_TOO_LARGE:
            return ValueRefused(f"{self._address} does not accept so much at once ({status})", "")
        if status >= http.client.INTERNAL_SERVER_ERROR or status == http.client.TOO_MANY_REQUESTS:
            return DatabaseAway(f"{self._address} cannot answer now ({status}): {said}", "check its log")
        return DatabaseRefuses(
            f"{self._address} answers {status}: {said}", "make sure that it is the address of a libSQL server"
        )

    def _refusal(self, error: Any) -> DatabaseAway | DatabaseRefuses:
        told = error if isinstance(error, dict) else {}
        code, said = str(told.get("code", "")), self._fit(str(told.get("message", "it gives no reason")))
        if code.startswith(BUSY):
            return DatabaseAway(f"{self._address} is busy: {said}", "")
        if code in TOO_LONG:
            return ValueRefused(f"{self._address} has no room for a value: {said}", "")
        return DatabaseRefuses(f"{self._address} refuses: {said}", "check its log")

    def _misread(self) -> DatabaseRefuses:
        return DatabaseRefuses(f"{self._address} does not answer like a libSQL server", "make sure that it is one")

    def _fit(self, said: str) -> str:
        """What a server says, in one line, without the token that it may have repeated."""
        plain = said.replace(self._token, MASK) if self._token else said
        return " ".join("".join(sign if sign.isprintable() else " " for sign in plain).split())[:LONGEST_COMPLAINT]


def address_of(place: str, *, with_token: bool) -> Address:
    """The address of a server; refused where a token would be seen by whoever is on the way."""
    try:
        parts = urlsplit(place)
        port = parts.port
    except ValueError:
        raise SettingInvalid("the address of the libSQL server cannot be read", WRONG) from None
    if parts.scheme not in SCHEMES or not parts.hostname or "@" in parts.netloc or parts.query not in ("", "tls=0"):
        # Not in its own words: it may hold a secret.
        raise SettingInvalid("the address of the libSQL server cannot be read", WRONG)
    encrypted = _is_encrypted(parts)
    if with_token and not encrypted and not _is_here(parts.hostname):
        raise SettingInvalid(f"a token would go to {parts.hostname!r} without encryption", "use https:// or libsql://")
    return Address(
        host=parts.hostname,
        port=port or (443 if encrypted else 80),
        path=parts.path.rstrip("/"),
        encrypted=encrypted,
    )


def steps_of(wanted: Sequence[Statement]) -> list[dict[str, Any]]:
    """Steps that run statements as one: each only when the one before succeeded, and all taken back when one fails."""
    run = [("begin immediate", ()), *wanted, ("commit", ())]
    steps: list[dict[str, Any]] = [
        {"stmt": statement_of(sql, values)} | ({"condition": {"type": "ok", "step": number - 1}} if number else {})
        for number, (sql, values) in enumerate(run)
    ]
    failed = {"type": "not", "cond": {"type": "ok", "step": len(steps) - 1}}
    return [*steps, {"stmt": {"sql": "rollback"}, "condition": failed}]


def statement_of(sql: str, values: Sequence[object]) -> dict[str, Any]:
    return {"sql": sql, "args": [_argument(kept(value)) for value in values]}


def _argument(value: object) -> dict[str, Any]:
    match value:
        case None:
            return {"type": "null"}
        case int():
            return {"type": "integer", "value": str(value)}
        case float():
            return {"type": "float", "value": value}
        case bytes():
            return {"type": "blob", "base64": base64.b64encode(value).decode()}
        case _:
            return {"type": "text", "value": str(value)}


def _value(cell: dict[str, Any]) -> object:
    match cell["type"]:
        case "null":
            return None
        case "integer":
            return int(cell["value"])
        case "float":
            return float(cell["value"])
        case "blob":
            return base64.b64decode(cell["base64"] + "==")
        case _:
            return str(cell["value"])


def _listed(result: Any, name: str) -> list[Any]:
    found = result.get(name) if isinstance(result, dict) else None
    return found if isinstance(found, list) else []


def _is_encrypted(parts: SplitResult) -> bool:
    return parts.scheme == "https" or (parts.scheme == "libsql" and parts.query != "tls=0")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
