"""Letting another agent write tests for a task before anybody works on it, and finding out what they are worth."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.agents.prompts import filled, quoted
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Usage
from milepost.core.change import Change, ChangedFile
from milepost.core.errors import BudgetSpent, LeaseLost, MachineFailed
from milepost.core.events import AgentSaid
from milepost.core.ports import Tools
from milepost.core.task import Task
from milepost.core.verdict import TestOutcome
from milepost.engine.events.emit import command_teller
from milepost.engine.records import worker_lease
from milepost.engine.records.call_log import AttemptKey
from milepost.engine.records.call_recorder import CallHooks, CallRecorder
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.services import RunServices
from milepost.engine.terminals.command_policy import UnaskedVeto, policy_of
from milepost.engine.verification.kept_tests import KeptTests
from milepost.verify.checks.independent import IndependentTests, run_laid
from milepost.verify.checks.secrets import secrets_found
from milepost.verify.judging.behaviour import keeps_behaviour
from milepost.verify.judging.paths import CODE, is_test_path, suffix
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts

FIRST_CALL = 2_000_000  # of a tester in the spending of an attempt, behind those of its agent and of a reviewer
NOT_KEPT = "tests"  # stands for a workspace that a tester cut short does not find again: it begins anew
MOST_FILES, LARGEST = 20, 200_000

_TURN_GREEN = "They must fail now, before the work is done, and pass once it is done right."
_STAY_GREEN = "The task changes no behaviour: they must pass now, and still pass once it is done right."
_NOT_FINISHED = {
    "gave_up": "gave up",
    "timed_out": "ran out of time",
    "limited": "cannot be asked now: its service is limited",
    "spent": "has spent the task's budget",
}


def wants_tests(services: RunServices, task: Task, base: str, agent: str) -> bool:
    """Whether a tester is asked: where the settings name one and no `Verify:` line of the task decides."""
    settings = services.settings.verify
    if (
        not settings.tester
        or settings.mode == "skip"
        or task.changes_nothing
        or agent.startswith(("pattern:", "recipe:"))
    ):
        return False
    if settings.tester_always:
        return True
    if any(part.verify_hidden for part in task.walk()):
        return False
    before = services.examiner.baselines.at(base, services.mileposts.tree_of(base))
    lines = (before.command(line) for part in task.walk() for line in part.verify)
    return not any(line is not None and line.outcome == "failed" for line in lines)


def write_tests(services: RunServices, order: RunSpec, task: Task, base: str) -> IndependentTests:
    """Let the tester write tests at the base, and keep those that are of use; or why there are none."""
    kept = KeptTests(journal=services.books.journal, run=order.run)
    if (known := kept.of(task.id)) is not None:
        return known
    tester = services.settings.verify.tester
    _say(services, order, task, "begins", f"{tester} writes tests for this task before it is worked on")
    tests = _written(services, order, task, base, tester)
    kept.keep(task.id, tests)
    count = len(tests.files)
    said = f"{tester} wrote {count} {'file' if count == 1 else 'files'} of tests" if count else tests.problem
    _say(services, order, task, "ends", said if count else f"no independent tests: {said}")
    return kept.of(task.id) or tests


def with_kept_tests(services: RunServices, order: RunSpec, task: Task, tree: str) -> str:
    """The tree with the tester's tests in it, where the settings want them to stay; files that are there stay."""
    tests = KeptTests(journal=services.books.journal, run=order.run).of(task.id)
    if tests is None or not services.settings.verify.keep_independent:
        return tree
    there = frozenset(services.mileposts.files_below(tree, ""))
    for path, text in tests.files.items():
        if path not in there:
            tree = services.mileposts.with_file(tree, path, text.encode())
    return tree


def _written(services: RunServices, order: RunSpec, task: Task, base: str, tester: str) -> IndependentTests:
    name = f"{order.run}-{task.id}-tests"
    workspace = services.checkouts.make(name, base)
    workspace = replace(workspace, kept=services.checkouts.kept(order.run, f"{task.id}-tests"))
    try:
        outcome = _let_write(services, order, task, workspace, tester)
        change, problem = _left_in(services, order, workspace)
    finally:
        services.checkouts.drop(name)
        services.checkouts.forget(order.run, f"{task.id}-tests")
    if outcome.status != "finished":
        problem = services.redact(f"{tester} {_NOT_FINISHED[outcome.status]}")
    problem = problem or objection(change)
    if problem:
        return IndependentTests(tester=tester, problem=problem)
    files = {file.path: file.text_after for file in change.files if is_test_path(file.path)}
    return _tried(services, order, task, base, IndependentTests(tester=tester, files=files))


def objection(change: Change) -> str:
    """Why what a tester left is not taken: it may only have added tests that can be read."""
    touched = [file.path for file in change.files if not file.is_new or _is_product(file)]
    if touched:
        return f"the tester changed {touched[0]}, and may only add tests"
    tests = [file for file in change.files if is_test_path(file.path)]
    if not tests:
        return "the tester wrote no test"
    if len(tests) > MOST_FILES or any(file.unread or len(file.after or b"") > LARGEST for file in tests):
        return "the tester wrote too much"
    return next(_unreadable(tests), "")


def _is_product(file: ChangedFile) -> bool:
    return file.is_link or (suffix(file.path) in CODE and not is_test_path(file.path))


def _unreadable(tests: list[ChangedFile]) -> Iterator[str]:
    for file in tests:
        try:
            text = (file.after or b"").decode()
            if suffix(file.path) == ".py":
                ast.parse(text)
        except (UnicodeDecodeError, SyntaxError, ValueError):
            yield f"{file.path}, which the tester wrote, cannot be read"


def _tried(services: RunServices, order: RunSpec, task: Task, base: str, tests: IndependentTests) -> IndependentTests:
    """The tests with how they end at the base; none where that is not as it must be."""
    examiner = services.examiner
    before = examiner.baselines.at(base, services.mileposts.tree_of(base))
    with examiner.outfitter.fitted(f"{order.run}-{task.id}-tests-base", base) as (workspace, bench):
        known = frozenset(before.tests() or ())
        ran = run_laid(tests.material, workspace, bench, runners=examiner.asked.runners, known=known)
    found: dict[str, TestOutcome] = {case.id: case.outcome for case in ran.cases}
    if not found and ran.problem and not ran.missing:
        found = {"": "failed"}  # where one file that cannot be compiled is the end of all tests
    red = "failed" in found.values()
    problem = ""
    if not found:
        problem = ran.missing or "no test runner of this project runs what the tester wrote"
    elif keeps_behaviour(task) and red:
        problem = "what the tester wrote fails before the task, which is to change no behaviour"
    elif not keeps_behaviour(task) and not red:
        problem = "what the tester wrote passes before the task is done"
    return IndependentTests(tester=tests.tester, problem=problem) if problem else replace(tests, at_base=found)


def _let_write(services: RunServices, order: RunSpec, task: Task, workspace: Workspace, tester: str) -> Outcome:
    """Let the tester work in a workspace of its own; whatever stops it stops nobody else but at the wall of the run."""
    assignment = Assignment(
        run=order.run,
        task=task.id,
        title=f"Write tests for: {task.title}",
        text=filled(
            "tester",
            title=" ".join(task.title.split()),
            text=quoted(_words(task)),
            expected=_STAY_GREEN if keeps_behaviour(task) else _TURN_GREEN,
        ),
        attempt=1,
    )
    try:
        tools, settle = _tools(services, order, task, tester)
        with services.examiner.outfitter.terminal_for(workspace, tools.terminal) as terminal:
            commands = command_teller(services, order.run, task.id, 1, "agent")
            given = replace(tools, terminal=commands.around(terminal))
            outcome = services.agent(tester).act(assignment, workspace, given)
        settle(outcome.usage)
        return outcome
    except (MachineFailed, LeaseLost):
        raise
    except BudgetSpent as wall:
        if wall.scope == "run":
            raise
        return Outcome(status="spent", said=wall.message)
    except Exception as error:
        return Outcome(status="gave_up", said=f"{type(error).__name__}: {error}")


def _words(task: Task) -> str:
    """All that the roadmap says of a task, and of what is done with it."""
    parts = (f"{part.title}\n\n{part.text}".strip() for part in task.walk())
    files = [f"Files: {', '.join(task.files)}"] if task.files else []
    return "\n\n".join((*parts, *files))


def _tools(
    services: RunServices, order: RunSpec, task: Task, tester: str
) -> tuple[Tools, Callable[[Usage], float | None]]:
    """What the tester is given, paid for by the task's budget: call by call, or as a program tells what it took."""
    books = services.books
    key = AttemptKey(run=order.run, task=f"{task.id}/tests", attempt=1)
    books.calls.cut(key, 0)
    purse = books.wallet.purse(task, 1, tester, first=FIRST_CALL)
    watch = CallHooks(
        purse=purse,
        veto=UnaskedVeto(policy_of(services.settings.terminal), services.audit, f"{order.run}/{task.id}/tests"),
        keep=lambda: NOT_KEPT,
        tell=lambda _, __: None,
        begin=worker_lease.require,
        require=worker_lease.require,
        redact=services.redact,
    )
    book = CallRecorder(books.calls, key, (), NOT_KEPT, watch)

    def account(usage: Usage) -> float | None:
        if not book.recorded:
            purse.settle(0, tester, usage)
        return purse.usd_left()

    tools = services.tools(tester, lambda _: None)
    return replace(tools, logbook=book, usd_left=purse.usd_left(), account=account), account


def _left_in(services: RunServices, order: RunSpec, workspace: Workspace) -> tuple[Change, str]:
    """What the tester changed, read by a git whose objects no workspace can reach."""
    repository = services.project.repository
    with TemporaryDirectory(dir=services.project.state, prefix="tests-") as folder:
        own = Path(folder) / "git"
        public = repository.git(own)
        (own / "objects/info").mkdir(parents=True)
        (own / "objects/info/alternates").write_text(f"{public.objects}\n")
        git = Git(git_dir=own, objects=own / "objects", own_dir=own)
        found = services.checkouts.beside(git).snapshot(workspace, keep=(order.roadmap,))
        if found.problem:
            return Change(), services.redact(found.problem)
        if found.leaks:
            return Change(), f"the tester wrote {secrets_found(found.leaks).summary}"
        return Mileposts(git).change(workspace.base, found.tree, without=order.roadmap), ""


def _say(services: RunServices, order: RunSpec, task: Task, when: str, text: str) -> None:
    said = AgentSaid(run=order.run, task=task.id, attempt=1, text=services.redact(text))
    services.announce(said, f"{task.id}/tests/{when}")
