from __future__ import annotations

import pytest

from milepost.core.errors import SettingInvalid
from milepost.sandbox.egress.addresses import leads_inside
from milepost.sandbox.egress.allow_list import allow_list, spelled
from milepost.sandbox.egress.request_body import Chunked, Counted, body_of
from milepost.sandbox.egress.request_head import Head, Malformed, RequestTarget, head_of, target_of, written_anew


@pytest.mark.parametrize(
    ("entry", "host", "port", "covered"),
    [
        ("example.org", "example.org", 443, True),
        ("example.org", "example.org", 80, True),
        ("example.org", "example.org", 22, False),
        ("example.org", "www.example.org", 443, False),
        ("example.org", "notexample.org", 443, False),
        ("EXAMPLE.org.", "example.ORG.", 443, True),
        ("example.org:8443", "example.org", 8443, True),
        ("example.org:8443", "example.org", 443, False),
        ("*.example.org", "a.example.org", 443, True),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "evilexample.org", 443, False),
        ("*.example.org:81", "a.example.org", 81, True),
        ("10.0.0.5", "10.0.0.5", 80, True),
        ("10.0.0.5", "10.0.0.50", 80, False),
        ("[2001:db8::1]:81", "[2001:db8:0:0::1]", 81, True),
        ("localhost:5432", "127.0.0.1", 5432, True),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
    ],
)
def test_an_entry_covers_a_host_at_its_ports(entry: str, host: str, port: int, covered: bool) -> None:
    assert allow_list((entry,)).covers(spelled(host), port) is covered


def test_an_empty_list_covers_nothing() -> None:
    assert not allow_list(()).covers("example.org", 443)


@pytest.mark.parametrize(
    "text",
    [
        *("", "*", "*.", "https://example.org", "example.org/path", "example.org:0", "example.org:70000"),
        *("example.org:http", "a b", "*.10.0.0.1", "ex*mple.org", "-a.org", "user@example.org", "[::1", "::1"),
    ],
)
def test_what_is_no_host_is_named(text: str) -> None:
    with pytest.raises(SettingInvalid, match="is not a host that can be allowed"):
        allow_list((text,))


def test_ports_of_the_machines_own_loopback_are_told_apart() -> None:
    hosts = ("example.org:81", "127.0.0.1:5432", "localhost:6379", "127.0.0.1", "127.0.0.1:5432")
    assert allow_list(hosts).own_ports == (5432, 6379)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0"),
        *("fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "ff02::1"),
    ],
)
def test_addresses_of_the_users_own_network_lead_inside(address: str) -> None:
    assert leads_inside(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8"])
def test_public_addresses_lead_outside(address: str) -> None:
    assert not leads_inside(address)


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("CONNECT example.org:443 HTTP/1.1", RequestTarget(host="example.org", port=443)),
        ("CONNECT [::1]:8443 HTTP/1.1", RequestTarget(host="::1", port=8443)),
        ("GET http://Example.ORG/a?b#c HTTP/1.1", RequestTarget(host="example.org", port=80, path="/a?b")),
        ("GET http://example.org?b HTTP/1.0", RequestTarget(host="example.org", port=80, path="/?b")),
        ("GET http://example.org:81 HTTP/1.1", RequestTarget(host="example.org", port=81, path="/")),
    ],
)
def test_a_request_names_whom_it_is_for(line: str, target: RequestTarget) -> None:
    assert target_of(head_of(line.encode())) == target


@pytest.mark.parametrize(
    "text",
    [
        *("GET / HTTP/1.1", "GET https://example.org/ HTTP/1.1", "GET http://u:p@example.org/ HTTP/1.1"),
        *("CONNECT example.org HTTP/1.1", "CONNECT example.org:0 HTTP/1.1", "CONNECT :443 HTTP/1.1"),
        *("CONNECT a.org:443@b.org:443 HTTP/1.1", "CONNECT a.org:443/b HTTP/1.1", "GET  http://a.org/ HTTP/1.1"),
        *("GET http://a.org/ HTTP/2", "GET http://a.org\\@b.org/ HTTP/1.1", "GET http:///x HTTP/1.1", "hello"),
        *("GET http://a.org/ HTTP/1.1\r\n folded: x", "GET http://a.org/ HTTP/1.1\r\na : b", "G\tE http://a HTTP/1.1"),
        *(
            "GET http://a.org/ HTTP/1.1\r\na: b\nc: d",
            "GET http://a.org/ HTTP/1.1\r\na: b\0",
            "GET http://a\x7f/ HTTP/1.1",
        ),
    ],
)
def test_a_request_that_two_readers_could_read_in_two_ways_is_not_taken(text: str) -> None:
    with pytest.raises(Malformed):
        target_of(head_of(text.encode()))


def test_nothing_that_was_meant_for_the_proxy_goes_on_to_the_host() -> None:
    head = head_of(
        b"POST http://example.org:81/x HTTP/1.1\r\nHost: evil.org\r\nProxy-Authorization: Basic eA==\r\n"
        b"Connection: keep-alive, X-Mine, Content-Length\r\nX-Mine: 1\r\nUpgrade: h2c\r\nTE: trailers\r\n"
        b"Content-Length: 3\r\nAccept: */*"
    )
    assert written_anew(head, target_of(head)) == (
        b"POST /x HTTP/1.1\r\nHost: example.org:81\r\ncontent-length: 3\r\naccept: */*\r\nConnection: close\r\n\r\n"
    )


def _head(*headers: tuple[str, str]) -> Head:
    return Head(method="POST", target="http://a.org/", headers=headers)


@pytest.mark.parametrize(
    "headers",
    [
        (("content-length", "3"), ("transfer-encoding", "chunked")),
        (("content-length", "3"), ("content-length", "4")),
        (("content-length", "+3"),),
        (("content-length", "3, 3"),),
        (("transfer-encoding", "gzip, chunked"),),
        (("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")),
    ],
)
def test_a_body_of_two_lengths_is_not_taken(headers: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(Malformed):
        body_of(_head(*headers))


def test_nothing_behind_a_counted_body_is_passed_on() -> None:
    body = body_of(_head(("content-length", "5")))
    assert (body.take(b"abc"), body.complete) == (b"abc", False)
    assert (body.take(b"deGET / HTTP/1.1"), body.complete) == (b"de", True)
    assert isinstance(body, Counted)
    assert body_of(_head()).complete


CHUNKS = b"4;x=y\r\nabcd\r\nA\r\n0123456789\r\n0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_nothing_behind_a_chunked_body_is_passed_on_however_it_comes(size: int) -> None:
    body, passed = Chunked(), b""
    text = CHUNKS + b"GET / HTTP/1.1\r\n\r\n"
    for start in range(0, len(text), size):
        passed += body.take(text[start : start + size])
    assert (passed, body.complete) == (CHUNKS, True)


@pytest.mark.parametrize(
    "text",
    [
        *(b"4\r\nabcde\r\n", b"0x4\r\nabcd\r\n", b"-1\r\n", b"4\nabcd\r\n", b"\r\n", b"g\r\n"),
        *(b"0\r\nTrailer: x\r\n\r\n", b"f" * 16 + b"\r\n", b"4;" + b"x" * 300 + b"\r\n", b"4\r\nabcd\nX"),
    ],
)
def test_chunks_that_two_readers_could_read_in_two_ways_are_not_taken(text: bytes) -> None:
    with pytest.raises(Malformed):
        Chunked().take(text)
