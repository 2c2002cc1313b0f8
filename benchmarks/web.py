"""What the page takes when a run prints 200,000 lines, beside the prototype that it was designed with: one run.

    python benchmarks/web.py [--lines 200000] [--without-others]

A real server, a real run that goes on, a real chromium at 1440 x 900: lines go into the journal as the engine writes
them, 2,000 a second at first and 20,000 a second then. After that the page is loaded anew with all of that behind it.
The prototype is run afterwards in the same browser, where `../shared/prototypes/web` is: in a copy, with the libraries
that `make web` fetched for our page, which are of the same versions. Else its recorded figures stand for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from measuring import Row, answers, arguments, make_repo, need, tell

from milepost.core.events import CommandPrinted, CommandStarted
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal
from milepost.web import libraries

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

T = TypeVar("T")

PROTOTYPE = Path(__file__).parents[2] / "shared" / "prototypes" / "web"
STATIC = libraries.HERE / "static"
CHROMIUM = "/usr/bin/chromium"
SLOW, FAST, SLOW_LINES = 2_000, 20_000, 60_000  # lines a second, and how many of them come slowly
BATCH_S = 0.05
PATIENCE_MS = 120_000
LISTEN = """
window.longTasks = []; window.frameTimes = [];
new PerformanceObserver(list => { for (const one of list.getEntries()) longTasks.push(one.duration); })
    .observe({entryTypes: ['longtask']});
let before = performance.now();
(function next() {
    const now = performance.now(); frameTimes.push(now - before); before = now; requestAnimationFrame(next);
})();
"""
TOLD = """() => {
    gc();
    const frames = frameTimes.slice().sort((one, other) => one - other);
    return {
        long_tasks: longTasks.length, longest_ms: Math.max(0, ...longTasks),
        p99_ms: frames[Math.floor(frames.length * .99)],
        slow_frames: frames.filter(one => one > 50).length, heap_mb: performance.memory.usedJSHeapSize / 1e6,
        nodes: document.querySelectorAll('*').length,
    };
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured of one page; `behind_s` is how long after the last line was written the page had it."""

    long_tasks: int
    longest_ms: float
    p99_ms: float
    slow_frames: int
    heap_mb: float
    nodes: int
    behind_s: float
    reload_s: float
    reload_longest_ms: float
    reload_heap_mb: float


# Measured with the prototype on two cores, and recorded with it: the worse of two rounds.
RECORDED = Figures(
    long_tasks=0, longest_ms=0, p99_ms=33, slow_frames=4, heap_mb=30, nodes=2_200, behind_s=0.2, reload_s=2.9,
    reload_longest_ms=107, reload_heap_mb=30,
)  # fmt: skip


class Subject(Protocol):
    """A page under the flood."""

    @property
    def address(self) -> str: ...
    @property
    def lines(self) -> str:
        """How many lines the page has, in JavaScript."""
        ...

    @property
    def loaded(self) -> str:
        """Whether a page that was loaded anew has all that it shows at first, in JavaScript."""
        ...

    def write(self, number: int, texts: list[str]) -> None: ...


def main() -> None:
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--lines", type=int, default=200_000)
    asked = answers(parser)
    lines = 5_000 if asked.smoke else asked.lines
    browser_there = shutil.which("chromium") or Path(CHROMIUM).exists()
    need(libraries.missing(), "" if browser_there else "there is no chromium")
    with chromium() as browser:
        with ours() as subject:
            found = measured(browser, subject, lines)
        beside, name = RECORDED, "prototype, as recorded"
        if PROTOTYPE.is_dir() and not asked.without_others:
            with prototype() as subject:
                beside, name = measured(browser, subject, lines), "prototype, now"
    show(found, beside, name)
    for field, unit in (("p99", "ms"), ("reload_heap", "MB"), ("reload", "s")):
        now, reference = (getattr(each, f"{field}_{unit.lower()}") for each in (found, beside))
        tell(Row(what=f"the page, {field}, of the prototype", now=now, unit=unit, reference=reference, goal=1))


def show(found: Figures, beside: Figures, name: str) -> None:
    print(f"{'':24}{'milepost web':>14}{name:>26}{'ratio':>9}")
    for field in Figures.__dataclass_fields__:
        mine, other = getattr(found, field), getattr(beside, field)
        ratio = f"{mine / other:.2f}" if other else "–"
        print(f"{field.replace('_', ' '):24}{mine:>14,.1f}{other:>26,.1f}{ratio:>9}")


def measured(browser: Browser, subject: Subject, lines: int) -> Figures:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(LISTEN)
    page.goto(subject.address)
    page.wait_for_function(f"() => {subject.lines} > 0", timeout=PATIENCE_MS)
    had = page.evaluate(subject.lines)
    page.evaluate("() => { longTasks.length = 0; frameTimes.length = 0; }")
    writer = threading.Thread(target=flood, args=(subject, lines))
    writer.start()
    while writer.is_alive():
        page.wait_for_timeout(200)
    written = time.monotonic()
    page.wait_for_function(f"() => {subject.lines} >= {had + lines}", timeout=PATIENCE_MS)
    behind_s = time.monotonic() - written
    told = page.evaluate(TOLD)
    return Figures(**told, behind_s=behind_s, **_reloaded(page, subject))


def _reloaded(page: Page, subject: Subject) -> dict[str, Any]:
    began = time.monotonic()
    page.reload()
    page.wait_for_function(f"() => {subject.loaded}", timeout=PATIENCE_MS)
    took = time.monotonic() - began
    page.wait_for_timeout(500)
    told = page.evaluate(TOLD)
    page.context.close()
    return {"reload_s": took, "reload_longest_ms": told["longest_ms"], "reload_heap_mb": told["heap_mb"]}


def flood(subject: Subject, lines: int) -> None:
    """Write lines at the two paces, in batches as the engine makes them."""
    written = number = 0
    due = time.monotonic()
    while written < lines:
        count = min(lines - written, round((SLOW if written < SLOW_LINES else FAST) * BATCH_S))
        texts = [f"\x1b[2mcase\x1b[0m {written + n:07d} \x1b[32mok\x1b[0m in {n % 97} ms" for n in range(count)]
        subject.write(number, texts)
        written += count
        number += 1
        due += BATCH_S
        time.sleep(max(0.0, due - time.monotonic()))


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    words = ["--enable-precise-memory-info", "--js-flags=--expose-gc", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium") or CHROMIUM, args=words)
        yield browser
        browser.close()


@dataclass(frozen=True, slots=True)
class Ours:
    address: str
    journal: Journal
    run: str
    lines: str = "(window.milepost?.state.lines.text.length ?? 0)"
    loaded: str = "(window.milepost?.state.lines.text.length ?? 0) >= 5000"

    def write(self, number: int, texts: list[str]) -> None:
        about = {"run": self.run, "task": "1.1", "attempt": 1, "command": "flood"}
        if number == 0:
            self.journal.append(CommandStarted(**about, argv="flood", by="agent"), "flood")  # type: ignore[arg-type]
        event = CommandPrinted(**about, lines=tuple(texts), errors=())  # type: ignore[arg-type]
        self.journal.append(event, f"printed/flood/{number}")


@contextmanager
def ours() -> Iterator[Ours]:
    """Our page on a run whose agent waits until the folder is gone."""
    milepost = str(Path(sys.executable).with_name("milepost"))
    with tempfile.TemporaryDirectory(prefix="milepost-web-") as name:
        folder = Path(name)
        make_repo(folder, {"ROADMAP.md": "# Road\n\n- [ ] 1.1 Wait\n"})
        agent = "command:sh -c 'echo begun; sleep 100000'"
        run = [milepost, "run", "--agent", agent, "--trust", "isolated"]
        with process(run, folder, stderr=subprocess.DEVNULL) as going:
            journal = Journal(wait_for(lambda: _state(folder)))
            known = wait_for(lambda: [one.run for one in journal.runs() if journal.events(one.run)])
            with process([milepost, "web", "--no-open", "--port", "0", "--preview-port", "0"], folder) as serving:
                yield Ours(address_of(serving), journal, known[0])
            journal.close()
            going.terminate()


def _state(folder: Path) -> Path | None:
    found = Project.find(folder / "ROADMAP.md").database
    return found if found.exists() else None


@dataclass(frozen=True, slots=True)
class Prototype:
    address: str
    database: sqlite3.Connection
    lines: str = "(window.milepost?.state.lines.text.length ?? 0)"

    @property
    def loaded(self) -> str:
        [[last]] = self.database.execute("select max(seq) from events").fetchall()
        return f"(window.milepost?.state.seq ?? 0) >= {last}"

    def write(self, number: int, texts: list[str]) -> None:
        about = {"ts": int(time.time() * 1000), "task": "1.1", "attempt": 1, "command": "flood"}
        if number == 0:
            self._append({**about, "type": "command_started", "argv": "flood", "by": "agent"})
        self._append({**about, "type": "output", "stream": "out", "lines": texts})

    def _append(self, event: dict[str, Any]) -> None:
        self.database.execute("insert into events (body) values (?)", (json.dumps(event),))


@contextmanager
def prototype() -> Iterator[Prototype]:
    """The prototype in a copy that has its libraries, on a story of which much has happened."""
    with tempfile.TemporaryDirectory(prefix="milepost-web-") as name:
        folder, state = Path(name) / "prototype", Path(name) / "state"
        shutil.copytree(PROTOTYPE, folder)
        give_libraries(folder / "milepost_web" / "static" / "vendor")
        words = ["-m", "milepost_web", "--fresh", "--preroll", "150", "--port", "8931", "--state", str(state)]
        with process([sys.executable, *words], folder) as serving:
            address = address_of(serving)
            database = sqlite3.connect(state / "events.db", isolation_level=None, check_same_thread=False, timeout=30)
            yield Prototype(address, database)
            database.close()


def give_libraries(vendor: Path) -> None:
    """Put our libraries where the prototype imports them from: under one name, in the place of a bundle of them."""
    if lacking := libraries.missing():
        raise SystemExit(lacking)
    shutil.copytree(libraries.VENDOR, vendor / "made")
    one = (STATIC / "libraries.js").read_text().replace("./vendor/", "./made/")
    (vendor / "preact.js").write_text(one)


@contextmanager
def process(words: list[str], folder: Path, stderr: int | None = None) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True) as started:
        try:
            yield started
        finally:
            started.terminate()
            with suppress(subprocess.TimeoutExpired):
                started.wait(20)
            started.kill()


def address_of(serving: subprocess.Popen[str]) -> str:
    assert serving.stdout is not None
    for line in serving.stdout:
        if found := re.search(r"http://\S+/open\?key=\S+", line):
            return found.group()
    raise SystemExit("the server ended before it said its address")


def wait_for(look: Callable[[], T | None]) -> T:
    """What a look finds once there is something; a minute at most."""
    for _ in range(600):
        if found := look():
            return found
        time.sleep(0.1)
    raise SystemExit("the run did not begin")


if __name__ == "__main__":
    main()
