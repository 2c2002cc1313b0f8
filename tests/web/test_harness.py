"""The means of the tests in a browser are themselves to be trusted."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.live.installed import REQUIRED
from tests.web import axe
from tests.web.chromium import Driver, Pages
from tests.web.needs import absence, need

BAD = "<!doctype html><html><title>t</title><body><img src=x><button></button></body></html>"
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
    page.evaluate("setTimeout(() => { throw new Error('broken') }); new Promise(later => setTimeout(later, 20))")

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
