"""Many tabs of one browser: those that nobody sees hold no connection, of which a browser has six a host."""

from __future__ import annotations

from typing import Final

from tests.web.chromium import LINES, Pages, caught_up
from tests.web.serving import Served
from tests.web.told import Story

TABS: Final = 8
# A browser without a window never hides a tab, so the test says which one is seen.
HIDING: Final = """
let hidden = location.hash === '#unseen';
Object.defineProperty(document, 'hidden', {get: () => hidden});
globalThis.hide = is => { hidden = is; document.dispatchEvent(new Event('visibilitychange')); };
"""


def test_eight_tabs_show_the_run_and_one_that_is_seen_again_has_missed_nothing(
    pages: Pages, story: Story, server: Served
) -> None:
    from playwright.sync_api import expect

    first = pages.open()
    first.context.add_init_script(HIDING)
    tabs = [server.enter(first)]
    for _ in range(TABS - 1):
        expect(tabs[-1].locator(".task")).to_have_count(7)
        tabs[-1].evaluate("hide(true)")
        tabs.append(pages.another(first.context, f"{server.origin}/"))
    unseen = pages.another(first.context, f"{server.origin}/#unseen")
    tabs[-1].bring_to_front()  # a browser draws others once a second
    caught_up(tabs[-1], story.last())
    for tab, link in zip((*tabs, unseen), (*["resting"] * (TABS - 1), "live", "resting"), strict=True):
        expect(tab.locator("html")).to_have_attribute("data-link", link)

    asked: list[str] = []
    unseen.on("request", lambda request: asked.append(request.url))
    story.flood(200)
    caught_up(tabs[-1], story.last())
    assert first.evaluate("milepost.state.seq") < story.last()
    assert not [address for address in asked if "/api/stream" in address], "it asks for a summary now and then"
    tabs[-1].evaluate("hide(true)")
    for tab in (first, unseen):
        tab.bring_to_front()
        tab.evaluate("hide(false)")
        caught_up(tab, story.last())
        assert tab.evaluate(LINES) == story.lines()
    expect(unseen.locator(".task")).to_have_count(7)
