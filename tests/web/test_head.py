"""The header answers in five seconds what is done with proof, what failed and why, what waits, and what it cost."""

from __future__ import annotations

import json

from tests.web.chromium import Pages, copied, listen, was_told
from tests.web.scene import GATE, event, finished, lunch, passes, plan
from tests.web.stage import RUN, Stage

MARK = json.dumps([{"run": RUN, "at": 1, "seq": 5, "cost": 0.04}])
HIDE = """Object.defineProperty(document, 'hidden', {get: () => true});
document.dispatchEvent(new Event('visibilitychange'))"""
TURNING = "document.getAnimations().filter(one => one.animationName === 'turn').length"  # marks that turn
LEFT = f"if (!localStorage.length) localStorage.setItem('milepost.left', '{MARK}')"


def test_the_four_answers_are_there_at_once_and_lead_to_the_evidence(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)

    answers = page.locator(".answer")
    expect(answers).to_have_text(
        [
            "4of 12 done, with proof4.1 in progress · 4 to come",
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
    expect(page).to_have_url(f"{stage.address}#task=2.1")
    expect(page.locator("#panel-code")).to_be_focused()
    answers.nth(2).click()
    expect(page.get_by_role("dialog")).to_contain_text("pip install starlette==1.10.0")


def test_nothing_is_claimed_of_a_run_that_cannot_be_seen_or_that_nobody_works_on(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address, still=False)
    expect(page.locator(".standing")).to_have_text("running")
    page.wait_for_function(f"() => {TURNING} > 0")

    stage.stop()
    expect(page.locator(".standing")).to_have_text("stopped, can be resumed")
    expect(page.locator(".next")).to_contain_text("milepost resume")
    expect(page.locator(".a-passed")).to_contain_text("not running")
    page.wait_for_function(f"() => {TURNING} === 0")
    listen(page)
    page.get_by_role("button", name="Resume the run").click()
    was_told(page, "done")
    assert stage.asked_for(1) == [("/api/steer", {"verb": "resume", "task": "", "text": ""})]

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

    page.get_by_role("button", name="Pause the run").press("Enter")
    stage.tell({"event": "steered", "run": RUN, "task": "", "what": "paused: nothing new begins"})
    go_on = page.get_by_role("button", name="Continue the run")
    expect(go_on).to_be_focused()
    expect(page.locator(".standing")).to_have_text("paused, 1 in progress")
    go_on.press("Enter")
    stop = page.get_by_role("button", name="Stop the run")
    stop.press("Enter")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("menuitem", name="Stop now")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Stop the run now?")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop now").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(stop).to_be_focused()
    expect(page.locator(".standing")).to_have_text("stopping")

    stage.asked_for(3)
    stage.stop()
    expect(page.locator(".standing")).to_have_text("paused, can be resumed")
    expect(page.get_by_role("button", name="Resume the run")).to_be_focused()
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
    stage.tell(*passes("4.1"))
    expect(page.locator(".answer").first).to_contain_text("5of 12")
    expect(since).to_contain_text("4 passed (1.4, 1.1, 1.2, 1.3)")
    page.reload()
    page.get_by_role("button", name="Seen").click()
    expect(since).to_have_count(0)
    page.reload()
    expect(page.locator(".answer").first).to_contain_text("5of 12")
    expect(since).to_have_count(0)


def test_at_the_end_it_says_what_is_next_and_nothing_waits_any_more(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    expect(page.locator(".a-asking")).to_be_visible()

    stage.tell(finished(by_hand=f"git merge milepost/{RUN}"))
    expect(page.locator(".standing.s-finished")).to_have_text("finished")
    expect(page.locator(".answer").first).to_have_text("4of 12 done, with proof8 not done: 2.1, 3.3, 2.2 and 5 more")
    expect(page.locator(".next code")).to_have_text([f"git merge milepost/{RUN}", "milepost proof 2.1"])
    listen(page)
    page.get_by_role("button", name="Copy git merge").click()
    was_told(page, "copied")
    copied(page, f"git merge milepost/{RUN}")
    expect(page.locator(".a-asking")).to_have_count(0)
    expect(page.locator("#announced")).to_have_text("the run is finished")


def test_another_run_in_the_address_is_shown_and_what_is_asked_is_about_the_run_that_is(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(f"{stage.address}#panel=bogus")
    expect(page.locator(".answer").first).to_contain_text("4of 12")
    expect(page).to_have_url(stage.address)

    with page.expect_request(lambda asked: "/api/stream" in asked.url and "run=beef" in asked.url):
        page.evaluate("location.hash = 'run=beef&task=2.1&panel=code'")
    expect(page.locator(".task[aria-current]")).to_have_attribute("data-task", "2.1")
    expect(page).to_have_url(f"{stage.address}#run=beef&task=2.1")
    with page.expect_request("**/api/steer?run=7f3a"):
        page.get_by_role("button", name="Pause the run").click()
    page.keyboard.press(".")
    page.get_by_role("menuitem", name="Copy a link").click()
    copied(page, f"{stage.address}#run=7f3a&task=2.1")


def test_the_title_of_a_page_that_nobody_sees_counts_what_still_waits(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open()
    page.clock.install()
    page.goto(stage.address)
    expect(page).to_have_title(f"(1) run {RUN} · Milepost")

    stage.answers["/api/summary"] = lambda _: {"waiting": 0}
    page.evaluate(HIDE)
    page.clock.run_for(20_000)
    expect(page).to_have_title(f"run {RUN} · Milepost")


def test_before_the_first_run_it_says_what_is_planned_and_what_to_type(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    stage.plan = plan()
    stage.answers["/api/runs"] = lambda _: {"runs": [], "now": stage.now}
    page = pages.open(stage.address)

    expect(page.locator(".answer").first).to_have_text("12tasks plannednothing has started")
    expect(page.locator(".next code")).to_have_text(["milepost plan", "milepost run"])
    expect(page.locator("h1")).to_have_text("dur")


def test_the_focus_stays_near_to_what_is_gone_and_all_that_is_left_may_wait_for_a_person(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    stage.tell(*passes("4.1"))
    page = pages.open(f"{stage.address}#task=2.1")
    expect(page.locator(".standing")).to_have_text("waits for you")
    stage.stop()
    expect(page.locator(".standing")).to_have_text("waits for you, not running")

    expect(page.get_by_role("button", name="Actions for 2.1")).to_be_visible()
    page.keyboard.press(".")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Actions for 2.1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator('[data-task="2.1"]')).to_be_focused()

    page.locator(".a-asking").press("Enter")
    page.get_by_role("button", name="Approve once").press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    stage.tell(event("gate_answered", "3.1", gate=GATE, answer="approve", text=""))
    expect(page.locator(".a-asking")).to_have_count(0)
    expect(page.locator(".answer").first).to_be_focused()


def test_a_wait_for_a_service_is_counted_down_until_its_task_goes_on(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    stage.tell(event("service_waits", task="4.1", attempt=1, what="usage limit", until=4e9, stated=True))
    page = pages.open(stage.address)
    expect(page.locator(".a-passed")).to_contain_text("4.1 waits for its service: ")
    expect(page.locator(".a-passed")).to_contain_text("left · 4 to come")
    stage.tell(event("stage_started", task="4.1", title="T", attempt=1, stage="act", agent="tool"))
    expect(page.locator(".a-passed")).to_contain_text("4.1 in progress · 4 to come")
