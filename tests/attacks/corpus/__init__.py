"""The attacks, a module for each kind."""

from tests.attacks.attack import Attack
from tests.attacks.corpus import channel, files, kernel, language, network, processes, resources

ATTACKS: tuple[Attack, ...] = tuple(
    attack for kind in (language, files, processes, resources, network, channel, kernel) for attack in kind.ATTACKS
)
