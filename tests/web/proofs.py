"""Made-up answers about attempts and files: what was asked of the work, what it changed, what the branch has."""

from __future__ import annotations

from typing import Any

from tests.web.scene import REFUSED
from tests.web.stage import Answer

CODE = [
    ("k", "def"), ("", " "), ("nf", "main"), ("p", "("), ("n", "words"), ("p", ")"), ("", " "), ("o", "->"), ("", " "),
    ("nb", "int"), ("p", ":"),
]  # fmt: skip
TEXT = [("", "    "), ("k", "return"), ("", " "), ("mi", "2"), ("", "  "), ("c1", "# what the shell expects")]
OLD = [("", "    "), ("nb", "print"), ("p", "("), ("s2", '"soon"'), ("p", ")")]


def file(path: str, rows: list[Any] | None = None, *, kind: str = "changed", **more: Any) -> dict[str, Any]:
    """A file of a diff."""
    rows = rows if rows is not None else [[" ", 1, 1, CODE], ["-", 2, None, OLD], ["+", None, 2, TEXT]]
    added, removed = (sum(row[0] == sign for row in rows) for sign in "+-")
    return {
        "path": path, "was": "", "kind": kind, "added": added, "removed": removed, "generated": False, "binary": False,
        "long": added + removed > 400, "cut": False, "note": "",
        "hunks": [{"header": "@@ -1,2 +1,2 @@ def main(words)", "rows": rows}], **more,
    }  # fmt: skip


def question(name: str, asked: str, before: str, after: str, *details: str, failed: bool = False) -> dict[str, Any]:
    """A check of a proof."""
    return {
        "name": name, "asked": asked, "before": before, "after": after, "failed": failed, "decisive": name == "tests",
        "seconds": 9.0, "details": list(details),
    }  # fmt: skip


def proof(words: dict[str, str], verdict: str, *files: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What is answered about an attempt."""
    return {
        "task": words["task"], "attempt": int(words["attempt"]), "agent": "tool", "verdict": verdict, "reason": "",
        "seconds": 9.0, "cost_usd": 0.02, "commit": "cd" * 20,
        "ref": f"refs/milepost/7f3a/{words['task']}/{words['attempt']}",
        "checks": [question("tests", "pytest -v tests/test_cli.py", "0 of 4", "4 of 4")], "nothing_to_ask": ["types"],
        "confidence": 0.9, "diff": {"base": "0" * 40, "commit": "cd" * 20, "files": list(files), "cut": False}, **more,
    }  # fmt: skip


def generated(lines: int) -> dict[str, Any]:
    """A lock file of many lines."""
    rows = [
        ["+", None, number, [("", f'    "package-{number}": "sha512-{number:064x}",')]]
        for number in range(1, lines + 1)
    ]
    return file("package-lock.json", rows, kind="added", generated=True)


def refused(words: dict[str, str]) -> dict[str, Any]:
    """The proof of the attempt that weakened a test."""
    checks = [
        question("files", "src/dur/cli.py made, as the task says", "–", "ok"),
        question("tests", "pytest -v tests/test_cli.py", "0 of 4", "4 of 4"),
        question(
            "changed tests", "4 tests as they were at 3f0a91c", "–", "2 assertions removed", "tests/test_cli.py",
            '-    assert main(["soon"]) == 2', '-    assert out.out == ""', '+    assert main(["soon"]) in (1, 2)',
            failed=True,
        ),
    ]  # fmt: skip
    files = (file("src/dur/cli.py", kind="added"), file("tests/test_cli.py"))
    return proof(words, "failed", *files, checks=checks, reason=REFUSED)


FILES = [
    {"path": "README.md", "change": ""}, {"path": "pyproject.toml", "change": ""},
    {"path": "src/dur/__init__.py", "change": ""}, {"path": "src/dur/cli.py", "change": "added"},
    {"path": "src/dur/durations.py", "change": "changed"}, {"path": "src/dur/old.py", "change": "removed"},
    {"path": "tests/test_durations.py", "change": "added"},
]  # fmt: skip


def attempt_of(words: dict[str, str]) -> dict[str, Any]:
    if words["task"] == "2.1":
        return refused(words)
    return proof(words, "passed", file("src/dur/durations.py"), generated(5000))


ANSWERS: dict[str, Answer] = {
    "/api/attempt": attempt_of,
    "/api/files": lambda _: {"commit": "a81b770" + "0" * 33, "files": FILES, "cut": False},
    "/api/file": lambda words: {"path": words["path"], "rows": [[1, CODE], [2, TEXT]], "binary": False, "cut": False},
    "/api/log": lambda words: {"text": f"the whole log of {words['check']}\n\x1b[31m1 failed\x1b[0m"},
}
