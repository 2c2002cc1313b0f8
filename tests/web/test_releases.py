"""Releases on the page: what is where, which one has the traffic, and the switch as it happens."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tests.web import axe
from tests.web.chromium import Pages
from tests.web.scene import began
from tests.web.stage import BEGAN, Stage

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

HOSTILE = "<img src=x onerror=alert(1)> \u202egnp"
SAID = f"16 of 47 requests failed {HOSTILE}"


def release(number: int, stage: str, *, proof: str = "", said: str = "") -> dict[str, Any]:
    return {"release": number, "stage": stage, "commit": f"{number}" * 40, "proof": proof, "said": said}


def place(traffic: int | None, *found: dict[str, Any], healthy: bool | None = True, **more: Any) -> dict[str, Any]:
    where = {"target": "local", "environment": "dev", "kind": "local"} | more
    return {**where, "traffic": traffic, "healthy": healthy, "detail": "", "releases": list(found)}


def moved(seq: int, number: int, stage: str, said: str = "") -> dict[str, Any]:
    where = {"target": "local", "environment": "dev"}
    return {"seq": seq, "at": BEGAN + seq, **where, "release": number, "stage": stage, "said": said}


def shown(stage: Stage, pages: Pages, **how: Any) -> Page:
    """The page with the releases in front."""
    stage.tell(began("1.1"))
    page = pages.open(stage.address, **how)
    page.keyboard.press("5")
    page.get_by_role("button", name="Releases", exact=True).click()
    return page


def with_traffic(page: Page) -> Locator:
    return page.locator(".has-traffic .release-name")


def test_the_line_of_the_users_moves_as_a_release_is_switched_and_taken_back(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    first, proof = release(1, "live", proof="milepost 1.1 (1111111)"), "milepost 1.1 (1111111)"
    now: dict[str, Any] = {"places": [place(1, release(2, "checking"), first)], "moves": [moved(1, 2, "checking")]}
    stage.answers["/api/releases"] = lambda _: now
    page = shown(stage, pages)
    expect(with_traffic(page)).to_have_text("1")
    expect(page.get_by_role("img", name="checking, step 4 of 7")).to_be_visible()
    expect(page.locator(".place")).to_contain_text(proof)
    expect(page.locator(".place")).to_contain_text("unproven")

    now = {"places": [place(2, release(2, "soaking"), first)], "moves": [moved(2, 2, "soaking"), *now["moves"]]}
    expect(with_traffic(page)).to_have_text("2")
    back = place(1, release(2, "rolled back", said=SAID), first)
    now = {"places": [back], "moves": [moved(3, 2, "rolled back", SAID), *now["moves"]]}
    expect(with_traffic(page)).to_have_text("1")
    expect(page.locator(".moves li").first).to_contain_text("release 2 rolled back 16 of 47 requests failed <img")
    assert page.locator(".p-preview img").count() == 0


def test_releases_are_reached_by_keys_and_axe_finds_nothing_in_any_size_and_theme(stage: Stage, pages: Pages) -> None:
    ill = place(4, release(4, "live", proof="milepost 2"), target="shop", kind="aws", healthy=None)
    well = place(1, release(2, "rolled back", said=SAID), release(1, "live"))
    gone = place(3, release(3, "live"), healthy=False, environment="prod", detail="instance 3.0 ended")
    stage.answers["/api/releases"] = lambda _: {
        "places": [well, gone, ill],
        "moves": [moved(9, 2, "rolled back", SAID)],
    }
    for width, height, dark in ((1440, 900, False), (1440, 900, True), (390, 844, False), (390, 844, True)):
        page = shown(stage, pages, width=width, height=height, dark=dark)
        page.locator(".moves").wait_for()
        page.locator(".segments button").last.focus()
        page.keyboard.press("Tab")
        while not page.evaluate("document.activeElement.matches('.places')"):
            assert page.evaluate("document.activeElement.closest('.p-preview') !== null")
            page.keyboard.press("Tab")
        assert axe.violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
        if folder := os.environ.get("MILEPOST_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/releases-{width}-{'dark' if dark else 'light'}.png")


def test_where_nothing_is_deployed_the_page_says_how(stage: Stage, pages: Pages) -> None:
    stage.answers["/api/releases"] = lambda _: {"places": [], "moves": []}
    shown(stage, pages).get_by_text("milepost deploy local").wait_for()
