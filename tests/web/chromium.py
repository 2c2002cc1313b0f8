"""Debian's chromium, driven by playwright from this thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.web.needs import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

BLANK = "about:blank"
PATIENCE_MS = 120_000  # for what is expected of a page, on a machine that has much else to do
# What commands printed, as a page has it.
LINES = "milepost.state.lines.text.filter((_, n) => ['output', 'error'].includes(milepost.state.lines.kind[n]))"
# What a browser says by itself of an answer that it did not get, or that was a refusal.
_OF_THE_NETWORK = ("Failed to load resource", "net::ERR_")


class Driver:
    """A browser and the event loop that drives it.

    The loop never ends while the browser is there, and asyncio lets no other one run in a thread where one runs: it is
    `aside` between the tests that drive the browser, so that other tests of the process can have loops of their own.
    """

    def __init__(self) -> None:
        from playwright.sync_api import expect, sync_playwright

        expect.set_options(timeout=PATIENCE_MS)
        self._playwright = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        self.browser: Browser = self.launch()

    def launch(self, *words: str) -> Browser:
        """One more browser, for a test that needs it to be started otherwise, and closes it."""
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        return self._playwright.chromium.launch(executable_path=chromium(), args=[*as_root, *words])

    def aside(self) -> None:
        """Let other loops run in this thread."""
        asyncio._set_running_loop(None)

    def on(self) -> None:
        """Let the browser be driven again."""
        asyncio._set_running_loop(self._loop)

    def close(self) -> None:
        """End the browser."""
        self.on()
        self.browser.close()
        self._playwright.stop()
        self.aside()


class Pages:
    """Opens pages, each in a browser profile of its own, and hears what goes wrong in them."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.errors: list[str] = []

    def open(
        self, address: str = BLANK, *, width: int = 1440, height: int = 900, dark: bool = False, still: bool = True
    ) -> Page:
        """A page of this size and theme; `still` asks for no motion."""
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        return self.another(context, address)

    def another(self, context: BrowserContext, address: str) -> Page:
        """One more page of a profile: a second tab."""
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._hear(message.text) if message.type == "error" else None)
        page.goto(address)
        return page

    def close(self) -> None:
        """Close all of them."""
        for context in self._contexts:
            context.close()

    def _hear(self, text: str) -> None:
        if not any(sign in text for sign in _OF_THE_NETWORK):
            self.errors.append(text)


def caught_up(page: Page, seq: int) -> None:
    """Wait until a page has applied the events up to a place in the stream, and drawn them."""
    page.wait_for_function("seq => globalThis.milepost?.state.seq >= seq", arg=seq)
    drawn(page)


def drawn(page: Page) -> None:
    """Wait until what a page knows by now is drawn."""
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def copied(page: Page, text: str) -> None:
    """Wait until the clipboard, which a copy reaches later and which all pages share, has a text."""
    page.wait_for_function("async text => await navigator.clipboard.readText() === text", arg=text)


# What the person is told passes after a while, so that it is written down.
_HEAR = """() => {
  const place = document.querySelector('.toast');
  globalThis.told = [];
  const hear = () => told.push(place.textContent);
  new MutationObserver(hear).observe(place, { childList: true, characterData: true, subtree: true });
}"""


def listen(page: Page) -> None:
    """Write down from now on what the person is told for a moment."""
    page.evaluate(_HEAR)


def was_told(page: Page, words: str) -> None:
    """Wait until the person was told something with these words, since the test listens."""
    page.wait_for_function("words => told.some(text => text.includes(words))", arg=words)


@contextmanager
def pages_of(browser: Browser) -> Iterator[Pages]:
    """Pages that are closed at the end, where an error that one of them logged fails the test.

    A test that provokes errors clears `errors` itself.
    """
    pages = Pages(browser)
    try:
        yield pages
        assert pages.errors == [], "the page logged errors"
    finally:
        pages.close()
