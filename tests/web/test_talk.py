"""The conversation: claims and facts, steps on demand, looking back, and a line to steer by."""

from __future__ import annotations

import sqlite3

from playwright.sync_api import Page, expect

from tests import places
from tests.web.chromium import Pages, listen, was_told
from tests.web.modules import Modules
from tests.web.scene import GATE, REFUSED, at_work, began, command, event, finished, over, said, tool
from tests.web.serving import Served
from tests.web.stage import Stage
from tests.web.told import Story

HOSTILE = "<img src=x onerror=alert(1)>`<b>`\u202egnp.exe\x07\nsecond line"


def talk(page: Page) -> Page:
    expect(page.locator(".p-talk .entry").first).to_be_visible()
    return page


def test_a_claim_is_quiet_a_fact_is_a_card_and_a_verdict_never_comes_from_what_an_agent_said(
    pages: Pages, scene: Stage
) -> None:
    page = talk(pages.open(f"{scene.address}#task=2.1"))
    claim = page.locator(".claim", has_text="The task is complete: PASSED.")
    fact = page.locator(".checked", has_text=REFUSED)

    expect(claim.locator(".who")).to_have_text("the agent says")
    expect(claim.locator(".mark")).to_have_count(0)
    expect(claim).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(fact.locator(".who")).to_contain_text("milepost checked")
    expect(fact.locator(".finding .m-failed")).to_have_count(1)
    expect(fact).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(fact.locator(".asked .m-passed")).to_have_count(2)
    expect(page.locator(".p-talk .finding .m-passed, .p-code .sentence .m-passed")).to_have_count(0)

    page.goto(f"{scene.address}#task=4.1")
    scene.tell(said("4.1", 1, "milepost checked: passed"))
    expect(page.locator(".claim", has_text="milepost checked: passed")).to_have_count(1)
    expect(page.locator(".p-talk .checked")).to_have_count(0)
    expect(page.locator(".p-code .sentence")).to_contain_text("in progress")


def test_steps_are_folded_to_the_last_one_and_show_what_they_printed_when_they_are_opened(
    pages: Pages, scene: Stage
) -> None:
    page = talk(pages.open(f"{scene.address}#task=2.1"))
    steps = page.locator(".steps", has_text="2 steps")

    expect(steps.locator("summary").first).to_contain_text("$ pytest -q tests/test_cli.py")
    expect(steps.locator(".step")).to_have_count(0)
    steps.locator("summary").first.click()
    steps.locator(".step summary", has_text="pytest").click()

    expect(steps.locator(".log")).to_contain_text("tests/test_cli.py ....\n4 passed")
    expect(steps.locator(".log .colour-2")).to_have_text("....")


def test_what_fails_before_the_change_is_told_calmly_in_the_conversation_and_the_terminal(
    pages: Pages, stage: Stage
) -> None:
    about = "before the change: failing is no trouble"
    starts, printed, ends = command("1.1", 1, "c1", "grep -q hello a.txt", ["no such file"], by="milepost", code=2)
    stage.tell(began("1.1"), at_work("1.1", 1), {**starts, "about": about}, printed, ends)
    page = talk(pages.open(f"{stage.address}#task=1.1"))
    step, line = page.locator(".p-talk .step"), page.locator(".screen .line", has_text=about)

    expect(step.locator(".about")).to_contain_text(f"exit 2 · 0.9 s · {about}")
    expect(page.locator(".p-talk .bad, .p-terminal .bad, .l-failure")).to_have_count(0)
    expect(line.locator(".sign")).to_have_text("· ")
    step.locator("summary").click()
    expect(step.locator(".log")).to_have_text("no such file")


def test_a_long_conversation_is_capped_and_nothing_moves_while_the_reader_looks_back(
    pages: Pages, stage: Stage
) -> None:
    words = [said("1.1", 1, f"sentence {number}") for number in range(400)]
    stage.tell(began("1.1"), at_work("1.1"), *words)
    page = talk(pages.open(stage.address))
    box = page.locator(".talk")
    expect(page.locator(".claim")).to_have_count(120)
    expect(page.get_by_text("sentence 399")).to_be_in_viewport()

    box.evaluate("box => { box.scrollTop = box.scrollHeight / 2 }")
    expect(page.locator(".p-talk .pill")).to_have_text("to the end")
    before = box.evaluate("box => box.scrollTop")
    stage.tell(said("1.1", 1, "sentence 400"), said("1.1", 1, "sentence 401"))
    expect(page.locator(".p-talk .pill")).to_have_text("2 new")
    assert box.evaluate("box => box.scrollTop") == before

    box.evaluate("box => { box.scrollTop = 0 }")
    first = page.locator(".claim .prose").first.inner_text()
    page.get_by_role("button", name="Show earlier").click()
    expect(page.get_by_text("sentence 100", exact=True)).to_have_count(1)
    expect(page.get_by_text("sentence 10", exact=True)).to_have_count(0)
    expect(page.get_by_text(first, exact=True)).to_be_in_viewport()

    page.locator(".p-talk .pill").click()
    expect(page.get_by_text("sentence 401")).to_be_in_viewport()
    expect(page.locator(".p-talk .pill")).to_have_count(0)


def test_what_waits_stands_above_the_composer_and_opens_only_when_it_is_asked_to(pages: Pages, scene: Stage) -> None:
    page = talk(pages.open(scene.address))
    waits = page.get_by_role("region", name="Waits for you")

    expect(waits).to_contain_text("1 waits for you: 3.1 Install a package from the network")
    expect(page.locator("dialog[open]")).to_have_count(0)
    waits.get_by_role("button", name="Look").click()
    expect(page.locator("dialog[open]")).to_contain_text("pip install starlette==1.10.0")
    page.keyboard.press("Escape")

    scene.tell(event("gate_answered", "3.1", gate=GATE, answer="reject", text="use what is there"))
    expect(waits).to_have_count(0)
    expect(page.locator(".person", has_text="use what is there")).to_contain_text("rejected")
    expect(page.locator(".gate.answered")).to_contain_text("rejected")


def test_a_note_reaches_the_run_by_enter_and_stays_written_until_it_was_taken(pages: Pages, scene: Stage) -> None:
    page = talk(pages.open(f"{scene.address}#task=4.1"))
    note = page.get_by_label("a note for the agent")
    scene.refusals["/api/steer"] = (409, {"error": "the run is busy", "advice": "try again"})

    note.fill("use the changelog's own words")
    note.press("Enter")
    expect(page.locator(".composer").get_by_role("alert")).to_contain_text("the run is busy · try again")
    expect(note).to_have_value("use the changelog's own words")

    scene.refusals.clear()
    page.evaluate("location.hash = 'task=1.1'")
    expect(note).to_have_value("")
    page.evaluate("location.hash = 'task=4.1'")
    expect(note).to_have_value("use the changelog's own words")
    note.press("Shift+Enter")
    note.press_sequentially("m and j are no keys here")
    note.press("Enter")
    expect(note).to_have_value("")
    text = "use the changelog's own words\nm and j are no keys here"
    assert scene.changes[-1] == ("/api/steer", {"verb": "note", "task": "4.1", "text": text})

    scene.tell(finished())
    expect(note).to_be_disabled()
    expect(page.locator("#note-counts")).to_have_text("The run is over: no agent will read a note.")


def test_a_note_that_is_sent_from_the_page_is_kept_for_the_run_by_the_real_server(
    pages: Pages, story: Story, server: Served
) -> None:
    with story.at_work():
        page = talk(server.enter(pages.open(), "#task=2.3"))
        note = page.get_by_label("a note for the agent")
        expect(note).to_be_enabled()
        listen(page)
        note.fill("use the parser that is there")
        note.press("Enter")
        was_told(page, "noted for 2.3")
        expect(note).to_have_value("")

    with sqlite3.connect(places.database(story.folder)) as database:
        kept = database.execute("select kind, task, value from steering where run = ?", [story.run]).fetchall()
    assert ("note", "2.3", "use the parser that is there") in kept


def test_what_others_wrote_is_shown_as_text(pages: Pages, stage: Stage) -> None:
    events = [
        began("1.1"), at_work("1.1", 1, agent=HOSTILE, title=HOSTILE), said("1.1", 1, HOSTILE),
        tool("1.1", 1, "edit", HOSTILE, HOSTILE), *command("1.1", 1, "c1", HOSTILE, [HOSTILE], 1),
        over("1.1", 1, "failed", HOSTILE, HOSTILE), event("steered", "1.1", what=HOSTILE),
        event("gate_opened", "1.1", gate="g", kind="before", question=HOSTILE, shown=HOSTILE, digest="d"),
    ]  # fmt: skip
    stage.tell(*events)
    page = talk(pages.open(f"{stage.address}#task=1.1"))
    expect(page.locator(".p-talk .gate")).to_have_count(1)
    for summary in page.locator(".p-talk summary").all():
        summary.click()
    page.locator(".p-talk .step summary").last.click()
    expect(page.locator(".claim")).to_contain_text("<img src=x onerror=alert(1)><b>U+202Egnp.exe␇\nsecond line")

    shown = page.locator(".p-talk, .p-code").evaluate_all(
        "panels => panels.map(panel => panel.textContent + panel.querySelectorAll('img, b b').length).join()"
    )
    assert not any(sign in shown for sign in "\u202e\x07\x1b")
    assert page.locator(".p-talk img, .p-code img").count() == 0


def test_attempts_are_headed_once_and_steps_of_others_do_not_join(modules: Modules) -> None:
    def entry(seq: int, kind: str, task: str = "1", attempt: int = 1, **more: object) -> dict[str, object]:
        return {"seq": seq, "at": 0, "kind": kind, "task": task, "attempt": attempt, **more}

    entries = [
        entry(1, "chosen", attempt=0), entry(2, "lessons"), entry(3, "stage", stage="act"), entry(4, "tool"),
        entry(5, "tool", task="2"), entry(6, "command"), entry(7, "stage", stage="verify"), entry(8, "command"),
    ]  # fmt: skip
    fold = """(folding, [talk, task]) =>
        folding.fold(talk, task, {most: 120}).rows.map(row => row.kind + (row.entries?.length ?? row.first.seq))"""

    assert modules.call("folding.js", fold, [entries, "1"]) == ["chosen1", "lane3", "lessons1", "steps3"]
    assert modules.call("folding.js", fold, [entries, ""]) == [
        "lane1", "chosen1", "lane3", "lessons1", "steps1", "lane5", "steps1", "lane6", "steps2",
    ]  # fmt: skip
