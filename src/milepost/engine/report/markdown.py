"""The report as Markdown for a pull request: nothing in it links, mentions, loads or breaks out of its place."""

from __future__ import annotations

import re

from milepost.core.basis import BY_OWN_TESTS
from milepost.core.verdict import Question
from milepost.engine.report.facts import AttemptStory, CostLine, NothingRun, RunStory, TaskStory
from milepost.engine.report.waits import waits_of
from milepost.engine.report.words import counted, cut, duration, moment, money, place_of, visible

ROWS, DETAILS, QUESTIONS = 200, 40, 20  # of tasks in the table, of those told in full, of questions of one
MARKS = {
    "passed": "✓ passed",
    "accepted": "✓ accepted, not verified",
    "held": "? held",
    "failed": "✗ failed",
    "unverified": "? unverified",
    "working": "● running",
    "asking": "? asks you",
    "waiting": "– not started",
}
_SPECIAL = re.compile(r"GH-|://|[\\`*_{}\[\]()<>#+\-.!|~&$:@=^]")
_OTHERS = {
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    ":": "&#58;",
    "://": "&#58;&#8203;//",
    "@": "@&#8203;",
    "#": "#&#8203;",
    "GH-": "GH&#8203;\\-",
}  # a sign of no width, in our own hand, keeps a name from being called and a number from being linked
_RUNS_OF_BACKTICKS = re.compile(r"`+")


def render(story: RunStory | NothingRun) -> str:
    """The report as Markdown."""
    if isinstance(story, NothingRun):
        return f"# No runs here yet\n\n{plain(story.roadmap)}: start with `milepost run`.\n"
    shown = (*_task_table(story), *_releases(story), *_details(story), *_costs(story))
    parts = [_head(story), *_answers(story), *shown, _foot(story)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def plain(text: str) -> str:
    """Text on one line in which no sign means anything: to Markdown, or to a forge that links names and numbers."""
    line = " ".join(visible(text).split())
    return _SPECIAL.sub(lambda found: _OTHERS.get(found[0], f"\\{found[0]}"), line)


def code(text: str) -> str:
    """Text on one line as code."""
    line = " ".join(visible(text).split())
    if not line:
        return ""
    fence = "`" * (max((len(run) for run in _RUNS_OF_BACKTICKS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def cell(text: str) -> str:
    """Text as code in a table."""
    return code(text).replace("|", "\\|")


def _head(story: RunStory) -> str:
    who = f"agent {code(story.agent)}" if story.agent else "agents named by the tasks"
    where = f"branch {code(story.branch)} from {code(story.base[:7])}"
    return f"# Run {plain(story.run)}: {story.state}\n\n{where} · {who} · sandbox: {plain(story.trust)}\n"


def _answers(story: RunStory) -> list[str]:
    passed, failed = story.standing("passed"), story.standing("failed", "unverified")
    taken = story.standing("accepted")
    waits = waits_of(story)
    costs = story.costs
    cost = f"{_usd(costs.usd)} of {_usd(costs.budget_usd)}" if costs.budget_usd else _usd(costs.usd)
    tokens = f", {costs.tokens:,} tokens" if costs.tokens else ""
    lines = [
        f"**{' · '.join(f'{count} {name}' for name, count in story.counts.items())}**\n",
        f"- **Done, with proof:** {len(passed)} of {counted(len(story.tasks), 'task')}",
        f"- **Failed, and why:** {len(failed) or 'nothing'}",
        *(f"  - {plain(task.id)} {plain(cut(task.title, 120))}: {code(cut(task.reason, 200))}" for task in failed[:20]),
        *([f"- **Accepted, not verified:** {len(taken)}"] if taken else []),
        *(f"  - {plain(task.id)} {plain(cut(task.title, 120))}: {plain(cut(task.reason, 200))}" for task in taken[:20]),
        f"- **Waiting for you:** {len(waits) or 'nothing'}",
        *(f"  - {plain(cut(wait.what, 200))} {code(wait.command)}".rstrip() for wait in waits[:20]),
        f"- **Cost:** {cost}{tokens}, {duration(story.seconds)} of work",
        *(f"  - {plain(wall)}" for wall in costs.walls[:5]),
        *([f"  - forecast: {plain(costs.forecast)}"] if costs.forecast else []),
    ]
    return ["\n".join(lines)]


def _task_table(story: RunStory) -> list[str]:
    rows = [
        f"| {plain(task.id)} | {plain(cut(task.title, 120))} | {MARKS[task.standing]} | {_proof(task)} "
        f"| {len(task.attempts)} | {duration(task.seconds)} | {_usd(task.cost_usd)} | {cell(task.commit[:7])} |"
        for task in story.tasks[:ROWS]
    ]
    if not rows:
        return []
    head = "| | Task | | Proof | Attempts | Work | Cost | Milepost |\n|---|---|---|---|---|---|---|---|"
    more = f"\nand {len(story.tasks) - ROWS:,} more\n" if len(story.tasks) > ROWS else ""
    return ["## Tasks", "\n".join([head, *rows]) + "\n" + more]


def _releases(story: RunStory) -> list[str]:
    rows = [
        f"| {plain(one.where)} | {one.number} | {one.stage} | {cell(one.commit[:7])} "
        f"| {plain(cut(one.proof or 'unproven', 120))} | {plain(cut(one.said, 200))} |"
        for one in story.releases[-ROWS:]
    ]
    head = "| Target | Release | | Commit | Proof | |\n|---|---|---|---|---|---|"
    return ["## Releases", "\n".join([head, *rows])] if rows else []


def _details(story: RunStory) -> list[str]:
    """What failed in full first, then the proofs, as many as a pull request bears."""
    tried = [task for task in story.tasks if task.attempts]
    ordered = sorted(tried, key=lambda task: task.standing == "passed")
    return [_task(task) for task in ordered[:DETAILS]]


def _task(task: TaskStory) -> str:
    summary = f"{plain(task.id)} {plain(cut(task.title, 120))}: {MARKS[task.standing]}"
    parts = [f"<details><summary>{_html(summary)}</summary>", ""]
    for attempt in reversed(task.attempts):
        parts += [*_attempt(attempt), ""]
    if task.diff is not None and task.diff.files:
        parts += ["| Changed | | |", "|---|---|---|"]
        parts += [
            f"| {cell(file.path)} | {file.what} | +{file.added} −{file.removed} |" for file in task.diff.files[:30]
        ]
        parts += ["", f"all of it: {code(task.diff.command)}", ""]
    return "\n".join([*parts, "</details>"])


def _attempt(attempt: AttemptStory) -> list[str]:
    cost = f", {_usd(attempt.cost_usd)}" if attempt.cost_usd else ""
    lines = [
        f"**Attempt {attempt.number}: {attempt.verdict or 'running'}** by {code(attempt.agent)}, "
        f"{duration(attempt.seconds)}{cost}"
    ]
    if attempt.reason and attempt.verdict != "passed":
        lines += ["", code(cut(attempt.reason, 300))]
    lines += ["", plain(attempt.decided)] if attempt.decided else []
    lines += ["", *(f"- {plain(cut(line, 300))}" for line in attempt.basis)] if attempt.basis else []
    lines += _questions(attempt.questions)
    if attempt.checks:
        lines += ["", "| Check | Details | Before | After |", "|---|---|---|---|"]
        lines += [
            f"| {plain(check.name)} | {cell(cut(check.asked, 200))} | {plain(check.before)} | {plain(check.after)} |"
            for check in attempt.checks
        ]
    return lines


def _questions(questions: tuple[Question, ...]) -> list[str]:
    """What a person is asked, with the old and the new expectation side by side."""
    if not questions:
        return []
    rows = [
        f"| {cell(cut(one.text, 300))} | {cell(place_of(one))} | {cell(cut(one.before, 200)) or '–'} "
        f"| {cell(cut(one.after, 200)) or '–'} |"
        for one in questions[:QUESTIONS]
    ]
    more = [f"and {len(questions) - QUESTIONS} more"] if len(questions) > QUESTIONS else []
    return ["", "| Question | Where | Was | Now |", "|---|---|---|---|", *rows, *(["", *more] if more else [])]


def _costs(story: RunStory) -> list[str]:
    lines = (*((line, "model") for line in story.costs.by_model), *((line, "agent") for line in story.costs.by_agent))
    rows = [_cost_row(line, kind) for line, kind in lines if line.usd or line.calls]
    return ["## Costs", "\n".join(["| | | Calls | Tokens | Cost |", "|---|---|---|---|---|", *rows])] if rows else []


def _cost_row(line: CostLine, kind: str) -> str:
    tokens = line.input_tokens + line.output_tokens
    return f"| {kind} | {cell(line.name)} | {line.calls:,} | {tokens:,} | {_usd(line.usd)} |"


def _foot(story: RunStory) -> str:
    return f"---\n\ncreated by milepost {plain(story.version)} at {plain(moment(story.made_at))}\n"


def _proof(task: TaskStory) -> str:
    if task.standing != "passed":
        return ""
    if task.attempts and task.attempts[-1].by_own_tests:
        return f"{counted(task.tests, 'test')}, {BY_OWN_TESTS}"
    return counted(task.tests, "test") if task.tests else counted(task.checks, "check")


def _usd(usd: float) -> str:
    """Money whose sign does not begin a formula."""
    return money(usd).replace("$", "\\$")


def _html(text: str) -> str:
    """Escaped Markdown where HTML is read instead: the backslashes go, the entities stay."""
    return re.sub(r"\\(.)", lambda found: f"&#{ord(found[1])};", text)
