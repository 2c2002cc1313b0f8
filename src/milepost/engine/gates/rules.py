"""When a person is asked: the rule of a run, the word of a task, and what could do harm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from milepost.core.errors import SettingInvalid
from milepost.core.events import GateKind
from milepost.core.task import Task
from milepost.plan.advice.risk import Risk
from milepost.sandbox.command_risk import Danger

Approval = Literal["each", "risky", "never"]

MODES: Mapping[str, Approval] = {"autonomous": "never", "supervised": "risky", "step": "each"}
MOST_SHOWN = 5

_RULES: Mapping[str, Approval] = {"each": "each", "risky": "risky", "never": "never", **MODES}


def approval_named(word: str) -> Approval:
    """The rule that a word means: each, risky, never, or a mode that stands for one of them."""
    if word in _RULES:
        return _RULES[word]
    raise SettingInvalid(
        f"{word!r} is not a valid value for when to ask",
        "use each, risky or never; or as a mode: step, supervised, autonomous",
    )


def may_need_gate(kind: GateKind, task: Task, approve: str) -> bool:
    """Whether a question is possible at all, whatever the task turns out to do: a quick look beforehand."""
    rule = approval_named(approve)
    if task.approve == "never":
        return False
    warns = kind != "before" and (rule != "never" or task.approve == "each")
    return warns or _asked_by_word(kind, task, rule)


def needs_gate(kind: GateKind, task: Task, risk: Risk, dangers: Sequence[Danger], approve: str) -> str | None:
    """The question to ask before a task goes on; None when nobody need be asked.

    `dangers` are those of the command that would run, or of the change that would land.
    """
    rule = approval_named(approve)
    if task.approve == "never" or (kind == "destructive" and not dangers):
        return None
    warned = bool(dangers) and (rule != "never" or task.approve == "each")
    risky = kind == "after" and rule == "risky" and not task.approve and risk.level == "high"
    if warned or risky or _asked_by_word(kind, task, rule):
        return question_for(kind, task, risk, dangers)
    return None


def question_for(kind: GateKind, task: Task, risk: Risk, dangers: Sequence[Danger]) -> str:
    """The question in words, with what is known to be risky about it."""
    name = f"{task.id} “{task.title}”"
    asked = {
        "before": f"May {name} start?",
        "after": f"May the work on {name} be merged?",
        "destructive": f"May this command run for {name}?",
        "held": f"Is the work on {name} right?",
    }[kind]
    reasons = [f"It {danger.why}: {danger.what}." for danger in dangers[:MOST_SHOWN]]
    if len(dangers) > MOST_SHOWN:
        reasons.append(f"There are {len(dangers) - MOST_SHOWN} more such places.")
    if risk.sentence and kind != "destructive":
        reasons.append(f"It is {risk.sentence}.")
    return " ".join([asked, *reasons])


def shown_before(task: Task) -> str:
    """What a person is shown before a task begins: its own words."""
    lines = [f"{task.id} {task.title}", "", task.text.strip()]
    lines += [f"Files: {', '.join(task.files)}"] if task.files else []
    lines += [f"Verify: {command}" for command in task.verify]
    lines += [f"Verify hidden: {command}" for command in task.verify_hidden]
    lines += [f"- {subtask.title}" for subtask in task.subtasks]
    return "\n".join(lines).strip() + "\n"


def _asked_by_word(kind: GateKind, task: Task, rule: Approval) -> bool:
    """Whether the roadmap or the run asks for this, whatever the task is about."""
    if kind in ("destructive", "held"):
        return False
    return task.approve in (kind, "each") if task.approve else rule == "each"
