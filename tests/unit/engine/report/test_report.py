"""What others read of a run: the story told from its events, and how it is shown without being believed."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from markdown_it import MarkdownIt

from milepost.core.approval import accepted
from milepost.core.attempt import Attempt, Outcome
from milepost.core.calls import Usage
from milepost.core.events import (
    AttemptFinished,
    BudgetReached,
    Event,
    GateAnswered,
    GateOpened,
    MilepostMade,
    ModelCalled,
    RunFinished,
    RunStarted,
    StageStarted,
    Steered,
    TaskFinished,
    TaskSummary,
)
from milepost.core.secrets.redact import MASK, Redactor
from milepost.core.verdict import CheckResult, Question, TestCase, Verdict, judge
from milepost.engine.records.journal import Entry, RunRecord
from milepost.engine.records.run_view import redacted
from milepost.engine.report import markdown
from milepost.engine.report.bars import scale_of
from milepost.engine.report.diffs import LINES_A_FILE, Room, read_diff
from milepost.engine.report.facts import Bar, NothingRun, RunStory
from milepost.engine.report.page import page
from milepost.engine.report.page.markup import element, raw_text
from milepost.engine.report.story import tell
from milepost.engine.report.waits import waits_of
from milepost.engine.report.words import visible

DOCS = Path(__file__).parents[4] / "docs"
SECRET = "sk-abcdefghijklmnopqrstuvwx"
HOSTILE = (
    "<script>alert(1)</script> \"' --> </style> ]]> &lt; @octocat #12 GH-7 ![x](http://evil/x.png) "
    "| `tick` \x1b[31m \u202egnp.exe \u2066 \x00 \u200b \ud800 [a](javascript:alert(1)) $x$ <img src=x onerror=y>"
)
DAY_S = 86_400.0


def entries(*events: tuple[float, Event]) -> tuple[Entry, ...]:
    return tuple(Entry(seq=seq, at=at, event=event) for seq, (at, event) in enumerate(events, 1))


def record(summary: RunFinished | None = None, *, left: bool = False, **order: Any) -> RunRecord:
    return RunRecord(
        run="7f3a",
        version="3",
        order={"base": "b" * 40, "roadmap": "ROADMAP.md", "tasks": ["1.1", "1.2"], **order},
        started_at=0.0,
        finished_at=100.0 if summary else None,
        summary=summary,
        left_at=50.0 if left else None,
    )


def started(*tasks: str) -> RunStarted:
    return RunStarted(
        run="7f3a",
        branch="milepost/7f3a",
        base="b" * 40,
        base_name="main",
        ahead="",
        agent="command:./agent",
        trust="isolated",
        parallel=2,
        tasks=tasks,
    )


def stage(task: str, number: int, name: Any, title: str = "Title") -> StageStarted:
    agent = "command:./agent" if name == "act" else ""
    return StageStarted(run="7f3a", task=task, title=title, attempt=number, stage=name, agent=agent)


def attempt_over(task: str, number: int, verdict: Verdict, reason: str = "why", usd: float = 0.5) -> AttemptFinished:
    return AttemptFinished(
        run="7f3a",
        task=task,
        attempt=number,
        agent="command:./agent",
        verdict=verdict,
        reason=reason,
        commit="c" * 40,
        duration_ms=1000,
        cost_usd=usd,
    )


def task_over(task: str, verdict: Verdict | None, reason: str = "why", **more: Any) -> TaskFinished:
    facts = {"title": "Title", "commit": "d" * 40 if verdict is Verdict.PASSED else None, "attempts": 1, **more}
    return TaskFinished(
        run="7f3a",
        task=task,
        agent="command:./agent",
        verdict=verdict,
        reason=reason,
        checks=3,
        tests=7,
        duration_ms=2000,
        cost_usd=0.5,
        **facts,
    )


def call(task: str, number: int, usd: float = 0.1, model: str = "openai:gpt-5") -> ModelCalled:
    return ModelCalled(
        run="7f3a",
        task=task,
        attempt=1,
        number=number,
        model=model,
        input_tokens=100,
        output_tokens=10,
        cached_tokens=5,
        cost_usd=usd,
        duration_ms=300,
    )


def kept(number: int, *checks: CheckResult, said: str = "") -> Attempt:
    return Attempt(
        number=number,
        agent="command:./agent",
        base="b" * 40,
        commit="c" * 40,
        outcome=Outcome(status="finished", said=said, usage=Usage(cost_usd=0.5)),
        evidence=judge("e" * 40, checks),
        duration_ms=1000,
    )


def told(
    record: RunRecord,
    happened: Sequence[Entry],
    attempts: dict[str, Sequence[Attempt]] | None = None,
    *,
    running: bool = False,
    now: float = 1000.0,
    **more: Any,
) -> RunStory:
    facts = {"titles": {}, "diffs": {}, **more}
    return tell(record, happened, attempts or {}, running=running, now=now, version="0", **facts)


def finished(task: str, verdict: Verdict) -> RunFinished:
    end = TaskSummary(id=task, title="Title", verdict=verdict, commit=None, attempts=1, reason="why")
    return RunFinished(
        run="7f3a",
        branch="milepost/7f3a",
        tasks=(end,),
        cost_usd=0.0,
        duration_ms=1,
        head="b" * 40,
        fast_forwarded="",
        by_hand="",
    )


GATE = GateOpened(
    run="7f3a", task="1.2", gate="1.2/1/after", kind="after", question="may this land?", shown="+ x", digest="0"
)


def test_a_run_that_is_under_way_says_what_is_done_in_work_and_asked() -> None:
    happened = entries(
        (0, started("1.1", "1.2", "1.3", "1.4")),
        (1, stage("1.1", 1, "act")),
        (2, stage("1.2", 1, "act")),
        (5, stage("1.1", 1, "verify")),
        (8, attempt_over("1.1", 1, Verdict.PASSED)),
        (9, stage("1.1", 1, "land")),
        (10, MilepostMade(run="7f3a", task="1.1", attempt=1, commit="d" * 40, tree="e" * 40)),
        (10, task_over("1.1", Verdict.PASSED)),
        (11, GATE),
        (12, stage("1.3", 1, "act", "Third")),
    )
    story = told(record(), happened, running=True, now=20, titles={"1.4": "Fourth"})
    assert [(task.id, task.standing) for task in story.tasks] == [
        ("1.1", "passed"),
        ("1.2", "asking"),
        ("1.3", "working"),
        ("1.4", "waiting"),
    ]
    assert story.tasks[3].title == "Fourth", "a task that was never begun has its title from the roadmap"
    assert [(bar.stage, bar.began, bar.ended) for bar in story.tasks[0].bars] == [
        ("act", 1, 5),
        ("verify", 5, 8),
        ("land", 9, 10),
    ]
    assert [(bar.ended, bar.open) for bar in story.tasks[2].bars] == [(20, True)], "it lasts until now"
    assert [wait.command for wait in waits_of(story)] == ["milepost approve 1.2"]


def test_a_run_that_was_killed_ends_where_it_was_last_seen_and_says_how_to_go_on() -> None:
    happened = entries((0, started("1.1")), (1, stage("1.1", 1, "act")), (4, call("1.1", 1)))
    story = told(record(), happened, now=9 * DAY_S)
    assert story.state == "interrupted"
    assert [(bar.ended, bar.open) for bar in story.tasks[0].bars] == [(4, False)]
    assert story.costs.usd == pytest.approx(0.1), "what was spent before the crash is told"
    assert [wait.command for wait in waits_of(story)] == ["milepost resume"]


HELD = CheckResult(
    name="changed tests",
    outcome="held",
    summary="1 expectation changed",
    questions=(
        Question(
            kind="changed test",
            text="test_price expects | another price",
            path="tests/test_price.py",
            line=7,
            before="price == 2",
            after="price == 3",
        ),
    ),
)
HELD_GATE = GateOpened(
    run="7f3a", task="1.1", gate="1.1/1/held", kind="held", question="Is it right?", shown="+ x", digest="0"
)


def test_held_work_is_told_with_its_question_before_and_after_the_run_and_is_never_passed() -> None:
    tried = kept(1, HELD, CheckResult(name="tests", outcome="passed", summary="3 passed", decisive=True))
    tried = replace(tried, evidence=replace(tried.evidence, from_base=("tests/test_price.py",)))
    began = (
        (0, started("1.1")),
        (1, stage("1.1", 1, "act")),
        (8, attempt_over("1.1", 1, Verdict.HELD)),
        (9, HELD_GATE),
    )
    on = told(record(), entries(*began), {"1.1": (tried,)}, running=True)
    assert on.tasks[0].standing == "held"

    over = (*began, (10, task_over("1.1", Verdict.HELD, "1 expectation changed")), (11, finished("1.1", Verdict.HELD)))
    story = told(record(finished("1.1", Verdict.HELD), tasks=["1.1"]), entries(*over), {"1.1": (tried,)})
    assert story.counts == {"passed": 0, "held": 1}
    assert [wait.command for wait in waits_of(story)] == ["milepost approve 1.1"]
    text = markdown.render(story)
    assert "**0 passed · 1 held**" in text and "? held" in text
    assert "| `price == 2` | `price == 3` |" in text and "`tests/test_price.py:7`" in text
    assert "taken with this file as it was at the base" in text
    html = page.render(story)
    assert "<del>price == 2</del>" in html and "<ins>price == 3</ins>" in html and "1 held" in html


def test_accepted_work_is_counted_by_itself_and_says_who_took_it() -> None:
    silent = CheckResult(name="tests", outcome="absent", summary="the project has no tests")
    tried = kept(1, silent)
    tried = replace(tried, evidence=accepted(tried.evidence, "Ada", "I read it"))
    happened = entries(
        (0, started("1.1")),
        (1, stage("1.1", 1, "act")),
        (9, HELD_GATE),
        (10, finished("1.1", Verdict.UNVERIFIED)),
        (20, task_over("1.1", Verdict.UNVERIFIED, "accepted by Ada, not verified", commit="d" * 40)),
        (21, GateAnswered(run="7f3a", task="1.1", gate="1.1/1/held", answer="accept")),
    )
    story = told(record(finished("1.1", Verdict.UNVERIFIED), tasks=["1.1"]), happened, {"1.1": (tried,)})
    assert story.counts == {"passed": 0, "accepted": 1} and waits_of(story) == ()
    for text in (markdown.render(story), page.render(story)):
        assert "accepted by Ada, not verified" in text and "1 accepted" in text


def test_an_answered_gate_waits_for_nobody() -> None:
    answered = GateAnswered(run="7f3a", task="1.2", gate="1.2/1/after", answer="reject", text="not like this")
    story = told(record(), entries((0, started("1.2")), (1, GATE), (3 * DAY_S, answered)), running=True)
    assert story.open_gates == ()
    assert (story.gates[0].answer, story.gates[0].text) == ("reject", "not like this")


def test_a_task_took_what_its_own_event_says_and_a_run_what_its_tasks_took() -> None:
    over = (50, attempt_over("1.1", 1, Verdict.PASSED)), (60, task_over("1.1", Verdict.PASSED))
    story = told(record(), entries((0, started("1.1")), (1, stage("1.1", 1, "act")), *over))
    assert (story.tasks[0].attempts[0].seconds, story.tasks[0].seconds, story.seconds) == (1.0, 2.0, 2.0)


def test_costs_are_added_up_by_task_model_and_agent_each_dollar_once() -> None:
    happened = entries(
        (0, started("1.1", "1.2")),
        (1, call("1.1", 1, 0.2)),
        (2, call("1.1", 2, 0.3, "anthropic:claude")),
        (3, attempt_over("1.1", 1, Verdict.FAILED, usd=0.5)),
        (4, attempt_over("1.1", 1, Verdict.PASSED, usd=0.5)),  # its evidence was corrected: it is the same attempt
        (5, attempt_over("1.2", 1, Verdict.PASSED, usd=1.25)),
        (6, BudgetReached(run="7f3a", task="", scope="run", message="$0.05 is left of $2.00")),
    )
    costs = told(record(budget={"usd": 2.0}), happened).costs
    assert costs.usd == pytest.approx(1.75)
    assert [(line.name, line.usd, line.attempts) for line in costs.by_task] == [("1.1", 0.5, 1), ("1.2", 1.25, 1)]
    assert {line.name: line.usd for line in costs.by_model} == {"anthropic:claude": 0.3, "openai:gpt-5": 0.2}
    assert [(line.name, line.usd, line.calls) for line in costs.by_agent] == [("command:./agent", 1.75, 2)]
    assert costs.tokens == 220
    assert (costs.budget_usd, costs.walls) == (2.0, ("$0.05 is left of $2.00",))


def test_a_rest_of_days_takes_no_room_on_the_timeline() -> None:
    bars = {"1.1": [Bar(attempt=1, stage="act", began=0, ended=100)]}
    bars["1.2"] = [Bar(attempt=1, stage="act", began=3 * DAY_S, ended=3 * DAY_S + 100)]
    scale = scale_of(bars)
    assert scale.seconds == 200
    assert (scale.place(100), scale.place(2 * DAY_S), scale.place(3 * DAY_S + 50)) == (0.5, 0.5, 0.75)
    assert [rest.at for rest in scale.rests] == [0.5]


def test_checks_are_told_before_and_after_with_what_failed() -> None:
    case = TestCase(id="t::one", outcome="failed", message="boom", before="passed")
    good = TestCase(id="t::two", outcome="passed", before="failed")
    tests = CheckResult(name="tests", outcome="failed", summary="1 failed", cases=(case, good), log="last line")
    absent = CheckResult(name="lint", outcome="absent", summary="no linter")
    happened = entries((0, started("1.1")), (1, stage("1.1", 1, "act")), (2, task_over("1.1", Verdict.FAILED)))
    (told_of,) = told(record(), happened, {"1.1": [kept(1, tests, absent)]}).tasks[0].attempts
    (check,) = told_of.checks
    assert (check.before, check.after, check.failed) == ("1 of 2 passed", "1 of 2 passed", True)
    assert check.details == ("1 failed", "t::one: boom", "last line")
    assert told_of.nothing_to_ask == ("lint",)


# What is shown


DIFF = """\
diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,3 @@
 same
--- a/looks like a header
+diff --git a/no b/no
+-----BEGIN RSA PRIVATE KEY-----
+MIIEpAIBAAKCAQEA
+-----END RSA PRIVATE KEY-----
diff --git a/b.bin b/b.bin
new file mode 100644
Binary files /dev/null and b/b.bin differ
diff --git "a/o\\"dd.txt" "b/o\\"dd.txt"
deleted file mode 100644
--- "a/o\\"dd.txt"
+++ /dev/null
@@ -1 +0,0 @@
-gone
\\ No newline at end of file
"""


def test_a_diff_is_read_by_file_and_no_text_of_a_file_looks_like_a_header() -> None:
    diff = read_diff(DIFF, "git diff", Redactor(), Room())
    assert [(file.path, file.what, file.added, file.removed) for file in diff.files] == [
        ("a.txt", "changed", 2, 1),
        ("b.bin", "new, binary or too large", 0, 0),
        ('o\\"dd.txt', "deleted", 0, 1),
    ]
    lines = [line.text for line in diff.files[0].lines]
    assert "-- a/looks like a header" in lines and "diff --git a/no b/no" in lines
    assert MASK in lines and not any("MIIE" in line for line in lines), "a key of several lines is taken out whole"


def test_a_long_diff_is_cut_with_a_note_of_how_much() -> None:
    body = "".join(f"+line {number}\n" for number in range(LINES_A_FILE * 3))
    text = f"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n{body}"
    (file,) = read_diff(text, "git diff", Redactor(), Room()).files
    assert len(file.lines) == LINES_A_FILE
    assert file.left_out == LINES_A_FILE * 2 + 1
    assert file.added == LINES_A_FILE * 3, "the count is of all lines"
    (none,) = read_diff(text, "git diff", Redactor(), Room(0)).files
    assert (none.lines, none.left_out) == ((), LINES_A_FILE * 3 + 1)


def hostile_story(tasks: int = 2) -> RunStory:
    """A run in which everything that others may have written is hostile."""
    ids = [f"1.{number}" for number in range(1, tasks + 1)]
    happened: list[tuple[float, Event]] = [(0, replace(started(*ids), agent=HOSTILE, base_name=HOSTILE, trust=HOSTILE))]
    attempts: dict[str, Sequence[Attempt]] = {}
    diffs = {}
    room = Room()
    failed = CheckResult(
        name=HOSTILE,
        outcome="failed",
        summary=f"{HOSTILE} {SECRET}",
        log=HOSTILE,
        argv=(HOSTILE,),
        cases=(TestCase(id=HOSTILE, outcome="failed", message=HOSTILE),),
    )
    for place, task in enumerate(ids):
        verdict = Verdict.FAILED if place % 2 else Verdict.PASSED
        happened += [
            (place, stage(task, 1, "act", HOSTILE)),
            (place + 0.5, stage(task, 1, "verify", HOSTILE)),
            (place + 0.6, replace(call(task, 1), model=HOSTILE)),
            (place + 0.8, replace(attempt_over(task, 1, verdict, HOSTILE), agent=HOSTILE)),
            (place + 0.9, task_over(task, verdict, HOSTILE, title=HOSTILE, proposal=HOSTILE)),
        ]
        attempts[task] = [kept(1, failed, said=f"{HOSTILE} {SECRET}")]
        text = f"diff --git a/x b/x\n--- a/{HOSTILE}\n+++ b/{HOSTILE}\n@@ -1 +1 @@\n-{HOSTILE}\n+{SECRET}\n"
        diffs[task] = read_diff(text, f"git diff {HOSTILE}", Redactor(), room)
    happened += [
        (tasks, replace(GATE, task=ids[0], question=HOSTILE, shown=HOSTILE)),
        (tasks, BudgetReached(run="7f3a", task="", scope="run", message=HOSTILE)),
        (tasks, Steered(run="7f3a", task=HOSTILE, what=HOSTILE)),
    ]
    story = told(record(roadmap=HOSTILE), entries(*happened), attempts, diffs=diffs)
    return redacted(story, Redactor())


class Page(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, its texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_nothing_that_others_wrote_becomes_part_of_the_page() -> None:
    text = page.render(hostile_story())
    seen = Page(text)
    assert seen.open == [], "every element is closed where it should be"
    names = {name for name, _ in seen.elements}
    assert "img" not in names
    assert [name for name, _ in seen.elements].count("script") == 1
    for name, attributes in seen.elements:
        assert not any(key.startswith("on") or key == "style" for key in attributes), (name, attributes)
        address = attributes.get("href")
        assert address is None or re.fullmatch(r"#[a-z0-9-]+|data:,", address), address
        assert "src" not in attributes
    shown = "".join(seen.texts)
    assert "<script>alert(1)</script>" in shown, "it is there to be read"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)
    assert "␛[31m" in shown and "⟨U+202E⟩" in shown
    assert SECRET not in text and MASK in shown


def test_the_page_may_load_and_run_nothing_but_what_is_in_it() -> None:
    text = page.render(hostile_story())
    seen = Page(text)
    policy = next(
        str(attributes["content"])
        for name, attributes in seen.elements
        if name == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    for kind in ("style", "script"):
        (inside,) = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "url(" not in text.lower() and "@import" not in text.lower()


def test_the_page_can_be_used_without_a_mouse_and_without_eyes() -> None:
    seen = Page(page.render(hostile_story()))
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for name, attributes in seen.elements if name == "a"}
    assert {str(link)[1:] for link in links} <= set(ids)
    for name, attributes in seen.elements:
        if attributes.get("role") in ("img", "region"):
            assert attributes.get("aria-label"), (name, attributes)
        if name == "th":
            assert attributes.get("scope") in ("row", "col")
    assert next(attributes for name, attributes in seen.elements if name == "html")["lang"] == "en"


def test_a_report_of_a_thousand_tasks_stays_small_enough_to_open() -> None:
    story = hostile_story(1000)
    text = page.render(story)
    assert len(text) < 20_000_000
    assert text.count('class="task"') == 1000
    assert len(markdown.render(story)) < 1_000_000


def test_markdown_of_hostile_text_links_loads_mentions_and_breaks_nothing() -> None:
    text = markdown.render(hostile_story())
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert set(re.findall(r"<([a-z0-9]+)", html)) <= {
        *("h1", "h2", "p", "ul", "li", "strong", "code", "hr", "details", "summary", "em"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    outside_code = unescape(re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL))
    assert not re.search(r"@\w|#\d|GH-\d|https?://", outside_code)
    assert SECRET not in text
    table = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    widths = {row.count("<td") for row in table if "milepost" not in row and "<td" in row}
    assert widths <= {3, 4, 5, 8}, "no cell was broken in two"


def test_text_in_which_nothing_is_hidden_stays_as_it_is() -> None:
    assert visible("plain, Grüße, 日本語, é\tand\nlines") == "plain, Grüße, 日本語, é\tand\nlines"
    assert visible("a\u202eb\x1bc\x7f\ufeff") == "a⟨U+202E⟩b␛c␡⟨U+FEFF⟩"


def test_our_own_style_cannot_end_its_element() -> None:
    assert element("p", "a", title='"><b>').text == '<p title="&quot;&gt;&lt;b&gt;">a</p>'
    with pytest.raises(ValueError, match="would end"):
        raw_text("script", "</script>")


def test_where_nothing_was_run_both_forms_say_so() -> None:
    nothing = NothingRun(roadmap=HOSTILE, made_at=0, version="0")
    assert "No runs here yet" in page.render(nothing)
    assert "No runs here yet" in markdown.render(nothing)
    assert Page(page.render(nothing)).open == []


def test_a_finished_run_tells_what_is_left_to_take_in_and_what_never_began() -> None:
    summary = RunFinished(
        run="7f3a",
        branch="milepost/7f3a",
        tasks=(TaskSummary(id="1.2", title="T", verdict=None, commit=None, attempts=0, reason="waits for 1.1"),),
        cost_usd=0.0,
        duration_ms=0,
        head="d" * 40,
        fast_forwarded="",
        by_hand="git merge --ff-only milepost/7f3a",
    )
    story = told(record(summary), entries((0, started("1.1", "1.2")), (1, task_over("1.1", Verdict.FAILED))))
    assert [(wait.what, wait.command) for wait in waits_of(story)] == [
        ("your branch was not changed: merge the mileposts", "git merge --ff-only milepost/7f3a"),
        ("1.2 T: waits for 1.1", ""),
    ]


def test_the_no_of_a_person_and_the_gate_of_a_dropped_task_wait_for_nobody() -> None:
    dropped = replace(task_over("1.2", None), reason="dropped while the run was on")
    refused = replace(task_over("1.3", None), reason="refused by a person: not now")
    happened = entries((0, started("1.2", "1.3")), (1, GATE), (2, dropped), (3, refused))
    assert waits_of(replace(told(record(tasks=["1.2", "1.3"]), happened), state="finished")) == ()


def test_a_paused_run_says_how_it_goes_on() -> None:
    paused = Steered(run="7f3a", task="", what="paused: running attempts finish, nothing new starts")
    happened = entries((0, started("1.1")), (1, stage("1.1", 1, "act")), (2, paused))
    waits = waits_of(told(record(), happened, running=True))
    assert [(wait.what, wait.command) for wait in waits] == [("run 7f3a starts nothing new", "milepost resume")]


# The reference of the events


def test_the_page_about_events_names_every_kind_and_every_field() -> None:
    text = (DOCS / "events.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    kinds = {kind.__dataclass_fields__["event"].default: kind for kind in get_args(Event)}
    assert sections.keys() == kinds.keys()
    for name, kind in kinds.items():
        named = re.findall(r"^\| `(\w+)` \|", sections[name], re.MULTILINE)
        assert named == [field.name for field in fields(kind) if field.name not in ("event", "run")], name
