"""The queue of verified attempts that wait to be merged: what each step leaves, and who may be merged next."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from milepost.engine.run.merge_train import Car, Train

ONE = Car(task="1", on="head", commit="head+1", proving="prove-1")
TWO = Car(task="2", on="head+1", commit="head+1+2", proving="prove-2")
THREE = Car(task="3", on="head+1+2", commit="head+1+2+3")
NONE = Train()
ALL = NONE.coupled(ONE).coupled(TWO).coupled(THREE)


def test_each_attempt_is_put_on_top_of_the_one_before_it() -> None:
    assert [train.end("head") for train in (NONE, NONE.coupled(ONE), ALL)] == ["head", "head+1", "head+1+2+3"]
    assert (NONE.tasks, ALL.tasks) == ((), ("1", "2", "3"))
    assert ALL.proving == {"prove-1": "1", "prove-2": "2"}, "the tree of the third is verified already"


@pytest.mark.parametrize(
    ("train", "first"),
    [
        pytest.param(NONE, "", id="nobody waits"),
        pytest.param(ALL, "", id="the first is still being verified"),
        pytest.param(ALL.proven("2"), "", id="another is verified, the first is not"),
        pytest.param(ALL.proven("1"), "1", id="the first is verified"),
        pytest.param(ALL.doubted("1"), "", id="the first failed and may not be to blame"),
        pytest.param(ALL.proven("1").without_first(), "", id="the second is still being verified"),
        pytest.param(ALL.proven("2").proven("1").without_first(), "2", id="the second was verified before the first"),
        pytest.param(Train(cars=(THREE,)), "3", id="verified when it came"),
        pytest.param(ALL.proven("nobody"), "", id="somebody else is verified"),
    ],
)
def test_only_the_first_may_be_merged_and_only_once_it_is_verified(train: Train, first: str) -> None:
    assert train.next_to_land == first


@pytest.mark.parametrize("change", [Train.proven, Train.doubted])
def test_an_attempt_that_was_verified_or_failed_is_no_longer_being_verified(
    change: Callable[[Train, str], Train],
) -> None:
    after = change(ALL, "1")
    assert after.proving == {"prove-2": "2"} and after.tasks == ALL.tasks
    assert after.cars[1:] == ALL.cars[1:], "the others stay as they are"
    assert after.cars[0].doubtful == (change is Train.doubted)


@pytest.mark.parametrize(
    ("task", "before", "behind"),
    [("1", (), ("2", "3")), ("2", ("1",), ("3",)), ("3", ("1", "2"), ())],
)
def test_a_failed_attempt_leaves_with_all_behind_it(
    task: str, before: tuple[str, ...], behind: tuple[str, ...]
) -> None:
    train, uncoupled = ALL.cut(task)
    assert (train.tasks, uncoupled) == (before, behind)
    assert train.cars == ALL.cars[: len(before)]


def test_one_that_is_not_in_the_queue_cannot_leave_it() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        ALL.cut("4")
    assert NONE.without_first() == NONE
