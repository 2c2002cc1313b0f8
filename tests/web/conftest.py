"""A browser for each process that runs tests, pages in it, and a run to look at."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.web.chromium import Driver, Pages, pages_of
from tests.web.modules import Modules, static_server
from tests.web.needs import absence, need
from tests.web.proofs import ANSWERS
from tests.web.scene import EVENTS
from tests.web.serving import Served, served
from tests.web.stage import Stage, staged
from tests.web.told import Story, new_story

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_drivers: list[Driver] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Generator[None]:
    for driver in _drivers:
        driver.on()
    yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None]:
    yield
    for driver in _drivers:
        driver.aside()


@cache
def _absence() -> str:
    return absence()


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """What drives the machine's chromium; skips where that is missing, or fails if MILEPOST_LIVE_REQUIRED has `web`."""
    need(_absence())
    started = Driver()
    _drivers.append(started)
    yield started
    _drivers.remove(started)
    started.close()


@pytest.fixture(scope="session")
def browser(driver: Driver) -> Browser:
    """The machine's chromium, one for each process that runs tests."""
    return driver.browser


@pytest.fixture
def pages(browser: Browser) -> Iterator[Pages]:
    """Opens pages that are closed at the end of the test; an error in one of them fails it."""
    with pages_of(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def modules(browser: Browser) -> Iterator[Modules]:
    """The modules of the page in a page of their own, one for all tests of a file."""
    with static_server() as address, pages_of(browser) as opened:
        yield Modules(opened.open(), address)


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A server that says what the test tells it to, about a run where nothing happened yet."""
    with staged() as served_here:
        yield served_here


@pytest.fixture
def scene(stage: Stage) -> Stage:
    """The same where much happened: a task passed, one was refused, one asks, one is in work."""
    stage.tell(*EVENTS)
    stage.answers |= ANSWERS
    return stage


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """A run that is not over, in a repository of its own: more can be told of it."""
    told = new_story(tmp_path / "home" / "durations")
    yield told
    told.close()


@pytest.fixture
def server(story: Story) -> Iterator[Served]:
    """`milepost web` on that run."""
    with served(story.folder) as started:
        yield started
