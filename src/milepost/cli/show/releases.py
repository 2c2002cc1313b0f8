"""Releases and targets, as a person and as a program read them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, padded, safe
from milepost.cli.named_roadmap import proposed
from milepost.releases import to_json

if TYPE_CHECKING:
    from milepost.releases import DeployPlan, Move, ReleaseRecord, TargetView

_WIDEST_STAGE = 12


def move_line(record: ReleaseRecord, after_s: float) -> str:
    """A stage that was reached, with what was said of it."""
    said = f"   {safe(record.said)}" if record.said else ""
    return f"release {record.number}  {padded(record.stage.value, _WIDEST_STAGE)} {after_s:6.1f} s{said}"


def end_lines(record: ReleaseRecord) -> list[str]:
    """How it ended, and what to do next."""
    name, stage = f"release {record.number}", record.stage.value
    where = _where(record)
    again = deploy_command(record)
    back = proposed(f"milepost rollback {record.spec.name}{_env(record)}")
    logs = proposed(f"milepost logs {record.spec.name}{_env(record)} --release {record.number}")
    match stage:
        case "live":
            reference = f" · {safe(record.release.reference)}" if record.release.reference else ""
            lines = [f"{name} is live on {where}{reference}"]
            if record.release.previous is not None:
                lines.append(f"next   {back}   goes back to release {record.release.previous}")
            return lines
        case "waiting":
            return [
                f"{name} waits for a person: nothing of it has left for {where}",
                f"next   {again} --yes   approves it",
                f"       {back}   takes it back",
            ]
        case "rejected" | "rolled back":
            happened = "was rejected and never had traffic" if stage == "rejected" else "was rolled back"
            lines = [f"{name} {happened}: {safe(record.said)}"]
            if record.release.previous is not None and stage == "rejected":
                lines.append(f"release {record.release.previous} is still live on {where}")
            return [*lines, f"next   {logs}   what it printed"]
        case _:
            return [f"{name} is {stage}", f"next   {again}   goes on"]


def deploy_command(record: ReleaseRecord) -> str:
    """What deploys to the same place again."""
    return proposed(f"milepost deploy {record.spec.name}{_env(record)}")


def question_lines(record: ReleaseRecord) -> list[str]:
    """What a person approves."""
    artifact = record.release.artifact
    proof = safe(record.proof) if record.proof else "nothing: it is deployed unproven"
    return [
        f"release {record.number} for {_where(record)}",
        f"  commit     {artifact.commit[:12]}",
        f"  artifact   {artifact.kind.value} {safe(artifact.name)} {safe(artifact.version)} · {artifact.sha256[:12]}",
        f"  proof      {proof}",
    ]


def plan_lines(plan: DeployPlan, *, unproven: bool) -> list[str]:
    """What would be deployed, and what is in the way."""
    spec, standing = plan.spec, plan.standing
    lines = [
        f"would deploy to {spec.name} ({spec.environment}), of kind {spec.kind}",
        f"  commit     {standing.commit[:12]}{' · uncommitted changes stay here' if plan.uncommitted else ''}",
        f"  proof      {safe(standing.proof or standing.problem)}",
        f"  artifact   {safe(plan.artifact)}",
    ]
    if spec.command:
        lines.append(f"  command    {safe(' '.join(spec.command))}")
    lines.append(f"  health     GET {spec.health_path}, then {spec.soak_s:g} s under traffic")
    if spec.variables or spec.secrets:
        names = (*(name for name, _ in spec.variables), *(f"{name} (secret)" for name, _ in spec.secrets))
        lines.append(f"  variables  {safe(', '.join(names))}")
    lines.append(f"  live now   {f'release {plan.live.number}' if plan.live else 'nothing'}")
    if plan.unfinished:
        lines.append(
            f"  before     release {plan.unfinished.number} is {plan.unfinished.stage.value}: it is finished first"
        )
    if spec.approve:
        lines.append("  approval   a person is asked first")
    if standing.problem and not unproven:
        lines.append("it is not proven: --unproven deploys it all the same")
    return lines


def release_lines(found: tuple[ReleaseRecord, ...], target: str, environment: str, width: int) -> list[str]:
    """A line for each release, and what to do about one that is unfinished."""
    if not found:
        return [f"nothing was deployed to {target} ({environment}) yet"]
    lines = [
        clipped(
            f"{record.number:>4}  {padded(record.stage.value, _WIDEST_STAGE)}  {_when(record.started_at)}  "
            f"{record.release.artifact.commit[:7]}  {record.release.artifact.sha256[:12] or '-':12}  {_facts(record)}",
            width,
        )
        for record in found
    ]
    if left := next((record for record in found if record.unfinished), None):
        lines.append(f"next   {deploy_command(left)}   goes on with release {left.number}")
    return lines


def moves_lines(moves: tuple[Move, ...]) -> list[str]:
    first = moves[0].at if moves else 0.0
    return [
        f"{_when(move.at)}  {move.at - first:8.1f} s  {padded(move.stage, _WIDEST_STAGE)}  {safe(move.said)}".rstrip()
        for move in moves
    ]


def event_line(move: Move, width: int) -> str:
    """A step of a release with its place in the stream, and whose it is."""
    clock = time.strftime("%H:%M:%S", time.localtime(move.at))
    where = f"{move.target} ({move.environment})"
    said = f": {move.said}" if move.said else ""
    return clipped(f"{move.seq:>6}  {clock}  {safe(where)} release {move.number} {move.stage}{safe(said)}", width)


def target_lines(found: tuple[TargetView, ...], width: int) -> list[str]:
    """A line for each target and environment."""
    wide = max(len(view.target) for view in found)
    return [
        clipped(f"{padded(view.target, wide)}  {view.environment:<8}{view.kind:<13}{_state(view)}", width)
        for view in found
    ]


def plan_to_json(plan: DeployPlan) -> dict[str, Any]:
    return {
        "target": plan.spec.name,
        "environment": plan.spec.environment,
        "kind": plan.spec.kind,
        "commit": plan.standing.commit,
        "proof": plan.standing.proof or None,
        "problem": plan.standing.problem or None,
        "artifact": plan.artifact,
        "live": plan.live.number if plan.live else None,
        "unfinished": plan.unfinished.number if plan.unfinished else None,
        "approve": plan.spec.approve,
    }


def targets_to_json(found: tuple[TargetView, ...]) -> list[dict[str, Any]]:
    return [
        {
            "target": view.target,
            "environment": view.environment,
            "kind": view.kind,
            "live": to_json(view.live) if view.live else None,
            "unfinished": view.unfinished.number if view.unfinished else None,
            "healthy": view.health.healthy if view.health else None,
            "detail": view.health.detail if view.health else "",
        }
        for view in found
    ]


def _state(view: TargetView) -> str:
    if view.live is None:
        state = "nothing is live"
    else:
        how = "not known" if view.health is None else "healthy" if view.health.healthy else "not well"
        detail = f" · {safe(view.health.detail)}" if view.health and view.health.detail else ""
        state = f"release {view.live.number} · {how}{detail}"
    return f"{state} · release {view.unfinished.number} is {view.unfinished.stage.value}" if view.unfinished else state


def _facts(record: ReleaseRecord) -> str:
    facts = [
        "" if record.proof else "unproven",
        record.approved_by and f"approved by {record.approved_by}",
        record.said,
    ]
    return safe(" · ".join(filter(None, facts)))


def _where(record: ReleaseRecord) -> str:
    return f"{record.spec.name} ({record.spec.environment})"


def _env(record: ReleaseRecord) -> str:
    return "" if record.spec.environment == "dev" else f" --env {record.spec.environment}"


def _when(moment: float) -> str:
    return time.strftime("%m-%d %H:%M:%S", time.localtime(moment))
