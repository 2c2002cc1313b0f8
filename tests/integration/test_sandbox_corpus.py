"""The attacks of our own corpus, and those of a shared one, against each level, as root and as an ordinary user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks import shared_corpus
from tests.attacks.attack import Attack
from tests.attacks.corpus import ATTACKS
from tests.attacks.hosts import Hosts, NoSuchHost, User

SHARED = shared_corpus.attacks()


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    started = Hosts()
    yield started
    started.close()


@pytest.mark.parametrize("level", ["isolated", "sandboxed"])
@pytest.mark.parametrize("user", ["root", "ordinary"])
@pytest.mark.parametrize("attack", [*ATTACKS, *SHARED], ids=lambda attack: attack.name)
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
