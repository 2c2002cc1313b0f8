"""What is shown in frames, on other names than the page's: the report of a run, and the app that the project builds.

It changes nothing. Who knows the unguessable part of an address may read what is there: frames bring no cookie.
"""

from __future__ import annotations

import hmac
import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

import milepost
from milepost.serving.read_request import only
from milepost.serving.threads import aside
from milepost.web.built_app import App, opened
from milepost.web.response_headers import app_policy, report_policy, under_policy

_CHUNK: Final = 256 * 1024
_NOT_FOUND: Final = "There is nothing here.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The addresses of previews: the port, and what nobody can guess of the report's and of the app's."""

    port: int
    report: str = field(repr=False)
    app: str = field(repr=False)

    @staticmethod
    def of(port: int, secret: str) -> Names:
        """Those of a port: the same after a restart, since an open page may show no others."""
        report, app = (hmac.digest(secret.encode(), what, "sha256").hex()[:32] for what in (b"report", b"app"))
        return Names(port=port, report=report, app=app)

    @property
    def report_url(self) -> str:
        """The address below which the report is."""
        return f"http://{self.report_host}/{self.report}"

    @property
    def app_url(self) -> str:
        """The address of the app: a name of its own, since built pages name their files from the root."""
        return f"http://{self.app_host}/"

    @property
    def report_host(self) -> str:
        return f"localhost:{self.port}"

    @property
    def app_host(self) -> str:
        return f"{self.app}.localhost:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Previews:
    """What is shown: the report of a run by its id, and the app; in frames of the page at this origin alone."""

    report: Callable[[str], str]
    app: App
    page: str


def previews(names: Names, shown: Previews) -> ASGIApp:
    """The application of the other names."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            return
        host = (only(scope["headers"], b"host") or "").lower()
        policy = app_policy(shown.page) if host == names.app_host else report_policy(shown.page)
        response = await _response(Request(scope), host, names, shown)
        await response(scope, receive, under_policy(send, policy, ""))

    return answer


async def _response(request: Request, host: str, names: Names, shown: Previews) -> Response:
    path = request.scope["path"]
    if host not in (names.report_host, names.app_host):
        return PlainTextResponse("This server has another name.\n", 421)
    if request.method not in ("GET", "HEAD"):
        return PlainTextResponse("Only GET is supported here.\n", 405)
    if host == names.app_host:
        return await aside(partial(_file, shown.app.folder(), path))
    if path != f"/{names.report}/report":
        return PlainTextResponse(_NOT_FOUND, 404)
    try:
        return HTMLResponse(await aside(partial(shown.report, request.query_params.get("run", ""))))
    except milepost.MilepostError as error:
        return PlainTextResponse(f"{error.message}\n{error.advice}\n", 404)


def _file(folder: Path | None, path: str) -> Response:
    """A file of the app; a path without an ending is one that the app knows by itself, on its first page."""
    if folder is None:
        return PlainTextResponse("Nothing was built yet.\n", 404)
    parts = tuple(part for part in path.split("/") if part)
    named = "." in parts[-1] if parts else False
    wanted = (parts,) if named else ((*parts, "index.html"), ("index.html",))
    file = next(filter(None, (opened(folder, each) for each in wanted)), None)
    if file is None:
        return PlainTextResponse(_NOT_FOUND, 404)
    kind = mimetypes.guess_type(parts[-1])[0] if named else "text/html"
    return _OpenedFile(file, kind or "application/octet-stream")


class _OpenedFile(StreamingResponse):
    """A file that is closed when it was answered, also where nobody waited for the answer."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        super().__init__(_chunks(file), media_type=kind)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
