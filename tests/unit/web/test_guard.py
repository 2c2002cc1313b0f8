"""Who may ask the page's server, what a page may do, and what opens it."""

from __future__ import annotations

import asyncio
import hmac
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

import milepost
from milepost.web import access
from milepost.web.access import BODY_BYTES, Admission, PageRequest, RequestRefused, refusal, whole_body
from milepost.web.addresses import outer_origin, page_socket
from milepost.web.built_app import app_named, opened
from milepost.web.login_keys import GOOD_FOR_S, SECRET, TOKEN_S, Keys, Secret, secret_of
from milepost.web.response_headers import app_policy, page_policy, report_policy
from tests import places

TOKEN = "t" * 43
WANTED = Admission(
    hosts=frozenset({"127.0.0.1:8780"}),
    origins=frozenset({"http://127.0.0.1:8780"}),
    cookie="milepost_8780",
    signed=lambda given: given == TOKEN,
)
Header = tuple[bytes, bytes]
HOST: Header = (b"host", b"127.0.0.1:8780")
ORIGIN: Header = (b"origin", b"http://127.0.0.1:8780")
COOKIE: Header = (b"cookie", f"theme=dark; milepost_8780={TOKEN}".encode())
MARK: Header = (b"x-milepost", b"1")
JSON: Header = (b"content-type", b"application/json")
CROSS, SAME = (b"sec-fetch-site", b"cross-site"), (b"sec-fetch-site", b"same-origin")
NAVIGATING = (b"sec-fetch-dest", b"document")
CHANGE = [HOST, ORIGIN, COOKIE, MARK, JSON]


def but(headers: list[Header], *others: Header) -> list[Header]:
    """The headers with others in the place of those of the same names; an empty value takes one away."""
    names = {name for name, _ in others}
    return [*(header for header in headers if header[0] not in names), *(header for header in others if header[1])]


READING: list[tuple[str, list[Header], int | None]] = [
    ("/", [HOST], None),
    ("/", [HOST, CROSS, NAVIGATING], None),
    ("/open", [HOST, CROSS, NAVIGATING], None),
    ("/static/main.js", [HOST, SAME], None),
    ("/api/runs", [HOST, COOKIE], None),
    ("/api/runs", [HOST, COOKIE, SAME, ORIGIN], None),
    ("/api/runs", [HOST, (b"cookie", b"milepost_8780=tossed"), COOKIE], None),
    # Another name: a page elsewhere whose name was made to stand for this machine.
    ("/", [], 421),
    ("/", [(b"host", b"evil.example:8780")], 421),
    ("/", [(b"host", b"127.0.0.1:8780.evil.example")], 421),
    ("/", [(b"host", b"127.0.0.1")], 421),
    ("/", [(b"host", b"localhost:8780")], 421),
    ("/", [(b"host", b"")], 421),
    ("/", [HOST, HOST], 421),
    ("/api/runs", [(b"host", b"127.0.0.1:8781"), COOKIE], 421),
    # Another site.
    ("/api/runs", [HOST, COOKIE, (b"origin", b"http://evil.example")], 403),
    ("/api/runs", [HOST, COOKIE, (b"origin", b"null")], 403),
    ("/api/runs", [HOST, COOKIE, (b"origin", b"")], 403),
    ("/api/runs", [HOST, COOKIE, (b"origin", b"http://127.0.0.1:8880")], 403),
    ("/api/runs", [HOST, COOKIE, (b"origin", b"https://127.0.0.1:8780")], 403),
    ("/api/runs", [HOST, COOKIE, (b"origin", b"http://localhost:8780")], 403),
    ("/api/runs", [HOST, COOKIE, ORIGIN, ORIGIN], 403),
    ("/api/runs", [HOST, COOKIE, CROSS], 403),
    ("/api/runs", [HOST, COOKIE, (b"sec-fetch-site", b"same-site")], 403),
    ("/api/runs", [HOST, COOKIE, CROSS, NAVIGATING], 403),
    ("/api/runs", [HOST, COOKIE, SAME, CROSS], 403),
    ("/static/main.js", [HOST, CROSS, (b"sec-fetch-dest", b"script")], 403),
    ("/", [HOST, CROSS, (b"sec-fetch-dest", b"iframe")], 403),
    ("/open", [HOST, CROSS, (b"sec-fetch-dest", b"image")], 403),
    # Not let in.
    ("/api/runs", [HOST], 401),
    ("/api/stream", [HOST, (b"cookie", b"milepost_8780=")], 401),
    ("/api/stream", [HOST, (b"cookie", b"milepost_8780=\xff\xfe")], 401),
    ("/api/stream", [HOST, (b"cookie", f"milepost_8781={TOKEN}".encode())], 401),
    ("/api/stream", [HOST, (b"cookie", f"xmilepost_8780={TOKEN}".encode())], 401),
    ("/anything", [HOST], 401),
    ("//static/main.js", [HOST], 401),
    ("/static", [HOST], 401),
    ("/api/stream", [HOST, COOKIE, (b"upgrade", b"WebSocket"), (b"connection", b"Upgrade")], 400),
]  # fmt: skip


@pytest.mark.parametrize(("path", "headers", "status"), READING)
def test_reading_is_for_the_page_with_its_cookie_alone(path: str, headers: list[Header], status: int | None) -> None:
    refused = refusal(PageRequest(method="GET", path=path, headers=headers), WANTED)

    assert (refused.status if refused else None) == status


CHANGING: list[tuple[list[Header], int | None]] = [
    (CHANGE, None),
    (but(CHANGE, (b"content-type", b"Application/JSON; charset=utf-8")), None),
    (but(CHANGE, (b"content-length", str(BODY_BYTES).encode())), None),
    (but(CHANGE, (b"content-length", str(BODY_BYTES + 1).encode())), 413),
    (but(CHANGE, (b"content-length", b"-1")), 413),
    (but(CHANGE, (b"content-length", b"9" * 5000)), 413),
    (but(CHANGE, (b"cookie", b"")), 401),
    (but(CHANGE, (b"origin", b"")), 403),
    (but(CHANGE, (b"origin", b"null")), 403),
    (but(CHANGE, (b"x-milepost", b"")), 403),
    (but(CHANGE, (b"x-milepost", b"1, 1")), 403),
    ([*CHANGE, MARK], 403),
    ([*CHANGE, CROSS], 403),
    (but(CHANGE, (b"content-type", b"")), 415),
    (but(CHANGE, (b"content-type", b"text/plain")), 415),
    (but(CHANGE, (b"content-type", b"application/x-www-form-urlencoded")), 415),
    (but(CHANGE, (b"content-type", b"text/plain; application/json")), 415),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "status"), CHANGING)
def test_a_change_is_for_the_page_itself_alone(headers: list[Header], status: int | None) -> None:
    refused = refusal(PageRequest(method="POST", path="/api/steer", headers=headers), WANTED)

    assert (refused.status if refused else None) == status


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", ""])
def test_nothing_but_reading_and_posting_is_known(method: str) -> None:
    refused = refusal(PageRequest(method=method, path="/", headers=CHANGE), WANTED)

    assert refused is not None and refused.status == 405


def test_a_shell_cannot_be_posted_to_without_the_cookie() -> None:
    refused = refusal(PageRequest(method="POST", path="/open", headers=but(CHANGE, (b"cookie", b""))), WANTED)

    assert refused is not None and refused.status == 401


def body_of(*pieces: bytes, ends: bool = True) -> bytes | RequestRefused:
    """What is read of a body that comes in pieces, and ends or does not."""
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    if ends:
        messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    return asyncio.run(whole_body(receive))


def test_a_body_is_read_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "BODY_S", 0.01)
    large, slow = body_of(*[b"x" * 1024] * 65), body_of(b"{", ends=False)

    assert body_of(b"{", b"}") == b"{}"
    assert isinstance(large, RequestRefused) and large.status == 413
    assert isinstance(slow, RequestRefused) and slow.status == 408


def test_a_key_opens_the_page_once_and_for_minutes() -> None:
    now = 0.0
    keys = Keys(lambda: now)
    used, old, good = keys.new(), keys.new(), keys.new()

    assert keys.use(used)
    assert not any(keys.use(given) for given in (used, "", "ä", good + "x", good[:-1]))
    now = GOOD_FOR_S - 1
    assert keys.use(good)
    now = GOOD_FOR_S + 1
    assert not keys.use(old)


@pytest.fixture
def roadmap(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    path = tmp_path / "ROADMAP.md"
    path.write_text("- [ ] Say hello\n")
    return path


def test_the_secret_of_the_cookies_outlives_a_restart_and_is_for_its_owner_alone(roadmap: Path) -> None:
    secret = secret_of(roadmap)
    path = places.state(roadmap.parent) / SECRET

    assert secret_of(roadmap) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(SECRET)] == [SECRET]


def test_what_the_state_directory_holds_is_not_enough_to_make_a_token(roadmap: Path) -> None:
    secret, kept = Secret(roadmap, lambda: 1000.0), (places.state(roadmap.parent) / SECRET).read_text()
    head = secret.token().rpartition(".")[0]
    forged = hmac.digest(kept.encode(), b"token " + head.encode(), "sha256").hex()

    assert secret.value != kept and secret.signed(secret.token())
    assert not secret.signed(f"{head}.{forged}")


def test_a_token_is_good_for_days_over_a_restart_and_no_more_once_the_secret_is_removed(roadmap: Path) -> None:
    now = 1000.0
    secret, path = Secret(roadmap, lambda: now), places.state(roadmap.parent) / SECRET
    first, second = secret.token(), secret.token()
    until, name, signature = first.split(".")

    assert first != second and path.read_text() not in first
    assert all(Secret(roadmap, lambda: now).signed(token) for token in (first, second))
    others = ["", ".", "..", "ä.b.c", f"{until}0.{name}.{signature}", f"{until}.{name}.", path.read_text()]
    assert not any(secret.signed(token) for token in others)
    now += TOKEN_S
    assert not secret.signed(first)
    now -= 1
    assert secret.signed(first)
    path.unlink()
    assert not secret.signed(first) and secret.signed(secret.token())


@pytest.mark.parametrize("what", ["readable", "short", "empty", "a link", "a pipe"])
def test_a_secret_that_others_could_know_is_made_anew(roadmap: Path, tmp_path: Path, what: str) -> None:
    known = secret_of(roadmap)
    path = places.state(roadmap.parent) / SECRET
    if what == "readable":
        path.chmod(0o644)
    elif what in ("short", "empty"):
        path.write_text("guess" if what == "short" else "")
    else:
        path.unlink()
        (tmp_path / "known").write_text(known)
        (tmp_path / "known").chmod(0o600)
        path.symlink_to(tmp_path / "known") if what == "a link" else os.mkfifo(path, 0o600)

    secret = secret_of(roadmap)

    assert len(secret) == len(known) and secret != known
    assert secret_of(roadmap) == secret


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Host.Example", "https://host.example"),
        ("https://host.example:443/", "https://host.example"),
        ("http://host.example:80", "http://host.example"),
        ("https://host.example:8443", "https://host.example:8443"),
        ("http://[::1]:8780", "http://[::1]:8780"),
    ],
)
def test_the_address_of_a_tunnel_is_named_as_browsers_name_it(url: str, origin: str) -> None:
    assert outer_origin(url) == origin


@pytest.mark.parametrize(
    "url",
    ["", "host.example", "ftp://host.example", "https://", "https://user@host.example", "https://host.example/path",
     "https://host.example?x", "https://host.example:port", "https://host.example\n.example", "javascript:alert(1)"],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused_in_a_line(url: str) -> None:
    with pytest.raises(milepost.Misuse):
        outer_origin(url)


def test_the_page_may_not_have_the_name_of_its_previews() -> None:
    with pytest.raises(milepost.Misuse, match="localhost"):
        page_socket("localhost", 0)


def test_an_app_is_shown_from_the_first_folder_that_has_a_page_once_it_is_built(tmp_path: Path) -> None:
    app = app_named(None, tmp_path, "http://app.localhost:1/")
    assert (app.folder(), app.address()) == (None, None)

    for name in ("site", "dist"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("")

    assert (app.folder(), app.address()) == (tmp_path / "dist", "http://app.localhost:1/")


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:5173", "https://localhost:5173", "http://localhost.evil.example", "http://evil@localhost:5173",
     "http://localhost:5173/; script-src *", "http://localhost:x", "file:///etc/passwd", "http://localhost:5173/\n"],
)  # fmt: skip
def test_an_app_elsewhere_must_be_on_this_machine_by_the_name_localhost(tmp_path: Path, url: str) -> None:
    with pytest.raises(milepost.Misuse, match="not an address that the page can show"):
        app_named(url, tmp_path, "")

    assert app_named("http://localhost:5173", tmp_path, "").address() == "http://localhost:5173/"


def test_nothing_leads_out_of_the_folder_of_an_app(tmp_path: Path) -> None:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "assets/app.js").write_text("1")
    (folder / ".env").write_text("secret")
    (folder / ".git/config").write_text("secret")
    (tmp_path / "secret").write_text("secret")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "above").symlink_to(tmp_path)
    (folder / "hidden.txt").symlink_to(folder / ".env")
    (folder / "within.js").symlink_to(folder / "assets/app.js")
    os.mkfifo(folder / "pipe.txt")
    outside = [
        ("..", "secret"), ("out",), ("above", "secret"), (".env",), (".git", "config"), ("hidden.txt",), ("pipe.txt",),
        ("assets",), ("assets", "..", "..", "secret"), ("\0",), ("x" * 5000,), ("assets/../../secret",), ("missing",),
    ]  # fmt: skip

    assert [opened(folder, parts) for parts in outside] == [None] * len(outside)
    for parts in (("assets", "app.js"), ("within.js",)):
        file = opened(folder, parts)
        assert file is not None
        with file:
            assert file.read() == b"1"


def test_no_policy_lets_text_become_script_or_a_preview_out_of_its_sandbox() -> None:
    page = page_policy(("http://localhost:1",))["content-security-policy"].split("; ")
    policies = [made("http://127.0.0.1:1") for made in (report_policy, app_policy)]

    assert {"default-src 'none'", "script-src 'self'", "trusted-types 'none'", "frame-ancestors 'none'"} <= set(page)
    assert "require-trusted-types-for 'script'" in page and "frame-src http://localhost:1" in page
    assert not any("unsafe" in rule for rule in page)
    for rules in (policy["content-security-policy"].split("; ") for policy in policies):
        assert "sandbox allow-scripts allow-forms" in rules
        assert "frame-ancestors http://127.0.0.1:1" in rules
    assert "access-control-allow-origin" not in policies[0]
