"""Deploy a commit, take it back, look at what is deployed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import ignore, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from milepost.api.arguments import OnEvent
    from milepost.demo.release import ReleaseDemo
    from milepost.engine.deploys.deploy import DeployPlan, TargetView
    from milepost.engine.records.releases import Move, ReleaseRecord

    OnMove = Callable[[ReleaseRecord], None]
    Ask = Callable[[ReleaseRecord], str | None]


def deploy(
    target: str,
    roadmap: Path | str | None = None,
    *,
    environment: str = "dev",
    unproven: bool = False,
    artifact: Path | str | None = None,
    ask: Ask = ignore,
    on_move: OnMove | None = None,
) -> ReleaseRecord:
    """Deploy HEAD, a milepost, to a target; the release that comes back is live, or says why it is not.

    What an earlier call left unfinished is finished first. Where the settings want a person's word, `ask` gives their
    name, an empty text for a refusal, or None to let the release wait; the same call again goes on.
    """
    from milepost.engine.deploys.deploy import Wish
    from milepost.engine.deploys.deploy import deploy as bring

    wish = Wish(target=target, environment=environment, unproven=unproven, artifact=path_of(artifact))
    return bring(path_of(roadmap), wish, ask, on_move or ignore)


def resume(
    roadmap: Path | str | None = None, *, ask: Ask = ignore, on_move: OnMove | None = None
) -> tuple[ReleaseRecord, ...]:
    """Go on with the releases that were interrupted, on all targets; gives what each of them came to."""
    from milepost.engine.deploys.deploy import resume as go_on

    return go_on(path_of(roadmap), ask, on_move or ignore)


def preview(
    target: str,
    roadmap: Path | str | None = None,
    *,
    environment: str = "dev",
    artifact: Path | str | None = None,
) -> DeployPlan:
    """What a deploy would do; nothing is changed."""
    from milepost.engine.deploys.deploy import Wish, plan_deploy

    return plan_deploy(path_of(roadmap), Wish(target=target, environment=environment, artifact=path_of(artifact)))


def rollback(
    target: str,
    roadmap: Path | str | None = None,
    *,
    environment: str = "dev",
    to: int | None = None,
    on_move: OnMove | None = None,
) -> ReleaseRecord:
    """Take back what is being deployed, or else switch from the live release to the one before it, or to `to`."""
    from milepost.engine.deploys.deploy import rollback as take_back

    return take_back(path_of(roadmap), target, environment, to, on_move or ignore)


def scale(target: str, instances: int, roadmap: Path | str | None = None, *, environment: str = "dev") -> ReleaseRecord:
    """Run so many instances of the live release. With 0 a local target stops until the next deploy."""
    from milepost.engine.deploys.deploy import scale as change

    return change(path_of(roadmap), target, environment, instances)


def logs(
    target: str,
    roadmap: Path | str | None = None,
    *,
    environment: str = "dev",
    number: int | None = None,
    lines: int = 100,
) -> str:
    """The last lines that a release printed, by default those of the live one."""
    from milepost.engine.deploys.deploy import logs as read

    return read(path_of(roadmap), target, environment, number, lines)


def of_target(target: str, roadmap: Path | str | None = None, *, environment: str = "dev") -> tuple[ReleaseRecord, ...]:
    """The releases of a target, the newest first."""
    from milepost.engine.deploys.deploy import list_releases

    return list_releases(path_of(roadmap), target, environment)


def life(target: str, number: int, roadmap: Path | str | None = None, *, environment: str = "dev") -> tuple[Move, ...]:
    """What happened to a release, in order."""
    from milepost.engine.deploys.deploy import life_of

    return life_of(path_of(roadmap), target, environment, number)


def events(
    roadmap: Path | str | None = None,
    *,
    target: str | None = None,
    environment: str = "dev",
    after: int = 0,
    follow: bool = False,
) -> Iterator[Move]:
    """What happened to releases in order, on all targets unless one is named; `after` is a position in the stream.

    `follow` yields more as it happens, until no release is under way there.
    """
    from milepost.engine.deploys.deploy import moves

    return moves(path_of(roadmap), (target, environment) if target else None, after, follow=follow)


def targets(roadmap: Path | str | None = None, *, away: bool = True) -> tuple[TargetView, ...]:
    """All targets with what is live there and how it is; without `away` no vendor is asked."""
    from milepost.engine.deploys.deploy import list_targets

    return list_targets(path_of(roadmap), away=away)


def event_to_json(move: Move) -> dict[str, Any]:
    """One step of a release as one line of `milepost events --target NAME --json`."""
    from milepost.core.events import EVENTS_VERSION

    return {
        "seq": move.seq,
        "version": EVENTS_VERSION,
        "at": move.at,
        "event": "release_moved",
        "target": move.target,
        "environment": move.environment,
        "release": move.number,
        "stage": move.stage,
        "said": move.said,
    }


def demo(
    folder: Path | str,
    *,
    tell: Callable[[str], None] = ignore,
    on_event: OnEvent | None = None,
    on_move: OnMove | None = None,
) -> ReleaseDemo:
    """Deploy a small service from an empty folder on this machine; a bad release is taken back, and becomes a task.

    `tell` hears what is about to be done; at the end nothing of it runs.
    """
    from milepost.demo.release import release_demo

    return release_demo(Path(folder), tell, on_event or ignore, on_move or ignore)


def to_json(record: ReleaseRecord) -> dict[str, Any]:
    """A release as `milepost releases --json` prints it."""
    release, artifact = record.release, record.release.artifact
    return {
        "target": release.target,
        "environment": release.environment,
        "release": release.number,
        "stage": release.stage.value,
        "previous": release.previous,
        "reference": release.reference,
        "commit": artifact.commit,
        "tree": artifact.tree,
        "artifact": {
            "kind": artifact.kind.value,
            "name": artifact.name,
            "version": artifact.version,
            "sha256": artifact.sha256,
            "size": artifact.size,
        },
        "proof": record.proof or None,
        "approved_by": record.approved_by or None,
        "said": record.said,
        "started_at": record.started_at,
        "changed_at": record.changed_at,
    }
