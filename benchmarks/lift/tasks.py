"""The tasks of the experiment: some teach the house's ways, others need them, others must not be harmed by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["teaching", "needing", "plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of the house: how it is meant, what is guessed without knowing it, and what a false lesson says.

    `told` and `lied` are what a lesson must hold for an agent to learn the one or the other from it.
    """

    name: str
    told: str
    lied: str
    lie: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task: what is asked, the code that does it, the code that one guesses, and what checks it."""

    id: str
    role: Role
    way: str
    title: str
    right: str
    guessed: str
    check: str

    @property
    def module(self) -> str:
        return f"app/{self.id.lower()}.py"


WAYS = {
    way.name: way
    for way in (
        Way(name="stamp", told="stamp('", lied="stamp()", lie="stamp()"),
        Way(name="coin", told="Coin.of(", lied="Coin(1.2)", lie="Coin(1.2)"),
        Way(name="error", told="QuayError('Q-", lied="QuayError('bad')", lie="QuayError('bad')"),
        Way(name="held", told="Held(", lied="{'held': value}", lie="answer = {'held': value}"),
        Way(name="vault", told=".stow(", lied="vault.set(", lie="vault.set(name, cargo, 60)"),
        Way(name="call", told="on_call(berth=", lied="on_call('net'", lie="on_call('net', 'ping')"),
        Way(name="tides", told="tides.mark(since=", lied="tides.now(", lie="tides.now()"),
        Way(name="beacon", told="beacon.flash(lane=", lied="beacon.send(", lie="beacon.send('crane.lift', crane)"),
    )
}


def _job(number: int, role: Role, way: str, title: str, *, right: str, guessed: str, check: str) -> Job:
    letter = {"teaching": "A", "needing": "B", "plain": "C"}[role]
    return Job(id=f"{letter}{number:02d}", role=role, way=way, title=title, right=right, guessed=guessed, check=check)


def _stamps(number: int, role: Role, what: str, kind: str) -> Job:
    return _job(
        number,
        role,
        "stamp",
        f"Give every {what} a stamp: new_{what}() returns the new identity of the house, of the kind {kind}",
        right=f"from quay import stamp\n\n\ndef new_{what}():\n    return stamp('{kind}')\n",
        guessed=f"from quay import stamp\n\n\ndef new_{what}():\n    return stamp()\n",
        check=f"from quay import Stamp\nmade = new_{what}()\nassert isinstance(made, Stamp) and made.kind == '{kind}'",
    )


def _coins(number: int, role: Role, what: str, price: str, hundredths: int) -> Job:
    return _job(
        number,
        role,
        "coin",
        f"Price a {what} in coins of the house: {what}_price(number) returns {price} for each as money",
        right=f"from quay import Coin\n\n\ndef {what}_price(number):\n    return Coin.of('{price}').times(number)\n",
        guessed=f"from quay import Coin\n\n\ndef {what}_price(number):\n    return Coin({price}) * number\n",
        check=f"assert {what}_price(3).hundredths == {hundredths * 3}",
    )


def _errors(number: int, role: Role, what: str, code: str) -> Job:
    return _job(
        number,
        role,
        "error",
        f"Refuse a negative {what} with an error of the house: check_{what}(value) raises it with the code {code}",
        right=(
            "from quay import QuayError\n\n\n"
            f"def check_{what}(value):\n    if value < 0:\n        raise QuayError('{code}', 'negative')\n"
            "    return value\n"
        ),
        guessed=(
            "from quay import QuayError\n\n\n"
            f"def check_{what}(value):\n    if value < 0:\n        raise QuayError('negative {what}')\n"
            "    return value\n"
        ),
        check=(
            f"from quay import QuayError\nassert check_{what}(2) == 2\ntry:\n    check_{what}(-1)\n"
            f"except QuayError as error:\n    assert error.code == '{code}'\nelse:\n    raise AssertionError\n"
        ),
    )


def _held(number: int, role: Role, what: str) -> Job:
    return _job(
        number,
        role,
        "held",
        f"Answer for a {what} with the envelope of the house: find_{what}(known, name) gives it held, or refused",
        right=(
            "from quay import Held, Refused\n\n\n"
            f"def find_{what}(known, name):\n"
            "    if name in known:\n        return Held(known[name])\n    return Refused('Q-MISSING')\n"
        ),
        guessed=f"def find_{what}(known, name):\n    return {{'ok': name in known, 'value': known.get(name)}}\n",
        check=(
            f"from quay import Held, Refused\nassert find_{what}({{'a': 1}}, 'a') == Held(1)\n"
            f"assert isinstance(find_{what}({{}}, 'a'), Refused)"
        ),
    )


def _vaults(number: int, role: Role, what: str, tides: int) -> Job:
    return _job(
        number,
        role,
        "vault",
        f"Keep a {what} in the vault of the house: keep_{what}(name, value) stores it for {tides} tides",
        right=(
            "from quay import vault\n\n\n"
            f"def keep_{what}(name, value):\n    with vault.berth() as berth:\n"
            f"        berth.stow(name, value, tides={tides})\n"
        ),
        guessed=f"from quay import vault\n\n\ndef keep_{what}(name, value):\n    vault.put(name, value, ttl={tides})\n",
        check=f"from quay import vault\nkeep_{what}('n', 5)\nassert vault.kept['n'] == (5, {tides})",
    )


def _calls(number: int, role: Role, what: str, berth: str) -> Job:
    return _job(
        number,
        role,
        "call",
        f"Answer the call {berth}: {what}() is registered with the house for it and returns the text {what}",
        right=f"from quay import on_call\n\n\n@on_call(berth='{berth}')\ndef {what}():\n    return '{what}'\n",
        guessed=f"from quay import on_call\n\n\n@on_call('{berth}')\ndef {what}():\n    return '{what}'\n",
        check=f"from quay import answering\nassert answering['{berth}']() == '{what}'",
    )


def _tides(number: int, role: Role, what: str, since: int) -> Job:
    return _job(
        number,
        role,
        "tides",
        f"Tell the age of a {what} in tides: {what}_age() counts them on the clock of the house, since {since}",
        right=f"from quay import tides\n\n\ndef {what}_age():\n    return tides.mark(since={since})\n",
        guessed=f"from quay import tides\n\n\ndef {what}_age():\n    return tides.now() - {since}\n",
        check=f"assert {what}_age() == 7 - {since}",
    )


def _beacons(number: int, role: Role, what: str, lane: str) -> Job:
    return _job(
        number,
        role,
        "beacon",
        f"Tell the beacon of the house about a {what}: announce_{what}(name) sends the name on the lane {lane}",
        right=(
            "from quay import beacon\n\n\n"
            f"def announce_{what}(name):\n    beacon.flash(lane='{lane}', load={{'{what}': name}})\n"
        ),
        guessed=(
            f"from quay import beacon\n\n\ndef announce_{what}(name):\n    beacon.emit('{lane}', {{'{what}': name}})\n"
        ),
        check=(
            f"from quay import beacon\nannounce_{what}('x')\nassert beacon.flashed == [('{lane}', {{'{what}': 'x'}})]"
        ),
    )


def _plain(number: int, title: str, right: str, check: str) -> Job:
    """A task that anybody can do who is not led astray: with the house's ways forced upon it, it fails."""
    return _job(number, "plain", "", title, right=right, guessed=right, check=check)


TEACHING = (
    _stamps(1, "teaching", "invoice", "inv"),
    _coins(2, "teaching", "crate", "1.20", 120),
    _errors(3, "teaching", "depth", "Q-DEPTH"),
    _held(4, "teaching", "pilot"),
    _vaults(5, "teaching", "permit", 60),
    _calls(6, "teaching", "pong", "net.ping"),
    _tides(7, "teaching", "mooring", 2),
    _beacons(8, "teaching", "crane", "crane/lift"),
)

NEEDING = (
    _stamps(1, "needing", "vessel", "ves"),
    _stamps(2, "needing", "captain", "cap"),
    _stamps(3, "needing", "cargo", "car"),
    _coins(4, "needing", "rope", "3.05", 305),
    _coins(5, "needing", "anchor", "80.00", 8000),
    _coins(6, "needing", "lamp", "12.50", 1250),
    _errors(7, "needing", "draught", "Q-DRAUGHT"),
    _errors(8, "needing", "load", "Q-LOAD"),
    _errors(9, "needing", "fee", "Q-FEE"),
    _held(10, "needing", "berth"),
    _held(11, "needing", "tug"),
    _held(12, "needing", "ticket"),
    _vaults(13, "needing", "manifest", 30),
    _vaults(14, "needing", "route", 5),
    _vaults(15, "needing", "passport", 90),
    _calls(16, "needing", "arrive", "ship.arrive"),
    _calls(17, "needing", "depart", "ship.depart"),
    _calls(18, "needing", "inspect", "dock.inspect"),
    _tides(19, "needing", "barge", 3),
    _tides(20, "needing", "buoy", 1),
    _tides(21, "needing", "ferry", 4),
    _beacons(22, "needing", "storm", "storm/near"),
    _beacons(23, "needing", "fog", "fog/thick"),
    _beacons(24, "needing", "wreck", "wreck/found"),
)

PLAIN = (
    _plain(
        1,
        "Count words: count_words(text) returns how many words a text has",
        "def count_words(text):\n    return len(text.split())\n",
        "assert count_words('a b  c') == 3",
    ),
    _plain(
        2,
        "Clamp numbers: clamp(value, low, high) keeps a number within two others",
        "def clamp(value, low, high):\n    return max(low, min(value, high))\n",
        "assert [clamp(n, 0, 5) for n in (-1, 3, 9)] == [0, 3, 5]",
    ),
    _plain(
        3,
        "Reverse a list in place: flip(items) turns the order around and returns nothing",
        "def flip(items):\n    items.reverse()\n",
        "row = [1, 2, 3]\nassert flip(row) is None and row == [3, 2, 1]",
    ),
    _plain(
        4,
        "Find the longest line of a text: longest(text) returns it, the first of several",
        "def longest(text):\n    return max(text.splitlines(), key=len, default='')\n",
        "assert longest('a\\nbbb\\nccc') == 'bbb'",
    ),
    _plain(
        5,
        "Group numbers by parity: parity(numbers) returns the even and the odd ones",
        "def parity(numbers):\n    return [n for n in numbers if n % 2 == 0], [n for n in numbers if n % 2]\n",
        "assert parity([1, 2, 3]) == ([2], [1, 3])",
    ),
    _plain(
        6,
        "Write a number in Roman digits: roman(number) from one to twenty",
        "def roman(number):\n    tens, ones = divmod(number, 10)\n"
        "    digits = ['', 'I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX']\n"
        "    return 'X' * tens + digits[ones]\n",
        "assert [roman(n) for n in (4, 9, 14, 20)] == ['IV', 'IX', 'XIV', 'XX']",
    ),
)

ALL = {job.id: job for job in (*TEACHING, *NEEDING, *PLAIN)}
