"""How an attempt of a program ended, judged from its own word, its exit code and what stood in its way, together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from milepost.agents.clip import clip, last_lines
from milepost.agents.models.faults import Fault, limit_in_words
from milepost.agents.programs.driver import Capabilities, Troubled
from milepost.agents.programs.progress import ProgramLimits, ProgramProgress, Reached, overspent
from milepost.core.attempt import SERVER_SILENT, OutcomeStatus
from milepost.core.commands import CommandResult, ending_in_words

LONGEST_SAID = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOutcome:
    """What an attempt came to; what it did is judged by nobody here."""

    status: OutcomeStatus
    said: str


def judge(
    result: CommandResult,
    progress: ProgramProgress,
    capabilities: Capabilities,
    bounds: ProgramLimits,
    *,
    program: str,
    timeout_s: float,
) -> ProgramOutcome:
    """What a run of a program came to that ended by itself or was ended by the sandbox."""
    judgement = _judged(result, progress, capabilities, program=program, timeout_s=timeout_s)
    spent = overspent(progress, bounds)
    # It may have stopped by itself at the bound that it was told.
    return judgement if judgement.status == "finished" or spent is None else at_bound(spent, progress)


def at_bound(bound: Reached, progress: ProgramProgress) -> ProgramOutcome:
    """What a run came to that was ended because it reached a bound of ours."""
    said = f"{clip(progress.said, LONGEST_SAID)}\n{bound.what}".strip()
    return ProgramOutcome(status=bound.status, said=said)


def _judged(
    result: CommandResult, progress: ProgramProgress, capabilities: Capabilities, *, program: str, timeout_s: float
) -> ProgramOutcome:
    ending = ending_in_words(result, program=program, timeout_s=timeout_s)
    match result.termination:
        case "timeout" | "idle":
            return _blamed(progress, "timed_out", ending)
        case "exited":
            return _exited(result, progress, capabilities, ending)
        case "killed" | "signalled" | "not_started" | "output" | "memory" | "cpu" | "disk" | "processes" | "steps":
            return ProgramOutcome(status="gave_up", said=_told(ending, progress, result))
        case _ as never:
            assert_never(never)


def _exited(
    result: CommandResult, progress: ProgramProgress, capabilities: Capabilities, ending: str
) -> ProgramOutcome:
    ended = progress.ended
    if ended is None and capabilities.ends_itself:
        return _blamed(
            progress, "gave_up", _told(f"ended without reporting that it is done ({ending})", progress, result)
        )
    if ended is not None and not ended.fine:
        return _blamed(progress, "gave_up", _told(ended.what or f"reports that it failed ({ending})", progress, result))
    if not result.succeeded:
        return _blamed(progress, "gave_up", _told(f"{ending}, whatever it reports", progress, result))
    if progress.denied is not None:
        return ProgramOutcome(status="gave_up", said=_told(f"not permitted: {progress.denied.what}", progress, result))
    if not progress.steps and not progress.said.strip():
        return ProgramOutcome(status="gave_up", said=_told("it did nothing and said nothing", progress, result))
    return ProgramOutcome(status="finished", said=clip(progress.said, LONGEST_SAID))


def _blamed(progress: ProgramProgress, status: OutcomeStatus, said: str) -> ProgramOutcome:
    """An end that is its service's fault, if that was in trouble when it came: not now, or never."""
    trouble = progress.trouble
    if trouble is None:
        return ProgramOutcome(status=status, said=said)
    if trouble.kind == "rejected":
        return ProgramOutcome(status="gave_up", said=_first(trouble.what, said))
    return ProgramOutcome(status="limited", said=limit_in_words(_fault(trouble)))


def _fault(trouble: Troubled) -> Fault:
    return Fault("silent" if trouble.kind == "silent" else "limited", clip(trouble.what, LONGEST_SAID), trouble.wait_s)


def _first(what: str, said: str) -> str:
    return said if what in said else f"{clip(what, LONGEST_SAID)}\n{said}"


def _told(reason: str, progress: ProgramProgress, result: CommandResult) -> str:
    """The reason, then its last words and its complaints."""
    spoken = progress.said if progress.said not in reason else ""
    parts = (clip(reason, LONGEST_SAID), clip(spoken, LONGEST_SAID), clip(last_lines(result.stderr), LONGEST_SAID))
    return "\n".join(part for part in parts if part.strip())


def with_hosts(said: str, hosts: tuple[str, ...]) -> str:
    """What was said, with the name of the server where it is one that does not answer."""
    before, last = said.rpartition("\n")[::2]
    if not hosts or not last.startswith(SERVER_SILENT):
        return said
    return f"{before}\n{SERVER_SILENT}: {hosts[0]}{last.removeprefix(SERVER_SILENT)}"
