"""The attacks of our own corpus, and those of a shared one, against each level, as root and as an ordinary user."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tests.attacks import shared_corpus
from tests.attacks.attack import Attack
from tests.attacks.corpus import ATTACKS
from tests.attacks.hosts import Hosts, NoSuchHost, User
from tests.slow import ALL

SHARED = shared_corpus.attacks()


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    started = Hosts()
    yield started
    started.close()


Place = tuple[User, str]
EVERYWHERE: tuple[Place, ...] = tuple(product(("root", "ordinary"), ("isolated", "sandboxed")))
IN_TURN: tuple[Place, ...] = (("root", "isolated"), ("ordinary", "sandboxed"))


def trials() -> Iterator[object]:
    """Each attack everywhere where all are asked for, else in one place: the next attack in the next place."""
    for number, attack in enumerate((*ATTACKS, *SHARED)):
        if ALL:
            yield from (pytest.param(attack, (place,), id="-".join((attack.name, *place))) for place in EVERYWHERE)
        else:
            yield pytest.param(attack, IN_TURN[:: -1 if number % 2 else 1], id=attack.name)


@pytest.mark.parametrize(("attack", "places"), [*trials()])
def test_what_works_bare_is_held_by_the_walls(hosts: Hosts, attack: Attack, places: tuple[Place, ...]) -> None:
    """In the first of these places where it can be tried."""
    hindrances = []
    for user, level in places:
        hindrance = held(hosts, attack, user, level)
        if not hindrance:
            return
        hindrances.append(f"{user}, {level}: {hindrance}")
    pytest.skip("; ".join(hindrances))


def held(hosts: Hosts, attack: Attack, user: User, level: str) -> str:
    """Empty if the walls hold the attack, and what stands in the way of trying it, if something does."""
    if level == "isolated" and attack.gap_of_isolated:
        return f"only a private root holds it: {attack.gap_of_isolated}"
    try:
        control = hosts.bare(user, attack)
    except NoSuchHost as reason:
        return f"there can be no host of this user: {reason}"
    if not control["signs"]:
        return f"it does not work bare either: {control['said'][-200:]}"
    for way in attack.ways:
        answer = hosts.held(user, attack, level, way)
        if "refused" in answer:
            return str(answer["refused"])
        if attack.only_with and attack.only_with not in answer["enforced"]:
            return f"only {attack.only_with} holds it, and that is not to be had here"
        assert answer["signs"] == [], f"{way}: {answer}"
    return ""


def test_the_shared_corpus_is_tried_too() -> None:
    if not SHARED:
        pytest.skip(f"the shared corpus is not beside this repository: {shared_corpus.PLACE}")
    assert len({attack.name for attack in SHARED}) == len(SHARED) >= 40
