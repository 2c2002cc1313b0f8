"""The page: one HTML document with all that it needs in it."""

from __future__ import annotations

import base64
import hashlib

from milepost.engine.report.facts import NothingRun, RunStory
from milepost.engine.report.page.answers import WORDS, answers, counts
from milepost.engine.report.page.markup import Markup, Part, element, raw_text
from milepost.engine.report.page.style import SCRIPT, style
from milepost.engine.report.page.tables import costs_section, gates_section, happenings_section, releases_section
from milepost.engine.report.page.task import task_details
from milepost.engine.report.page.timeline import timeline
from milepost.engine.report.words import moment

UNFOLDED = 5  # so many failed tasks are shown open at once


def render(story: RunStory | NothingRun) -> str:
    """The report as HTML."""
    if isinstance(story, NothingRun):
        return _nothing(story)
    anchors = {task.id: f"task-{number}" for number, task in enumerate(story.tasks, 1)}
    body = (
        element("a", "to the tasks", href="#tasks", class_="skip"),
        _header(story),
        element(
            "main",
            answers(story, anchors),
            timeline(story, anchors),
            _tasks(story, anchors),
            releases_section(story.releases),
            costs_section(story),
            gates_section(story.gates),
            happenings_section(story.happenings),
        ),
        _footer(story.version, story.made_at, f"events version {story.events_version}"),
    )
    return _document(f"Run {story.run}: {story.state}", *body)


def _header(story: RunStory) -> Markup:
    base = f"{story.base_name or 'HEAD'} {story.base[:7]}"
    facts = [
        story.roadmap,
        f"branch {story.branch} from {base}",
        f"agent {story.agent}" if story.agent else "agents named by the tasks",
        f"sandbox: {story.trust}",
        f"{story.parallel} at a time",
        f"started {moment(story.started_at)}",
    ]
    facts += [f"ended {moment(story.ended_at)}"] if story.ended_at is not None else []
    facts += [f"{story.taken_in} is at {story.head[:7]}"] if story.taken_in else []
    return element(
        "header",
        element("h1", f"Run {story.run} ", element("span", story.state, class_="state")),
        element("ul", (element("li", fact) for fact in facts if fact), class_="facts"),
        counts(story) if story.tasks else None,
    )


def _tasks(story: RunStory, anchors: dict[str, str]) -> Markup | None:
    if not story.tasks:
        return None
    bad = story.standing("failed", "unverified", "held")
    unfolded = {task.id for task in bad} if len(bad) <= UNFOLDED else set()
    gates = (
        {task.id: [gate for gate in story.gates if gate.task == task.id] for task in story.tasks} if story.gates else {}
    )
    details = (
        task_details(task, anchors[task.id], gates.get(task.id, ()), unfolded=task.id in unfolded)
        for task in story.tasks
    )
    return element(
        "section",
        element("h2", "Tasks", id="tasks"),
        _controls(story),
        element("div", details, class_="panel"),
        aria_labelledby="tasks",
    )


def _controls(story: RunStory) -> Markup:
    there = [standing for standing in WORDS if any(task.standing == standing for task in story.tasks)]
    filters = [("all", f"all {len(story.tasks):,}", True)]
    filters += [
        (standing, f"{WORDS[standing]} {sum(task.standing == standing for task in story.tasks):,}", False)
        for standing in there
    ]
    buttons = (
        element("button", words, type="button", data_show=standing, aria_pressed="true" if pressed else "false")
        for standing, words, pressed in filters
    )
    unfold = element("button", "unfold", type="button", data_unfold=True, aria_pressed="false")
    return element(
        "div", buttons, unfold, class_="controls", hidden=True, role="group", aria_label="Which tasks to show"
    )


def _footer(version: str, made_at: float, more: str = "") -> Markup:
    words = " · ".join(filter(None, (f"created by milepost {version} at {moment(made_at)}", more)))
    return element("footer", element("p", words))


def _nothing(story: NothingRun) -> str:
    body = (
        element("header", element("h1", "No runs here yet"), element("p", story.roadmap, class_="soft")),
        element("main", element("p", "Start with ", element("code", "milepost run"), ".")),
        _footer(story.version, story.made_at),
    )
    return _document("No runs here yet", *body)


def _document(title: str, *body: Part) -> str:
    """A document that may load nothing: its own style and script are allowed by their hashes alone."""
    policy = (
        f"default-src 'none'; style-src '{_hash(style())}'; script-src '{_hash(SCRIPT)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        raw_text("style", style()),
    )
    whole = element("html", head, element("body", *body, raw_text("script", SCRIPT)), lang="en")
    return f"<!doctype html>\n{whole.text}\n"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
