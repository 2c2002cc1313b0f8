"""Code and proof: why it was refused first, never another task's changes, nothing withheld."""

from __future__ import annotations

import re
import threading
from typing import Any

from playwright.sync_api import Page, expect

from tests.web import axe
from tests.web.chromium import Pages, copied, drawn
from tests.web.proofs import attempt_of, file, proof
from tests.web.scene import REFUSED, at_work, began, check, event, finished, over
from tests.web.stage import PATIENCE_S, Stage

HOSTILE = "a<script>alert(1)</script>\u202egnp.exe\nb"


def top(page: Page, selector: str) -> float:
    found = page.locator(selector).first.bounding_box()
    assert found is not None
    return found["y"]


def test_a_refused_attempt_says_why_first_then_the_checks_then_the_changes(pages: Pages, scene: Stage) -> None:
    page = pages.open(f"{scene.address}#task=2.1", height=1600)
    code = page.locator(".p-code")

    expect(code.locator(".why .lead")).to_have_text(f"Why it was refused. {REFUSED}")
    expect(code.locator(".why .log")).to_contain_text('-    assert main(["soon"]) == 2')
    expect(code.locator(".sentence")).to_contain_text("failed, attempt 2 of 2 · tool · 9.0 s")
    expect(code.locator("tr", has_text="changed tests")).to_contain_text("2 assertions removed")
    expect(code.locator("tr", has_text="tests").first).to_contain_text("0 of 4")
    expect(code.locator(".file[data-path='tests/test_cli.py'] .row.removed")).to_contain_text('print("soon")')
    assert top(page, ".why") < top(page, ".checks") < top(page, ".diffs")

    code.get_by_role("button", name="log of changed tests").click()
    expect(code.get_by_label("Log of changed tests")).to_contain_text("the whole log of changed tests\n1 failed")


def test_a_refused_task_is_tried_again_once_the_run_is_over_and_a_refusal_stays_until_things_stand_otherwise(
    pages: Pages, scene: Stage
) -> None:
    scene.task = {"text": "- [ ] 2.1 Command line\n", "digest": "d1", "line": 14}
    page = pages.open(f"{scene.address}#task=2.1", height=1600)
    code = page.locator(".p-code")
    retry = code.get_by_role("button", name="Retry 2.1", exact=True)
    expect(retry).to_be_disabled()
    expect(code.locator(".again")).to_contain_text("when the run is over")

    scene.tell(finished())
    refusal = {"error": "ROADMAP.md has changes", "advice": "git add ROADMAP.md && git commit -m Roadmap, then again"}
    scene.refusals["/api/steer"] = (409, refusal)
    retry.click()
    code.get_by_label("Copy git add ROADMAP.md && git commit -m Roadmap", exact=True).click()
    copied(page, "git add ROADMAP.md && git commit -m Roadmap")
    expect(code.get_by_role("alert")).to_have_text(re.compile(r"^Not done at \d\d:\d\d: ROADMAP.md has changes"))
    code.get_by_label("Try again").select_option("aider")
    expect(code.get_by_role("alert")).to_have_count(0)
    retry.click()
    expect(code.get_by_role("alert")).to_be_visible()
    page.keyboard.press(".")
    page.get_by_role("menuitem", name="Edit the task").click()
    page.get_by_label("Its lines, as Markdown").fill("- [ ] 2.1 Another\n")
    page.get_by_role("button", name="Save and commit").click()
    expect(code.get_by_role("alert")).to_have_count(0)
    scene.refusals.clear()
    code.get_by_label("Try again").select_option("codex")
    code.get_by_role("button", name="command", exact=True).click()
    copied(page, "milepost retry 2.1 --agent codex")
    retry.click()
    expect(code.get_by_role("button", name="Asked")).to_be_disabled()
    expect(code.locator(".notice")).to_have_count(0)
    asked = [body["text"] for path, body in scene.changes if path == "/api/steer"]
    assert asked == ["", "aider", "codex"]


def test_an_answer_that_comes_late_is_never_shown_under_another_task(pages: Pages, scene: Stage) -> None:
    late, answered = threading.Event(), threading.Event()

    def answer(words: dict[str, str]) -> Any:
        if words["task"] == "1.1":
            late.wait(PATIENCE_S)
            answered.set()
        return attempt_of(words)

    scene.answers["/api/attempt"] = answer
    page = pages.open(f"{scene.address}#task=1.1")
    expect(page.get_by_text("Fetching its proof and its changes …")).to_be_visible()
    page.evaluate("location.hash = 'task=2.1'")
    expect(page.locator(".file")).to_have_count(2)
    with page.expect_response(lambda response: "task=1.1" in response.url):
        late.set()
    assert answered.wait(PATIENCE_S)

    drawn(page)
    expect(page.locator(".p-code .sentence")).to_contain_text("failed")
    assert page.locator(".file").evaluate_all("files => files.map(file => file.dataset.path)") == [
        "src/dur/cli.py",
        "tests/test_cli.py",
    ]
    page.evaluate("location.hash = 'task=1.1'")
    expect(page.locator(".file[data-path='package-lock.json']")).to_be_visible()
    assert [words["task"] for path, words in scene.asked if path == "/api/attempt"] == ["1.1", "2.1"]
    assert all(words["run"] == "7f3a" for path, words in scene.asked if path == "/api/attempt")


def test_an_attempt_in_work_shows_its_checks_as_they_come_and_its_proof_once_it_is_over(
    pages: Pages, scene: Stage
) -> None:
    page = pages.open(f"{scene.address}#task=4.1")
    code = page.locator(".p-code")
    expect(code.locator(".in-work")).to_contain_text("act · python -m build")

    scene.tell(at_work("4.1", 1, "verify"), check("4.1", 1, "tests", "9 passed, 1 failed", "failed"))
    expect(code.locator(".coming li")).to_contain_text("9 passed, 1 failed")
    expect(code.locator(".checks")).to_have_count(0)

    scene.tell(over("4.1", 1, "passed", "10 tests"))
    expect(code.locator(".sentence")).to_contain_text("passed, attempt 1 of 1")
    expect(code.locator(".file")).to_have_count(2)
    scene.tell(event("milepost_made", "4.1", 1, commit="beef" * 10, tree="0" * 40))
    expect(code.locator(".sentence")).to_contain_text("milepost beefbee")
    expect(code.locator(".prove")).to_contain_text("milepost verify 4.1 --replay")


def test_a_generated_file_of_5000_lines_is_folded_can_be_opened_and_stays_quick(pages: Pages, scene: Stage) -> None:
    page = pages.open(f"{scene.address}#task=1.1")
    lock = page.locator(".file[data-path='package-lock.json']")

    expect(lock).to_contain_text("5,000 lines of a generated file are folded.")
    expect(lock.locator(".row")).to_have_count(0)
    lock.get_by_role("button", name="Show them").click()
    expect(lock.get_by_text('"package-1":')).to_be_visible()
    assert lock.locator(".row").count() < 600
    page.locator(".code").evaluate("box => { box.scrollTop = box.scrollHeight }")
    expect(lock.get_by_text('"package-5000":')).to_be_in_viewport()
    assert lock.locator(".row").count() < 600

    lock.get_by_role("button", name="package-lock.json").first.click()
    expect(lock.locator(".row")).to_have_count(0)


def test_two_attempts_are_laid_beside_each_other(pages: Pages, scene: Stage) -> None:
    def answer(words: dict[str, str]) -> Any:
        return attempt_of(words) if words["attempt"] == "2" else proof(words, "failed", file("src/dur/only_here.py"))

    scene.answers["/api/attempt"] = answer
    page = pages.open(f"{scene.address}#task=2.1", height=1400)
    page.get_by_role("button", name="Compare with attempt 1").click()

    beside = page.get_by_role("region", name="Attempts 1 and 2 beside each other")
    expect(beside.locator("tr", has_text="changed tests")).to_have_text("changed testsnot run2 assertions removed")
    expect(beside.get_by_text("attempt 2 leaves src/dur/only_here.py as it was")).to_be_visible()
    left, right = (beside.locator(".side-head").nth(place).bounding_box() for place in (0, 1))
    assert left and right and left["y"] == right["y"] and left["x"] < right["x"]
    assert axe.violations(page) == []
    page.get_by_role("button", name="Stop comparing").click()
    expect(beside).to_have_count(0)


def test_without_a_task_the_run_is_told_as_a_whole(pages: Pages, scene: Stage) -> None:
    page = pages.open(scene.address)
    code = page.locator(".p-code")

    expect(code.locator(".made li")).to_have_count(2)
    expect(code.locator(".made li").first).to_contain_text(REFUSED)
    expect(code.locator(".lede").last).to_contain_text("2 added, 1 changed, 1 removed")
    code.locator(".made li", has_text="Parse durations").get_by_role("button").click()
    expect(code.locator(".sentence")).to_contain_text("passed, attempt 1 of 1")
    expect(page).to_have_url(f"{scene.address}#task=1.1")


def test_names_and_texts_of_files_are_shown_as_text(pages: Pages, stage: Stage) -> None:
    rows = [["+", None, 1, [["k", HOSTILE]]]]

    def answer(words: dict[str, str]) -> Any:
        hostile = proof(words, "failed", file(HOSTILE, rows, was=HOSTILE, note=HOSTILE), reason=HOSTILE)
        hostile["checks"] = [
            {**hostile["checks"][0], "name": HOSTILE, "asked": HOSTILE, "failed": True, "details": [HOSTILE]}
        ]
        return hostile

    events = [began("1.1"), at_work("1.1", 1, title=HOSTILE), over("1.1", 1, "failed", HOSTILE, HOSTILE)]
    stage.answers["/api/attempt"] = answer
    stage.tell(*events)
    page = pages.open(f"{stage.address}#task=1.1", height=1400)
    expect(page.locator(".file .row code")).to_have_text("a<script>alert(1)</script>U+202Egnp.exe␊b")

    shown = page.locator(".p-code").evaluate("panel => panel.textContent")
    assert "\u202e" not in shown
    assert page.locator(".p-code script").count() == 0
