"""The terminal: every line once, found, filtered, followed, copied; and hostile ones are only shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.web.chromium import LINES, Pages, copied, drawn
from tests.web.serving import Served
from tests.web.story import HOSTILE
from tests.web.told import Story

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Whether the line at the top of what is seen has these words.
TOPMOST = """words => { const edge = document.querySelector('.screen').getBoundingClientRect().top;
    const rows = [...document.querySelectorAll('.screen .line')];
    return rows.find(row => row.getBoundingClientRect().bottom > edge + 1)?.textContent.includes(words); }"""
AT_END = """() => { const box = document.querySelector('.screen');
    return box.scrollTop + box.clientHeight >= box.firstElementChild.offsetHeight - 10; }"""


def has_lines(page: Page, count: int) -> list[str]:
    """All lines of the page, once it has so many."""
    page.wait_for_function(f"() => window.milepost && {LINES}.length >= {count}")
    lines: list[str] = page.evaluate(LINES)
    return lines


def rows(page: Page) -> list[str]:
    found: list[str] = page.locator(".screen .line").all_inner_texts()
    return found


def plain(line: str) -> str:
    """A line without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def see(page: Page, words: str) -> Any:
    """Wait until a line with these words is drawn."""
    line = page.locator(".screen .line", has_text=words).first
    line.wait_for()
    return line


def test_lines_are_found_filtered_stamped_copied_and_cleared(pages: Pages, story: Story, server: Served) -> None:
    page = pages.open(server.address)
    has_lines(page, len(story.lines()))

    page.keyboard.press("/")
    page.keyboard.type("1 passed")
    page.keyboard.press("Enter")
    page.wait_for_selector(".line.hit .match")
    page.wait_for_function("() => document.querySelector('.found').textContent.startsWith('1 of ')")
    page.get_by_label("Only lines that match").click()
    page.wait_for_function("() => [...document.querySelectorAll('.line')].every(row => row.querySelector('.match'))")
    page.get_by_label("Copy what is shown").click()
    wanted = [line for line in map(plain, story.lines()) if "1 passed" in line]
    assert wanted
    copied(page, "\n".join(wanted))
    page.get_by_label("Search the terminal").press("Escape")

    page.get_by_role("button", name="commands").click()
    page.wait_for_function("() => !document.querySelector('.line.l-command')")
    page.keyboard.press("t")
    page.wait_for_function(
        "() => /^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}$/.test(document.querySelector('.line .stamp')?.textContent)"
    )

    page.get_by_label("Clear the view").click()
    page.get_by_text("Cleared from view; nothing new since.").wait_for()
    story.print_lines(["a new one"])
    see(page, "a new one")
    page.wait_for_function("() => document.querySelectorAll('.screen .line').length === 1")
    page.get_by_role("button", name="show cleared").click()
    page.wait_for_function("() => document.querySelectorAll('.screen .line').length > 1")
    assert page.evaluate(LINES) == story.lines()


def test_the_end_is_followed_until_the_reader_scrolls_up(pages: Pages, story: Story, server: Served) -> None:
    page = pages.open(server.address)
    story.flood(2000)
    has_lines(page, 2000)
    page.wait_for_function(AT_END)

    page.evaluate("document.querySelector('.screen').scrollTop = 400")
    page.wait_for_function("() => document.querySelector('[aria-label=\"Follow the end\"]').ariaPressed === 'false'")
    drawn(page)
    before = rows(page)
    story.print_lines([f"later {number}" for number in range(7)])
    page.get_by_role("button", name="7 new lines").wait_for()
    assert rows(page) == before

    page.get_by_role("button", name="7 new lines").click()
    see(page, "later 6")
    page.wait_for_function(AT_END)


def test_older_lines_come_as_one_scrolls_and_the_reader_stays_where_they_were(
    pages: Pages, story: Story, server: Served
) -> None:
    story.flood(12_000)
    page = pages.open(server.address)
    first = has_lines(page, 5000)
    assert len(first) < len(story.lines())

    top = plain(page.evaluate("milepost.state.lines.text[30]"))
    page.evaluate("document.querySelector('.screen').scrollTop = 30 * 20")
    page.wait_for_function(f"() => {LINES}.length > {len(first)}")
    page.wait_for_function(TOPMOST, arg=top)
    while page.evaluate(f"{LINES}.length") < len(story.lines()):
        had = page.evaluate(f"{LINES}.length")
        page.evaluate("document.querySelector('.screen').scrollTop = 0")
        page.wait_for_function(f"() => {LINES}.length > {had}")
    assert page.evaluate(LINES) == story.lines()


def test_what_a_hostile_program_prints_is_only_shown(pages: Pages, story: Story, server: Served) -> None:
    page = pages.open(server.address)
    story.print_lines(HOSTILE)
    see(page, "<img src=x")

    see(page, "U+202E")
    assert "taken" not in page.title()
    assert page.locator(".screen img, .screen script, .screen a").count() == 0
    drawn = "".join(rows(page))
    assert not [
        sign for sign in drawn if (ord(sign) < 32 and sign not in "\n\t") or sign in "\u202e\u2066\u200b\x7f\x9b"
    ]


def test_a_command_shows_its_clock_its_end_and_its_task(pages: Pages, story: Story, server: Served) -> None:
    with story.at_work():
        page = pages.open(server.address)
        page.wait_for_selector(".terminal-bar .m-working")
        page.wait_for_function("() => / s$/.test(document.querySelector('.terminal-bar .soft')?.textContent)")
    page.get_by_text("running when last seen").first.wait_for()
