"""Proposals to a person: what is wrong, what would help, and the command to run next."""

from __future__ import annotations

from typing import Literal, assert_never

from milepost.core.failures import Failure, FailureClass
from milepost.core.task import Task
from milepost.core.task_parts import files_of, verify_of
from milepost.repair.strategy.breakers import Diagnosis

Way = Literal["rewrite", "retry", "switch", "defer", "decompose", "dissolve", "split", "look"]

LONGEST_LINE = 300

_ABOUT_TESTS = ("changed tests",)


def proposal_for(
    task: Task,
    failure: Failure,
    diagnosis: Diagnosis | None,
    way: Way,
    *,
    name: str = "",
    parts: tuple[Task, ...] = (),
) -> str:
    """One to three lines; `name` is the agent or the task that a way is about."""
    again = f"milepost retry {task.id}"
    match way:
        case "rewrite":
            lines = _rewrite(task, failure, again)
        case "retry":
            lines = [failure.summary, f"another attempt may work: {again}"]
        case "switch":
            lines = [_wrong(failure, diagnosis), f"give it to another agent: {again} --agent {name}"]
        case "defer":
            lines = [
                f"{failure.subject} is missing, and {name} makes it",
                f"write `Depends on: {name}` below line {task.line} of the roadmap, then: {again}",
            ]
        case "decompose" | "split":
            lines = [_wrong(failure, diagnosis), f"split {task.id} into {_listed(parts)}", f"then: {again}"]
        case "dissolve":
            apart = " ".join(f"--task {one}" for one in task.ids)
            lines = [_wrong(failure, diagnosis), f"run each task on its own: milepost run {apart}"]
        case "look":
            lines = [_wrong(failure, diagnosis), _help(task, failure, diagnosis), f"see: milepost proof {task.id}"]
        case _ as never:
            assert_never(never)
    return "\n".join(_one_line(line) for line in lines if line)


def _rewrite(task: Task, failure: Failure, again: str) -> list[str]:
    """What is to be written into the roadmap; where it says all that it can, what was in the way is not there."""
    lacking = [
        *([] if files_of(task) else ["which files it is about (`Files: path`)"]),
        *([] if verify_of(task) else ["how to check that it is done (`Verify: command`)"]),
    ]
    if not lacking:
        return [
            failure.summary,
            f"make that possible on the commit before the work, then: {again}",
            f"or take the work as it is: milepost accept {task.id}",
        ]
    return [
        f'{task.id} "{task.title}" (line {task.line}) does not say {" nor ".join(lacking)}',
        "add that below it in the roadmap and commit; best is a command that fails now and passes when it is done",
        f"then: {again}",
    ]


def _wrong(failure: Failure, diagnosis: Diagnosis | None) -> str:
    return diagnosis.what if diagnosis else failure.summary


def _help(task: Task, failure: Failure, diagnosis: Diagnosis | None) -> str:
    """What a person can do that no attempt can."""
    again = f"milepost retry {task.id}"
    if failure.check in _ABOUT_TESTS and not any(part.tests_may_change for part in task.walk()):
        return f"if this task is about changing tests, write `Tests: may change` below it, commit, then: {again}"
    match failure.kind, failure.subject:
        case FailureClass.API_ERROR, "401" | "403":
            return f"the agent's key was refused: sign in or set the key, then: {again}"
        case FailureClass.API_ERROR, "402":
            return (
                f"the agent's account has no credit left: add some or choose another agent, then: {again} --agent NAME"
            )
        case FailureClass.API_ERROR, "400" | "404" | "405" | "422":
            return (
                f"the agent's service refuses the request: check its model and address in milepost.toml, then: {again}"
            )
        case FailureClass.TOOL_FAILURE, program if program:
            return f"{program!r} is not on this machine: install it, or fix the line that names it, then: {again}"
        case _:
            return f"{diagnosis.advice}, then: {again}" if diagnosis else f"when it is fixed: {again}"


def _listed(parts: tuple[Task, ...]) -> str:
    return "; ".join(f"({number}) {part.title}" for number, part in enumerate(parts, 1))


def _one_line(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
