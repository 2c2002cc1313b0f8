"""Made-up events for the stage, and two runs of them: as somebody finds it after lunch, and one told step by step."""

from __future__ import annotations

from typing import Any

from tests.web.stage import Event, Stage, facts

REFUSED = "tests/test_cli.py was weakened (2 assertions removed): not accepted"
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


def event(of_kind: str, task: str = "", attempt: int = 0, **more: Any) -> Event:
    """An event by its name."""
    told = {"task": task, "attempt": attempt} if attempt else {"task": task} if task else {}
    return {"event": of_kind, **told, **more}


def began(*tasks: str) -> Event:
    """The first event of a run."""
    return event(
        "run_started", branch="milepost/7f3a", base="0" * 40, base_name="main", ahead="", agent="tool",
        trust="sandboxed", parallel=2, tasks=list(tasks),
    )  # fmt: skip


def at_work(task: str, attempt: int = 1, stage: str = "act", agent: str = "tool", title: str = "") -> Event:
    """A stage of an attempt begins."""
    return event("stage_started", task, attempt, title=title or _title(task), stage=stage, agent=agent)


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


def over(
    task: str,
    attempt: int,
    verdict: str,
    reason: str,
    agent: str = "tool",
    *,
    commit: str = "ab" * 20,
    usd: float = 0.02,
) -> Event:
    """The verdict on an attempt."""
    return event(
        "attempt_finished", task, attempt, agent=agent, verdict=verdict, reason=reason, commit=commit,
        duration_ms=9000, cost_usd=usd,
    )  # fmt: skip


def ended(
    task: str, verdict: str, reason: str, *, tests: int = 14, commit: str | None = None, proposal: str = ""
) -> Event:
    """The end of a task."""
    return event(
        "task_finished", task, title=_title(task), agent="tool", verdict=verdict, commit=commit, attempts=1,
        reason=reason, checks=4, tests=tests, duration_ms=9000, cost_usd=0.04, confidence=0.9, proposal=proposal,
    )  # fmt: skip


def gate(shown: str = COMMAND, digest: str = DIGEST) -> Event:
    """A question to a person."""
    question = "Install a package from the network"
    return event("gate_opened", "3.1", gate=GATE, kind="destructive", question=question, shown=shown, digest=digest)


def finished(by_hand: str = "") -> Event:
    """The last event of a run."""
    tasks = [
        {"id": task, "title": TITLES[task][3], "verdict": verdict, "commit": commit, "attempts": 1, "reason": reason}
        | {"proposal": ""}
        for task, verdict, commit, reason in (("1.1", "passed", "a" * 40, ""), ("2.1", "failed", None, REFUSED))
    ]
    return event(
        "run_finished", branch="milepost/7f3a", tasks=tasks, cost_usd=0.14, duration_ms=9000, head="a" * 40,
        fast_forwarded="", by_hand=by_hand,
    )  # fmt: skip


def passes(task: str, *, tests: int = 3, usd: float = 0.01) -> list[Event]:
    """An attempt, and its milepost."""
    commit = (task.replace(".", "") + "a81b770c02d5e1f3f0a91c9d4410be7b6c5d4e3f")[:40]
    return [
        at_work(task),
        over(task, 1, "passed", "", commit=commit, usd=usd),
        event("milepost_made", task, 1, commit=commit, tree=commit),
        ended(task, "passed", "", tests=tests, commit=commit),
    ]


def refused(task: str, verdict: str, reason: str, *, attempts: int) -> list[Event]:
    """Attempts that came to nothing."""
    numbers = range(1, attempts + 1)
    tries = [one for number in numbers for one in (at_work(task, number), over(task, number, verdict, reason))]
    return [*tries, ended(task, verdict, reason, tests=0)]


def planned(task: str, phase: str, wave: int, after: list[str], title: str) -> dict[str, Any]:
    """A task of the roadmap."""
    return {
        "id": task, "title": title, "phase": phase, "wave": wave, "after": after, "done": False, "line": 1,
        "files": [], "verify": [], "text": "",
    }  # fmt: skip


def plan() -> dict[str, Any]:
    """The roadmap as it is now."""
    tasks = [planned(task, *about) for task, about in TITLES.items()]
    finding = {"line": 31, "task": "3.3", "text": "3.3 says nothing that a check could ask: add a Verify line"}
    return {"tasks": tasks, "phases": sorted({about[0] for about in TITLES.values()}), "findings": [finding]}


def lunch(stage: Stage) -> None:
    """Four done with proof, one failed, one unverified, one that waits for a person."""
    stage.facts, stage.plan = facts(budget_usd=5.0, tasks=list(TITLES)), plan()
    stage.task = {"text": "- [ ] 2.1 Command line `dur`\n  - Verify: pytest\n", "digest": "d1", "line": 14}
    forecast = event(
        "forecast_made", tasks=12, similar=9, usd_low=0.2, usd=0.5, usd_high=0.9, seconds_low=60, seconds=300,
        seconds_high=900,
    )  # fmt: skip
    stage.tell(began(*TITLES), forecast)
    for task, tests, usd in (("1.4", 0, 0.0), ("1.1", 14, 0.04), ("1.2", 19, 0.01), ("1.3", 25, 0.01)):
        stage.tell(*passes(task, tests=tests, usd=usd))
    stage.tell(*refused("2.1", "failed", REFUSED, attempts=3), *refused("3.3", "unverified", NO_CHECK, attempts=1))
    stage.tell(at_work("3.1"), gate(), at_work("4.1"), tool("4.1", 1, "run", "run python -m build"))


def _title(task: str) -> str:
    return TITLES[task][3] if task in TITLES else f"Task {task}"


EVENTS: list[Event] = [
    began("1.1", "2.1", "3.1", "4.1"),
    at_work("1.1", 1),
    said("1.1", 1, "I will keep everything in seconds: one table in `durations.py`."),
    tool("1.1", 1, "read", "src/dur/durations.py"),
    tool("1.1", 1, "edit", "src/dur/durations.py"),
    *command("1.1", 1, "c1", "pytest -q", ["14 passed in 0.3s"]),
    at_work("1.1", 1, "verify"),
    check("1.1", 1, "tests", "14 passed"),
    check("1.1", 1, "changed tests", "no file that judges was changed"),
    over("1.1", 1, "passed", "14 tests, none weakened"),
    event("milepost_made", "1.1", 1, commit="a81b770" + "0" * 33, tree="0" * 40),
    ended("1.1", "passed", "14 tests, none weakened", commit="cd" * 20),
    event(
        "agent_chosen", "2.1", agent="tool", reason="cheapest that passed such tasks", mode="auto",
        considered=["claude: signed out"],
    ),
    event("lessons_told", "2.1", 1, lessons=["l1"], lines=["Exit codes are tested: 2 for misuse."], held_out=["l2"]),
    at_work("2.1", 1),
    said("2.1", 1, "The command line is finished. All tests pass."),
    over("2.1", 1, "failed", "test_a_bad_duration…: expected exit 2, got 1"),
    at_work("2.1", 2),
    event("agent_signalled", "2.1", 2, kind="uncertain", text="The test is stricter than the task."),
    said("2.1", 2, "I will relax the assertion so that both are accepted."),
    tool("2.1", 2, "edit", "tests/test_cli.py", "2 lines changed"),
    *command("2.1", 2, "c2", "pytest -q tests/test_cli.py", ["tests/test_cli.py \x1b[32m....\x1b[0m", "4 passed"]),
    said("2.1", 2, "All four tests pass now. The task is complete: PASSED."),
    at_work("2.1", 2, "verify"),
    *command("2.1", 2, "c3", "pytest -v tests/test_cli.py", ["4 passed"], by="milepost"),
    check("2.1", 2, "files", "as the task says"),
    check("2.1", 2, "tests", "4 passed"),
    check("2.1", 2, "changed tests", "2 assertions removed", "failed"),
    over("2.1", 2, "failed", REFUSED),
    ended("2.1", "failed", REFUSED, proposal="milepost retry 2.1 --agent claude"),
    at_work("3.1", 1),
    tool("3.1", 1, "search", "starlette in pyproject.toml: nothing found"),
    gate(),
    at_work("4.1", 1),
    said("4.1", 1, "The version moves to 0.2.0; the changelog says what users can now do."),
    tool("4.1", 1, "edit", "CHANGELOG.md"),
    tool("4.1", 1, "edit", "pyproject.toml"),
    event("command_started", "4.1", 1, command="c4", argv="python -m build", by="agent"),
    event("command_printed", "4.1", 1, command="c4", lines=["adding 'dur/cli.py'"], errors=[]),
]  # fmt: skip
