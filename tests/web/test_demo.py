"""The demonstration, watched in a browser from its beginning to its end."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import milepost
from milepost import runs
from milepost.core.verdict import Verdict
from tests.web.chromium import Pages
from tests.web.serving import LONGEST_S, served

# The demonstration takes no port: what a server is told last is left out.
DEMO = (
    "import runpy, sys; sys.argv = ['milepost', 'demo', 'demo', '--web', '--no-open'];"
    "runpy.run_module('milepost', run_name='__main__')"
)


def test_the_demonstration_is_watched_to_its_end_and_the_header_says_what_the_database_says(
    pages: Pages, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    with served(tmp_path, (sys.executable, "-c", DEMO)) as server:
        page = pages.open(server.address)
        expect(page.locator(".standing")).to_have_text("running", timeout=LONGEST_S * 1000)
        expect(page.locator(".standing")).to_have_text("finished", timeout=4 * LONGEST_S * 1000)

        roadmap = tmp_path / "demo" / "ROADMAP.md"
        status, costs = milepost.status(roadmap), runs.costs(roadmap)
        assert status is not None and status.summary is not None
        assert costs is not None
        verdicts = Counter(task.verdict for task in status.summary.tasks)
        assert verdicts == {Verdict.PASSED: 5, Verdict.HELD: 1}
        expect(page.locator(".answer")).to_have_text(
            [
                f"{verdicts[Verdict.PASSED]}of {len(status.summary.tasks)} done, with proof1 not done: 2.3",
                "0failed1 attempt refused",
                re.compile("^1waits for you · 1 held2.3 nothing shows that this was done"),
                re.compile(rf"^\${costs.spent.usd:.2f}spent, no budget"),
            ]
        )
        commits = [task.commit[:7] for task in status.summary.tasks if task.commit]
        for commit in commits:
            expect(page.locator(".p-roadmap")).to_contain_text(commit)
        page.get_by_role("button", name="Report").click()
        report = page.frame_locator("iframe[title='Report of the run']")
        expect(report.locator("body")).to_contain_text(status.run)
