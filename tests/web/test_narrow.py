"""Keys, splitters, and pages with less room: everything is reached, nothing moves unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web.chromium import Pages, drawn
from tests.web.scene import lunch
from tests.web.stage import Stage

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PANELS = ["Roadmap", "Talk", "Code", "Terminal", "Preview"]
SMALL = """least => [...document.querySelectorAll(
  ':is(.bar, .answers, .tabs, .panel-head, .p-roadmap) :is(button, select, a)')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && getComputedStyle(one).visibility === 'visible' && !one.classList.contains('skip')
    && (box.height < least || box.width < Math.min(least, 24));
}).map(one => one.outerHTML.slice(0, 90))"""


def test_a_phone_shows_one_panel_at_a_time_and_never_scrolls_sideways(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address, width=390, height=844)
    expect(page.locator(".task")).to_have_count(12)
    tabs = page.get_by_role("navigation", name="Panels")

    for name in PANELS:
        tabs.get_by_role("button", name=name).click()
        expect(page.locator(".panel:visible")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert beyond(page) == []
        assert page.evaluate(SMALL, 34) == []
    expect(tabs).to_contain_text("1 wait for you")
    page.locator(".a-asking").click()
    assert page.get_by_role("dialog").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("#panel-roadmap")).to_be_visible()


def test_terminal_and_preview_share_their_place_where_there_is_less_room(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address, width=1024, height=768)

    expect(page.locator("#panel-terminal")).to_be_visible()
    expect(page.locator("#panel-preview")).to_be_hidden()
    page.keyboard.press("5")
    expect(page.locator("#panel-preview")).to_be_visible()
    expect(page.locator("#panel-terminal")).to_be_hidden()
    page.keyboard.press("3")
    page.keyboard.press("m")
    expect(page.locator(".panel:visible")).to_have_count(1)
    code = page.locator("#panel-code").bounding_box()
    page.keyboard.press("4")
    expect(page.locator("#panel-terminal")).to_be_visible()
    assert page.locator("#panel-terminal").bounding_box() == code, "it fills the page as well"
    expect(page.locator("#panel-terminal:focus-within")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#panel-code")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 1024


def test_splitters_are_moved_by_key_and_mouse_and_remembered(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    roadmap = page.locator("#panel-roadmap")
    splitter = page.get_by_role("separator", name="Width of the roadmap")
    expect(splitter).to_have_attribute("aria-valuenow", "21")

    splitter.press("Shift+ArrowRight")
    splitter.press("ArrowLeft")
    expect(splitter).to_have_attribute("aria-valuenow", "29")
    drawn(page)
    box = splitter.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(520, box["y"] + 200, steps=3)
    page.mouse.up()
    expect(splitter).to_have_attribute("aria-valuenow", "36")
    drawn(page)
    dragged = width(roadmap)
    page.reload()
    expect(splitter).to_have_attribute("aria-valuenow", "36")
    drawn(page)
    assert width(roadmap) == dragged
    splitter.press("Home")
    expect(splitter).to_have_attribute("aria-valuenow", "21")


def test_single_keys_can_be_turned_off_and_stay_off(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    expect(page.locator(".task")).to_have_count(12)

    page.keyboard.press("?")
    page.get_by_label("single-letter keys are on").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".a-asking")).to_be_visible()
    for key in ("w", "?", "d", "j"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".task[aria-current]")).to_have_count(0)
    page.get_by_role("button", name="Keys and help").click()
    page.get_by_label("single-letter keys are on").check()
    page.keyboard.press("w")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    expect(page.get_by_role("heading", name="Install a package")).to_be_visible()


def test_nothing_moves_for_whoever_asks_for_no_motion_and_the_first_tab_leads_past_the_header(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address, still=True)
    expect(page.locator(".m-working").first).to_be_visible()

    assert page.evaluate("document.getAnimations().length") == 0
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the roadmap")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-roadmap:focus-within")).to_have_count(1)


def beyond(page: Page) -> list[str]:
    """What stands out of the page at its right."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > innerWidth + 0.5"
        " && one.checkVisibility() && !one.closest('.hidden, .scroll')).map(one => one.className)"
    )
    return found


def width(panel: Locator) -> float:
    """How wide it is."""
    box = panel.bounding_box()
    assert box is not None
    return box["width"]
