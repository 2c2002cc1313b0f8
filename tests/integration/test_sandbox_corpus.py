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


# Each attack is tried by one user at each level, unless all are asked for.
AT_LEAST = (("root", "isolated"), ("ordinary", "sandboxed"))


def trials() -> list[object]:
    return [
        pytest.param(attack, user, level, id=f"{attack.name}-{user}-{level}")
        for attack in (*ATTACKS, *SHARED)
        for user, level in product(("root", "ordinary"), ("isolated", "sandboxed"))
        if ALL or (user, level) in AT_LEAST
    ]


@pytest.mark.parametrize(("attack", "user", "level"), trials())
def test_what_works_bare_is_held_by_the_walls(hosts: Hosts, attack: Attack, user: User, level: str) -> None:
    try:
        control = hosts.bare(user, attack)
    except NoSuchHost as reason:
        pytest.skip(f"there can be no host of this user: {reason}")
    if not control["signs"]:
        pytest.skip(f"it does not work bare either, as {user}: {control['said'][-200:]}")
    if level == "isolated" and attack.gap_of_isolated:
        pytest.skip(f"only a private root holds it: {attack.gap_of_isolated}")
    for way in attack.ways:
        answer = hosts.held(user, attack, level, way)
        if "refused" in answer:
            pytest.skip(answer["refused"])
        if attack.only_with and attack.only_with not in answer["enforced"]:
            pytest.skip(f"only {attack.only_with} holds it, and that is not to be had here")
        assert answer["signs"] == [], f"{way}: {answer}"


def test_the_shared_corpus_is_tried_too() -> None:
    if not SHARED:
        pytest.skip(f"the shared corpus is not beside this repository: {shared_corpus.PLACE}")
    assert len({attack.name for attack in SHARED}) == len(SHARED) >= 40
