"""One budget for several projects."""

from __future__ import annotations

import pytest

from milepost.core.errors import BudgetSpent
from milepost.engine.projects.budget_shares import Took, share_out


def test_each_gets_a_share_of_what_is_left_by_its_tasks() -> None:
    took = {"api": Took(all_usd=2.0), "web": Took(), "done": Took(all_usd=1.0)}
    assert share_out(10.0, took, {"api": 3, "web": 4}) == pytest.approx({"api": 3.0, "web": 4.0})


def test_a_run_that_goes_on_keeps_what_it_took_and_all_stay_within_the_wall() -> None:
    took = {"api": Took(all_usd=5.0, going_on_usd=2.0), "web": Took()}
    shares = share_out(10.0, took, {"api": 1, "web": 4})
    assert shares == pytest.approx({"api": 3.0, "web": 4.0})
    assert sum(shares.values()) + 3.0 == pytest.approx(10.0), "3.00 were taken by runs that are over"


def test_what_is_spent_is_refused_with_the_command_that_gives_more() -> None:
    with pytest.raises(BudgetSpent, match=r"\$10\.00 is spent of \$10\.00") as refusal:
        share_out(10.0, {"api": Took(all_usd=10.0)}, {"api": 1})
    assert "--budget 20.00" in refusal.value.advice
    assert share_out(10.0, {"api": Took(all_usd=10.0)}, {}) == {}, "nothing to do costs nothing"
