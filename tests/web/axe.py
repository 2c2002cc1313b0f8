"""axe looks at a page for what keeps people out of it: WCAG 2.0 to 2.2, levels A and AA, and best practice.

`python -m tests.web.axe` fetches it, by name and hash, unless it is there.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.web import libraries
from tests.web.needs import need

if TYPE_CHECKING:
    from playwright.sync_api import Page

HERE = Path(__file__).resolve().parent
LOCK = HERE / "lock"
FETCHED = HERE / "fetched"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
LOOK = "rules => axe.run(document, {runOnly: rules, iframes: false, resultTypes: ['violations']})"


def violations(page: Page) -> list[str]:
    """What is wrong with a page as it is now, a line each with where and how; frames in it are not looked into."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    found: list[dict[str, Any]] = page.evaluate(LOOK, RULES)["violations"]
    return [_in_words(violation, node) for violation in found for node in violation["nodes"]]


def script() -> Path:
    """Where axe is once it was fetched; another version has another name."""
    return FETCHED / f"axe-{libraries.versions(LOCK / 'package-lock.json')['axe-core']}.js"


def fetch() -> None:
    """Get axe unless it is there."""
    if script().is_file():
        return
    with libraries.installed(LOCK) as packages:
        FETCHED.mkdir(exist_ok=True)
        half = script().with_suffix(".half")
        half.write_bytes((packages / "axe-core" / "axe.min.js").read_bytes())
        half.replace(script())


@cache
def _source() -> str:
    need("" if script().is_file() else f"{script().name} is not fetched: python -m tests.web.axe")
    return script().read_text(encoding="utf-8")


def _in_words(violation: dict[str, Any], node: dict[str, Any]) -> str:
    where = " ".join(str(part) for part in node["target"])
    how = " ".join(str(node.get("failureSummary", "")).split())
    return f"{violation['id']} ({violation['impact']}) at {where}: {how} {node['html'][:160]}"


def main() -> int:
    try:
        fetch()
    except libraries.NotFetched as error:
        sys.stderr.write(f"axe is not fetched: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
