"""The roadmap: how every task stands by shape and word, what can be done with it, also with hundreds of them."""

from __future__ import annotations

import threading
from typing import Any

from tests.web.chromium import Pages
from tests.web.scene import at_work, began, finished, lunch, planned
from tests.web.stage import PATIENCE_S, Stage

WATCH = """() => {
  globalThis.redrawn = new Set();
  new MutationObserver(all => all.forEach(one => redrawn.add(
    (one.target.closest ? one.target : one.target.parentElement).closest('.task')?.dataset.task)))
    .observe(document.querySelector('.tasks'), {subtree: true, childList: true, characterData: true, attributes: true});
}"""


def test_each_task_says_by_word_how_it_stands_and_in_a_line_why(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    stage.plan["tasks"][-1]["done"] = True
    page = pages.open(stage.address)

    def row(task: str) -> list[str]:
        words: list[str] = page.locator(f'[data-task="{task}"]').evaluate(
            "row => [row.querySelector('.mark').ariaLabel, row.querySelector('.task-why').textContent]"
        )
        return words

    expect(page.locator(".group h3")).to_have_text(
        ["1 Core4 of 4", "2 Command line0 of 3", "3 Web0 of 3", "4 Ship1 of 2"]
    )
    assert row("1.1") == ["passed", "14 tests · 9.0 s · $0.04 · 11a81b7"]
    assert row("2.1")[0] == "failed"
    assert row("2.2") == ["waits", "waits for 2.1"]
    assert row("3.1") == ["waits for you", "waits for you"]
    assert row("3.3")[0] == "unverified"
    assert row("4.1")[0] == "in progress"
    assert row("4.1")[1].startswith("act · run python -m build")
    assert row("4.2") == ["done before", "done before, not by this run"]
    expect(page.locator(".findings")).to_contain_text("add a Verify line")

    page.get_by_label("Show", exact=True).select_option("to look at")
    expect(page.locator(".task-id")).to_have_text(["2.1", "3.1", "3.3"])
    page.get_by_label("Show", exact=True).select_option("all")
    page.get_by_label("Group", exact=True).select_option("by wave")
    expect(page.locator(".group h3").first).to_have_text("Wave 12 of 3")


def test_tasks_are_drawn_once_it_is_known_where_they_stand_in_the_plan(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    asked, tell, late = threading.Event(), stage.answers["/api/plan"], threading.Event()

    def answer(words: dict[str, str]) -> Any:
        asked.set()
        return tell(words) if late.wait(PATIENCE_S) else None

    stage.answers["/api/plan"] = answer
    page = pages.open(f"{stage.address}#task=2.1")
    expect(page.locator(".answer").first).to_contain_text("4of 12")
    assert asked.wait(PATIENCE_S)
    expect(page.locator(".tasks")).to_have_text("Reading the roadmap …")
    late.set()
    expect(page.locator(".group h3")).to_have_count(4)


def test_arrow_keys_walk_through_the_tasks_and_tab_stops_once(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    expect(page.locator(".task")).to_have_count(12)

    page.keyboard.press("1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator('[data-task="1.3"]')).to_be_focused()
    expect(page.locator('[data-task="1.3"]')).to_have_attribute("aria-current", "true")
    page.keyboard.press("j")
    expect(page.locator('.task[tabindex="0"]')).to_have_attribute("data-task", "1.4")
    expect(page.locator('.task[tabindex="0"]')).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".task[aria-current]")).to_have_count(0)


def test_a_task_is_edited_with_the_digest_of_what_was_shown_and_a_refusal_keeps_the_words(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    stage.refusals["/api/task"] = (409, {"error": "2.1 was changed meanwhile", "advice": "look at it again"})
    page = pages.open(f"{stage.address}#task=2.1")

    expect(page.get_by_role("button", name="Actions for 2.1")).to_be_visible()
    page.keyboard.press(".")
    page.get_by_role("menuitem", name="Edit the task").click()
    box = page.get_by_label("Its lines, as Markdown")
    expect(box).to_have_value("- [ ] 2.1 Command line `dur`\n  - Verify: pytest\n")
    expect(page.get_by_role("dialog")).to_contain_text(
        "This run is finished with it: the edit applies to the next run."
    )
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Save and commit")).to_have_count(0)
    box.fill("- [ ] 2.1 Another\n")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("2.1 was changed meanwhile · look at it again")
    expect(box).to_have_value("- [ ] 2.1 Another\n")

    stage.refusals.clear()
    box.press("Control+Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Actions for 2.1")).to_be_focused()
    body = {"task": "2.1", "text": "- [ ] 2.1 Another\n", "digest": "d1", "commit": False}
    assert stage.changes == [("/api/task", body), ("/api/task", body)]

    stage.tell(finished())
    expect(page.get_by_role("button", name="Retry 2.1")).to_be_enabled()
    page.keyboard.press(".")
    page.get_by_role("menuitem", name="Edit the task").click()
    expect(page.get_by_role("button", name="Save and commit")).to_be_disabled()
    box.fill("- [ ] 2.1 Third\n")
    page.get_by_role("button", name="Save and commit").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stage.changes[2:] == [("/api/task", body | {"text": "- [ ] 2.1 Third\n", "commit": True})]


def test_a_refused_task_is_not_tried_again_while_the_run_goes_on_and_an_open_one_is_dropped(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(f"{stage.address}#task=2.1")

    page.get_by_role("button", name="Actions for 2.1").click()
    expect(page.get_by_role("menuitem", name="Copy the command milepost retry 2.1")).to_be_visible()
    expect(page.get_by_role("menuitem", name="Try again")).to_have_count(0)
    page.keyboard.press("Escape")
    page.locator('[data-task="2.2"]').click()
    page.get_by_role("button", name="Actions for 2.2").click()
    page.get_by_role("menuitem", name="Drop it").click()
    page.get_by_role("button", name="Drop it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    assert [(body["verb"], body["task"], body["text"]) for _, body in stage.asked_for(1)] == [
        ("drop", "2.2", ""),
    ]


def test_of_five_hundred_tasks_an_event_draws_only_its_own_anew(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    names = [f"{number // 25 + 1}.{number % 25 + 1}" for number in range(500)]
    stage.plan["tasks"] = [planned(name, f"Phase {name.split('.')[0]}", 1, [], f"Task {name}") for name in names]
    stage.tell(began(*names))
    page = pages.open(f"{stage.address}#task=20.25")
    expect(page.locator(".task")).to_have_count(500)
    expect(page.locator('[data-task="20.25"]')).to_be_in_viewport()

    page.evaluate(WATCH)
    stage.tell(at_work("3.4"))
    expect(page.locator('[data-task="3.4"] .mark')).to_have_attribute("aria-label", "in progress")

    assert page.evaluate("[...redrawn]") == ["3.4"]
