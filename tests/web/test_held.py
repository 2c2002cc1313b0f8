"""Held work on the page: a status of its own, answered by keyboard after its run, both expectations side by side."""

from __future__ import annotations

from typing import Any

from tests.web.chromium import Pages
from tests.web.modules import Modules
from tests.web.proofs import file, proof, question
from tests.web.scene import at_work, began, ended, event, finished, over, passes, plan
from tests.web.stage import Event, Stage

DIGEST = "ab" * 32
GATE = "2.1/1/held"
PATH = f"/api/gates/{GATE}"
REASON = "1 expectation changed"
SHOWN = f"""test_price expects another price (tests/test_price.py:7)
  was: price == 2
  now: price == 3

commit {"c" * 40}
--- a/price.py
+++ b/price.py
@@ -1 +1 @@
-PRICE = 2
+PRICE = 3
"""
QUESTION = {
    "kind": "changed test", "text": "test_price expects another price", "path": "tests/test_price.py", "line": 7,
    "before": "price == 2", "after": "price == 3",
}  # fmt: skip


def held_gate() -> Event:
    asked = f"{REASON}\nIs the work on 2.1 “Command line `dur`” right?"
    return event("gate_opened", "2.1", gate=GATE, kind="held", question=asked, shown=SHOWN, digest=DIGEST)


def run_over() -> Event:
    end = dict(finished())
    tasks = [{**task, "verdict": "held", "reason": REASON} if task["id"] == "2.1" else task for task in end["tasks"]]
    return {**end, "tasks": tasks}


def held_run(stage: Stage) -> None:
    """One task passed, one is held, and the run is over."""
    stage.plan = plan()
    stage.facts |= {"tasks": ["1.1", "2.1"], "finished_at": stage.now}

    def story(words: dict[str, str]) -> dict[str, Any]:
        checks = [question("tests", "pytest -q", "0 of 4", "4 of 4"), question("changed tests", REASON, "–", "held")]
        checks[1]["held"] = True
        basis = ["taken with this file as it was at the base: tests/test_price.py"]
        more = {"reason": REASON, "checks": checks, "questions": [QUESTION], "basis": basis, "decided": ""}
        return proof(words, "held", file("src/dur/cli.py"), **more)

    stage.answers["/api/attempt"] = story
    stage.answers["/api/gates"] = lambda _: {"waiting": [GATE], "last": 100}
    stage.tell(began("1.1", "2.1"), *passes("1.1"), at_work("2.1"), over("2.1", 1, "held", REASON), held_gate())
    stage.tell(ended("2.1", "held", REASON), run_over())
    stage.stop()


def test_held_work_is_approved_by_keyboard_after_its_run(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    held_run(stage)
    page = pages.open(stage.address)
    expect(page.locator(".a-asking")).to_contain_text("1waits for you · 1 held")
    expect(page.locator(".a-passed")).to_contain_text("1of 2 done, with proof")
    row = page.locator("[data-task='2.1']")
    expect(row.get_by_role("img", name="held", exact=True)).to_be_visible()
    expect(row).to_contain_text(f"held: {REASON}")
    expect(page.get_by_label("What is next")).to_contain_text("milepost gates")

    page.keyboard.press("w")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_be_focused()
    expect(dialog.locator(".was dd")).to_have_text("price == 2")
    expect(dialog.locator(".is dd")).to_have_text("price == 3")
    expect(dialog.locator(".shown .plus")).to_have_text("+PRICE = 3\n")
    page.keyboard.press("Enter")
    assert stage.changes == [], "a stray Enter approves nothing"
    approve = dialog.get_by_role("button", name="Approve", exact=True)
    for _ in range(10):
        page.keyboard.press("Tab")
        if approve.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert stage.changes == [(PATH, {"answer": "approve", "text": "", "digest": DIGEST})]

    commit = "c" * 40
    stage.tell(event("milepost_made", "2.1", 1, commit=commit, tree=commit))
    stage.tell(ended("2.1", "passed", "held, approved by Ada", commit=commit))
    expect(row.get_by_role("img", name="passed", exact=True)).to_be_visible()
    expect(page.locator(".a-passed")).to_contain_text("2of 2 done, with proof")


def test_the_panel_shows_the_question_and_what_the_verdict_rests_on_and_taking_it_is_confirmed(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    held_run(stage)
    page = pages.open(stage.address)
    page.locator("[data-task='2.1']").click()
    why = page.get_by_label("Why it is held")
    expect(why).to_contain_text(f"It is held for you. {REASON}")
    left, right = why.locator(".was").bounding_box(), why.locator(".is").bounding_box()
    assert left and right and left["y"] == right["y"] and left["x"] < right["x"], "side by side"
    expect(page.get_by_label("What the verdict rests on")).to_contain_text("as it was at the base")

    why.get_by_role("button", name="Look and answer").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Send back").click()
    expect(dialog.get_by_role("button", name="Send back")).to_be_disabled()
    dialog.get_by_role("button", name="Back", exact=True).click()
    dialog.get_by_role("button", name="Accept").click()
    assert stage.changes == [], "it is asked once more before"
    expect(dialog).to_contain_text("its milepost says that you accepted it, and that nothing proves it")
    dialog.get_by_label("Why (may be left empty)").fill("I read it")
    dialog.get_by_role("button", name="Accept, not verified").click()
    expect(dialog).to_have_count(0)
    assert stage.changes == [(PATH, {"answer": "accept", "text": "I read it", "digest": DIGEST})]

    commit = "c" * 40
    stage.tell(event("milepost_made", "2.1", 1, commit=commit, tree=commit))
    stage.tell(ended("2.1", "held", "accepted by Ada on the page, not verified", commit=commit))
    row = page.locator("[data-task='2.1']")
    expect(row.get_by_role("img", name="accepted, not verified")).to_be_visible()
    expect(page.locator(".a-passed")).to_contain_text("1of 2 done, with proof1 accepted, not verified")


def test_what_could_not_be_verified_can_be_accepted_and_not_approved(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    asked = "could not be verified: no check could say whether this is done\nTake the work on 3.3 as it is?"
    gate: dict[str, Any] = {
        "gate": "3.3/1/held",
        "kind": "held",
        "question": asked,
        "shown": f"commit {'c' * 40}\n+x\n",
    }
    stage.answers["/api/gates"] = lambda _: {"waiting": ["3.3/1/held"], "last": 100}
    stage.tell(began("3.3"), at_work("3.3"), over("3.3", 1, "unverified", "no check"))
    stage.tell(event("gate_opened", "3.3", digest=DIGEST, **gate))
    page = pages.open(stage.address)
    page.locator(".a-asking").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Accept")).to_be_visible()
    expect(dialog.get_by_role("button", name="Approve")).to_have_count(0)


def test_what_is_shown_of_held_work_is_taken_apart(modules: Modules) -> None:
    parts = modules.call("wording.js", "({heldParts}, shown) => heldParts(shown)", SHOWN)
    assert parts["questions"] == [
        {
            "text": "test_price expects another price (tests/test_price.py:7)",
            "place": "",
            "before": "price == 2",
            "after": "price == 3",
        }
    ]
    assert parts["change"].startswith("commit cccc") and parts["change"].endswith("+PRICE = 3")
    plain = modules.call("wording.js", "({heldParts}, shown) => heldParts(shown)", "something else\n+ x")
    assert plain == {"questions": [], "change": "something else\n+ x"}
