"""The four answers that a report begins with: done with proof, failed and why, waits for you, cost."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.core.basis import BY_OWN_TESTS
from milepost.engine.report.facts import RunStory, TaskStory
from milepost.engine.report.page.markup import Markup, element, group
from milepost.engine.report.waits import waits_of
from milepost.engine.report.words import counted, cut, duration, money

SHOWN = 8
MARKS = {
    "passed": "✓",
    "accepted": "✓",
    "held": "?",
    "failed": "✗",
    "unverified": "?",
    "working": "●",
    "asking": "?",
    "waiting": "–",
}
WORDS = {
    "passed": "passed",
    "accepted": "accepted, not verified",
    "held": "held",
    "failed": "failed",
    "unverified": "unverified",
    "working": "running",
    "asking": "asks you",
    "waiting": "not started",
}


def answers(story: RunStory, anchors: dict[str, str]) -> Markup:
    """The first thing that is read."""
    return element(
        "section",
        _done(story, anchors),
        _failed(story, anchors),
        _waits(story, anchors),
        _cost(story),
        class_="answers",
    )


def mark(standing: str) -> Markup:
    """The sign of how a task stands, with the word for whoever cannot see it."""
    return element("span", MARKS[standing], class_=f"mark {standing}", role="img", aria_label=WORDS[standing])


def counts(story: RunStory) -> Markup:
    """How many tasks passed, were accepted, are held, failed, are unverified, in a line."""
    said = ((name, f"{count} {name}") for name, count in story.counts.items())
    return element(
        "p", (group(element("span", words, class_=f"word {name}"), " ") for name, words in said), class_="counts"
    )


def _done(story: RunStory, anchors: dict[str, str]) -> Markup:
    passed = story.standing("passed")
    rows = [
        group(
            mark(task.standing),
            " ",
            _link(task, anchors),
            element("p", f"{_proof(task)} · ", element("code", task.commit[:7])),
        )
        for task in passed[:SHOWN]
    ]
    figure = (str(len(passed)), f" of {counted(len(story.tasks), 'task')}")
    return _card("passed", "Done, with proof", figure, rows, len(passed) - SHOWN)


def _failed(story: RunStory, anchors: dict[str, str]) -> Markup:
    failed = (*story.standing("failed"), *story.standing("unverified"))
    rows = [
        group(
            mark(task.standing),
            " ",
            _link(task, anchors),
            element("p", cut(task.reason, 300)),
            *(element("p", f"→ {line}") for line in task.proposal.splitlines()[:3] if task.reason not in line),
        )
        for task in failed[:SHOWN]
    ]
    rows = rows or [element("span", "nothing failed", class_="soft")]
    return _card("failed" if failed else "", "Failed, and why", (str(len(failed)), ""), rows, len(failed) - SHOWN)


def _waits(story: RunStory, anchors: dict[str, str]) -> Markup:
    """What a person must answer or do; work that was taken unproven stands here too, for it is in no other answer."""
    waits = waits_of(story)
    taken = [
        group(mark(task.standing), " ", _link(task, anchors), element("p", cut(task.reason, 300)))
        for task in story.standing("accepted")[:SHOWN]
    ]
    rows = [
        group(wait.what, element("p", element("code", wait.command)) if wait.command else None)
        for wait in waits[:SHOWN]
    ]
    rows = rows or [element("span", "no open questions", class_="soft")]
    more = len(waits) - SHOWN
    return _card("asks" if waits else "", "Waiting for you", (str(len(waits)), ""), [*rows, *taken], more)


def _cost(story: RunStory) -> Markup:
    costs = story.costs
    of_budget = f" of {money(costs.budget_usd)}" if costs.budget_usd else ""
    lines = [f"{duration(story.seconds)} of work in {counted(_attempts(story.tasks), 'attempt')}"]
    if story.ended_at is not None:
        lines.append(f"{duration(story.ended_at - story.started_at)} from start to end")
    if costs.tokens:
        calls = sum(line.calls for line in costs.by_model)
        lines.append(f"{costs.tokens:,} tokens in {counted(calls, 'model call')}")
    if costs.forecast:
        lines.append(f"forecast: {costs.forecast}")
    rows = [group(line) for line in (*lines, *costs.walls)]
    return _card("cost", "Cost", (money(costs.usd), of_budget), rows, 0)


def _card(kind: str, title: str, figure: tuple[str, str], rows: Sequence[Markup], more: int) -> Markup:
    number, rest = figure
    items = [element("li", row) for row in rows]
    if more > 0:
        items.append(element("li", f"and {more:,} more, below", class_="soft"))
    return element(
        "section",
        element("h2", title),
        element("p", number, element("small", rest) if rest else None, class_="figure"),
        element("ul", items),
        class_=f"answer {kind}".strip(),
    )


def _link(task: TaskStory, anchors: dict[str, str]) -> Markup:
    return element("a", f"{task.id} {cut(task.title, 120)}".strip(), href=f"#{anchors[task.id]}")


def _proof(task: TaskStory) -> str:
    proof = counted(task.tests, "test") if task.tests else counted(task.checks, "check")
    own = bool(task.attempts) and task.attempts[-1].by_own_tests
    decided = task.attempts[-1].decided if task.attempts else ""
    return ", ".join(word for word in (proof, BY_OWN_TESTS if own else "", decided) if word)


def _attempts(tasks: Sequence[TaskStory]) -> int:
    return sum(len(task.attempts) for task in tasks)
