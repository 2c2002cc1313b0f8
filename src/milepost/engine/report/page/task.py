"""One task on the page: verdict, checks before and after, attempts and their reasons, the diff, its gates."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.core.verdict import Question
from milepost.engine.report.diffs import Diff, DiffLine, FileDiff
from milepost.engine.report.facts import AttemptStory, CheckStory, GateStory, TaskStory
from milepost.engine.report.page.answers import WORDS, mark
from milepost.engine.report.page.markup import Markup, element, group
from milepost.engine.report.words import counted, duration, money, place_of

FILES_OPEN, LINES_OPEN = 3, 60  # a small diff needs no unfolding


def task_details(task: TaskStory, anchor: str, gates: Sequence[GateStory], *, unfolded: bool) -> Markup:
    """A task, folded to one line until it is asked for."""
    aside = [counted(len(task.attempts), "attempt")] if task.attempts else []
    aside += [duration(task.seconds)] if task.bars else []
    aside += [money(task.cost_usd)] if task.cost_usd else []
    summary = element(
        "summary",
        mark(task.standing),
        element("span", f"{task.id} {task.title}", class_="title"),
        element("span", WORDS[task.standing], class_=f"word {task.standing}"),
        element("span", " · ".join(aside), class_="aside"),
        element("code", task.commit[:7]) if task.commit else None,
    )
    body = element(
        "div",
        element("p", task.reason) if task.reason else None,
        (element("p", f"→ {line}", class_="soft") for line in task.proposal.splitlines()),
        _attempts(task),
        _diff(task.diff, task.id),
        _gates(gates),
        element("p", "not started yet", class_="soft") if not task.attempts and not gates else None,
        class_="body",
    )
    return element("details", summary, body, class_="task", id=anchor, data_standing=task.standing, open=unfolded)


def _attempts(task: TaskStory) -> Markup | None:
    """The attempts, the last one first: it is the one that counts."""
    if not task.attempts:
        return None
    return group(_attempt(attempt, told=task.reason) for attempt in reversed(task.attempts))


def _attempt(attempt: AttemptStory, told: str) -> Markup:
    """One attempt; a reason that was `told` already is not told again."""
    reason = attempt.reason if attempt.verdict != "passed" and attempt.reason != told else ""
    facts = [attempt.agent, duration(attempt.seconds)]
    facts += [money(attempt.cost_usd)] if attempt.cost_usd else []
    facts += [counted(attempt.calls, "model call"), f"{attempt.tokens:,} tokens"] if attempt.calls else []
    facts += [counted(attempt.tools, "tool use")] if attempt.tools else []
    verdict = attempt.verdict or "running"
    return element(
        "section",
        element("h3", f"Attempt {attempt.number}: {verdict}", f" ({attempt.failure})" if attempt.failure else None),
        element("p", " · ".join(fact for fact in facts if fact), class_="soft"),
        element("p", reason) if reason else None,
        element("p", attempt.decided, class_="word") if attempt.decided else None,
        (element("p", line, class_="basis") for line in attempt.basis),
        _questions(attempt.questions),
        _checks(attempt.checks),
        element("p", f"not applicable: {', '.join(attempt.nothing_to_ask)}", class_="soft")
        if attempt.nothing_to_ask and attempt.checks
        else None,
        (_failed_check(check) for check in attempt.checks if check.details),
        _folded("What the agent claimed (not used as evidence)", attempt.said, "said"),
        element("p", "kept as ", element("code", attempt.ref), class_="soft") if attempt.ref else None,
        element("p", f"enforced by the sandbox: {', '.join(attempt.held)}", class_="soft") if attempt.held else None,
        class_=f"attempt {attempt.verdict}".strip(),
    )


def _questions(questions: Sequence[Question]) -> Markup | None:
    """What a person is asked about held work: the old and the new expectation side by side."""
    if not questions:
        return None
    head = ("Question", "Was", "Now")
    rows = (
        element(
            "tr",
            element("th", one.text, element("p", element("code", place_of(one))) if one.path else None, scope="row"),
            element("td", element("del", one.before) if one.before else "–", class_="wide"),
            element("td", element("ins", one.after) if one.after else "–", class_="wide"),
        )
        for one in questions
    )
    table = element(
        "table",
        element("thead", element("tr", (element("th", word, scope="col") for word in head))),
        element("tbody", rows),
    )
    return element("div", table, class_="panel questions")


def _checks(checks: Sequence[CheckStory]) -> Markup | None:
    if not checks:
        return None
    head = (("Check", ""), ("Details", ""), ("Before", ""), ("After", ""), ("Took", "number"))
    rows = (
        element(
            "tr",
            element("th", check.name, " ★" if check.decisive else None, scope="row"),
            element("td", check.asked, class_="wide"),
            element("td", check.before),
            element(
                "td",
                element(
                    "span", check.after, class_="word failed" if check.failed else "word held" if check.held else None
                ),
            ),
            element("td", duration(check.seconds) if check.seconds else "", class_="number"),
        )
        for check in checks
    )
    decisive = any(check.decisive for check in checks)
    return group(
        element(
            "div",
            element(
                "table",
                element(
                    "thead",
                    element("tr", (element("th", word, scope="col", class_=kind or None) for word, kind in head)),
                ),
                element("tbody", rows),
            ),
            class_="panel",
        ),
        element("p", "★ decisive: it checks this task in particular", class_="soft") if decisive else None,
    )


def _failed_check(check: CheckStory) -> Markup:
    return group(
        element("p", f"{check.name} failed:"),
        element(
            "pre", "\n".join(check.details), class_="log", tabindex=0, role="region", aria_label=f"log of {check.name}"
        ),
    )


def _folded(title: str, text: str, kind: str) -> Markup | None:
    if not text.strip():
        return None
    return element("details", element("summary", title), element("pre", text, class_=kind))


def _gates(gates: Sequence[GateStory]) -> Markup | None:
    return group(_gate(gate) for gate in gates) if gates else None


def _gate(gate: GateStory) -> Markup:
    answer = f"answered: {gate.answer}" if gate.answer else "waiting for an answer"
    return element(
        "section",
        element("h3", f"Gate {gate.kind}: {answer}"),
        element("p", gate.question),
        element("p", gate.text) if gate.text else None,
        _folded("What was shown", gate.shown, "log"),
        class_="attempt",
    )


def _diff(diff: Diff | None, task: str) -> Markup | None:
    if diff is None:
        return None
    small = len(diff.files) <= FILES_OPEN and diff.shown <= LINES_OPEN
    notes = [f"{counted(diff.files_left_out, 'more file')} not shown"] if diff.files_left_out else []
    notes += [diff.note] if diff.note else []
    notes += ["no file was changed"] if not diff.files and not diff.note else []
    return group(
        element("h3", "What changed"),
        element(
            "div",
            (_file(file, unfolded=small) for file in diff.files),
            (element("p", note, class_="note") for note in notes),
            class_="panel",
        ),
        element("p", "all changes: ", element("code", diff.command), class_="soft"),
    )


def _file(file: FileDiff, *, unfolded: bool) -> Markup:
    counts = group(
        element("span", f" +{file.added:,}", class_="plus") if file.added else None,
        element("span", f" −{file.removed:,}", class_="minus") if file.removed else None,
    )
    summary = element("summary", file.path, element("span", f" {file.what}", class_="soft"), counts)
    left_out = (
        element("p", f"{counted(file.left_out, 'more line')} not shown", class_="note") if file.left_out else None
    )
    lines = element(
        "pre", (_line(line) for line in file.lines), class_="diff", tabindex=0, role="region", aria_label=file.path
    )
    return element("details", summary, lines if file.lines else None, left_out, class_="file", open=unfolded)


def _line(line: DiffLine) -> Markup:
    match line.sign:
        case "+":
            return element("ins", f"+{line.text}")
        case "-":
            return element("del", f"-{line.text}")
        case "@":
            return element("span", line.text, class_="hunk")
        case _:
            return element("span", f" {line.text}")
