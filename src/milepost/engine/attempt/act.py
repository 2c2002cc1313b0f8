"""How an agent is let work: from the start, or from the last of its calls that was recorded.

Beside every recorded call the workspace is kept as a commit on a hidden ref. What was ignored by git there is not,
and an agent that goes on finds it gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import NOTHING
from milepost.core.change import ChangedFile
from milepost.core.errors import BudgetSpent, LeaseLost, MachineFailed
from milepost.core.events import BudgetReached
from milepost.core.ports import Tools
from milepost.engine.attempt.assignment import assignment_for
from milepost.engine.attempt.candidate import keep
from milepost.engine.budget.budget import AttemptBudget
from milepost.engine.events.emit import AgentOutput, SignalTeller, command_teller
from milepost.engine.gates.ask import AskingVeto, PersonNeeded
from milepost.engine.memory import episodes
from milepost.engine.records import worker_lease
from milepost.engine.records.call_log import BEGINNING, AttemptKey, calls_ref
from milepost.engine.records.call_recorder import AgentSession, CallHooks, CallRecorder, Diverged, resumable, session_of
from milepost.engine.records.gates import Gate
from milepost.engine.records.run_spec import AttemptResult, AttemptSpec, FinishedAttempt, NextAttempt
from milepost.engine.records.values_json import dump, load
from milepost.engine.services import RunServices
from milepost.repair.patches.fixes import apply_fix
from milepost.verify.checks.secrets import secrets_found
from milepost.verify.credentials import leaks

PRICELESS = (
    "the price of its model is not known, so that a bound in USD cannot be held: state it under [model], or for a "
    "program name its model under [agents.NAME]"
)
SHORTEST_S = 1.0


class ServiceLimited(Exception):
    """The model's service takes no further question for a while; the attempt goes on after its recorded calls then."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What an attempt began with: it goes on with the same, whatever has landed or was learnt meanwhile."""

    base: str
    assignment: Assignment
    agent: str


def attempted(
    services: RunServices, effort: AttemptSpec, base: str, tries: tuple[FinishedAttempt, ...], way: NextAttempt
) -> AttemptResult | Gate | ServiceLimited:
    """What an agent left after its attempt; or what it must wait for before it goes on: a person, or its service."""
    run, name = effort.order.run, f"{effort.order.run}-{effort.task.id}-act"
    while True:
        try:
            kept = _attempt(services, effort, name, base, tries, way)
        except Diverged:
            continue
        except PersonNeeded as need:
            return need.gate
        except ServiceLimited as limit:
            return limit
        services.checkouts.drop(name)
        services.checkouts.forget(run, _kept_for(effort))
        return kept


def _attempt(
    services: RunServices,
    effort: AttemptSpec,
    name: str,
    base: str,
    tries: tuple[FinishedAttempt, ...],
    way: NextAttempt,
) -> AttemptResult:
    key = AttemptKey(run=effort.order.run, task=effort.task.id, attempt=effort.number)
    known, session = resumable(services.books.calls, key), session_of(services.books.calls, key)
    noted = services.books.calls.noted(key, BEGINNING) if known or session.tree else None
    if noted and noted["agent"] != effort.agent:  # a person handed it to another one, which begins anew
        services.books.calls.cut(key, 0)
        known, session, noted = (), AgentSession(), None
    begun = load(Beginning, noted) if noted else None
    base = begun.base if begun else base
    workspace = services.checkouts.make(name, base, tree=known[-1].tree if known else session.tree or way.tree)
    workspace = replace(workspace, kept=services.checkouts.kept(key.run, _kept_for(effort)))
    if begun is None:
        episodes.begin(services, effort, base)
        begun = Beginning(base, assignment_for(services, effort, workspace, tries, way), effort.agent)
    try:
        purse = services.books.wallet.open(effort.task, effort.number, effort.agent)
    except BudgetSpent as wall:
        return keep(services, effort, workspace, _walled(services, effort, wall))
    keeper = Keeper(services=services, effort=effort, key=key, workspace=workspace)
    veto = AskingVeto(services, effort, (str(workspace.folder), str(workspace.scratch)))
    watch = CallHooks(
        purse=purse,
        veto=veto,
        keep=keeper.keep,
        tell=services.emit,
        begin=partial(_begin_call, services),
        require=worker_lease.require,
        redact=services.shown,
        remember=partial(episodes.remember_step, services, effort),
    )
    book = CallRecorder(services.books.calls, key, known, way.tree or services.mileposts.tree_of(base), watch)
    if noted is None:
        services.books.calls.note(key, BEGINNING, dump(begun))
    narrator = AgentOutput(services, key.run, key.task, effort.number, lambda: book.replaying)
    tools = replace(_tools(services, effort, book, purse, narrator), judge=veto.refuses)
    outcome = _let_act(services, effort, begun.assignment, workspace, tools, bounded_usd=purse.bounded_usd)
    if outcome.status not in ("finished", "limited"):
        services.checkouts.require_space(workspace)
    if outcome.status == "limited" and (book.recorded or book.session or outcome.usage == NOTHING):
        if not book.recorded:
            book.note_session(book.session)
        raise ServiceLimited(outcome.said)
    if not book.recorded:
        episodes.remember_said(services, effort, narrator.newest)
    cost_usd = max(outcome.cost_usd, purse.paid_for_calls().cost_usd)
    kept = keep(services, effort, workspace, replace(outcome, usage=replace(outcome.usage, cost_usd=cost_usd)))
    purse.close(outcome.usage)
    return kept


def _kept_for(effort: AttemptSpec) -> str:
    return f"{effort.task.id}-{effort.number}"


def _begin_call(services: RunServices) -> None:
    """Leave between two calls at a stop, and when this engine was taken over from."""
    services.parking.pause(0)
    worker_lease.require()


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Keeps a workspace as it is now."""

    services: RunServices
    effort: AttemptSpec
    key: AttemptKey
    workspace: Workspace

    def keep(self) -> str:
        """The tree of the workspace, on a ref of its own; empty where it cannot be told."""
        services, ref = self.services, calls_ref(self.key)
        tree = services.checkouts.snapshot(self.workspace).tree
        if tree:
            message = f"The workspace of attempt {self.key} on its way\n"
            commit = services.mileposts.commit(tree, self.workspace.base, message, self.effort.order.stamp())
            services.mileposts.keep(ref, commit)
        return tree


def _tools(
    services: RunServices, effort: AttemptSpec, book: CallRecorder, purse: AttemptBudget, narrator: AgentOutput
) -> Tools:
    """What the agent is given for this attempt, within what is left of its time and money."""
    run, task = effort.order.run, effort.task.id
    tools = services.tools(effort.agent, narrator)
    left_s = purse.seconds_left()
    bounds = [effort.task.timeout_s or tools.timeout_s] + ([] if left_s is None else [left_s + book.spent_s])
    return replace(
        tools,
        logbook=book,
        timeout_s=max(SHORTEST_S, min(bounds)),
        usd_left=purse.usd_left(),
        account=purse.account,
        signal=SignalTeller(services, run, task, effort.number),
    )


def _let_act(
    services: RunServices,
    effort: AttemptSpec,
    assignment: Assignment,
    workspace: Workspace,
    tools: Tools,
    *,
    bounded_usd: bool,
) -> Outcome:
    """Let the agent do its work; one that breaks has given up, unless it was the machine that broke."""
    try:
        with services.examiner.outfitter.terminal_for(workspace, tools.terminal) as terminal:
            agent = services.agent(effort.agent)
            bounded_usd = bounded_usd or getattr(agent, "max_usd", None) is not None
            if bounded_usd and not getattr(agent, "price_known", True):
                return Outcome(status="gave_up", said=PRICELESS)
            commands = command_teller(services, effort.order.run, effort.task.id, effort.number, "agent")
            if assignment.rules:
                tools.say(f"given: {_rules(assignment)}")
            outcome = agent.act(assignment, workspace, replace(tools, terminal=commands.around(terminal)))
            outcome = replace(outcome, given=(_rules(assignment), *outcome.given)) if assignment.rules else outcome
        return _with_printed_diff(services, effort, workspace, outcome)
    except BudgetSpent as wall:
        return _walled(services, effort, wall)
    except (MachineFailed, LeaseLost):
        raise
    except Exception as error:
        return Outcome(status="gave_up", said=f"{type(error).__name__}: {error}")


def _rules(assignment: Assignment) -> str:
    return f"of the repository: {', '.join(path for path, _ in assignment.rules)}"


def _walled(services: RunServices, effort: AttemptSpec, wall: BudgetSpent) -> Outcome:
    """How an attempt ends at the wall around its task; at the one around the run all of it stops."""
    task = effort.task.id
    said = BudgetReached(run=effort.order.run, task=task, scope=wall.scope, message=wall.message)
    services.announce(said, f"{task}/{effort.number}/budget")
    if wall.scope == "run":
        raise wall
    return Outcome(status="spent", said=wall.message)


def _with_printed_diff(services: RunServices, effort: AttemptSpec, workspace: Workspace, outcome: Outcome) -> Outcome:
    """Apply the diff that an agent printed, when that is all it did; what became of it is in the ledger."""
    order = effort.order
    if "@@ " not in outcome.printed or services.checkouts.snapshot(workspace, keep=(order.roadmap,)).changed:
        return outcome
    if leaked := _leaks_in_diff(services, outcome.printed):
        said = f"the diff that it printed has {secrets_found(leaked).summary}; it was not applied"
        return replace(outcome, status="gave_up", said=said)
    report = apply_fix(
        outcome.printed,
        run=order.run,
        task=effort.task,
        attempt=effort.number,
        source=effort.agent,
        folder=workspace.folder,
        ledger=services.books.patches,
        run_git=partial(services.checkouts.apply, workspace),
        protected=(order.roadmap,),
    )
    return outcome if report.patch is None else replace(outcome, said=f"{outcome.said}\n{report.reason}".strip())


def _leaks_in_diff(services: RunServices, printed: str) -> tuple[str, ...]:
    """The places of credentials in the lines that a printed diff adds: such a diff does not get into the ledger."""
    added = "\n".join(line[1:] if line.startswith("+") else "" for line in printed.splitlines())
    return tuple(leaks(ChangedFile(path="the diff", before=None, after=added.encode()), services.redact))
