"""The page's server as a real process: what it tells, over restarts, and whom it holds off."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import psycopg
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from milepost.core.events import CommandPrinted, StageStarted, TaskFinished
from milepost.core.verdict import Verdict
from milepost.engine.events.live_stream import EventStream
from milepost.engine.project.state_lock import StateLock
from milepost.engine.records.journal import Journal
from milepost.web.page_facts import PageFacts
from milepost.web.stream_routes import routes as stream_routes
from milepost.web.summary import Summaries
from tests import places
from tests.integration.pages import LONGEST_S, PROGRAM, Reader, Served, served
from tests.mcp.serving import memory_kb
from tests.mcp.wire import Header, head, opened

JSON: Header = ("Content-Type", "application/json")
MARK: Header = ("X-Milepost", "1")


class Book:
    """Writes events of runs down, as an engine would."""

    def __init__(self, place: Path | str, run: str = "7f3a") -> None:
        self.run, self._count = run, 0
        if isinstance(place, Path):
            place.parent.mkdir(exist_ok=True)
        self.journal = Journal(place)
        self.journal.open_run(run, "1", {"agent": "tool", "tasks": ["1.1"]})

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()

    def write(self, events: int) -> int:
        """Write so many events; the place of the last."""
        for _ in range(events):
            self._count += 1
            stage = StageStarted(run=self.run, task="1.1", title="x", attempt=self._count, stage="act")
            self.journal.append(stage, f"stage/{self._count}")
        return self.journal.events(self.run)[-1].seq

    def print(self, rows: int, *lines: str) -> None:
        """Write rows of what a command printed, each with these lines."""
        for _ in range(rows):
            self._count += 1
            said = CommandPrinted(run=self.run, task="1.1", attempt=1, command="c", lines=lines, errors=())
            self.journal.append(said, f"printed/{self._count}")

    def places(self) -> list[int]:
        """The places of all its events."""
        rows = self.journal.database.read("select seq from events where run = ? order by seq", self.run)
        return [seq for (seq,) in rows]


def project(folder: Path) -> Path:
    """The roadmap of a new repository."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    (folder / "ROADMAP.md").write_text("# Roadmap\n\n- [ ] 1.1 Say hello\n")
    return folder / "ROADMAP.md"


def state(roadmap: Path) -> Path:
    return places.made_state(roadmap.parent) / "milepost.db"


@pytest.fixture(scope="module")
def roadmap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = project(tmp_path_factory.mktemp("project"))
    folder = made.parent / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<script type=module src=/assets/app.js></script>")
    (folder / "assets/app.js").write_text("1")
    (folder / "out.txt").symlink_to("/etc/passwd")
    (folder / ".env").write_text("secret")
    return made


@pytest.fixture(scope="module")
def book(roadmap: Path) -> Iterator[Book]:
    with Book(state(roadmap)) as made:
        made.write(3)
        yield made


@pytest.fixture(scope="module")
def server(roadmap: Path, book: Book) -> Iterator[Served]:
    with served(roadmap) as server:
        assert f"run {book.run}" in server.line
        yield server


@pytest.fixture(scope="module")
def cookie(server: Served) -> Header:
    return server.cookie()


def test_a_key_lets_a_page_in_once_and_a_page_that_is_in_always(server: Served, cookie: Header) -> None:
    again = server.ask(f"/open?key={server.key}")
    known = server.ask(f"/open?key={server.key}", cookie)
    ahead = server.ask("/open?key=x", ("Sec-Purpose", "prefetch;prerender"))

    assert (again.status, known.status, ahead.status) == (401, 200, 503)
    assert b"milepost web" in again.body
    assert "set-cookie" not in again.headers
    assert b'content="0;url=/"' in known.body
    wanted = known.headers["set-cookie"].lower()
    assert wanted.startswith(f"milepost_{server.port}=")
    assert all(word in wanted for word in ("httponly", "samesite=strict", "path=/"))
    assert server.key not in known.headers["set-cookie"]


REFUSED: dict[str, tuple[int, str, str, list[Header]]] = {
    "a name that was made to stand for this machine": (421, "GET", "/", [("Host", "evil.example")]),
    "the name of previews": (421, "GET", "/api/runs", [("Host", "localhost:{port}")]),
    "two names": (400, "GET", "/api/runs", [("Host", "127.0.0.1:{port}"), ("Host", "evil.example")]),
    "another site": (403, "GET", "/api/runs", [("Origin", "http://evil.example")]),
    "a sandboxed frame": (403, "GET", "/api/runs", [("Origin", "null")]),
    "a script element elsewhere": (403, "GET", "/api/runs", [("Sec-Fetch-Site", "same-site")]),
    "a form elsewhere": (403, "POST", "/api/steer", [("Content-Type", "text/plain"), ("Origin", "null")]),
    "a form without an origin": (403, "POST", "/api/steer", [JSON, MARK]),
    "a change that is no JSON": (
        415, "POST", "/api/steer", [MARK, ("Content-Type", "text/plain"), ("Origin", "http://127.0.0.1:{port}")],
    ),
    "a change without our header": (403, "POST", "/api/steer", [JSON, ("Origin", "http://127.0.0.1:{port}")]),
    "a change that says it is large": (
        413, "POST", "/api/steer",
        [MARK, JSON, ("Origin", "http://127.0.0.1:{port}"), ("Content-Length", "1000000000")],
    ),
    "a question about what is allowed": (405, "OPTIONS", "/api/steer", []),
    "a web socket": (
        400, "GET", "/api/stream", [("Upgrade", "websocket"), ("Connection", "Upgrade")],
    ),
    "a file above": (404, "GET", "/static/../guard.py", []),
    "a file above, escaped": (404, "GET", "/static/%2e%2e/guard.py", []),
    "a file above, escaped more": (404, "GET", "/static/..%2fguard.py", []),
    "a file of the machine": (404, "GET", "/static//etc/passwd", []),
    "a name with a zero": (404, "GET", "/static/%00", []),
    "a run of nobody": (404, "GET", "/api/stream?run=ffff", []),
    "a run that is a path": (404, "GET", "/api/lines?run=../../x&before=1", []),
    "a place that is none": (422, "GET", "/api/lines?before=-1", []),
    "a place beyond all": (422, "GET", "/api/lines?before=99999999999999999999", []),
}  # fmt: skip


@pytest.mark.parametrize("who", REFUSED)
def test_who_is_not_the_page_is_held_off_though_the_cookie_is_right(server: Served, cookie: Header, who: str) -> None:
    status, method, path, headers = REFUSED[who]

    reply = server.ask(
        path, *[(name, value.format(port=server.port)) for name, value in headers], cookie, method=method
    )

    assert reply.status == status
    assert b"root:" not in reply.body
    if "host" not in who and status != 400:
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


def test_who_removes_the_secret_locks_all_out_also_who_reads_on(tmp_path: Path) -> None:
    roadmap = project(tmp_path)
    with Book(state(roadmap)) as book, served(roadmap) as server:
        cookie = server.cookie()
        assert (state(roadmap).parent / "web-secret").read_text() not in cookie[1]
        with Reader(server.port, cookie) as page:
            page.until(book.write(2))
            (state(roadmap).parent / "web-secret").unlink()
            book.write(2)
            with pytest.raises(EOFError):
                page.take()
        assert server.ask("/api/runs", cookie).status == 401


def test_without_the_cookie_nothing_is_told_and_the_shell_holds_nothing(server: Served, book: Book) -> None:
    asked = ["/api/runs", "/api/stream", "/api/lines?before=9", "/api/summary", "/api/plan", "/nothing"]

    assert [server.ask(path).status for path in asked] == [401] * len(asked)
    assert [server.ask("/api/runs", ("Cookie", f"milepost_{server.port}={server.key}")).status] == [401]
    assert book.run.encode() not in server.ask("/").body


def test_a_body_that_grows_without_saying_so_is_not_read_to_its_end(server: Served, cookie: Header) -> None:
    origin = ("Origin", f"http://127.0.0.1:{server.port}")
    headers = (cookie, origin, MARK, JSON, ("Transfer-Encoding", "chunked"))
    with opened(server.port, head(server.port, *headers, path="/api/steer")) as connection:
        for _ in range(9):
            connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        assert connection.recv(20).startswith(b"HTTP/1.1 413")


def test_previews_are_read_by_who_knows_their_names_and_reach_nothing(server: Served, cookie: Header) -> None:
    with Reader(server.port, cookie) as page:
        report, app = page.hello["preview"], page.hello["app"]
    port, host = int(report.split(":")[2].split("/")[0]), app.split("/")[2]
    local = f"localhost:{port}"

    def asked(host: str, path: str, method: str = "GET") -> tuple[int, bytes, str]:
        wanted = head(port, ("Host", host), ("Connection", "close"), method=method, path=path)
        with opened(port, wanted) as connection:
            whole = b"".join(iter(lambda: connection.recv(65_536), b""))
        return int(whole.split()[1]), whole, whole.partition(b"\r\n\r\n")[0].decode()

    token = report.rpartition("/")[2]
    status, body, headers = asked(local, f"/{token}/report?run=7f3a")
    assert status == 200 and b"7f3a" in body
    assert (
        "sandbox allow-scripts allow-forms" in headers and f"frame-ancestors http://127.0.0.1:{server.port}" in headers
    )
    status, body, headers = asked(host, "/assets/app.js")
    assert (status, body[-8:]) == (200, b"1\r\n0\r\n\r\n"[-8:])
    assert "text/javascript" in headers and "sandbox" in headers
    assert asked(host, "/a/page/of/the/app")[0] == 200
    for other, path in [
        (local, "/"), (local, f"/{'0' * 32}/report"), (local, f"/{token}/app/"), (local, f"/{token}/report?run=ffff"),
        (host, "/out.txt"), (host, "/.env"), (host, "/../ROADMAP.md"), (host, "/%2e%2e/ROADMAP.md"), (host, "/none.js"),
    ]:  # fmt: skip
        status, body, headers = asked(other, path)
        assert status == 404 and b"root:" not in body, path
    assert asked(f"127.0.0.1:{port}", f"/{token}/report")[0] == 421
    assert asked(f"evil.example:{port}", f"/{token}/report")[0] == 421
    assert asked(local, f"/{token}/report", "POST")[0] == 405


def test_six_pages_at_once_are_told_all_as_it_happens(server: Served, cookie: Header, book: Book) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(6) as threads:
        pages = [stack.enter_context(Reader(server.port, cookie)) for _ in range(6)]
        last = book.write(200)
        told = list(threads.map(lambda page: page.until(last), pages))

    assert told == [book.places()] * 6
    assert pages[0].hello["facts"]["agent"] == "tool"
    assert pages[0].hello["epoch"].endswith(f".{book.run}")


def test_a_page_goes_on_where_it_was_and_else_starts_over(server: Served, cookie: Header, book: Book) -> None:
    with Reader(server.port, cookie) as page:
        page.until(book.write(5))
    last = book.write(5)

    with Reader(server.port, cookie, after=page.place) as same:
        assert not same.hello["fresh"]
        assert same.until(last) == book.places()[-5:]
    for stranger in (f"x{page.place}", f"{page.place}000", "garbage", ":", "%00:1"):
        with Reader(server.port, cookie, after=stranger) as other:
            assert other.hello["fresh"]
            assert other.until(last) == book.places()


def test_a_page_that_does_not_read_holds_no_memory_and_nobody_up(server: Served, cookie: Header, roadmap: Path) -> None:
    with Book(state(roadmap), "10ad") as loud:
        _flood(server, cookie, loud)


def _flood(server: Served, cookie: Header, loud: Book) -> None:
    loud.print(1, "first")
    with Reader(server.port, cookie, run="10ad") as page:
        page.until(1)
        place = page.place
    loud.print(340, "x" * 30_000)
    last, before = loud.places()[-1], memory_kb(server.process.pid)
    stuck = [
        opened(server.port, head(server.port, cookie, method="GET", path=f"/api/stream?run=10ad&after={place}"))
        for _ in range(5)
    ]
    try:
        with Reader(server.port, cookie, run="10ad", after=place) as page:
            assert len(page.until(last)) == 340
        assert memory_kb(server.process.pid) - before < 30_000
    finally:
        for connection in stuck:
            connection.close()
    with Reader(server.port, cookie, run="10ad") as late:  # it is given the end, and asks for older lines
        late.until(last)
        assert late.hello["older"] and late.hello["floor"] == late.events[0][0] > loud.places()[0]
    older = json.loads(server.ask(f"/api/lines?run=10ad&before={late.hello['floor']}", cookie).body)
    assert older["events"][-1][0] < late.hello["floor"] and older["older"]


def test_a_page_is_told_when_a_process_begins_and_ceases_to_work_on_the_run(
    server: Served, cookie: Header, roadmap: Path, book: Book
) -> None:
    with Reader(server.port, cookie, run=book.run) as page:
        with StateLock(state(roadmap).parent, book.run):
            while not page.told:
                page.take()
            summary = json.loads(server.ask(f"/api/summary?run={book.run}", cookie).body)
        while len(page.told) < 2:
            page.take()

    assert [(kind, body["alive"]) for kind, body in page.told] == [("alive", True), ("alive", False)]
    assert summary["alive"]


def test_two_runs_are_told_apart_and_the_newest_is_meant(
    server: Served, cookie: Header, roadmap: Path, book: Book
) -> None:
    with Reader(server.port, cookie, run=book.run) as page, Book(state(roadmap), "7f3b") as newest:
        last = newest.write(2)
        while ("newer", {"run": "7f3b"}) not in page.told:
            page.take()
        with Reader(server.port, cookie) as other:
            assert other.hello["run"] == "7f3b"
            assert other.until(last) == newest.places()
    runs = json.loads(server.ask("/api/runs", cookie).body)["runs"]
    assert runs[0]["run"] == "7f3b" and book.run in [run["run"] for run in runs]
    summary = json.loads(server.ask("/api/summary", cookie).body)
    assert summary == {
        "waiting": 0,
        "last": last,
        "alive": False,
        "passed": 0,
        "held": 0,
        "accepted": 0,
        "failed": 0,
        "unverified": 0,
    }


def test_what_goes_wrong_with_the_stream_is_told_without_the_paths_of_the_machine(tmp_path: Path) -> None:
    roadmap = project(tmp_path)
    state(roadmap).write_bytes(b"no database" * 1000)
    with EventStream(state(roadmap)) as stream:
        app = Starlette(routes=stream_routes(PageFacts(roadmap=roadmap, stream=stream)))
        with TestClient(app) as client:
            told = [client.get(path) for path in ("/api/runs", "/api/summary", "/api/stream", "/api/lines?before=9")]

    assert [answer.status_code for answer in told] == [503] * 4
    assert not any(str(tmp_path) in answer.text for answer in told)
    assert "is damaged" in told[0].json()["error"]


class Interrupted(EventStream):
    """A stream in the middle of whose reading something else is asked."""

    meanwhile: Callable[[], object] | None = None

    def at_work(self) -> frozenset[str]:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return super().at_work()


def test_who_asks_about_one_run_while_another_is_asked_about_is_not_told_of_that(tmp_path: Path) -> None:
    roadmap = project(tmp_path)
    with Book(state(roadmap), "aaaa") as first, Book(state(roadmap), "bbbb") as second:
        over = TaskFinished(
            run=first.run, task="1.1", title="x", agent="tool", verdict=Verdict.PASSED, commit=None, attempts=1,
            reason="", checks=1, tests=1, duration_ms=1, cost_usd=0.0,
        )  # fmt: skip
        first.journal.append(over, "over")
        second.journal.append(replace(over, run=second.run, verdict=Verdict.FAILED), "over")
    with Interrupted(state(roadmap)) as stream:
        summaries = Summaries(PageFacts(roadmap=roadmap, stream=stream))
        stream.meanwhile = partial(summaries.of, "bbbb")
        told = summaries.of("aaaa")

    assert (told["passed"], told["failed"]) == (1, 0)


@pytest.mark.parametrize("kept", ["sqlite", "postgres"])
def test_nothing_is_lost_over_kill_9_and_another_journal_is_told_from_its_beginning(
    tmp_path: Path, kept: str, request: pytest.FixtureRequest
) -> None:
    roadmap = project(tmp_path / "project")
    place: Path | str = state(roadmap) if kept == "sqlite" else request.getfixturevalue("postgres")
    words = () if isinstance(place, Path) else ("--database", place)
    with served(roadmap, *words) as first:
        cookie = first.cookie()
        with Reader(first.port, cookie) as page:
            assert page.hello["run"] is None
            book = Book(place)  # the first run begins: the stream ends, and the browser asks again
            with pytest.raises(EOFError):
                page.take()
        with Reader(first.port, cookie) as page:
            page.until(book.write(20))
            assert page.hello["fresh"] and not page.hello["alive"]
        first.kill()
    book.write(20)
    with served(roadmap, *words, port=first.port) as second:
        last = book.write(20)
        with Reader(second.port, cookie, after=page.place) as later:
            assert not later.hello["fresh"]
            assert [seq for seq, _ in page.events] + later.until(last) == book.places()
            book.journal.close()
            anew = _forgotten(place)
            with pytest.raises(EOFError):
                while True:
                    later.take()
        with anew, Reader(second.port, cookie, after=later.place) as over:
            assert over.hello["fresh"]
            assert over.until(anew.write(3)) == anew.places()
            assert second.stop() == 0  # with a stream open


def _forgotten(place: Path | str) -> Book:
    """The state removed, and a run under the same name begun anew."""
    if isinstance(place, Path):
        for file in place.parent.glob(f"{place.name}*"):
            file.unlink()
    else:
        with psycopg.connect(place) as connection:
            connection.execute("truncate runs, events restart identity")
    return Book(place)


def test_what_keeps_a_page_from_being_served_is_said_in_a_line(tmp_path: Path, server: Served, roadmap: Path) -> None:
    refused = {
        "cannot listen on 127.0.0.1": [str(roadmap), "--port", str(server.port)],
        "there is no run 'ffff' here": [str(roadmap), "--port", "0", "--run", "ffff"],
        "is not the address of a page": [str(roadmap), "--port", "0", "--url", "host"],
        "git repository": [str(tmp_path)],
    }
    command = [sys.executable, "-c", PROGRAM, "web", "--no-open"]
    started = {
        said: subprocess.Popen([*command, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for said, words in refused.items()
    }

    for said, process in started.items():
        _, told = process.communicate(timeout=LONGEST_S)
        assert process.returncode in (1, 2), told
        assert said in told.splitlines()[0] and len(told.splitlines()) == 2, told
