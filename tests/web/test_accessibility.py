"""Nobody is kept out of the page: axe finds nothing in it, keys reach all of it, nothing moves or stands out of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from itertools import cycle, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.slow import ALL
from tests.web import axe
from tests.web.chromium import Pages, caught_up
from tests.web.serving import Served, served
from tests.web.told import Story

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES: Final = ((1440, 900), (1024, 768), (390, 844))
THEMES: Final = ("light", "dark")
PANELS: Final = ["panel-roadmap", "panel-talk", "panel-code", "panel-terminal", "panel-preview"]
A_SAMPLE: Final = 2  # of the states, other ones for each theme and size
WHERE: Final = "document.activeElement.closest('.panel')?.id ?? document.activeElement.className"
LONGEST_WAY: Final = 200
STILL: Final = "() => document.getAnimations().length === 0"

State = Callable[["Page", str], None]


def in_work(page: Page, origin: str) -> None:
    page.goto(f"{origin}/#panel=terminal")
    page.locator(".terminal-bar .m-working").wait_for()


def failed(page: Page, origin: str) -> None:
    page.goto(f"{origin}/#task=2.1&panel=code")
    page.get_by_role("button", name="Proof", exact=True).click()
    page.locator(".p-code .file").last.scroll_into_view_if_needed()
    page.locator(".p-code .file .row").last.wait_for()


def asked(page: Page, origin: str) -> None:
    page.goto(f"{origin}/#panel=talk")
    page.locator(".a-asking").click()
    page.get_by_role("dialog").wait_for()


def files(page: Page, origin: str) -> None:
    page.goto(f"{origin}/#panel=code")
    page.get_by_role("button", name="Files", exact=True).click()
    page.locator(".files").wait_for()
    opened, text = page.locator(".files-text"), page.get_by_label("Text of")
    opened.or_(page.get_by_role("treeitem", name="parse.py")).first.wait_for()
    if not opened.count():
        page.get_by_role("treeitem", name="parse.py").first.click()
    text.locator(".row").first.wait_for()


def helped(page: Page, origin: str) -> None:
    page.goto(f"{origin}/#panel=roadmap")
    page.get_by_role("button", name="Keys and help").click()
    page.get_by_role("dialog", name="Keys").wait_for()


def over(page: Page, origin: str) -> None:
    page.goto(f"{origin}/#panel=preview")
    page.locator(".next").wait_for()


STATES: Final[tuple[State, ...]] = (in_work, failed, asked, files, helped)


def looks(states: tuple[State, ...], a_sample: int) -> Iterator[tuple[str, tuple[int, int], State]]:
    """What is looked at: some states for each theme and size, and in all of them each state; or everything."""
    turn = cycle(states)
    for theme, size in product(THEMES, SIZES):
        for state in states if ALL else islice(turn, a_sample):
            yield theme, size, state


def look(page: Page, theme: str, size: tuple[int, int], of: str) -> None:
    """Hold the page as it is now against all that must be true of it in any state."""
    page.wait_for_function(STILL)
    assert axe.violations(page) == [], (of, theme, size)
    assert page.evaluate("document.documentElement.scrollWidth") == size[0], (of, theme, size)


def show(page: Page, theme: str, size: tuple[int, int]) -> None:
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")


def test_axe_finds_nothing_in_both_themes_and_three_sizes_whatever_is_shown(
    pages: Pages, story: Story, server: Served
) -> None:
    page = pages.open(server.address)
    with story.at_work():
        caught_up(page, story.last())
        for part in (".s-running", ".run-name", ".task", ".p-code .bare"):
            page.locator(part).first.wait_for()
        assert reached(page) == PANELS
        for theme, size, state in looks(STATES, A_SAMPLE):
            show(page, theme, size)
            state(page, server.origin)
            look(page, theme, size, state.__name__)
    story.finish()
    for theme, size, state in looks((over,), 1):
        show(page, theme, size)
        state(page, server.origin)
        look(page, theme, size, state.__name__)


def test_a_page_on_which_nothing_was_run_yet_says_so_to_everybody(pages: Pages, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "new"
    folder.mkdir(parents=True)
    (folder / "ROADMAP.md").write_text("# New\n\n- [ ] 1.1 Begin\n  - Verify: true\n")
    subprocess.run(["git", "init", "--quiet", "."], cwd=folder, check=True)
    with served(folder) as server:
        page = pages.open(server.address)
        page.get_by_text("no run yet").first.wait_for()
        for theme, size in product(THEMES, SIZES) if ALL else [("light", SIZES[0]), ("dark", SIZES[2])]:
            show(page, theme, size)
            look(page, theme, size, "nothing was run yet")


def reached(page: Page) -> list[str]:
    """The panels in the order in which Tab reaches them, once round the page."""
    places: list[str] = []
    while places.count("skip") < 2 and len(places) < LONGEST_WAY:
        page.keyboard.press("Tab")
        places.append(page.evaluate(WHERE))
    assert len(places) < LONGEST_WAY, "the keys do not come out of a part of the page"
    return [place for place in dict.fromkeys(places) if place in PANELS]
