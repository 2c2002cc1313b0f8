"""The environments that checkouts are verified in."""

from milepost.verify.environments.environments import Environments, EnvironmentSettings
from milepost.verify.environments.equipment import Equipment, Link
from milepost.verify.environments.package_cache import Failed
from milepost.verify.environments.terminal import EquippedTerminal
from milepost.verify.environments.throwaway import with_node_path

__all__ = ["EnvironmentSettings", "Environments", "Equipment", "EquippedTerminal", "Failed", "Link", "with_node_path"]
