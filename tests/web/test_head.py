"""The header answers in five seconds what is done with proof, what failed and why, what waits, and what it cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.web.chromium import Pages
from tests.web.scene import finished, lunch
from tests.web.stage import RUN, Stage

if TYPE_CHECKING:
    from playwright.sync_api import Page

MARK = json.dumps([{"run": RUN, "at": 1, "seq": 5, "cost": 0.04}])
LEFT = f"if (!localStorage.length) localStorage.setItem('milepost.left', '{MARK}')"


def test_the_four_answers_are_there_at_once_and_lead_to_the_evidence(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)

    answers = page.locator(".answer")
    expect(answers).to_have_text(
        [
            "4of 12 done, with proof4.1 in work · 4 to come",
            "1failed · 1 unverified2.1 tests/test_cli.py was weakened (2 assertions removed): not accepted",
            "1waits for you3.1 Install a package from the network",
            "$0.14of $5.00forecast $0.20–0.90",
        ]
    )
    expect(page.locator(".bar")).to_contain_text("running")
    expect(page.locator(".held")).to_contain_text("sandboxed · approve risky · tool · 2 at a time")
    expect(page).to_have_title(f"(1) run {RUN} · Milepost")

    answers.nth(1).click()
    expect(page.locator(".task[aria-current]")).to_have_attribute("data-task", "2.1")
    assert page.url.endswith("#task=2.1")
    assert page.evaluate("document.activeElement.id") == "panel-code"
    answers.nth(2).click()
    expect(page.get_by_role("dialog")).to_contain_text("pip install starlette==1.10.0")


def test_nothing_is_claimed_of_a_run_that_cannot_be_seen_or_that_nobody_works_on(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address, still=False)
    expect(page.locator(".standing")).to_have_text("running")
    assert turning(page) > 0

    stage.stop()
    expect(page.locator(".standing")).to_have_text("stopped, can go on")
    expect(page.locator(".next")).to_contain_text("milepost resume")
    expect(page.locator(".a-passed")).to_contain_text("nobody is at work")
    assert turning(page) == 0
    page.get_by_role("button", name="Resume the run").click()
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    assert stage.changes == [("/api/steer", {"verb": "resume", "task": "", "text": ""})]

    stage.break_off()
    expect(page.locator(".standing")).to_have_text("stopped when last seen")
    expect(page.locator(".link")).to_contain_text("lost the server")
    expect(page.get_by_role("button", name="Resume the run")).to_have_count(0)


def test_a_run_is_paused_and_stopped_from_the_header_and_stopping_at_once_is_asked_twice(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)

    page.get_by_role("button", name="Pause the run").click()
    stage.tell({"event": "steered", "run": RUN, "task": "", "what": "paused: nothing new begins"})
    page.get_by_role("button", name="Go on with the run").click()
    stop = page.get_by_role("button", name="Stop the run")
    stop.press("Enter")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("menuitem", name="Stop now")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Stop the run now?")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop now").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    expect(page.locator(".toast")).to_have_text("done")
    assert [(body["verb"], body["text"]) for _, body in stage.changes] == [
        ("pause", ""),
        ("go_on", ""),
        ("stop", "now"),
    ]


def test_what_happened_since_one_left_is_told_until_it_was_seen(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open()
    page.add_init_script(LEFT)
    page.goto(stage.address)

    since = page.locator(".since")
    expect(since).to_contain_text("4 passed (1.4, 1.1, 1.2, 1.3)")
    expect(since).to_contain_text("1 failed (2.1)")
    expect(since).to_contain_text("$0.10 spent")
    page.reload()
    page.get_by_role("button", name="Seen").click()
    expect(since).to_have_count(0)
    page.reload()
    expect(page.locator(".answer").first).to_contain_text("4of 12")
    expect(since).to_have_count(0)


def test_at_the_end_it_says_what_is_next_and_nothing_waits_any_more(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    expect(page.locator(".a-asking")).to_be_visible()

    stage.tell(finished(by_hand=f"git merge milepost/{RUN}"))
    expect(page.locator(".standing")).to_have_text("finished")
    expect(page.locator(".next code")).to_have_text([f"git merge milepost/{RUN}", "milepost proof 2.1"])
    page.get_by_role("button", name="Copy git merge").click()
    expect(page.locator(".toast")).to_contain_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"git merge milepost/{RUN}"
    expect(page.locator(".a-asking")).to_have_count(0)
    expect(page.locator("#announced")).to_have_text("the run is finished")


def turning(page: Page) -> int:
    """How many marks turn on the page."""
    count: int = page.evaluate("document.getAnimations().filter(one => one.animationName === 'turn').length")
    return count
