"""A run as somebody finds it after lunch: four done with proof, one failed, one unverified, one that waits for them."""

from __future__ import annotations

from typing import Any

from tests.web.stage import BEGAN, Stage

RUN = "7f3a"
WEAKENED = "tests/test_cli.py was weakened (2 assertions removed): not accepted"
NO_CHECK = "no check could say whether this is done: add a Verify line to the task"
COMMAND = "pip install starlette==1.10.0"
DIGEST = "0123456789abcdef" * 4
GATE = "3.1/1/call/4"
TITLES = {
    "1.1": ("1 Core", 1, [], 'Parse durations such as "1h30m"'),
    "1.2": ("1 Core", 2, ["1.1"], "Format durations"),
    "1.3": ("1 Core", 2, ["1.1"], "Read ISO 8601 durations"),
    "1.4": ("1 Core", 1, [], "Write the package skeleton"),
    "2.1": ("2 Command line", 2, ["1.1"], "Command line `dur`"),
    "2.2": ("2 Command line", 3, ["2.1"], "Friendly errors"),
    "2.3": ("2 Command line", 3, ["2.1"], "Shell completion"),
    "3.1": ("3 Web", 2, ["1.1"], "Answer GET /parse over HTTP"),
    "3.2": ("3 Web", 3, ["3.1"], "A page with a live form"),
    "3.3": ("3 Web", 1, [], "Make it nicer"),
    "4.1": ("4 Ship", 2, [], "Wheel and changelog"),
    "4.2": ("4 Ship", 3, ["4.1"], "Deploy to the local target"),
}


def lunch(stage: Stage) -> None:
    """Tell the story so far."""
    stage.facts = facts()
    stage.plan = plan()
    stage.task = {"text": "- [ ] 2.1 Command line `dur`\n  - Verify: pytest\n", "digest": "d1", "line": 14}
    stage.tell(
        started(list(TITLES)),
        {
            "event": "forecast_made",
            "run": RUN,
            "tasks": 12,
            "similar": 9,
            "usd_low": 0.2,
            "usd": 0.5,
            "usd_high": 0.9,
            "seconds_low": 60,
            "seconds": 300,
            "seconds_high": 900,
        },
    )
    for task, tests, usd in (("1.4", 0, 0.0), ("1.1", 14, 0.04), ("1.2", 19, 0.01), ("1.3", 25, 0.01)):
        stage.tell(*passes(task, tests=tests, usd=usd))
    stage.tell(*refused("2.1", "failed", WEAKENED, attempts=3), *refused("3.3", "unverified", NO_CHECK, attempts=1))
    stage.tell(at_work("3.1"), gate(), at_work("4.1"))
    stage.tell(
        {"event": "tool_used", "run": RUN, "task": "4.1", "attempt": 1, "number": 1, "tool": "run"}
        | {"summary": "run python -m build", "failed": False, "duration_ms": 80, "printed": ""}
    )


def facts(tasks: int = 12) -> dict[str, Any]:
    """What the run was asked to do."""
    return {
        "run": RUN,
        "started_at": BEGAN,
        "finished_at": None,
        "left_at": None,
        "ended": False,
        "agent": "tool",
        "trust": "sandboxed",
        "parallel": 2,
        "budget_usd": 5.0,
        "approve": "risky",
        "base": "1c9e2d4",
        "tasks": [str(number) for number in range(tasks)],
    }


def plan() -> dict[str, Any]:
    """The roadmap as it is now."""
    tasks = [planned(task, *about) for task, about in TITLES.items()]
    finding = {"line": 31, "task": "3.3", "text": "says nothing that a check could ask: add a Verify line"}
    return {"tasks": tasks, "phases": sorted({about[0] for about in TITLES.values()}), "findings": [finding]}


def planned(task: str, phase: str, wave: int, after: list[str], title: str) -> dict[str, Any]:
    """One task of it."""
    return {"id": task, "title": title, "phase": phase, "wave": wave, "after": after, "done": False, "line": 1} | {
        "files": [],
        "verify": [],
        "text": "",
    }


def started(tasks: list[str]) -> dict[str, Any]:
    """The first event of a run."""
    return {
        "event": "run_started",
        "run": RUN,
        "branch": f"milepost/{RUN}",
        "base": "1c9e2d4",
        "base_name": "main",
        "ahead": "",
        "agent": "tool",
        "trust": "sandboxed",
        "parallel": 2,
        "tasks": tasks,
    }


def at_work(task: str, attempt: int = 1) -> dict[str, Any]:
    """An attempt begins."""
    title = TITLES[task][3] if task in TITLES else task
    return {"event": "stage_started", "run": RUN, "task": task, "title": title, "attempt": attempt} | {
        "stage": "act",
        "agent": "tool",
    }


def passes(task: str, *, tests: int = 3, usd: float = 0.01) -> list[dict[str, Any]]:
    """An attempt, and its milepost."""
    commit = (task.replace(".", "") + "a81b770c02d5e1f3f0a91c9d4410be7b6c5d4e3f")[:40]
    milepost = {"event": "milepost_made", "run": RUN, "task": task, "attempt": 1, "commit": commit, "tree": commit}
    return [
        at_work(task),
        judged(task, 1, "passed", "", commit, usd),
        milepost,
        ended(task, "passed", "", tests, commit),
    ]


def refused(task: str, verdict: str, reason: str, *, attempts: int) -> list[dict[str, Any]]:
    """Attempts that came to nothing."""
    numbers = range(1, attempts + 1)
    tries = [one for n in numbers for one in (at_work(task, n), judged(task, n, verdict, reason, "f" * 40, 0.02))]
    return [*tries, ended(task, verdict, reason, 0, None)]


def judged(task: str, attempt: int, verdict: str, reason: str, commit: str, usd: float) -> dict[str, Any]:
    """The verdict on an attempt."""
    return {"event": "attempt_finished", "run": RUN, "task": task, "attempt": attempt, "agent": "tool"} | {
        "verdict": verdict,
        "reason": reason,
        "commit": commit,
        "duration_ms": 900,
        "cost_usd": usd,
    }


def ended(task: str, verdict: str | None, reason: str, tests: int, commit: str | None) -> dict[str, Any]:
    """The end of a task."""
    title = TITLES[task][3] if task in TITLES else task
    return {"event": "task_finished", "run": RUN, "task": task, "title": title, "agent": "tool", "verdict": verdict} | {
        "commit": commit,
        "attempts": 1,
        "reason": reason,
        "checks": 4,
        "tests": tests,
        "duration_ms": 900,
        "cost_usd": 0.0,
        "confidence": 0.9,
        "proposal": "",
    }


def gate(shown: str = COMMAND, digest: str = DIGEST) -> dict[str, Any]:
    """A question to a person."""
    return {"event": "gate_opened", "run": RUN, "task": "3.1", "gate": GATE, "kind": "destructive"} | {
        "question": "Install a package from the network",
        "shown": shown,
        "digest": digest,
    }


def finished(by_hand: str = "") -> dict[str, Any]:
    """The last event of a run."""
    tasks = [
        {"id": task, "title": TITLES[task][3], "verdict": verdict, "commit": commit, "attempts": 1, "reason": reason}
        | {"proposal": ""}
        for task, verdict, commit, reason in (("1.1", "passed", "a" * 40, ""), ("2.1", "failed", None, WEAKENED))
    ]
    return {"event": "run_finished", "run": RUN, "branch": f"milepost/{RUN}", "tasks": tasks, "cost_usd": 0.14} | {
        "duration_ms": 9000,
        "head": "a" * 40,
        "fast_forwarded": "",
        "by_hand": by_hand,
    }
