"""Releases: what is deployed where; deploying and taking back, each only once a person has confirmed it."""

# Annotations are evaluated here, not kept as text: they name functions that are made for one server.
from collections.abc import Callable
from typing import Annotated, Any, Literal

import anyio
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.resolve import AcceptedElicitation
from pydantic import BaseModel, Field

import milepost
from milepost import gates
from milepost import releases as shipped
from milepost.mcp.project_folder import Folder, ServerProject
from milepost.mcp.tool import Brief
from milepost.mcp.tools.gates import can_ask, plain
from milepost.serving.threads import aside

WAIT_S = 50.0
TargetName = Annotated[str, Field(max_length=100, pattern="^[0-9A-Za-z_.-]+$")]
Environment = Literal["dev", "staging", "prod"]


class Confirmed(BaseModel):
    """What a person is asked for."""

    confirm: bool = Field(description="Do this")


class ReleaseLine(Brief):
    """`proof` is absent where nothing shows the commit."""

    release: int
    stage: str
    commit: str
    proof: str = ""
    said: str = ""


class ReleaseList(Brief):
    target: str
    environment: str
    releases: tuple[ReleaseLine, ...] = ()
    next: str = ""


def release_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    return (_deploy(place), _releases(place), _rollback(place))


def _deploy(place: ServerProject) -> Callable[..., Any]:
    async def planned(target: TargetName, environment: Environment, unproven: bool, workspace: str) -> str:
        plan = await _plan(place, target, environment, workspace)
        if plan.standing.problem and not unproven:
            raise milepost.MilepostError(
                f"it is not proven: {plan.standing.problem}", "a person may want unproven=true"
            )
        return _deploy_question(plan)

    async def confirmed(
        ctx: Context[Any, Any], question: Annotated[str, Resolve(planned)], target: TargetName, environment: Environment
    ) -> Elicit[Confirmed]:
        return _ask(ctx, question, f"milepost deploy {target} --env {environment}")

    async def deploy(
        question: Annotated[str, Resolve(planned)],
        person: Annotated[ElicitationResult[Confirmed], Resolve(confirmed)],
        target: TargetName = "local",
        environment: Environment = "dev",
        unproven: Annotated[bool, Field(description="Deploy what no milepost proves; the record says so")] = False,
        workspace: Folder = "",
    ) -> ReleaseList:
        """Deploy the current commit to a target. A person confirms it first; it is taken back if it is not well."""
        _require_yes(person)
        roadmap = place.roadmap(workspace)
        by = f"{gates.person(roadmap)} through MCP"
        if _deploy_question(await _plan(place, target, environment, workspace)) != question:
            raise milepost.MilepostError("what would be deployed has changed since it was confirmed", "ask again")
        with anyio.move_on_after(WAIT_S):
            await aside(
                lambda: shipped.deploy(target, roadmap, environment=environment, unproven=unproven, ask=lambda _: by)
            )
        return await aside(lambda: _listed(roadmap, target, environment, 2))

    return deploy


def _releases(place: ServerProject) -> Callable[..., Any]:
    async def releases(
        target: TargetName = "local",
        environment: Environment = "dev",
        workspace: Folder = "",
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> ReleaseList:
        """Releases of a target, the newest first: stage, commit, what speaks for it."""
        roadmap = await aside(lambda: place.roadmap(workspace))
        return await aside(lambda: _listed(roadmap, target, environment, limit))

    return releases


def _rollback(place: ServerProject) -> Callable[..., Any]:
    async def planned(target: TargetName, environment: Environment, workspace: str) -> str:
        roadmap = place.roadmap(workspace)
        found = await aside(lambda: shipped.of_target(target, roadmap, environment=environment))
        record = next((one for one in found if one.unfinished or one.stage == shipped.Stage.LIVE), None)
        if record is None:
            raise milepost.MilepostError(f"nothing is live on {target} ({environment})", "releases lists what was")
        back = f"release {record.release.previous}" if record.release.previous else "nothing: no other was live before"
        return f"Take back release {record.number} of {target} ({environment}), which is {record.stage}, for {back}?"

    async def confirmed(
        ctx: Context[Any, Any], question: Annotated[str, Resolve(planned)], target: TargetName, environment: Environment
    ) -> Elicit[Confirmed]:
        return _ask(ctx, question, f"milepost rollback {target} --env {environment}")

    async def rollback(
        question: Annotated[str, Resolve(planned)],
        person: Annotated[ElicitationResult[Confirmed], Resolve(confirmed)],
        target: TargetName = "local",
        environment: Environment = "dev",
        workspace: Folder = "",
    ) -> ReleaseList:
        """Take back what is being deployed, or switch to the release before. A person confirms it first."""
        _require_yes(person)
        roadmap = place.roadmap(workspace)
        if await planned(target, environment, workspace) != question:
            raise milepost.MilepostError("what would be taken back has changed since it was confirmed", "ask again")
        with anyio.move_on_after(WAIT_S):
            await aside(lambda: shipped.rollback(target, roadmap, environment=environment))
        return await aside(lambda: _listed(roadmap, target, environment, 2))

    return rollback


async def _plan(place: ServerProject, target: str, environment: str, workspace: str) -> shipped.DeployPlan:
    roadmap = place.roadmap(workspace)
    return await aside(lambda: shipped.preview(target, roadmap, environment=environment))


def _deploy_question(plan: shipped.DeployPlan) -> str:
    """What a person is asked before anything is built."""
    spec, standing = plan.spec, plan.standing
    return "\n".join(
        (
            f"Deploy commit {standing.commit[:12]} to {spec.name} ({spec.environment}), of kind {spec.kind}?",
            f"What speaks for it: {plain(standing.proof) or f'nothing ({plain(standing.problem)})'}",
            f"Live now: {f'release {plan.live.number}' if plan.live else 'nothing'}",
            *([f"Finished first: release {plan.unfinished.number}"] if plan.unfinished else ()),
        )
    )


def _ask(ctx: Context[Any, Any], question: str, command: str) -> Elicit[Confirmed]:
    if not can_ask(ctx):
        raise milepost.MilepostError(
            "only a person may decide this, and this client cannot ask one", f"they type: {command}"
        )
    return Elicit(question, Confirmed)


def _require_yes(person: ElicitationResult[Confirmed]) -> None:
    if not (isinstance(person, AcceptedElicitation) and person.data.confirm):
        raise milepost.MilepostError("the person did not confirm it", "nothing was done")


def _listed(roadmap: Any, target: str, environment: str, limit: int) -> ReleaseList:
    found = shipped.of_target(target, roadmap, environment=environment)[:limit]
    under_way = any(one.unfinished for one in found)
    return ReleaseList(
        target=target,
        environment=environment,
        releases=tuple(
            ReleaseLine(
                release=one.number,
                stage=one.stage.value,
                commit=one.release.artifact.commit[:12],
                proof=plain(one.proof),
                said=plain(one.said),
            )
            for one in found
        ),
        next="releases says how it goes on" if under_way else "",
    )
