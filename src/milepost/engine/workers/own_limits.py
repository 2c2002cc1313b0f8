"""What a run may ask of a worker: no more of its machine than the worker's own settings give.

The order of a run comes from a shared database, and so from whoever reaches it.
"""

from __future__ import annotations

from milepost.core.commands import TrustLevel
from milepost.core.errors import SettingInvalid
from milepost.engine.project.settings.reach import reaching, stays_inside
from milepost.engine.project.settings.sandbox import SandboxSettings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.settings.verify import VerifySettings
from milepost.engine.records.run_spec import RunSpec


def refuse_excess(order: RunSpec, own: Settings) -> None:
    """Raise where an order reaches further than the worker's own settings let it."""
    if excess := (*_settings_beyond(order, own), *_names_beyond(order, own)):
        raise SettingInvalid(
            f"run {order.run} wants more of this machine than its worker gives: {', '.join(excess)}",
            "set the same in the milepost.toml of the worker's folder, if its runs may have that",
        )


def _settings_beyond(order: RunSpec, own: Settings) -> list[str]:
    asked = Settings(
        sandbox=SandboxSettings.model_validate(order.sandbox), verify=VerifySettings.model_validate(order.checks)
    )
    given = {(one.path, repr(one.value)) for one in reaching(own)}
    found = [one.key for one in reaching(asked) if (one.path, repr(one.value)) not in given]
    wants_less = own.run.trust is TrustLevel.SANDBOXED and order.trust not in ("", TrustLevel.SANDBOXED.value)
    return [*found, f"trust level {order.trust}"] if wants_less else found


def _names_beyond(order: RunSpec, own: Settings) -> list[str]:
    return [f"agent {name!r}" for name in order.agents if name not in own.named_agents and not stays_inside(name)]
