"""How an agent is let work: from the start, or from the last of its calls that was recorded.

Beside every recorded call the workspace is kept as a commit on a hidden ref. What was ignored by git there is not,
and an agent that goes on finds it gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.errors import BudgetSpent, LeaseLost, MachineFailed
from milepost.core.events import BudgetReached
from milepost.core.ports import Tools
from milepost.engine.attempt.assignment import assignment_for, keep
from milepost.engine.budget.budget import Purse
from milepost.engine.events.emit import Narrator, SignalTeller, command_teller
from milepost.engine.gates.ask import AskingVeto, PersonNeeded
from milepost.engine.memory import episodes
from milepost.engine.records import worker_lease
from milepost.engine.records.call_log import BEGINNING, AttemptKey, calls_ref
from milepost.engine.records.call_recorder import AttemptLogbook, Diverged, Session, Watch, resumable, session_of
from milepost.engine.records.gates import Gate
from milepost.engine.records.run_spec import Acted, Effort, Try, Way
from milepost.engine.records.values_json import dump, load
from milepost.engine.services import Rooms
from milepost.repair.patches.fixes import apply_fix

PRICELESS = (
    "the price of its model is not known, so that a bound in USD cannot be held: state it under [model], or for a "
    "program name its model under [agents.NAME]"
)
SHORTEST_S = 1.0
MOST_ROUNDS = 10  # that an attempt waits for its service before it is over


class ServiceLimited(Exception):
    """The model's service takes no further question for a while; the attempt goes on after its recorded calls then."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What an attempt began with: it goes on with the same, whatever has landed or was learnt meanwhile."""

    base: str
    assignment: Assignment
    agent: str


def attempted(
    here: Rooms, effort: Effort, base: str, tries: tuple[Try, ...], way: Way
) -> Acted | Gate | ServiceLimited:
    """What an agent left after its attempt; or what it must wait for before it goes on: a person, or its service."""
    run, name = effort.order.run, f"{effort.order.run}-{effort.task.id}-act"
    while True:
        try:
            kept = _attempt(here, effort, name, base, tries, way)
        except Diverged:
            continue
        except PersonNeeded as need:
            return need.gate
        except ServiceLimited as limit:
            return limit
        here.checkouts.drop(name)
        here.checkouts.forget(run, _kept_for(effort))
        return kept


def _attempt(here: Rooms, effort: Effort, name: str, base: str, tries: tuple[Try, ...], way: Way) -> Acted:
    key = AttemptKey(run=effort.order.run, task=effort.task.id, attempt=effort.number)
    known, session = resumable(here.books.calls, key), session_of(here.books.calls, key)
    noted = here.books.calls.noted(key, BEGINNING) if known or session.tree else None
    if noted and noted["agent"] != effort.agent:  # a person handed it to another one, which begins anew
        here.books.calls.cut(key, 0)
        known, session, noted = (), Session(), None
    begun = load(Beginning, noted) if noted else None
    base = begun.base if begun else base
    workspace = here.checkouts.make(name, base, tree=known[-1].tree if known else session.tree or way.tree)
    workspace = replace(workspace, kept=here.checkouts.kept(key.run, _kept_for(effort)))
    if begun is None:
        episodes.begin(here, effort, base)
        begun = Beginning(base, assignment_for(here, effort, workspace, tries, way), effort.agent)
    try:
        purse = here.books.wallet.open(effort.task, effort.number, effort.agent)
    except BudgetSpent as wall:
        return keep(here, effort, workspace, _walled(here, effort, wall))
    keeper = Keeper(here=here, effort=effort, key=key, workspace=workspace)
    veto = AskingVeto(here, effort, (str(workspace.folder), str(workspace.scratch)))
    watch = Watch(
        purse=purse,
        veto=veto,
        keep=keeper.keep,
        tell=here.emit,
        begin=partial(_begin_call, here),
        require=worker_lease.require,
        redact=here.redact,
        remember=partial(episodes.remember_step, here, effort),
    )
    book = AttemptLogbook(here.books.calls, key, known, way.tree or here.mileposts.tree_of(base), watch)
    if noted is None:
        here.books.calls.note(key, BEGINNING, dump(begun))
    narrator = Narrator(here, key.run, key.task, effort.number, lambda: book.replaying)
    tools = replace(_tools(here, effort, book, purse, narrator), judge=veto.refuses)
    outcome = _let_act(here, effort, begun.assignment, workspace, tools, bounded_usd=purse.bounded_usd)
    if outcome.status == "limited" and book.recorded and way.rounds < MOST_ROUNDS:
        raise ServiceLimited(outcome.said)
    if not book.recorded:
        episodes.remember_said(here, effort, narrator.newest)
    cost_usd = max(outcome.cost_usd, purse.paid_for_calls().cost_usd)
    kept = keep(here, effort, workspace, replace(outcome, usage=replace(outcome.usage, cost_usd=cost_usd)))
    purse.close(outcome.usage)
    return kept


def _kept_for(effort: Effort) -> str:
    return f"{effort.task.id}-{effort.number}"


def _begin_call(here: Rooms) -> None:
    """Leave between two calls at a stop, and when this engine was taken over from."""
    here.parking.pause(0)
    worker_lease.require()


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Keeps a workspace as it is now."""

    here: Rooms
    effort: Effort
    key: AttemptKey
    workspace: Workspace

    def keep(self) -> str:
        """The tree of the workspace, on a ref of its own; empty where it cannot be told."""
        here, ref = self.here, calls_ref(self.key)
        tree = here.checkouts.snapshot(self.workspace).tree
        if tree:
            message = f"The workspace of attempt {self.key} on its way\n"
            commit = here.mileposts.commit(tree, self.workspace.base, message, self.effort.order.stamp())
            here.mileposts.keep(ref, commit)
        return tree


def _tools(here: Rooms, effort: Effort, book: AttemptLogbook, purse: Purse, narrator: Narrator) -> Tools:
    """What the agent is given for this attempt, within what is left of its time and money."""
    run, task = effort.order.run, effort.task.id
    tools = here.tools(effort.agent, narrator)
    left_s = purse.seconds_left()
    bounds = [effort.task.timeout_s or tools.timeout_s] + ([] if left_s is None else [left_s + book.spent_s])
    return replace(
        tools,
        logbook=book,
        timeout_s=max(SHORTEST_S, min(bounds)),
        usd_left=purse.usd_left(),
        account=purse.account,
        signal=SignalTeller(here, run, task, effort.number),
    )


def _let_act(
    here: Rooms, effort: Effort, assignment: Assignment, workspace: Workspace, tools: Tools, *, bounded_usd: bool
) -> Outcome:
    """Let the agent do its work; one that breaks has given up, unless it was the machine that broke."""
    try:
        with here.examiner.outfitter.terminal_for(workspace, tools.terminal) as terminal:
            agent = here.agent(effort.agent)
            bounded_usd = bounded_usd or getattr(agent, "max_usd", None) is not None
            if bounded_usd and not getattr(agent, "price_known", True):
                return Outcome(status="gave_up", said=PRICELESS)
            commands = command_teller(here, effort.order.run, effort.task.id, effort.number, "agent")
            outcome = agent.act(assignment, workspace, replace(tools, terminal=commands.around(terminal)))
        return _with_printed_diff(here, effort, workspace, outcome)
    except BudgetSpent as wall:
        return _walled(here, effort, wall)
    except (MachineFailed, LeaseLost):
        raise
    except Exception as error:
        return Outcome(status="gave_up", said=f"{type(error).__name__}: {error}")


def _walled(here: Rooms, effort: Effort, wall: BudgetSpent) -> Outcome:
    """How an attempt ends at the wall around its task; at the one around the run all of it stops."""
    task = effort.task.id
    said = BudgetReached(run=effort.order.run, task=task, scope=wall.scope, message=wall.message)
    here.announce(said, f"{task}/{effort.number}/budget")
    if wall.scope == "run":
        raise wall
    return Outcome(status="spent", said=wall.message)


def _with_printed_diff(here: Rooms, effort: Effort, workspace: Workspace, outcome: Outcome) -> Outcome:
    """Apply the diff that an agent printed, when that is all it did; what became of it is in the ledger."""
    order = effort.order
    if "@@ " not in outcome.printed or here.checkouts.snapshot(workspace, keep=(order.roadmap,)).changed:
        return outcome
    report = apply_fix(
        outcome.printed,
        run=order.run,
        task=effort.task,
        attempt=effort.number,
        source=effort.agent,
        folder=workspace.folder,
        ledger=here.books.patches,
        run_git=partial(here.checkouts.apply, workspace),
        protected=(order.roadmap,),
    )
    return outcome if report.patch is None else replace(outcome, said=f"{outcome.said}\n{report.reason}".strip())
