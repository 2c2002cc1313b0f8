"""Whether what comes next fits within a budget, and the words for it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.budget import (
    Allowance,
    Budget,
    Spent,
    count_words,
    left,
    refuse_attempt,
    refuse_call,
    seconds_words,
    usd_words,
)
from milepost.core.calls import Usage
from milepost.core.errors import BudgetSpent, SettingInvalid
from milepost.engine.project.settings.load import load
from milepost.engine.project.settings.settings import budget_again, budget_of

amounts = st.floats(0, 100, allow_nan=False)


def test_a_call_that_could_break_the_wall_is_refused_in_words_that_say_by_how_much() -> None:
    refusal = refuse_call(Allowance(usd=5.0), Spent(usd=4.5, held_usd=0.38), Usage(cost_usd=0.31), "run")
    assert refusal is not None
    assert refusal.message == "the next call could cost $0.31 and $0.12 is left of $5.00"
    assert refusal.advice == "the run is suspended, nothing is lost: milepost resume --budget 10"
    assert refusal.passing, "it would fit if the calls under way cost nothing"


@pytest.mark.parametrize(
    ("allowed", "spent", "said", "advised"),
    [
        (Allowance(tokens=20_000), Spent(tokens=20_100), "20.1k tokens are spent of 20k", "tokens = 40000 under"),
        (Allowance(seconds=600), Spent(seconds=630), "10 min were worked of 10 min", "minutes = 20 under"),
        (Allowance(attempts=3), Spent(attempts=3), "3 of 3 attempts were made", "attempts = 6 under"),
        (Allowance(usd=0.5), Spent(usd=0.1 + 0.2 + 0.2), "$0.50 is spent of $0.50", "--budget 1"),
    ],
)
def test_an_attempt_is_refused_when_a_wall_is_reached(
    allowed: Allowance, spent: Spent, said: str, advised: str
) -> None:
    refusal = refuse_attempt(allowed, spent, "run")
    assert refusal is not None and not refusal.passing
    assert refusal.message == said
    assert advised in refusal.advice
    of_task = refuse_attempt(allowed, spent, "task", "1.1")
    assert of_task is not None
    assert of_task.message == f"1.1: {said} for this task"
    assert "Budget:" in of_task.advice


def test_what_just_fits_is_allowed_though_cents_do_not_add_up_exactly() -> None:
    assert refuse_call(Allowance(usd=0.3), Spent(usd=0.1, held_usd=0.1), Usage(cost_usd=0.1), "run") is None
    assert refuse_call(Allowance(tokens=10), Spent(tokens=4), Usage(input_tokens=5, output_tokens=1), "run") is None


@given(wall=amounts, usd=amounts, held=amounts, most=amounts)
def test_a_call_that_is_let_through_never_breaks_the_wall(wall: float, usd: float, held: float, most: float) -> None:
    allowed, spent = Allowance(usd=wall), Spent(usd=usd, held_usd=held)
    rest = left(allowed, spent).usd
    assert rest is not None and rest >= 0
    refusal = refuse_call(allowed, spent, Usage(cost_usd=most), "run")
    if refusal is None:
        assert usd + held + most <= wall + 1e-6
    elif most > 1e-8:
        wanted, remaining = refusal.message.split(" and ")
        assert wanted.split()[-1] != remaining.split()[0], "the words show that it does not fit"


def test_no_bound_refuses_nothing() -> None:
    spent = Spent(usd=1e9, tokens=10**12, seconds=1e9, attempts=10**6)
    assert refuse_attempt(Allowance(), spent, "run") is None
    assert refuse_call(Allowance(), spent, Usage(cost_usd=1e9), "run") is None
    assert left(Allowance(), spent) == Allowance()


def test_what_an_author_says_of_a_task_goes_before_what_is_said_of_all() -> None:
    budget = Budget(usd=5, task_usd=0.5, task_attempts=2)
    assert budget.of_task(Allowance(usd=2, seconds=60)) == Allowance(usd=2, seconds=60, attempts=2)
    assert budget.of_run == Allowance(usd=5)


def test_amounts_are_told_as_people_say_them() -> None:
    assert [usd_words(usd) for usd in (0, 5, 0.125, 0.0042, 0.00000123)] == [
        "$0.00",
        "$5.00",
        "$0.12",
        "$0.0042",
        "$0.0000012",
    ]
    assert [count_words(count) for count in (950, 20_000, 1_500_000)] == ["950", "20k", "1.5M"]
    assert [seconds_words(seconds) for seconds in (40, 59.7, 540, 7500)] == ["40 s", "1 min", "9 min", "2 h 05 min"]


def test_the_error_keeps_whose_wall_it_was_when_it_travels() -> None:
    error = pickle.loads(pickle.dumps(BudgetSpent("no", "more", scope="task", wall="tokens")))
    assert (error.message, error.advice, error.scope, error.wall) == ("no", "more", "task", "tokens")


def test_settings_say_how_much_a_run_may_take_and_a_resumed_one_keeps_its_money(tmp_path: Path) -> None:
    text = "[run]\nbudget_usd = 5\n[budget]\nusd = 3\nminutes = 2\ntask_tokens = 9\n"
    (tmp_path / "milepost.toml").write_text(text)
    budget = budget_of(load(tmp_path, environ={}))
    assert budget == Budget(usd=5, seconds=120, task_tokens=9)
    assert budget_of(load(tmp_path, {"budget_usd": 7.0}, {"MILEPOST_BUDGET": "6"})).usd == 7
    assert budget_of(load(tmp_path, environ={"MILEPOST_BUDGET": "6"})).usd == 6
    (tmp_path / "milepost.toml").write_text("[budget]\nusd = 1\nminutes = 4\n")
    assert budget_again(load(tmp_path, environ={}), budget) == Budget(usd=5, seconds=240)


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf"])
def test_a_budget_that_is_no_amount_is_refused(tmp_path: Path, amount: str) -> None:
    (tmp_path / "milepost.toml").write_text(f"[budget]\nusd = {amount}\n")
    with pytest.raises(SettingInvalid, match=r"budget\.usd"):
        load(tmp_path, environ={})
