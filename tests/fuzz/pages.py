"""The target that sends the page requests, whole as a server gets them, with a run to ask about."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_from_bytes, urlencode

from hypothesis import strategies as st
from starlette.types import ASGIApp, Message, Scope

import milepost
from milepost import events, roadmaps
from milepost.web.login_keys import Keys, Secret
from milepost.web.preview import Names
from milepost.web.setup import House, WebWish, site_of
from tests.e2e.conftest import make_machine
from tests.fuzz.run import Target
from tests.fuzz.servers import values, words
from tests.mcp.serving import memory_kb

ROADMAP = """\
# Roadmap

- [ ] 1.1 Write the app
  - fail-first
  - write app.py "x = 1"
  - Verify: grep -q "x = 1" app.py
- [ ] 1.2 Say so
  - Approve: before
  - Verify: true
"""
HOST, NAMES = "127.0.0.1:8780", Names.of(8880, "secret")
MOST_GROWTH_KB = 400_000
_LONGEST_S = 30.0

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request as a server hands it on; the body comes in pieces. `preview`: to the other port."""

    method: str
    path: bytes
    query: bytes
    headers: tuple[Header, ...]
    body: tuple[bytes, ...]
    preview: bool = False

    @property
    def scope(self) -> Scope:
        return {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": self.method, "scheme": "http",
            "path": self.path.decode("utf-8", "replace"), "raw_path": quote_from_bytes(self.path).encode(),
            "query_string": self.query, "root_path": "", "headers": [*self.headers], "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8780),
        }  # fmt: skip


@contextmanager
def web() -> Iterator[Target]:
    """Each request is answered, and not with a mistake of the server's own; the memory does not grow."""
    with tempfile.TemporaryDirectory() as folder:
        machine = make_machine(Path(folder))
        machine.roadmap(ROADMAP)
        machine.write("dist/index.html", "<p>built")
        ran = machine.run("--json")
        assert ran.events[-1]["event"] == "run_stopped", ran
        roadmap = machine.repo / "ROADMAP.md"
        with events.open_stream(roadmap) as stream, asyncio.Runner() as runner:
            secret = Secret(roadmap)
            site = site_of(WebWish(), roadmap, stream, NAMES)
            house = House(site=site, names=NAMES, origins=(f"http://{HOST}",), secret=secret)
            page, previews = house.page(Keys(), lambda: None), house.previews()
            assert previews is not None
            known = roadmap.read_bytes()
            count, began_kb = 0, 0

            def check(sent: Sent) -> None:
                nonlocal count, began_kb
                roadmap.write_bytes(known)
                status, body = runner.run(answer_of(previews if sent.preview else page, sent))
                assert status not in (0, 500), (status, body[:200])
                count += 1
                began_kb = began_kb or (memory_kb(os.getpid()) if count > 500 else 0)
                assert not began_kb or memory_kb(os.getpid()) - began_kb < MOST_GROWTH_KB, "the server grows"

            shown = [
                roadmaps.task_text("1.1", roadmap).digest,
                *(gate.digest for gate in milepost.waiting_gates(roadmap)),
            ]
            yield Target(inputs=_requests(ran.events[-1]["run"], secret.token(), shown), check=check)


async def answer_of(app: ASGIApp, sent: Sent) -> tuple[int, bytes]:
    """The status and the beginning of what is answered; who asked is gone once an endless answer has begun."""
    pieces, status, told, begun = [*sent.body] or [b""], 0, b"", asyncio.Event()

    async def receive() -> Message:
        if pieces:
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status, told
        status = message.get("status", status)
        if message["type"] == "http.response.body":
            told = told or message.get("body", b"")
            begun.set()

    async with asyncio.timeout(_LONGEST_S):
        await app(sent.scope, receive, send)
    return status, told


def _requests(run: str, token: str, shown: list[str]) -> st.SearchStrategy[Sent]:
    good = {
        b"host": HOST.encode(), b"origin": f"http://{HOST}".encode(), b"x-milepost": b"1",
        b"content-type": b"application/json", b"cookie": f"milepost_8780={token}".encode(),
    }  # fmt: skip
    odd = st.sampled_from([b"", b"\xff", b"0", b"9" * 5000, b"null", b"\xb2", b"a" * 70_000, b'W/"x", *', b";=;", b"."])
    value = st.one_of(odd, st.binary(max_size=20), st.builds(bytes.__add__, st.sampled_from([*good.values()]), odd))
    names = st.sampled_from(
        [
            *(
                *good,
                b"content-length",
                b"if-none-match",
                b"last-event-id",
                b"range",
                b"if-range",
                b"if-modified-since",
            ),
            *(
                b"sec-fetch-site",
                b"sec-fetch-dest",
                b"sec-purpose",
                b"upgrade",
                b"accept-encoding",
                b"transfer-encoding",
            ),
        ]
    )
    other = st.one_of(
        st.tuples(names, value),
        st.tuples(st.just(b"range"), st.builds("bytes={}-{}".format, words, words).map(_bytes)),
        st.tuples(st.just(b"last-event-id"), st.builds("{}.{}:{}".format, words, st.just(run), words).map(_bytes)),
    )
    headers = st.builds(
        lambda more, instead: (*((good | dict(more)) if instead else good).items(), *(() if instead else more)),
        st.one_of(st.just([]), st.lists(other, max_size=3)),
        st.booleans(),
    )
    paged = st.builds(
        Sent,
        method=st.sampled_from(["GET", "GET", "HEAD", "POST", "OPTIONS", "\xff"]),
        path=_paths(run),
        query=_queries(run),
        headers=headers,
        body=_bodies(shown),
    )
    changes = st.builds(
        Sent,
        method=st.just("POST"),
        path=st.sampled_from(
            [b"/api/steer", b"/api/task", b"/api/gates/1.2/before", f"/api/gates/{run}/1.2/".encode()]
        ),
        query=st.sampled_from([b"", f"run={run}".encode()]),
        headers=st.just((*good.items(),)),
        body=_bodies(shown),
    )
    return st.one_of(paged, paged, changes, _previewed(run))


def _previewed(run: str) -> st.SearchStrategy[Sent]:
    piece = st.one_of(
        words.map(_bytes), st.sampled_from([b"index.html", b"..", b".", b"%2e", b"a.js", b"n" * 300 + b".x"])
    )
    files = st.lists(piece, max_size=5).map(lambda pieces: b"/" + b"/".join(pieces))
    return st.builds(
        lambda host, path, query: Sent(
            method="GET", path=path, query=query, headers=((b"host", host.encode()),), body=(), preview=True
        ),
        st.sampled_from([NAMES.app_host, NAMES.report_host, NAMES.app_host.upper()]),
        st.one_of(files, st.just(f"/{NAMES.report}/report".encode())),
        _queries(run),
    )


def _paths(run: str) -> st.SearchStrategy[bytes]:
    known = st.sampled_from(
        [
            *(b"/", b"/open", b"/static/main.js", b"/static/", b"/static/styles/../../app.py", b"/api/stream"),
            *(b"/api/plan", b"/api/attempt", b"/api/files", b"/api/file", b"/api/log", b"/api/task", b"/api/costs"),
            *(
                b"/api/gates",
                b"/api/runs",
                b"/api/summary",
                b"/api/lines",
                b"/api/steer",
                f"/api/gates/{run}/1.2".encode(),
            ),
        ]
    )
    return st.one_of(known, known, known, st.builds(lambda path, word: path + b"/" + _bytes(word), known, words))


def _queries(run: str) -> st.SearchStrategy[bytes]:
    texts = words.map(_bytes)
    known = {
        "run": st.sampled_from([run, run.upper(), f"{run} "]),
        "task": st.sampled_from(["1.1", "1.2", "1.1 ", "1"]),
        "attempt": st.sampled_from(["1", "2", "0", "999999", "\u0661", "9" * 5000]),
        "path": st.sampled_from(["app.py", "ROADMAP.md", "a/../app.py", ".git/config", "dist", "p" * 4096]),
        "check": st.sampled_from(["files", "verify", "tests", "done", "Verify"]),
        "context": st.sampled_from(["all", "0", "3", "999999", "\u0663"]),
        "before": st.sampled_from(["1", "9" * 18, "0", "\xb2"]),
        "after": st.sampled_from(["1", f"x.{run}:1", ":", "x:" + "9" * 18]),
        "key": st.sampled_from(["x", "\u20ac"]),
    }
    either = {name: st.one_of(usual, usual, texts) for name, usual in known.items()}
    named = st.fixed_dictionaries({}, optional=either).map(lambda given: urlencode(given).encode())
    return st.one_of(named, named, named, st.binary(max_size=40))


def _bodies(shown: list[str]) -> st.SearchStrategy[tuple[bytes, ...]]:
    """What the page sends, cut anywhere; never a word that starts a process."""
    digest = st.one_of(st.sampled_from(shown), st.just("0" * 64), words)
    task = st.one_of(st.sampled_from(["1.1", "1.2", ""]), words)
    verbs = ["pause", "go_on", "finish", "drop", "agent", "parallel", "note"]
    texts = st.one_of(
        words, st.sampled_from(["- [ ] 1.1 Other\n  - Verify: true\n", "3", "9" * 5000, "\u0663", "tool", "\r\n"])
    )
    steer = st.fixed_dictionaries({"verb": st.sampled_from(verbs)}, optional={"task": task, "text": texts})
    answers = st.sampled_from(["reject", "edit", "skip", "delegate", "approve", "accept"])
    gate = st.fixed_dictionaries({"answer": answers, "digest": digest}, optional={"text": texts})
    edit = st.fixed_dictionaries({"task": task, "text": texts, "digest": digest}, optional={"commit": st.booleans()})
    whole = st.one_of(steer, steer, gate, edit, edit, values).map(lambda body: json.dumps(body).encode())
    cut = st.builds(
        lambda body, at, more: body[: at % (len(body) + 1)] + more, whole, st.integers(0), st.binary(max_size=9)
    )
    long = st.builds(
        lambda piece, times: piece * times, st.sampled_from([b"[", b'{"a":', b" ", b"9"]), st.integers(1, 70_000)
    )
    pieces = st.builds(lambda body, at: (body[:at], body[at:]), whole, st.integers(0, 100))
    return st.one_of(
        whole.map(lambda body: (body,)), pieces, cut.map(lambda body: (body,)), long.map(lambda body: (body,))
    )


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
