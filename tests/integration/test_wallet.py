"""The wallet, on both databases: walls that hold against many at once, and against kill -9."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from milepost.core.budget import Allowance, Budget
from milepost.core.calls import Usage
from milepost.core.errors import BudgetSpent
from milepost.core.events import AgentSaid
from milepost.core.task import Task
from milepost.engine.budget.budget import RunBudget
from milepost.engine.records.journal import Journal
from milepost.engine.records.spending import Spending
from milepost.engine.records.suspend import Suspended
from milepost.store.database import Database, open_database

RUN = "7f3a"
CALL = Usage(input_tokens=100, output_tokens=20, cost_usd=0.02)
MOST = Usage(input_tokens=120, output_tokens=100, cost_usd=0.03)

# Makes calls until the wall is reached, and says how many; dies after its first reservation when told to.
# All begin at once: each says that it is ready, and waits to be told.
SPENDER = """
import os, signal, sys
from milepost.core.budget import Budget
from milepost.core.calls import Usage
from milepost.core.errors import BudgetSpent
from milepost.core.task import Task
from milepost.engine.budget.budget import RunBudget
from milepost.store.database import open_database

place, name, dies = sys.argv[1:]
wallet = RunBudget(open_database(place), "7f3a", Budget(usd=1.0), patience_s=20)
purse = wallet.open(Task(id=name, title=name, status="open", line=1), 1, "tool")
made = 0
print("ready", flush=True)
sys.stdin.readline()
try:
    while True:
        purse.reserve(made + 1, "m", Usage(cost_usd=0.03))
        if dies == "dies":
            print("reserved", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        made += 1
        purse.settle(made, "m", Usage(cost_usd=0.02))
except BudgetSpent as error:
    print(made, error.scope)
"""


def task(name: str = "1.1", budget: Allowance = Allowance()) -> Task:  # noqa: B008 - frozen
    return Task(id=name, title="Write it", status="open", line=1, budget=budget)


@pytest.fixture
def database(place: Path | str) -> Iterator[Database]:
    opened = open_database(place)
    Journal(opened)
    yield opened
    opened.close()


@contextmanager
def refused(scope: str, *, wall: str = "usd") -> Iterator[None]:
    with pytest.raises(BudgetSpent) as error:
        yield
    assert (error.value.scope, error.value.wall) == (scope, wall)


def test_many_processes_together_do_not_break_the_wall_and_use_it_up(place: Path | str, database: Database) -> None:
    command = [sys.executable, "-c", SPENDER, str(place)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    spenders = [subprocess.Popen([*command, f"1.{number}", ""], **pipes) for number in range(3)]  # type: ignore[call-overload]
    for spender in spenders:
        assert spender.stdout.readline() == "ready\n"
    for spender in spenders:
        spender.stdin.write("go\n")
        spender.stdin.flush()
    said = [spender.communicate(timeout=120)[0].split() for spender in spenders]
    assert [words[1] for words in said] == ["run"] * 3
    calls = sum(int(words[0]) for words in said)
    spent = Spending(database).totals(RUN)
    assert spent.usd == pytest.approx(calls * 0.02)
    assert spent.held_usd == 0
    assert calls == 49, "the fiftieth call could have cost three cents where two were left"


def test_what_a_killed_process_reserved_stays_held_until_its_call_is_made_again(
    place: Path | str, database: Database
) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", SPENDER, str(place), "1.1", "dies"], capture_output=True, text=True, input="go\n"
    )
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "ready\nreserved\n")
    wallet = RunBudget(database, RUN, Budget(usd=0.05), patience_s=0)
    assert wallet.spent().held_usd == pytest.approx(0.03)
    other = wallet.open(task("1.2"), 1, "tool")
    with refused("run"):
        other.reserve(1, "m", MOST)
    again = wallet.open(task("1.1"), 1, "tool")
    again.reserve(1, "m", MOST)
    again.settle(1, "m", CALL)
    assert wallet.spent().usd == pytest.approx(0.02)
    assert wallet.spent().held_usd == 0
    other.reserve(1, "m", MOST)


def test_what_is_held_for_a_call_that_failed_is_let_go_when_the_attempt_ends(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget(usd=0.05), patience_s=0)
    purse = wallet.open(task(), 1, "tool")
    purse.reserve(1, "m", MOST)
    purse.close()
    assert wallet.spent().held_usd == 0
    wallet.open(task(), 2, "tool").reserve(1, "m", MOST)


def test_a_call_waits_for_others_that_hold_what_it_needs(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget(usd=0.05), patience_s=60)
    first, second = wallet.open(task("1.1"), 1, "tool"), wallet.open(task("1.2"), 1, "tool")
    first.reserve(1, "m", MOST)
    waiting = threading.Thread(target=second.reserve, args=(1, "m", MOST))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    first.settle(1, "m", CALL)
    waiting.join(60)
    assert not waiting.is_alive()
    assert wallet.spent().held_usd == pytest.approx(0.03)


def test_a_call_that_waits_ends_waiting_when_the_run_is_stopped(database: Database) -> None:
    stop = threading.Event()
    wallet = RunBudget(database, RUN, Budget(usd=0.05), patience_s=600, stopping=stop.is_set)
    wallet.open(task("1.1"), 1, "tool").reserve(1, "m", MOST)
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Suspended):
        wallet.open(task("1.2"), 1, "tool").reserve(1, "m", MOST)


def test_a_call_is_settled_once_and_one_that_is_made_anew_is_paid_again(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget(usd=1.0))
    purse = wallet.open(task(), 1, "tool")
    purse.reserve(1, "m", MOST)
    purse.settle(1, "m", CALL)
    purse.settle(1, "m", CALL)
    assert wallet.spent().usd == pytest.approx(0.02)
    purse.reserve(1, "m", MOST)  # the answer was not kept, so the call is really made a second time
    assert wallet.spent().usd + wallet.spent().held_usd == pytest.approx(0.05)
    purse.settle(1, "m", CALL)
    purse.close(Usage(cost_usd=0.02))
    purse.close(Usage(cost_usd=0.02))
    assert wallet.spent().usd == pytest.approx(0.04)
    assert wallet.spent().tokens == 240


def test_what_an_opaque_agent_cost_holds_the_wall_between_attempts(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget(usd=1.0, task_usd=0.5))
    wallet.open(task("1.1"), 1, "command:x").close(Usage(cost_usd=0.6))
    with refused("task"):
        wallet.open(task("1.1"), 2, "command:x")
    wallet.open(task("1.2"), 1, "command:x").close(Usage(cost_usd=0.4))
    with refused("run"):
        wallet.open(task("1.3"), 1, "command:x")


def test_an_attempts_cost_is_not_added_to_that_of_its_calls(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget())
    purse = wallet.open(task(), 1, "tool")
    for number in (1, 2):
        purse.reserve(number, "m", MOST)
        purse.settle(number, "m", CALL)
    purse.close(Usage(cost_usd=0.05))
    assert wallet.spent().usd == pytest.approx(0.05)


@pytest.mark.parametrize("cost", [math.nan, math.inf, -math.inf, -5.0])
def test_a_price_that_is_no_amount_counts_as_the_most_that_the_call_could_cost(database: Database, cost: float) -> None:
    wallet = RunBudget(database, RUN, Budget(usd=1.0))
    purse = wallet.open(task(), 1, "tool")
    purse.reserve(1, "m", MOST)
    purse.settle(1, "m", Usage(input_tokens=-7, output_tokens=10**30, cost_usd=cost))
    purse.close(Usage(cost_usd=cost))
    assert wallet.spent().usd == pytest.approx(0.03)
    assert wallet.spent().tokens >= 0


def test_tokens_and_a_tasks_own_budget_are_walls_too(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget(tokens=400), patience_s=0)
    own = wallet.open(task("1.1", Allowance(tokens=200)), 1, "tool")
    with refused("task", wall="tokens"):
        own.reserve(1, "m", MOST)
    purse = wallet.open(task("1.2"), 1, "tool")
    purse.reserve(1, "m", MOST)
    purse.settle(1, "m", MOST)
    with refused("run", wall="tokens"):
        purse.reserve(2, "m", MOST)


def test_attempts_are_counted_once_however_often_they_are_taken_up(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget(attempts=3, task_attempts=2))
    for attempt in (1, 2, 2):
        wallet.open(task("1.1"), attempt, "tool").close()
    with refused("task", wall="attempts"):
        wallet.open(task("1.1"), 3, "tool")
    wallet.open(task("1.2"), 1, "tool")
    wallet.open(task("1.2"), 1, "tool")
    with refused("run", wall="attempts"):
        wallet.open(task("1.3"), 1, "tool")
    RunBudget(database, "8888", Budget(attempts=1)).open(task("1.1"), 1, "tool")


def test_the_time_of_a_run_is_that_of_its_lives_and_not_of_the_nights_between(database: Database) -> None:
    journal, now = Journal(database), time.time()
    Spending(database)
    for life, (began, worked) in enumerate([(now - 90_000, 100.0), (now - 50_000, 200.0), (now - 10, 0.0)]):
        database.write("insert into lives values (?, ?, ?, ?)", RUN, str(life), began, began)
        journal.append(AgentSaid(run=RUN, task="1.1", attempt=1, text="…"), f"said/{life}")
        database.write("update events set at = ? where key = ?", began + worked, f"said/{life}")
    wallet = RunBudget(database, RUN, Budget(seconds=900))
    assert 300 <= wallet.seconds() < 600
    purse = wallet.open(task(), 1, "tool")
    left = purse.seconds_left()
    assert left is not None and 300 < left <= 600
    with refused("run", wall="seconds"):
        RunBudget(database, RUN, Budget(seconds=300)).open(task(), 1, "tool")


def test_time_that_was_worked_is_not_given_back_by_a_kill(database: Database) -> None:
    Journal(database)
    wallet = RunBudget(database, RUN, Budget())
    database.write("update lives set began_at = began_at - 60")
    database.write("update lives set seen_at = began_at + 50")
    assert RunBudget(database, RUN, Budget()).seconds() == pytest.approx(50, abs=5)
    wallet.see()


def test_the_time_of_a_task_is_added_up_over_its_attempts(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget())
    wallet.open(task(), 1, "tool").close()
    database.write("update spending set seconds = 100 where number = 0")
    assert wallet.open(task(budget=Allowance(seconds=1000)), 2, "tool").seconds_left() == pytest.approx(900, abs=60)
    with refused("task", wall="seconds"):
        wallet.open(task(budget=Allowance(seconds=100)), 2, "tool")


def test_the_database_is_not_made_twice_by_two_who_open_it_at_once(place: Path | str) -> None:
    opened = [open_database(place) for _ in range(4)]
    Journal(opened[0])
    threads = [threading.Thread(target=RunBudget, args=(database, RUN, Budget())) for database in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert opened[0].read("select count(*) from lives") == [(4,)]
    for database in opened:
        database.close()


def test_what_programs_spend_side_by_side_is_seen_by_the_others_as_it_is_spent(database: Database) -> None:
    wallet = RunBudget(database, RUN, Budget(usd=10.0))
    first, second = wallet.open(task("1.1"), 1, "claude"), wallet.open(task("1.2"), 1, "codex")
    assert first.account(Usage(cost_usd=4.0)) == pytest.approx(6.0)
    assert second.account(Usage(cost_usd=5.0)) == pytest.approx(1.0)
    with refused("run"):
        first.account(Usage(cost_usd=6.0))
    first.close(Usage(cost_usd=6.0))
    second.close(Usage(cost_usd=5.0))
    assert wallet.spent().usd == pytest.approx(11.0)
    assert wallet.spent().held_usd == 0
