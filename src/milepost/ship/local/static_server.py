"""A small server of files, for a static site behind the proxy.

    python -m milepost.ship.local.static_server FOLDER PORT

It serves what lies in its folder and nothing else, the compressed file beside it where the browser takes that, and
lets browsers keep for good what has its own digest in its name.
"""

from __future__ import annotations

import re
import sys
import time
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from shutil import copyfileobj
from urllib.parse import unquote, urlsplit

USER_AGENT = "milepost"  # of whoever looks whether an instance is well
_COMPRESSED = (("br", ".br"), ("gzip", ".gz"))
_DIGEST_IN_NAME = re.compile(r"[.-][0-9A-Za-z]{8,}\.\w+$")


def file_of(folder: Path, path: str) -> Path | None:
    """The file that a path of a request stands for; None where there is none in the folder."""
    folder = folder.resolve()
    asked = (folder / unquote(urlsplit(path).path).lstrip("/")).resolve()
    for found in (asked / "index.html", asked, asked.with_name(f"{asked.name}.html")):
        if found.is_file() and found.resolve().is_relative_to(folder):
            return found
    return None


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "milepost", ""
    folder: Path

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        try:
            found, status = file_of(self.folder, self.path), HTTPStatus.OK
        except (OSError, ValueError):  # a name that no file can have
            found, status = None, HTTPStatus.NOT_FOUND
        if found is None:
            missing = self.folder / "404.html"
            found, status = (missing if missing.is_file() else None), HTTPStatus.NOT_FOUND
        if found is None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        kind, _ = guess_type(found.name)
        text = kind is not None and (kind.startswith("text/") or kind in ("application/javascript", "application/json"))
        encoding, sent = self._compressed(found)
        with sent.open("rb") as stream:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind or 'application/octet-stream'}{'; charset=utf-8' if text else ''}")
            self.send_header("Content-Length", str(sent.stat().st_size))
            self.send_header("Last-Modified", formatdate(found.stat().st_mtime, usegmt=True))
            self.send_header("Vary", "Accept-Encoding")
            forever = _DIGEST_IN_NAME.search(found.name) is not None
            self.send_header("Cache-Control", "public, max-age=31536000, immutable" if forever else "no-cache")
            if encoding:
                self.send_header("Content-Encoding", encoding)
            self.end_headers()
            if with_body:
                copyfileobj(stream, self.wfile)

    def _compressed(self, found: Path) -> tuple[str, Path]:
        taken = {word.partition(";")[0].strip() for word in self.headers.get("Accept-Encoding", "").split(",")}
        for encoding, ending in _COMPRESSED:
            beside = found.with_name(found.name + ending)
            if encoding in taken and beside.is_file() and not beside.is_symlink():
                return encoding, beside
        return "", found

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name it has there)
        status = str(args[1]) if len(args) > 1 else ""
        headers = getattr(self, "headers", None)  # a request that cannot be read has none, and no path
        is_look = headers is not None and headers.get("User-Agent") == USER_AGENT
        if is_look and status.startswith(("2", "3")):  # we look each second, and nobody wants to read that
            return
        at = time.strftime("%H:%M:%S")
        sys.stderr.write(f"{at} {self.command} {getattr(self, 'path', '')} {status}\n".replace("\x1b", "?"))


def make_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of a folder, on loopback."""
    request = type("Request", (_Request,), {"folder": folder})
    server = ThreadingHTTPServer(("127.0.0.1", port), request)
    server.daemon_threads = True
    return server


if __name__ == "__main__":
    make_server(Path(sys.argv[1]), int(sys.argv[2])).serve_forever()
