"""The timeline: a row for each task, its stages in three lanes, on one scale."""

from __future__ import annotations

from milepost.engine.report.bars import Scale, scale_of
from milepost.engine.report.facts import Bar, RunStory, TaskStory
from milepost.engine.report.page.answers import mark
from milepost.engine.report.page.markup import Markup, element
from milepost.engine.report.words import duration

WIDTH, NARROWEST = 1000, 2.0
LANES = {"act": 1, "verify": 9, "land": 17}
TICKS = 4


def timeline(story: RunStory, anchors: dict[str, str]) -> Markup | None:
    """When what was done; None where nothing was."""
    worked = [task for task in story.tasks if task.bars]
    if not worked:
        return None
    scale = scale_of({task.id: task.bars for task in worked})
    ticks = [
        element("span", duration(scale.seconds * tick / TICKS), class_="between" if 0 < tick < TICKS else None)
        for tick in range(TICKS + 1)
    ]
    head = element(
        "tr",
        element("th", "Task", class_="who", scope="col"),
        element("th", element("span", ticks, class_="ticks"), scope="col"),
        element("th", "Work", class_="took number", scope="col"),
    )
    table = element(
        "table",
        element("thead", head),
        element("tbody", (_row(task, scale, anchors[task.id]) for task in worked)),
        class_="timeline",
    )
    return element(
        "section",
        element("h2", "Timeline", id="timeline"),
        element("div", table, class_="panel scroll", role="region", aria_label="Timeline", tabindex=0),
        _legend(scale),
        aria_labelledby="timeline",
    )


def _row(task: TaskStory, scale: Scale, anchor: str) -> Markup:
    title = element("span", f" {task.title}", class_="title")
    who = element(
        "th", mark(task.standing), " ", element("a", task.id, href=f"#{anchor}"), title, class_="who", scope="row"
    )
    rests = (element("line", class_="rest", x1=_x(rest.at), x2=_x(rest.at), y1=0, y2=24) for rest in scale.rests)
    drawing = element(
        "svg",
        element("rect", class_="track", x=0, y=0, width=WIDTH, height=24),
        rests,
        (_bar(bar, scale) for bar in task.bars),
        viewBox=f"0 0 {WIDTH} 24",
        preserveAspectRatio="none",
        role="img",
        aria_label=_in_words(task.bars),
    )
    return element("tr", who, element("td", drawing), element("td", duration(task.seconds), class_="took number"))


def _bar(bar: Bar, scale: Scale) -> Markup:
    begin, end = scale.place(bar.began) * WIDTH, scale.place(bar.ended) * WIDTH
    width = max(NARROWEST, end - begin)
    title = element("title", f"attempt {bar.attempt}, {_lasting(bar)}")
    return element(
        "g",
        title,
        element(
            "rect",
            class_=bar.stage,
            x=f"{min(begin, WIDTH - width):.1f}",
            y=LANES.get(bar.stage, 1),
            width=f"{width:.1f}",
            height=6,
        ),
    )


def _in_words(bars: tuple[Bar, ...]) -> str:
    """What the drawing says, for whoever cannot see it."""
    attempts: dict[int, list[str]] = {}
    for bar in bars:
        attempts.setdefault(bar.attempt, []).append(_lasting(bar))
    return "; ".join(f"attempt {number}: {', '.join(stages)}" for number, stages in attempts.items())


def _lasting(bar: Bar) -> str:
    return f"{bar.stage} {duration(bar.ended - bar.began)}{' so far' if bar.open else ''}"


def _legend(scale: Scale) -> Markup:
    words = {"act": "an agent works", "verify": "the checks run", "land": "the work is merged"}
    items = [
        element(
            "li",
            element("svg", element("rect", class_=stage, width=10, height=10), viewBox="0 0 10 10", aria_hidden="true"),
            f"{stage}: {meaning}",
        )
        for stage, meaning in words.items()
    ]
    if scale.rests:
        longest = max(rest.seconds for rest in scale.rests)
        items.append(element("li", f"┊ idle time is cut out here, up to {duration(longest)}"))
    return element("ul", items, class_="legend")


def _x(place: float) -> str:
    return f"{place * WIDTH:.1f}"
