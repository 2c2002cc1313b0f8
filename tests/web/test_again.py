"""A task that was refused is written anew, committed and tried again in the page, and seen through to its end."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.conftest import make_machine
from tests.web.chromium import Pages
from tests.web.serving import served

WRONG = "- [ ] 1.1 One\n  - write a.txt one\n  - Verify: grep -q two a.txt\n"


def test_a_task_with_a_wrong_check_is_edited_committed_and_tried_again_to_its_milepost(
    pages: Pages, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    machine = make_machine(tmp_path)
    machine.write("milepost.toml", "[limits]\nattempts = 1\n")
    machine.roadmap(WRONG)
    assert machine.run().code == 1
    with served(machine.repo) as server:
        page = pages.open(server.address)
        expect(page.locator(".a-failed")).to_contain_text("1failed")
        page.locator('[data-task="1.1"]').click()
        expect(page.get_by_role("button", name="Retry 1.1", exact=True)).to_be_enabled()
        page.keyboard.press(".")
        page.get_by_role("menuitem", name="Edit the task").click()
        box = page.get_by_label("Its lines, as Markdown")
        expect(box).to_have_value(WRONG.rstrip("\n"))
        box.fill(WRONG.replace("two", "one"))
        page.get_by_role("button", name="Save and commit").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="Retry 1.1", exact=True).click()
        expect(page.locator(".a-passed")).to_contain_text("1of 1 done, with proof")
        expect(page.locator(".standing")).to_have_text("finished")
    assert machine.mileposts() == ["1.1"]
    assert machine.git("log", "--format=%s", "-2").splitlines()[1] == "Edit task 1.1 in ROADMAP.md"
