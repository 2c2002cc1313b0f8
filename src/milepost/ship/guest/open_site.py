"""Serves a folder on loopback and opens its page: in a browser, or else by fetching what it loads. Runs in the sandbox.

Arguments: the folder, and a browser or nothing. The last line says what was opened; it ends with 1 where something that
the page loads is not there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

LOADED = re.compile(
    r"<(?:script|img|source|iframe)\b[^<>]*?\ssrc\s*=\s*[\"']([^\"'<>]+)|<link\b([^<>]*)>", re.IGNORECASE
)
HREF = re.compile(r"\shref\s*=\s*[\"']([^\"'<>]+)", re.IGNORECASE)
BROWSER_S = 60
missing: set[str] = set()
asked: set[str] = set()


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def send_response(self, code: int, message: str | None = None) -> None:
        path = self.path.partition("?")[0]
        asked.add(path)
        if code >= 400 and path != "/favicon.ico":
            missing.add(path)
        super().send_response(code, message)


def fetched(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 (only of this server)
            return str(answer.read(), "utf-8", "replace")
    except urllib.error.HTTPError:
        return ""


def fetch_all(top: str) -> None:
    page = fetched(top)
    for found in LOADED.finditer(page):
        address = found[1]
        if not address and "stylesheet" in found[2].lower():
            href = HREF.search(found[2])
            address = href[1] if href else ""
        place = urllib.parse.urljoin(top, address) if address else ""
        if place.startswith(top):
            fetched(place)


def opened_in(browser: str, top: str) -> bool:
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        argv = [browser, *options, f"--user-data-dir={profile}", "--dump-dom", top]
        try:
            done = subprocess.run(argv, capture_output=True, timeout=BROWSER_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0 and b"<html" in done.stdout.lower() and "/" in asked


def main() -> None:
    folder, browser = sys.argv[1:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    top = f"http://127.0.0.1:{server.server_address[1]}/"
    said = f"page opened in {browser}" if browser and opened_in(browser, top) else "page served and fetched, no browser"
    fetch_all(top)
    server.shutdown()
    if missing:
        sys.exit("not there: " + ", ".join(sorted(missing)[:5]))
    sys.stdout.write(f"{said}\n")


main()
