"""The tables of a report: costs by task, model and agent; what a person was asked; what changed the course."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from milepost.engine.report.facts import CostLine, Costs, GateStory, Happening, ReleaseStory, RunStory
from milepost.engine.report.page.markup import Markup, Part, element
from milepost.engine.report.words import moment, money

ROWS_SHOWN = 300


def costs_section(story: RunStory) -> Markup | None:
    """What each task, model and agent took; None where nothing was tried."""
    costs = story.costs
    if not costs.by_task:
        return None
    tables = (
        _cost_table("Task", costs.by_task, costs),
        _cost_table("Model", costs.by_model, costs) if costs.by_model else None,
        _cost_table("Agent", costs.by_agent, costs) if costs.by_agent else None,
    )
    return _section(
        "Costs", "costs", element("div", tables[0], class_="block"), element("div", *tables[1:], class_="columns")
    )


def gates_section(gates: Sequence[GateStory]) -> Markup | None:
    """What was asked of a person; None where nothing was."""
    if not gates:
        return None
    rows = (
        (gate.task, gate.kind, gate.question, moment(gate.asked_at), gate.answer or "waits", gate.text)
        for gate in gates[:ROWS_SHOWN]
    )
    return _section("Gates", "gates", _table(("Task", "Kind", "Question", "Asked", "Answer", "Words"), rows))


def happenings_section(happenings: Sequence[Happening]) -> Markup | None:
    """What changed the course of the run; None where nothing did."""
    if not happenings:
        return None
    rows = ((moment(one.at), one.task, one.what) for one in happenings[-ROWS_SHOWN:])
    return _section("Changes during the run", "happenings", _table(("When", "Task", "What"), rows))


def releases_section(releases: Sequence[ReleaseStory]) -> Markup | None:
    """What was deployed since the run began; None where nothing was."""
    if not releases:
        return None
    rows = (
        (one.where, str(one.number), one.stage, one.commit[:7], one.proof or "unproven", moment(one.at), one.said)
        for one in releases[-ROWS_SHOWN:]
    )
    head = ("Target", "Release", "Stage", "Commit", "Proof", "Began", "Last word")
    return _section("Releases", "releases", _table(head, rows))


def _section(title: str, anchor: str, *parts: Part) -> Markup:
    return element("section", element("h2", title, id=anchor), *parts, aria_labelledby=anchor)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", (element("th", word, scope="col") for word in head))),
            element("tbody", (element("tr", (element("td", word, class_="wide") for word in row)) for row in rows)),
        ),
        class_="panel scroll",
        role="region",
        aria_label=" and ".join(head[:2]),
        tabindex=0,
    )


def _cost_table(what: str, lines: Sequence[CostLine], costs: Costs) -> Markup:
    with_calls = any(line.input_tokens or line.output_tokens for line in lines)
    head = [
        what,
        *(["Attempts"] if what != "Model" else []),
        *(["Calls", "In", "Cached", "Out"] if with_calls else []),
        "Cost",
    ]
    shown, rest = lines[:ROWS_SHOWN], lines[ROWS_SHOWN:]

    def cells(line: CostLine) -> list[str]:
        counts = [f"{line.calls:,}", f"{line.input_tokens:,}", f"{line.cached_tokens:,}", f"{line.output_tokens:,}"]
        return [
            *([f"{line.attempts:,}"] if what != "Model" else []),
            *(counts if with_calls else []),
            money(line.usd),
        ]

    body = [
        element(
            "tr",
            element("th", line.name, scope="row", class_="wide"),
            (element("td", cell, class_="number") for cell in cells(line)),
        )
        for line in shown
    ]
    if rest:
        words = f"{len(rest):,} more, {money(sum(line.usd for line in rest))}"
        body.append(element("tr", element("td", words, colspan=len(head))))
    columns = (element("th", word, scope="col", class_="number" if place else None) for place, word in enumerate(head))
    table = element("table", element("thead", element("tr", columns)), element("tbody", body))
    return element(
        "div", table, class_="panel scroll", role="region", aria_label=f"Costs by {what.lower()}", tabindex=0
    )
