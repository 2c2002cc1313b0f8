"""The drills: a run that nobody disturbs, one killed at each boundary in turn, runs killed at a random instant."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from milepost.core.errors import MilepostError
from milepost.engine.chaos.copies import FinalState, Leftovers, RepositoryCopy, damage, leftovers, look
from milepost.engine.chaos.nursery import Birth, Life, Nursery
from milepost.engine.chaos.report import KillCosts
from milepost.engine.chaos.trace import MODEL, TOOL, Account, of_kind, read_trace, steps
from milepost.engine.records.journal import Journal

KILLED = -9
SHORTEST_LIMIT_S, CALM_TIMES = 120.0, 20.0  # a life that takes longer than both has gone wrong
DYING_S = 10.0  # for processes of a life that is over to end, too
LOOKING_S = 0.005  # between two looks at how far a life is
STARTING, STARTING_S = 0.1, 1.0  # of all instants, those before anything is recorded; how long that takes

Watch = Callable[[int, int], None]  # told of each kill and each life


@dataclass(frozen=True, slots=True, kw_only=True)
class Calm:
    """The run that nobody disturbed: what all others must end like."""

    ending: FinalState
    account: Account
    code: int
    cost_usd: float | None
    damage: frozenset[str]
    seconds: float

    @property
    def limit_s(self) -> float:
        return max(SHORTEST_LIMIT_S, CALM_TIMES * self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drills:
    """How the runs are asked for, and the nursery that their lives come from."""

    nursery: Nursery
    environ: Mapping[str, str]
    words: tuple[str, ...]
    parallel: int

    def calm(self, place: RepositoryCopy) -> Calm:
        """Let a run come to its end; raises when there is nothing to compare others with."""
        before = damage(place)
        started = time.monotonic()
        code = self._begin(place, self.words).wait()
        seconds = time.monotonic() - started
        account, ending = _account(place), look(place)
        if code not in (0, 1) or _last_event(place).get("event") != "run_finished":
            raise MilepostError(f"the run failed even without kills: {_said(place)}", "fix that first")
        return Calm(ending=ending, account=account, code=code, cost_usd=_cost(place), damage=before, seconds=seconds)

    def at_every_boundary(self, place: RepositoryCopy, calm: Calm, watch: Watch) -> KillCosts:
        """Kill each life at the first boundary that none before it was killed at, until one has none left."""
        started, kills, words = time.monotonic(), 0, self.words
        while (code := self._live(place, words, calm.limit_s, dying=True)) == KILLED:
            kills += 1
            watch(kills, kills)
            if _lines(place.seen) != kills:
                break  # somebody else killed it
            words = _RESUME
        toll, all_of_them = self._toll(place, calm, code), len(calm.account.recorded)
        if self.parallel == 1 and kills < all_of_them:
            toll += KillCosts(problems=(f"it came to {kills} boundaries, and to {all_of_them} undisturbed",))
        return replace(toll, kills=kills, lives=kills + 1, seconds=time.monotonic() - started)

    def at_an_instant(self, place: RepositoryCopy, calm: Calm, chance: Random, *, group: bool) -> KillCosts:
        """Kill one life at a random instant of its run, alone or with its group, and let the next go on to the end."""
        started = time.monotonic()
        life = self._begin(place, self.words)
        code, lives, kills = _wait_until(life, place, calm, chance.uniform(-STARTING, 1)), 1, 0
        if code is None:
            life.kill(group=group)
            kills = int(life.wait() == KILLED)
            code, more = self._to_the_end(place, calm)
            lives += more
        return replace(self._toll(place, calm, code), kills=kills, lives=lives, seconds=time.monotonic() - started)

    def _to_the_end(self, place: RepositoryCopy, calm: Calm) -> tuple[int | None, int]:
        """Resume, or start where nothing had been recorded yet: how it ended, and in how many lives."""
        code = self._live(place, _RESUME, calm.limit_s)
        if code != 0 or _last_event(place).get("event") != "nothing_to_do":
            return code, 1
        if _has_a_run(place):
            return calm.code, 1  # it was over before the kill, and could not say so any more
        return self._live(place, self.words, calm.limit_s), 2

    def _live(
        self, place: RepositoryCopy, words: tuple[str, ...], limit_s: float, *, dying: bool = False
    ) -> int | None:
        """One life: how it ended, None when it would not."""
        life = self._begin(place, words, dying=dying)
        code = life.wait(limit_s)
        if code is None:
            life.kill(group=True)
            life.wait()
        return code

    def _begin(self, place: RepositoryCopy, words: tuple[str, ...], *, dying: bool = False) -> Life:
        for path in (_stdout(place), _stderr(place)):
            path.unlink(missing_ok=True)
        with _NOTHING.open("rb") as stdin, _stdout(place).open("ab") as stdout, _stderr(place).open("ab") as stderr:
            birth = Birth(
                words=words,
                folder=(place.repository / place.roadmap).parent,
                environ=place.environ(self.environ, dying=dying),
                stdin=stdin.fileno(),
                stdout=stdout.fileno(),
                stderr=stderr.fileno(),
            )
            return self.nursery.begin(birth)

    def _toll(self, place: RepositoryCopy, calm: Calm, code: int | None) -> KillCosts:
        """What is to be seen of the kills, when all is over."""
        left, ending, account = _settled(place), look(place), _account(place)
        expected, found = [post[0] for post in calm.ending.posts], [post[0] for post in ending.posts]
        return KillCosts(
            lost=tuple(task for task in expected if task not in found),
            duplicated=tuple(sorted({task for task in found if found.count(task) > 1})),
            steps_repeated=steps(account.again),
            models_repeated=of_kind(account.again, MODEL),
            tools_repeated=of_kind(account.again, TOOL),
            processes_left=left.processes,
            folders_left=left.folders,
            locks_left=left.locks,
            damage=tuple(sorted(damage(place) - calm.damage)),
            unequal=self._differences(calm, ending, _cost(place)),
            problems=() if code == calm.code and _last_event(place).get("event") in _OVER else (_wrong(place, code),),
            in_flight_steps=len(steps(account.in_flight)),
            in_flight_models=len(of_kind(account.in_flight, MODEL)),
            in_flight_tools=len(of_kind(account.in_flight, TOOL)),
        )

    def _differences(self, calm: Calm, ending: FinalState, cost_usd: float | None) -> tuple[str, ...]:
        """How an end differs from the calm one; with several tasks at once, the order of the mileposts may."""
        found = []
        if ending.tree != calm.ending.tree:
            found.append(f"the tree is {ending.tree[:12]}, and {calm.ending.tree[:12]} without kills")
        if ending.status != calm.ending.status:
            found.append(f"git status says {ending.status!r}")
        if self.parallel == 1 and ending.posts != calm.ending.posts:
            found.append("the mileposts are others, or in another order")
        if self.parallel == 1 and None not in (cost_usd, calm.cost_usd) and cost_usd != calm.cost_usd:
            found.append(f"the run says that it cost ${cost_usd}, and ${calm.cost_usd} without kills")
        return tuple(found)


_RESUME = ("resume", "--json")
_NOTHING = Path(os.devnull)
_OVER = ("run_finished", "nothing_to_do")  # what a run that is over says last


def _wait_until(life: Life, place: RepositoryCopy, calm: Calm, instant: float) -> int | None:
    """Wait for a share of all boundaries and a part of the way to the next, however fast the machine is now.

    An instant below 0 is before the first of them. Gives how the life ended, None when it goes on.
    """
    if instant < 0:
        return life.wait(-instant / STARTING * STARTING_S)
    boundaries, part = divmod(instant * len(calm.account.recorded), 1)
    code = None
    while code is None and _text(place.trace).count("recorded ") < boundaries:
        code = life.wait(LOOKING_S)
    return life.wait(part * calm.seconds / len(calm.account.recorded)) if code is None else code


def _has_a_run(place: RepositoryCopy) -> bool:
    """Whether a run was recorded before the kill."""
    database = place.state / "milepost.db"
    if not database.exists():
        return False
    with Journal.look(database) as journal:
        return bool(journal.runs())


def _settled(place: RepositoryCopy) -> Leftovers:
    """What is left once the processes of the last life had time to end."""
    until = time.monotonic() + DYING_S
    while (left := leftovers(place)).processes and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _account(place: RepositoryCopy) -> Account:
    return read_trace(place.trace.read_text(encoding="utf-8") if place.trace.exists() else "")


def _cost(place: RepositoryCopy) -> float | None:
    """What the last life said that the run cost, if it did."""
    told = _last_event(place)
    cost_usd = told.get("cost_usd") if told.get("event") == "run_finished" else None
    return cost_usd if isinstance(cost_usd, float | int) else None


def _last_event(place: RepositoryCopy) -> dict[str, object]:
    lines = _text(_stdout(place)).strip().split("\n")
    try:
        told = json.loads(lines[-1])
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _wrong(place: RepositoryCopy, code: int | None) -> str:
    how = "did not end" if code is None else f"ended with {code}"
    return f"the last life {how}: {_said(place)}"


def _said(place: RepositoryCopy) -> str:
    return " · ".join(_text(_stderr(place)).strip().splitlines()[-3:]) or "it said nothing"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _lines(path: Path) -> int:
    return len(_text(path).splitlines())


def _stdout(place: RepositoryCopy) -> Path:
    return place.home / "stdout"


def _stderr(place: RepositoryCopy) -> Path:
    return place.home / "stderr"
