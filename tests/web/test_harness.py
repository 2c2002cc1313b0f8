"""The means of the tests in a browser are themselves to be trusted."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import urllib.request
from pathlib import Path

import pytest

import milepost
from milepost import attempts, runs
from milepost.core.verdict import Verdict
from tests.live.installed import REQUIRED
from tests.web import axe
from tests.web.chromium import Driver, Pages
from tests.web.needs import absence, need
from tests.web.serving import Served, served
from tests.web.story import ASKED, HOSTILE
from tests.web.told import Story

BAD = "<!doctype html><html><title>t</title><body><img src=x><button></button></body></html>"
SERVER = """
import http.server, sys
keys = ["k"]
class Door(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        opens = self.path == "/open?key=k" and bool(keys)
        good = opens or "pass=" in self.headers.get("Cookie", "")
        self.send_response(200 if good else 401)
        self.send_header("Content-Type", "text/html")
        if opens:
            keys.clear()
            self.send_header("Set-Cookie", "pass=1; HttpOnly; SameSite=Strict")
        self.end_headers()
        self.wfile.write(b'<meta http-equiv="refresh" content="0;url=/">' if opens else b"in" if good else b"out")
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[-1])), Door)
print("starting", f"http://127.0.0.1:{server.server_address[1]}/open?key=k", sep="\\n", flush=True)
server.serve_forever()
"""
GOOD = "<!doctype html><html lang=en><title>t</title><body><main><h1>Hello</h1></main></body></html>"


def test_axe_says_in_words_what_is_wrong_with_a_page_and_nothing_of_a_good_one(pages: Pages) -> None:
    page = pages.open()

    page.set_content(BAD)
    found = axe.violations(page)
    page.set_content(GOOD)

    assert {line.split()[0] for line in found} >= {"html-has-lang", "image-alt", "button-name"}
    assert "button-name (critical) at button: Fix any of the following:" in "\n".join(found)
    assert axe.violations(page) == []


def test_an_error_in_a_page_is_heard_and_a_refused_answer_is_none(pages: Pages) -> None:
    page = pages.open()

    page.evaluate("console.error('Failed to load resource: the server responded with a status of 401')")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('broken') }); null")

    assert pages.errors == ["broken"]
    pages.errors.clear()


def test_what_the_machine_lacks_is_named_and_fails_where_it_is_required() -> None:
    assert absence({"PATH": os.devnull}).startswith("there is no chromium: apt-get install")
    with pytest.raises(pytest.skip.Exception, match="no chromium"):
        need("there is no chromium", {})
    with pytest.raises(pytest.fail.Exception, match="no chromium"):
        need("there is no chromium", {REQUIRED: "claude, web"})


def test_a_browser_that_is_aside_lets_others_run_loops_and_is_driven_again_afterwards(
    driver: Driver, pages: Pages
) -> None:
    page = pages.open()

    driver.aside()
    slept = asyncio.run(asyncio.sleep(0, "slept"))
    driver.on()

    assert slept == "slept"
    assert page.evaluate("1 + 1") == 2


def test_the_made_up_run_is_one_to_the_whole_library(story: Story) -> None:
    roadmap = story.folder / "ROADMAP.md"
    status, costs = milepost.status(roadmap), runs.costs(roadmap)
    assert status is not None
    assert costs is not None
    assert status.progress is not None

    with story.at_work():
        assert milepost.status(roadmap).state == "running"  # type: ignore[union-attr]
    assert (status.run, status.state) == (story.run, "interrupted")
    assert milepost.proof("1.2", roadmap).verdict is Verdict.PASSED
    assert [tried.verdict for tried in attempts.of_task("2.1", roadmap)] == [Verdict.FAILED, Verdict.FAILED]
    assert attempts.diff("1.1", roadmap=roadmap).files == ("ROADMAP.md", "durations/parse.py", "tests/test_parse.py")
    assert [gate.shown for gate in milepost.waiting_gates(roadmap)] == [ASKED]
    assert (round(costs.spent.usd, 2), costs.budget.usd) == (0.33, 2.0)


def test_more_is_told_of_a_made_up_run_until_it_is_over(story: Story) -> None:
    before = len(story.lines())

    story.print_lines(HOSTILE, errors=(1,))
    story.flood(1000)
    story.finish()

    assert story.lines()[before : before + 4] == list(HOSTILE)
    assert len(story.lines()) == before + 4 + 1000
    assert milepost.status(story.folder / "ROADMAP.md").state == "finished"  # type: ignore[union-attr]


def test_a_key_that_is_good_once_lets_in_as_many_profiles_as_a_test_wants(pages: Pages, tmp_path: Path) -> None:
    with served(tmp_path, (sys.executable, "-c", SERVER)) as server:
        first, second, stranger = pages.open(), pages.open(width=390), pages.open()
        server.enter(first)
        server.enter(second, "#task=1.1")
        stranger.goto(server.address)

        assert [page.inner_text("body") for page in (first, second, stranger)] == ["in", "in", "out"]
        assert second.url == f"{server.origin}/#task=1.1"


def test_a_server_is_started_again_on_its_port_after_a_kill_and_leaves_nothing(tmp_path: Path) -> None:
    with served(tmp_path, (sys.executable, "-c", SERVER)) as server:
        first = server.port
        server.kill()
        server.start()

        assert (server.port, server.printed[0]) == (first, "starting\n")
        assert urllib.request.urlopen(server.address).status == 200
        assert server.stop() == -signal.SIGTERM
    with pytest.raises(RuntimeError, match=r"ended with 3 and printed 'no\\n'"):
        Served(tmp_path, (sys.executable, "-c", "print('no'); raise SystemExit(3)"))
