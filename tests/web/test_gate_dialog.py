"""A gate is looked at and answered by keyboard alone, and nothing is approved by accident."""

from __future__ import annotations

import re

from tests.web.chromium import Pages
from tests.web.scene import COMMAND, DIGEST, GATE, gate, lunch
from tests.web.stage import Stage

PATH = f"/api/gates/{GATE}"


def test_a_gate_is_approved_by_keyboard_alone_and_a_stray_enter_approves_nothing(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    expect(page.locator(".a-asking")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.keyboard.press("w")
    dialog = page.get_by_role("dialog", name="Install a package from the network")
    expect(dialog.get_by_role("heading")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    expect(dialog.locator(".shown")).to_have_text(COMMAND)
    expect(dialog).to_contain_text("If you say nothe command is not run: the agent gets your text")
    assert stage.changes == []

    approve = dialog.get_by_role("button", name="Approve once")
    for _ in range(10):
        page.keyboard.press("Tab")
        if approve.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert stage.changes == [(PATH, {"answer": "approve", "text": "", "digest": DIGEST})]


def test_what_is_shown_stays_until_the_person_looks_at_what_waits_now(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    page.locator(".a-asking").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Approve once")).to_be_visible()

    stage.tell(gate(shown="pip install \u202esomething-else", digest="f" * 64))
    expect(dialog.get_by_role("alert")).to_have_text("Another question waits for you now.")
    expect(dialog.locator(".shown")).to_have_text(COMMAND)
    expect(dialog.get_by_role("button", name="Approve once")).to_have_count(0)
    dialog.get_by_role("button", name="Show what waits now").click()
    expect(dialog.locator(".shown")).to_have_text("pip install U+202Esomething-else")

    stage.refusals[PATH] = (409, {"error": "what 3.1 is about is another one now", "advice": "look again"})
    dialog.get_by_role("button", name="Approve once").click()
    refused = re.compile(r"^Not done at \d\d:\d\d: what 3\.1 is about is another one now · look again$")
    expect(dialog.get_by_role("alert")).to_have_text(refused)
    assert stage.changes == [(PATH, {"answer": "approve", "text": "", "digest": "f" * 64})]

    stage.tell({"event": "gate_answered", "run": "7f3a", "task": "3.1", "gate": GATE, "answer": "skip", "text": ""})
    expect(dialog).to_contain_text("This was answered: skip.")


def test_a_rejection_needs_words_and_a_delegation_an_agent(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    page.locator(".a-asking").click()
    dialog = page.get_by_role("dialog")

    dialog.get_by_role("button", name="Reject").click()
    expect(dialog.get_by_label("Why not")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(dialog.get_by_role("button", name="Reject")).to_be_disabled()
    dialog.get_by_role("button", name="Back").click()
    dialog.get_by_role("button", name="Delegate").click()
    expect(dialog.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("codex")
    page.keyboard.press("Control+Enter")
    expect(dialog).to_have_count(0)
    assert stage.changes == [(PATH, {"answer": "delegate", "text": "codex", "digest": DIGEST})]


def test_a_new_gate_is_told_and_counted_but_opens_nothing(stage: Stage, pages: Pages) -> None:
    from playwright.sync_api import expect

    lunch(stage)
    page = pages.open(stage.address)
    expect(page.locator(".a-asking")).to_be_visible()

    stage.tell({**gate(), "gate": "4.1/1/call/1", "task": "4.1", "question": "Delete a folder"})
    expect(page.locator("#announced")).to_have_text("4.1 waits for you: Delete a folder")
    expect(page.locator(".a-asking")).to_contain_text("2wait for you")
    expect(page).to_have_title("(2) run 7f3a · Milepost")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("w")
    page.get_by_role("button", name="Look at 4.1").click()
    expect(page.get_by_role("heading", name="Delete a folder")).to_be_focused()
