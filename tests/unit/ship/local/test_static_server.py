"""Which file a request of a static site stands for."""

import re
import socket
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from milepost.ship.local.static_server import file_of, make_server


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "docs").mkdir(parents=True)
    for name in ("index.html", "about.html", "docs/index.html", "app-0a1b2c3d4e.js", "app-0a1b2c3d4e.js.gz"):
        (folder / name).write_text(name)
    (tmp_path / "secret").write_text("secret")
    (folder / "way-out").symlink_to(tmp_path / "secret")
    return folder


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "index.html"),
        ("/docs", "docs/index.html"),
        ("/docs/?x=1", "docs/index.html"),
        ("/about", "about.html"),
        ("/%61bout.html", "about.html"),
        ("/../secret", None),
        ("/%2e%2e/secret", None),
        ("//etc/passwd", None),
        ("/way-out", None),
        ("/none", None),
    ],
)
def test_a_path_stands_for_a_file_of_the_folder_or_for_none(site: Path, path: str, name: str | None) -> None:
    assert file_of(site, path) == (site.resolve() / name if name else None)


def test_a_file_is_sent_compressed_and_kept_for_good_by_its_digest(site: Path) -> None:
    server = make_server(site, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        asked = urllib.request.Request(f"{address}/app-0a1b2c3d4e.js", headers={"Accept-Encoding": "br, gzip;q=0.5"})
        with urllib.request.urlopen(asked) as answer:
            assert answer.headers["Content-Encoding"] == "gzip"
            assert "immutable" in answer.headers["Cache-Control"]
            assert answer.read() == b"app-0a1b2c3d4e.js.gz"
        with urllib.request.urlopen(f"{address}/") as answer:
            assert answer.headers["Cache-Control"] == "no-cache"
            assert answer.read() == b"index.html"
        with pytest.raises(urllib.error.HTTPError, match="404") as missing:
            urllib.request.urlopen(f"{address}/none%00")
        missing.value.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_its_log_has_each_request_of_a_user_with_its_time_and_our_own_looks_only_where_they_fail(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = make_server(site, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        for path, agent in (("/", "milepost"), ("/none", "milepost"), ("/about", "a browser")):
            asked = urllib.request.Request(
                f"http://127.0.0.1:{server.server_address[1]}{path}", headers={"User-Agent": agent}
            )
            with suppress(urllib.error.HTTPError), urllib.request.urlopen(asked) as answer:
                answer.read()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" ")[2] for line in lines] == ["GET /none 404", "GET /about 200"]
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in lines)


def test_a_request_that_cannot_be_read_is_answered_and_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = make_server(site, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=30) as asked:
            asked.sendall(b"no request at all\r\n\r\n")
            assert b" 400 " in asked.recv(1000)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert "Traceback" not in capsys.readouterr().err
