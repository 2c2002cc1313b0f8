"""Made-up events and answers for the stage: a task that passed, one that was refused, one in work, one that asks."""

from __future__ import annotations

from typing import Any

from tests.web.staged import Answer, Event

CODE = [
    ("k", "def"), ("", " "), ("nf", "main"), ("p", "("), ("n", "words"), ("p", ")"), ("", " "), ("o", "->"), ("", " "),
    ("nb", "int"), ("p", ":"),
]  # fmt: skip
TEXT = [("", "    "), ("k", "return"), ("", " "), ("mi", "2"), ("", "  "), ("c1", "# what the shell expects")]
OLD = [("", "    "), ("nb", "print"), ("p", "("), ("s2", '"soon"'), ("p", ")")]


def event(of_kind: str, task: str = "", attempt: int = 0, **more: Any) -> Event:
    """An event by its name."""
    told = {"task": task, "attempt": attempt} if attempt else {"task": task} if task else {}
    return {"event": of_kind, **told, **more}


def began(*tasks: str) -> Event:
    return event(
        "run_started", branch="milepost/7f3a", base="0" * 40, base_name="main", ahead="", agent="tool",
        trust="sandboxed", parallel=2, tasks=list(tasks),
    )  # fmt: skip


def stage(task: str, attempt: int, name: str = "act", agent: str = "tool", title: str = "") -> Event:
    return event("stage_started", task, attempt, title=title or f"Task {task}", stage=name, agent=agent)


def said(task: str, attempt: int, text: str) -> Event:
    return event("agent_said", task, attempt, text=text)


def tool(task: str, attempt: int, name: str, summary: str, printed: str = "", *, failed: bool = False) -> Event:
    return event(
        "tool_used", task, attempt, number=1, tool=name, summary=summary, failed=failed, duration_ms=40, printed=printed
    )


def command(
    task: str, attempt: int, name: str, argv: str, lines: list[str], code: int = 0, by: str = "agent"
) -> list[Event]:
    """A command from its start to its end."""
    return [
        event("command_started", task, attempt, command=name, argv=argv, by=by),
        event("command_printed", task, attempt, command=name, lines=lines, errors=[]),
        event(
            "command_finished", task, attempt, command=name, exit_code=code, ending=f"exit {code}", duration_ms=900,
            unshown=0,
        ),
    ]  # fmt: skip


def check(task: str, attempt: int, name: str, summary: str, outcome: str = "passed") -> Event:
    return event("check_finished", task, attempt, name=name, outcome=outcome, summary=summary, duration_ms=1200)


def over(task: str, attempt: int, verdict: str, reason: str, agent: str = "tool") -> Event:
    return event(
        "attempt_finished", task, attempt, agent=agent, verdict=verdict, reason=reason, commit="ab" * 20,
        duration_ms=9000, cost_usd=0.02,
    )  # fmt: skip


def ended(task: str, verdict: str, reason: str, title: str = "", proposal: str = "") -> Event:
    return event(
        "task_finished", task, title=title or f"Task {task}", agent="tool", verdict=verdict,
        commit="cd" * 20 if verdict == "passed" else None, attempts=1, reason=reason, checks=3, tests=14,
        duration_ms=9000, cost_usd=0.04, confidence=0.9, proposal=proposal,
    )  # fmt: skip


def gate(task: str, name: str, question: str, shown: str) -> Event:
    return event("gate_opened", task, gate=name, kind="destructive", question=question, shown=shown, digest="d1")


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


REFUSED = "tests/test_cli.py was weakened (2 assertions removed): not accepted"


def refused(words: dict[str, str]) -> dict[str, Any]:
    """The proof of the attempt that weakened a test."""
    checks = [
        question("files", "src/dur/cli.py made, as the task says", "–", "ok"),
        question("tests", "pytest -v tests/test_cli.py", "0 of 4", "4 of 4"),
        question(
            "guard", "4 tests as they were at 3f0a91c", "–", "2 assertions removed", "tests/test_cli.py",
            '-    assert main(["soon"]) == 2', '-    assert out.out == ""', '+    assert main(["soon"]) in (1, 2)',
            failed=True,
        ),
    ]  # fmt: skip
    files = (file("src/dur/cli.py", kind="added"), file("tests/test_cli.py"))
    return proof(words, "failed", *files, checks=checks, reason=REFUSED)


EVENTS: list[Event] = [
    began("1.1", "2.1", "3.1", "4.1"),
    stage("1.1", 1, title="Parse durations such as “1h30m”"),
    said("1.1", 1, "I will keep everything in seconds: one table in `durations.py`."),
    tool("1.1", 1, "read", "src/dur/durations.py"),
    tool("1.1", 1, "edit", "src/dur/durations.py"),
    *command("1.1", 1, "c1", "pytest -q", ["14 passed in 0.3s"]),
    stage("1.1", 1, "verify"),
    check("1.1", 1, "tests", "14 passed"),
    check("1.1", 1, "guard", "no test was weakened"),
    over("1.1", 1, "passed", "14 tests, none weakened"),
    event("milepost_made", "1.1", 1, commit="a81b770" + "0" * 33, tree="0" * 40),
    ended("1.1", "passed", "14 tests, none weakened", "Parse durations such as “1h30m”"),
    event(
        "agent_chosen", "2.1", agent="tool", reason="cheapest that passed such tasks", mode="auto",
        considered=["claude: signed out"],
    ),
    event("lessons_told", "2.1", 1, lessons=["l1"], lines=["Exit codes are tested: 2 for misuse."], held_out=["l2"]),
    stage("2.1", 1, title="Command line `dur`"),
    said("2.1", 1, "The command line is finished. All tests pass."),
    over("2.1", 1, "failed", "test_a_bad_duration…: expected exit 2, got 1"),
    stage("2.1", 2, title="Command line `dur`"),
    event("agent_signalled", "2.1", 2, kind="uncertain", text="The test is stricter than the task."),
    said("2.1", 2, "I will relax the assertion so that both are accepted."),
    tool("2.1", 2, "edit", "tests/test_cli.py", "2 lines changed"),
    *command("2.1", 2, "c2", "pytest -q tests/test_cli.py", ["tests/test_cli.py \x1b[32m....\x1b[0m", "4 passed"]),
    said("2.1", 2, "All four tests pass now. The task is complete: PASSED."),
    stage("2.1", 2, "verify"),
    *command("2.1", 2, "c3", "pytest -v tests/test_cli.py", ["4 passed"], by="milepost"),
    check("2.1", 2, "files", "as the task says"),
    check("2.1", 2, "tests", "4 passed"),
    check("2.1", 2, "guard", "2 assertions removed", "failed"),
    over("2.1", 2, "failed", REFUSED),
    ended("2.1", "failed", REFUSED, "Command line `dur`", "milepost retry 2.1 --agent claude"),
    stage("3.1", 1, title="Answer GET /parse over HTTP"),
    tool("3.1", 1, "search", "starlette in pyproject.toml: nothing found"),
    gate("3.1", "g1", "Install a package from the network", "pip install starlette==1.10.0"),
    stage("4.1", 1, title="Wheel and changelog"),
    said("4.1", 1, "The version moves to 0.2.0; the changelog says what users can now do."),
    tool("4.1", 1, "edit", "CHANGELOG.md"),
    tool("4.1", 1, "edit", "pyproject.toml"),
    event("command_started", "4.1", 1, command="c4", argv="python -m build", by="agent"),
    event("command_printed", "4.1", 1, command="c4", lines=["adding 'dur/cli.py'"], errors=[]),
]  # fmt: skip

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
