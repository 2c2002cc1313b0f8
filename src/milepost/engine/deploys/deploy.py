"""Deploying a commit, taking it back, and looking at what is deployed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import MilepostError, Misuse, NotProven
from milepost.core.release_life import TakenBack, has_traffic
from milepost.core.shipping import Artifact, ArtifactKind, Health, Release, Stage, TargetSpec
from milepost.engine.deploys.advance import Ask, Hands, Say, advance, terms_of, tidy
from milepost.engine.deploys.place import KEPT_ARTIFACTS, Place
from milepost.engine.deploys.proven import Standing, standing_of
from milepost.engine.deploys.target_spec import LOCAL, names_of, spec_named
from milepost.engine.packaging import build as build_package
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.engine.records.releases import Move, ReleaseRecord, Releases, known_places, moves_after
from milepost.ship.given_artifact import take_artifact
from milepost.ship.tree_builder import TreeBuilder, is_served_as_it_is
from milepost.store.database import open_database
from milepost.workspace.checkout import Checkouts
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts

FOLLOW_S = 0.2
BY_HAND = "taken back by hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of a deploy. `unproven` says that nothing has to speak for the commit."""

    target: str
    environment: str = "dev"
    unproven: bool = False
    artifact: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployPlan:
    """What a deploy would do."""

    spec: TargetSpec
    standing: Standing
    live: ReleaseRecord | None
    unfinished: ReleaseRecord | None
    artifact: str
    uncommitted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetView:
    """A target as a list shows it; `traffic` is the release that has its traffic, or may have it."""

    target: str
    environment: str
    kind: str
    live: ReleaseRecord | None
    unfinished: ReleaseRecord | None
    health: Health | None = None
    traffic: int | None = None


def plan_deploy(roadmap: Path | None, wish: Wish) -> DeployPlan:
    """What a deploy would do, without doing any of it."""
    project = Project.find(roadmap)
    spec = spec_named(project.roadmap.parent, wish.target, wish.environment)
    with _git(project) as (git, _), _place(project, spec).records() as releases:
        standing = _standing(project, Mileposts(git))
        what = str(wish.artifact) if wish.artifact else "what the commit is packaged as, or its files"
        return DeployPlan(
            spec=spec,
            standing=standing,
            live=releases.live(),
            unfinished=releases.unfinished(),
            artifact=what,
            uncommitted=project.repository.differing() != (),
        )


def deploy(roadmap: Path | None, wish: Wish, ask: Ask, say: Say) -> ReleaseRecord:
    """Bring the commit that the user stands on to a target; at the end it is live, or the one before it still is.

    What an earlier deploy left unfinished is finished first. A commit that is live already is not deployed again.
    """
    project = Project.find(roadmap)
    spec = spec_named(project.roadmap.parent, wish.target, wish.environment)
    place = _place(project, spec)
    with _git(project) as (git, own), place.held() as releases:
        standing = _require_proven(_standing(project, Mileposts(git)), wish)
        hands = _hands(place, releases, git, own, ask, say)
        tidy(place, releases)
        if (left := releases.unfinished()) is not None:
            done = advance(left, hands, taken_up=True)
            if done.unfinished or _is_wished(done, standing, spec, wish):
                return done
        live = releases.live()
        if live is not None and _is_wished(live, standing, spec, wish):
            return _see_to(live, hands)
        _forget_old_artifacts(place, releases)
        now = time.time()
        sought = Artifact(
            kind=ArtifactKind.TREE,
            name=spec.application,
            version="",
            path=wish.artifact.absolute() if wish.artifact else Path(),
            sha256="",
            size=0,
            tree=standing.tree,
            commit=standing.commit,
        )
        release = Release(
            target=spec.name,
            environment=spec.environment,
            number=0,
            artifact=sought,
            previous=live.number if live else None,
        )
        proof = "" if wish.artifact else standing.proof
        record = releases.open(ReleaseRecord(release=release, spec=spec, started_at=now, changed_at=now, proof=proof))
        say(record)
        return advance(record, hands)


def resume(roadmap: Path | None, ask: Ask, say: Say) -> tuple[ReleaseRecord, ...]:
    """Go on with all that was interrupted; a release that waits for a person, or that somebody is at, is left alone."""
    project = Project.find(roadmap)
    done = []
    for target, environment in _known(project):
        place = Place(project=project, target=target, environment=environment)
        if place.is_held:
            continue
        with _git(project) as (git, own), place.held() as releases:
            tidy(place, releases)
            left = releases.unfinished()
            if left is not None and left.stage is not Stage.WAITING:
                done.append(advance(left, _hands(place, releases, git, own, ask, say), taken_up=True))
    return tuple(done)


def rollback(
    roadmap: Path | None, target: str, environment: str, to: int | None, say: Say, *, why: str = BY_HAND
) -> ReleaseRecord:
    """Take back what is being deployed; else switch from the live release to the one before it, or to `to`."""
    project = Project.find(roadmap)
    place = Place(project=project, target=target, environment=environment)
    with _git(project) as (git, own), place.held() as releases:
        hands = _hands(place, releases, git, own, lambda _: None, say)
        record = releases.unfinished() or releases.live()
        if record is None:
            raise Misuse(f"nothing is live on {target} ({environment})", f"deploy first: milepost deploy {target}")
        if record.stage is Stage.ROLLING_BACK:
            return advance(record, hands)
        record = _with_goal(record, releases, to)
        terms = terms_of(record, place.open_target(record.spec))
        record = releases.move(record, TakenBack(), terms, why)
        say(record)
        return advance(record, hands)


def scale(roadmap: Path | None, target: str, environment: str, instances: int) -> ReleaseRecord:
    """Run so many instances of the live release."""
    place = Place(project=Project.find(roadmap), target=target, environment=environment)
    with place.held() as releases:
        live = _require_live(place, releases)
        tidy(place, releases)
        place.open_target(live.spec).scale(instances)
        return live


def logs(roadmap: Path | None, target: str, environment: str, number: int | None, lines: int) -> str:
    """The last lines that a release printed; without a number those of the one that is live, or else the newest."""
    place = Place(project=Project.find(roadmap), target=target, environment=environment)
    with place.records() as releases:
        newest = next(iter(releases.all()), None)
        record = releases.find(number) if number is not None else releases.live() or newest
    if record is None:
        raise Misuse(f"nothing was deployed to {target} ({environment})", f"deploy first: milepost deploy {target}")
    return place.open_target(record.spec).logs(record.release, lines)


def list_releases(roadmap: Path | None, target: str, environment: str) -> tuple[ReleaseRecord, ...]:
    """The releases of a target, the newest first."""
    with Place(project=Project.find(roadmap), target=target, environment=environment).records() as releases:
        return releases.all()


def life_of(roadmap: Path | None, target: str, environment: str, number: int) -> tuple[Move, ...]:
    """What happened to a release, in order."""
    with Place(project=Project.find(roadmap), target=target, environment=environment).records() as releases:
        releases.find(number)
        return releases.moves(number)


def moves(
    roadmap: Path | None, place: tuple[str, str] | None = None, after: int = 0, *, follow: bool = False
) -> Iterator[Move]:
    """What happened to releases, in order; `follow` waits for more until no release of the place is under way."""
    project = Project.find(roadmap)
    while True:
        under_way = follow and any(_is_under_way(project, one) for one in _known(project) if place in (None, one))
        with closing(open_database(_database(project))) as database:
            for move in moves_after(database, after, place):
                after = move.seq
                yield move
        if not under_way:
            return
        time.sleep(FOLLOW_S)


def list_targets(roadmap: Path | None, *, away: bool = True) -> tuple[TargetView, ...]:
    """The targets of the settings and those that anything was deployed to, with what is live there and how it is.

    Without `away` no vendor is asked how its release is.
    """
    project = Project.find(roadmap)
    settings = load(project.roadmap.parent)
    places = _known(project)
    new = [(name, "dev") for name in names_of(settings) if name not in {target for target, _ in places}]
    views = []
    for target, environment in sorted((*places, *new)):
        place = Place(project=project, target=target, environment=environment)
        with place.records() as releases:
            live, unfinished = releases.live(), releases.unfinished()
        section = settings.targets.get(target)
        kind = live.spec.kind if live else section.kind if section else "local"
        health = _health(place, live) if live and (away or kind == LOCAL) else None
        views.append(
            TargetView(
                target=target,
                environment=environment,
                kind=kind,
                live=live,
                unfinished=unfinished,
                health=health,
                traffic=next((one.number for one in (unfinished, live) if one and _may_have_traffic(place, one)), None),
            )
        )
    return tuple(views)


def _database(project: Project) -> Path:
    """Where the records are; nothing is made where there are none."""
    return project.database if project.database.exists() else Path(":memory:")


def _known(project: Project) -> tuple[tuple[str, str], ...]:
    with closing(open_database(_database(project))) as database:
        return known_places(database)


def _is_under_way(project: Project, place: tuple[str, str]) -> bool:
    target, environment = place
    with Place(project=project, target=target, environment=environment).records() as releases:
        left = releases.unfinished()
    return left is not None and left.stage is not Stage.WAITING


def _may_have_traffic(place: Place, record: ReleaseRecord) -> bool:
    try:
        return has_traffic(record.stage, terms_of(record, place.open_target(record.spec)))
    except MilepostError:  # its settings name what is not here now
        return record.stage is Stage.LIVE


def _health(place: Place, live: ReleaseRecord) -> Health:
    try:
        return place.open_target(live.spec).health(live.release)
    except MilepostError as error:
        return Health(healthy=False, detail=error.message)


def _place(project: Project, spec: TargetSpec) -> Place:
    return Place(project=project, target=spec.name, environment=spec.environment)


@contextmanager
def _git(project: Project) -> Iterator[tuple[Git, Path]]:
    with TemporaryDirectory(prefix="milepost-") as folder:
        own = Path(folder)
        yield project.repository.git(own / "git"), own


def _standing(project: Project, mileposts: Mileposts) -> Standing:
    return standing_of(project, mileposts, project.repository.position().commit)


def _require_proven(standing: Standing, wish: Wish) -> Standing:
    if wish.artifact is not None and not wish.artifact.exists():
        raise Misuse(f"there is no artifact {str(wish.artifact)!r}", "name a wheel, a package, a site or a program")
    if wish.unproven:
        return standing
    if wish.artifact is not None:
        raise NotProven(
            f"nothing proves that {wish.artifact.name} was built from a milepost",
            "deploy it all the same, which its record will say: --unproven",
        )
    if standing.problem:
        raise NotProven(
            f"what is to be deployed is not proven: {standing.problem}",
            "go to a milepost (see milepost log), or deploy it all the same, which its record will say: --unproven",
        )
    return standing


def _is_wished(record: ReleaseRecord, standing: Standing, spec: TargetSpec, wish: Wish) -> bool:
    """Whether a release is of the wished files, with the settings of now."""
    return record.release.artifact.tree == standing.tree and record.spec == spec and wish.artifact is None


def _see_to(live: ReleaseRecord, hands: Hands) -> ReleaseRecord:
    """A live release that does not run, as after its machine was started anew, is brought and switched to again."""
    target = hands.place.open_target(live.spec)
    if target.health(live.release).healthy:
        return live
    target.deploy(live.release)
    until = time.monotonic() + live.spec.start_timeout_s
    while not (health := target.health(live.release)).healthy:
        if health.settled or time.monotonic() > until:
            raise MilepostError(
                f"release {live.number} is live and not well: {health.detail}",
                f"milepost rollback {live.spec.name} --env {live.spec.environment}   goes back to the one before",
            )
        time.sleep(0.2)
    target.switch(live.release)
    return live


def _with_goal(record: ReleaseRecord, releases: Releases, to: int | None) -> ReleaseRecord:
    """The release with the one that a rollback goes to, which must have been live before."""
    goal = to if to is not None else record.release.previous
    if record.stage is Stage.LIVE:
        if goal is None:
            raise Misuse(f"no release was live before {record.number}", "deploy another commit instead")
        if (stage := releases.find(goal).stage) is not Stage.RETIRED:
            raise Misuse(
                f"release {goal} is {stage}: only one that was live until another came can be gone back to",
                f"choose one that is retired: milepost releases {record.spec.name} --env {record.spec.environment}",
            )
    elif to is not None and to != record.release.previous:
        raise Misuse(f"release {record.number} is not live yet", "roll back without --to first")
    return releases.keep(replace(record, release=replace(record.release, previous=goal)))


def _require_live(place: Place, releases: Releases) -> ReleaseRecord:
    if (left := releases.unfinished()) is not None:
        raise Misuse(
            f"release {left.number} is unfinished ({left.stage})", f"finish it first: milepost deploy {place.target}"
        )
    if (live := releases.live()) is None:
        raise Misuse(
            f"nothing is live on {place.target} ({place.environment})", f"deploy first: milepost deploy {place.target}"
        )
    return live


def _hands(place: Place, releases: Releases, git: Git, own: Path, ask: Ask, say: Say) -> Hands:
    def build(record: ReleaseRecord) -> Artifact:
        out = place.artifacts(record.number)
        shutil.rmtree(out, ignore_errors=True)
        sought = record.release.artifact
        if sought.path != Path():
            return take_artifact(sought.path, out, commit=sought.commit, tree=sought.tree)
        workspace = Checkouts(own / "checkouts", git).make("deploy", sought.commit)
        if not is_served_as_it_is(workspace.folder, record.spec.command) or record.spec.kind != LOCAL:
            return build_package(place.project, commit=sought.commit, unproven=True)  # its record says what it lacks
        builder = TreeBuilder(name=sought.name, commit=sought.commit, tree=sought.tree, command=record.spec.command)
        return builder.build(workspace.folder, out)

    return Hands(place=place, releases=releases, build=build, ask=ask, say=say)


def _forget_old_artifacts(place: Place, releases: Releases) -> None:
    """Artifacts are kept of the newest releases that can be gone back to."""
    found = [record for record in releases.all() if record.stage in (Stage.LIVE, Stage.RETIRED)]
    kept = {str(record.number) for record in found if record.stage is Stage.LIVE or record in found[:KEPT_ARTIFACTS]}
    folder = place.folder / "artifacts"
    for old in folder.iterdir() if folder.is_dir() else ():
        if old.name not in kept:
            shutil.rmtree(old, ignore_errors=True)
