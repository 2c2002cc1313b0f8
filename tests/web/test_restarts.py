"""Whatever ends and begins again while a page is open, it goes on by itself: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from milepost.engine.project.state_mark import MARK
from milepost.web.login_keys import SECRET
from tests import places
from tests.e2e.conftest import Sandbox, make_machine
from tests.web.chromium import LINES, Pages, caught_up
from tests.web.serving import LONGEST_S, Served, served
from tests.web.told import Story, new_story

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOLD: Final = {"stage_started": "stage", "agent_said": "said", "command_started": "command"}
PLACES: Final = "kinds => milepost.state.talk.filter(one => kinds.includes(one.kind)).map(one => one.seq)"
# Prints as many lines as this file, the only one that it sees outside of its workspace, has signs at its end.
AGENT: Final = """
import pathlib, time
for number in range(8):
    while pathlib.Path(__file__).read_text().count("#") <= number + 1:
        time.sleep(0.05)
    print(f"line {number}", flush=True)
pathlib.Path("a.txt").write_text("a\\n")
"""


def agrees(page: Page, folder: Path, run: str) -> None:
    """Wait until a page has the newest event, and hold what it has against the database: all of it, each once."""
    rows = kept(folder, run)
    caught_up(page, rows[-1][0])
    assert page.evaluate("milepost.state.seq") == rows[-1][0]
    printed = [line for _, event in rows if event["event"] == "command_printed" for line in event["lines"]]
    assert page.evaluate(LINES) == printed
    for kind in ("stage_started", "agent_said", "command_started"):
        places = [seq for seq, event in rows if event["event"] == kind]
        assert page.evaluate(PLACES, [TOLD[kind]]) == places, kind


def kept(folder: Path, run: str) -> list[tuple[int, dict[str, Any]]]:
    """The events that a database has of a run, each with its place."""
    with closing(sqlite3.connect(places.database(folder))) as database:
        rows = database.execute("select seq, body from events where run = ? order by seq", (run,)).fetchall()
    return [(seq, loads(body)) for seq, body in rows]


def remove_but(folder: Path, *kept: Path) -> None:
    """Remove what is in a folder but for some files: who was let in stays so, and the state stays its maker's."""
    for one in folder.iterdir():
        if any(one in path.parents for path in kept):
            remove_but(one, *kept)
        elif one.is_dir():
            shutil.rmtree(one)
        elif one not in kept:
            one.unlink()


def test_a_page_outlives_its_server_and_the_state_and_says_what_to_do_when_it_is_let_in_no_more(
    pages: Pages, story: Story, server: Served
) -> None:
    from playwright.sync_api import expect

    page = pages.open(server.address)
    link = page.locator(".link")
    story.flood(300)
    agrees(page, story.folder, story.run)

    server.kill()
    story.print_lines(["while nobody served"])
    expect(link).to_contain_text("lost the server")
    server.start()
    expect(link).to_have_class("fact link l-live")
    agrees(page, story.folder, story.run)

    story.print_lines([f"before the end {number}" for number in range(50)])
    assert server.stop() == 0
    story.print_lines(["while nobody served again"])
    server.start()
    story.print_lines(["and afterwards"])
    agrees(page, story.folder, story.run)
    assert "and afterwards" in page.evaluate(LINES)

    state = places.state(story.folder)
    remove_but(story.folder, state / SECRET, state / MARK)
    anew = new_story(story.folder, run="beef")
    try:
        page.wait_for_function("() => milepost.state.run?.run === 'beef'")
        agrees(page, anew.folder, anew.run)
        expect(page).to_have_title("(1) run beef · Milepost")
    finally:
        anew.close()

    server.kill()
    (state / SECRET).unlink(missing_ok=True)
    server.start()
    expect(page.locator(".next")).to_contain_text("milepost web")
    expect(page.locator(".standing")).to_have_text("stopped when last seen")
    server.enter(page)
    expect(page.locator(".next")).to_contain_text("milepost resume")


class Slow:
    """A real run whose agent prints as many lines as it is told to."""

    def __init__(self, machine: Sandbox, script: Path) -> None:
        self.machine, self._script = machine, script
        script.write_text(AGENT)

    def let(self, lines: int) -> None:
        """Let it print so many more."""
        with self._script.open("a") as script:
            script.write("#" * lines)

    def begin(self) -> None:
        self._process = self.machine.start_cold("run", "--agent", f"command:{sys.executable} {self._script}")

    def resume(self) -> None:
        self._process = self.machine.start_cold("resume")

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate(timeout=LONGEST_S)

    def end(self) -> int:
        self._process.communicate(timeout=LONGEST_S)
        return self._process.returncode


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    machine = make_machine(tmp_path)
    machine.roadmap("- [ ] 1.1 Slow\n  - Verify: test -f a.txt\n")
    run = Slow(machine, tmp_path / "agent" / "slow.py")
    run.begin()
    try:
        yield run
    finally:
        run.kill()


def test_a_real_engine_that_is_killed_is_seen_to_stop_and_to_go_on(pages: Pages, slow: Slow) -> None:
    from playwright.sync_api import expect

    with served(slow.machine.repo) as server:
        page = pages.open(server.address)
        standing = page.locator(".standing")
        expect(standing).to_have_text("running", timeout=LONGEST_S * 1000)
        slow.let(3)
        page.wait_for_function(f"() => {LINES}.includes('line 2')")
        slow.kill()
        expect(standing).to_have_text("stopped, can be resumed", timeout=LONGEST_S * 1000)
        expect(page.locator(".terminal-bar")).to_contain_text("running when last seen")
        run = page.evaluate("milepost.state.run.run")
        agrees(page, slow.machine.repo, run)

        slow.resume()
        expect(standing).to_have_text("running", timeout=LONGEST_S * 1000)
        expect(page.locator(".p-talk .step").first).to_contain_text("cut short")
        slow.let(5)
        assert slow.end() == 0
        expect(standing).to_have_text("finished")
        agrees(page, slow.machine.repo, run)
        expect(page.locator(".a-passed")).to_contain_text("1of 1 done, with proof")
