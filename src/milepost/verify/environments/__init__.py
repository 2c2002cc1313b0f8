"""The environments that checkouts are verified in."""

from milepost.verify.environments.environments import Environments, EnvironmentSettings
from milepost.verify.environments.equipment import Equipment, Link
from milepost.verify.environments.terminal import EquippedTerminal

__all__ = ["EnvironmentSettings", "Environments", "Equipment", "EquippedTerminal", "Link"]
