"""The files of the run's branch: a tree by keys, a filter, and the text of one of them."""

from __future__ import annotations

import threading
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.web import axe
from tests.web.chromium import Pages, drawn
from tests.web.stage import PATIENCE_S, Stage


def open_files(page: Page) -> Locator:
    page.get_by_role("button", name="Files", exact=True).click()
    tree = page.get_by_role("tree")
    expect(tree).to_be_visible()
    return tree


def test_the_tree_is_walked_by_keys_and_says_what_the_run_changed(pages: Pages, scene: Stage) -> None:
    page = pages.open(scene.address, dark=True)
    tree = open_files(page)
    active = tree.locator(".active")

    expect(tree.get_by_role("treeitem", name="cli.py")).to_contain_text("+ added")
    expect(tree.get_by_role("treeitem", name="old.py")).to_contain_text("− removed")
    tree.focus()
    tree.press("ArrowRight")
    tree.press("ArrowDown")
    expect(active).to_have_text("__init__.py")
    expect(tree).to_have_attribute("aria-activedescendant", active.get_attribute("id") or "")
    tree.press("ArrowLeft")
    tree.press("ArrowLeft")
    expect(active).to_have_attribute("aria-expanded", "false")
    expect(tree.get_by_role("treeitem", name="cli.py")).to_have_count(0)
    tree.press("ArrowRight")
    for _ in range(2):
        tree.press("ArrowDown")
    tree.press("Enter")

    expect(page.get_by_label("Text of src/dur/cli.py").locator(".row").last).to_contain_text("return 2")
    expect(active).to_have_attribute("aria-selected", "true")
    assert axe.violations(page) == []


def test_thousands_of_files_stay_quick_and_are_found_by_a_filter(pages: Pages, scene: Stage) -> None:
    many = [
        {"path": f"src/pack_{n % 40}/deep/module_{n}.py", "change": "changed" if n == 7777 else ""}
        for n in range(20_000)
    ]
    scene.answers["/api/files"] = lambda _: {"commit": "c" * 40, "files": many, "cut": False}
    page = pages.open(scene.address)
    tree = open_files(page)

    tree.press("End")
    expect(tree.locator(".active")).to_have_text("pack_9")
    assert tree.get_by_role("treeitem").count() < 80
    page.get_by_label("Filter the files").fill("MODULE_1999 pack_3")
    expect(tree.get_by_role("treeitem", name="module_19993.py")).to_be_visible()
    page.get_by_label("Filter the files").fill("")
    page.get_by_label("only changed").check()
    expect(tree.get_by_role("treeitem")).to_have_count(4)
    page.get_by_label("Filter the files").fill("nowhere")
    expect(page.get_by_text("No file matches the filter.")).to_be_visible()


def test_the_text_of_another_file_that_comes_late_is_not_shown_and_hostile_names_are_text(
    pages: Pages, scene: Stage
) -> None:
    hostile = "<img src=x onerror=alert(1)>\u202egnp.py"
    asked, late = threading.Event(), threading.Event()

    def answer(words: dict[str, str]) -> Any:
        if words["path"] == hostile:
            asked.set()
            late.wait(PATIENCE_S)
        return {"path": words["path"], "rows": [[1, [["", f"text of {words['path']}"]]]], "binary": False, "cut": False}

    files = [{"path": hostile, "change": "added"}, {"path": "plain.py", "change": ""}]
    scene.answers |= {"/api/file": answer, "/api/files": lambda _: {"commit": "c" * 40, "files": files, "cut": False}}
    page = pages.open(scene.address)
    tree = open_files(page)

    expect(tree.locator(".tree-name")).to_have_text(["<img src=x onerror=alert(1)>U+202Egnp.py", "plain.py"])
    tree.get_by_text("<img").click()
    assert asked.wait(PATIENCE_S)
    tree.get_by_text("plain.py").click()
    text = page.locator(".files-text .row code")
    expect(text).to_have_text("text of plain.py")
    with page.expect_response(lambda response: "onerror" in response.url):
        late.set()
    drawn(page)
    expect(text).to_have_text("text of plain.py")
    assert page.locator(".p-code img").count() == 0
