"""A server on loopback that plays a vendor: by a script, or by functions behind a declared contract.

With a contract, a request must be one that the vendor documents: a method and a path, the fields that its body must
have and may have, and the headers that it must have. Whatever is not is answered with 400 and kept in `strange`.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One request that a vendor documents. In `path`, `{x}` stands for anything but a slash, `{x*}` for anything.

    `required` and `optional` are the fields of its body, as `a.b` and `a[].b`; what has neither takes any body.
    """

    method: str
    path: str
    required: Sequence[str] = ()
    optional: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Sequence[str] = ()

    def matches(self, asked: Asked) -> bool:
        parts = re.split(r"(\{[^}]+\})", self.path)
        pattern = "".join(
            (".+" if part.endswith("*}") else "[^/]+") if part.startswith("{") else re.escape(part) for part in parts
        )
        return asked.method == self.method and bool(re.fullmatch(pattern, asked.path))

    def complaints(self, asked: Asked) -> list[str]:
        """What of a request is not as documented."""
        queries = [part.partition("=")[0] for part in asked.query.split("&") if part]
        found = [f"query {name}" for name in queries if name not in self.query]
        for name, value in self.headers.items():
            if not re.fullmatch(value, asked.headers.get(name.lower(), "")):
                found.append(f"header {name}: {asked.headers.get(name.lower())!r}")
        if self.required or self.optional:
            given = set(_fields(asked.json))
            known = {*self.required, *self.optional}
            found += [f"field {name} is missing" for name in self.required if name not in given]
            found += [f"field {name} is unknown" for name in given if not _is_known(name, known)]
        return found


Answer = tuple[int | Literal["cut"], Any] | tuple[int | Literal["cut"], Any, Mapping[str, str]]


class VendorServer:
    """`answers` gives the answer of a request that is as documented."""

    def __init__(self, contract: Sequence[Operation] = ()) -> None:
        self.address = ""
        self.asked: list[Asked] = []
        self.strange: list[str] = []
        self.contract = contract
        self.answers: Callable[[Asked], Answer] | None = None
        self._script: list[Any] = []

    def script(self, *answers: tuple[Any, ...]) -> None:
        """The next answers: method, path, status or "cut", what is said, and headers if there are any."""
        self._script += answers

    def next(self, method: str, path: str) -> Answer | None:
        """The answer of the script, if this request is what comes next in it."""
        return self._script[0][2:] if self._script and self._script[0][:2] == (method, path) else None

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if self.contract:
            operation = next((each for each in self.contract if each.matches(asked)), None)
            amiss = operation.complaints(asked) if operation is not None else ["is not documented"]
            if amiss:
                self.strange.append(f"{asked.method} {asked.path}: {', '.join(amiss)}")
                return 400, {"message": self.strange[-1]}
        if (answer := self.next(asked.method, asked.path)) is not None:
            self._script.pop(0)
            return answer
        if self.answers is not None:
            return self.answers(asked)
        self.strange.append(f"{asked.method} {asked.path} is not in the script")
        return 400, {}


@contextmanager
def vendor_server(contract: Sequence[Operation] = ()) -> Iterator[VendorServer]:
    server = VendorServer(contract)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            address = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            cut = (server.next(self.command, address.path) or ("",))[0] == "cut"
            body = b"" if cut else self.rfile.read(length)
            status, said, *more = server.answer(
                Asked(method=self.command, path=address.path, query=address.query, headers=headers, body=body)
            )
            if status == "cut":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            content = said.encode() if isinstance(said, str) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PATCH = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.address = f"http://127.0.0.1:{listening.server_port}"
        Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            listening.shutdown()


def _fields(value: Any, prefix: str = "") -> Iterator[str]:
    match value:
        case dict():
            for name, each in value.items():
                yield f"{prefix}{name}"
                yield from _fields(each, f"{prefix}{name}.")
        case list():
            for each in value:
                yield from _fields(each, f"{prefix[:-1]}[].")


def _is_known(name: str, known: set[str]) -> bool:
    """`a.*` allows whatever is in `a`."""
    parents = [name[: at.start()] for at in re.finditer(r"\.|\[\]", name)]
    return (
        name in known
        or any(f"{parent}.*" in known for parent in parents)
        or any(each.startswith((f"{name}.", f"{name}[]")) for each in known)
    )
