"""A release brought through its life, on a target that is only remembered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from milepost.core.errors import MilepostError, TargetRefused
from milepost.core.release_life import TakenBack, Terms
from milepost.core.shipping import Artifact, ArtifactKind, Health, Release, Stage, TargetSpec
from milepost.engine.deploys.advance import Hands, advance
from milepost.engine.deploys.place import Deployable, Place
from milepost.engine.project.project import Project
from milepost.engine.records.releases import ReleaseRecord, Releases
from milepost.ship.in_memory import InMemoryTarget
from milepost.store.database import Database, open_database
from milepost.workspace.repository import Repository

SPEC = TargetSpec(name="shop", kind="local", soak_s=0, start_timeout_s=0)


class Fickle(InMemoryTarget):
    """A target on which what is named in `dies` falls ill once it has traffic, and that may refuse to switch."""

    def __init__(self, *, dies: tuple[int, ...] = (), at_once: bool = False) -> None:
        super().__init__(at_once=at_once)
        self.dies, self.refuses = dies, False

    def health(self, release: Release) -> Health:
        if release.number in self.dies and self.live == release.number:
            return Health(healthy=False, detail="it died")
        return super().health(release)

    def switch(self, release: Release) -> None:
        if self.refuses and release.number == 1:
            raise TargetRefused("cut off", "try again")
        super().switch(release)


@dataclass(frozen=True, slots=True, kw_only=True)
class Somewhere(Place):
    real: Fickle

    def open_target(self, spec: TargetSpec) -> Deployable:
        return self.real


@pytest.fixture
def database() -> Iterator[Database]:
    with closing(open_database(":memory:")) as database:
        yield database


def _hands(database: Database, target: Fickle, by: str | None = None) -> Hands:
    nowhere = Path("/nowhere")
    repository = Repository(top=nowhere, git_dir=nowhere, common_dir=nowhere, objects=nowhere, sha256=False)
    project = Project(repository=repository, roadmap=nowhere, state=nowhere, checkouts_key=nowhere)
    place = Somewhere(project=project, target="shop", environment="dev", real=target)
    return Hands(
        place=place,
        releases=Releases(database, "shop", "dev"),
        build=lambda record: replace(record.release.artifact, sha256=f"{record.number}"),
        ask=lambda _: by,
        say=lambda _: None,
    )


def _open(hands: Hands, spec: TargetSpec = SPEC) -> ReleaseRecord:
    artifact = Artifact(
        kind=ArtifactKind.TREE, name="shop", version="", path=Path(), sha256="", size=0, tree="", commit=""
    )
    live = hands.releases.live()
    release = Release(target="shop", number=0, artifact=artifact, previous=live.number if live else None)
    return hands.releases.open(ReleaseRecord(release=release, spec=spec, started_at=0, changed_at=0))


def _stages(hands: Hands) -> list[str]:
    return [str(record.stage) for record in reversed(hands.releases.all())]


def test_two_good_releases_follow_each_other_and_the_first_stays_warm(database: Database) -> None:
    target = Fickle()
    hands = _hands(database, target)
    advance(_open(hands), hands)
    second = advance(_open(hands), hands)
    assert (_stages(hands), target.switches) == (["retired", "live"], [1, 2])
    assert second.release.reference == "memory/2"
    advance(_open(hands), hands)
    assert sorted(target.kept) == [2, 3]  # the first has nobody who goes back to it
    assert [record.kept for record in hands.releases.all()] == [True, True, False]


def test_what_dies_with_traffic_is_rolled_back_exactly_once(database: Database) -> None:
    target = Fickle(dies=(1, 2))  # the one that is gone back to is not well either
    hands = _hands(database, target)
    target.dies = ()
    advance(_open(hands), hands)
    target.dies = (1, 2)
    record = advance(_open(hands), hands)
    assert (_stages(hands), target.switches) == (["live", "rolled back"], [1, 2, 1])
    assert record.said == "it died; release 1 is live again, which is not well either: it died"
    assert sorted(target.kept) == [1]


def test_without_a_release_before_it_nothing_is_live_after_a_rollback(database: Database) -> None:
    target = Fickle(dies=(1,))
    hands = _hands(database, target)
    record = advance(_open(hands), hands)
    assert (str(record.stage), target.kept) == ("rolled back", {})
    assert "nothing is now" in record.said


def test_a_rollback_that_the_target_refuses_stays_to_be_tried_again(database: Database) -> None:
    target = Fickle()
    hands = _hands(database, target)
    advance(_open(hands), hands)
    target.dies, target.refuses = (2,), True
    with pytest.raises(MilepostError, match="release 2 cannot be rolled back: cut off"):
        advance(_open(hands), hands)
    assert _stages(hands) == ["live", "rolling back"]
    target.refuses = False
    advance(hands.releases.find(2), hands, taken_up=True)
    assert (_stages(hands), target.live) == (["live", "rolled back"], 1)


def test_where_bringing_gives_traffic_an_ill_release_is_rolled_back(database: Database) -> None:
    target = Fickle(dies=(2,), at_once=True)
    hands = _hands(database, target)
    advance(_open(hands), hands)
    record = advance(_open(hands), hands)
    assert (str(record.stage), target.live) == ("rolled back", 1)


@pytest.mark.parametrize(("by", "stage", "kept"), [(None, "waiting", []), ("", "rejected", []), ("Ada", "live", [1])])
def test_a_person_is_asked_before_anything_leaves(
    database: Database, by: str | None, stage: str, kept: list[int]
) -> None:
    target = Fickle()
    hands = _hands(database, target, by)
    record = advance(_open(hands, replace(SPEC, approve=True)), hands)
    assert (str(record.stage), sorted(target.kept)) == (stage, kept)
    assert record.approved_by == (by or "")


@pytest.mark.parametrize(
    "stage", [Stage.BUILDING, Stage.UPLOADING, Stage.STARTING, Stage.CHECKING, Stage.SWITCHING, Stage.SOAKING]
)
def test_a_release_goes_on_from_any_stage_that_was_written_down(database: Database, stage: Stage) -> None:
    hands = _hands(database, target := Fickle())
    record = _open(hands)
    left = hands.releases.keep(replace(record, release=replace(record.release, stage=stage)))
    assert str(advance(left, hands, taken_up=True).stage) == "live"
    assert target.switches == [1]


def test_a_rollback_by_hand_brings_the_one_before_back_to_life(database: Database) -> None:
    hands = _hands(database, target := Fickle())
    advance(_open(hands), hands)
    live = advance(_open(hands), hands)
    taken = hands.releases.move(live, TakenBack(), Terms(start_s=0, soak_s=0), "by hand")
    advance(taken, hands)
    assert (_stages(hands), target.live) == (["live", "rolled back"], 1)
    assert [move.stage for move in hands.releases.moves(1)][-2:] == ["retired", "live"]
