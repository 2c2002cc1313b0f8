"""This machine: what it lacks, settings that were agreed to on it, its service, being a worker for runs of others.

For example:

    from milepost import machines

    print([finding for finding in machines.doctor() if not finding.ok])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.machines import agree_to_settings as agree_to_settings
    from milepost.api.machines import base_tests as base_tests
    from milepost.api.machines import continue_runs as continue_runs
    from milepost.api.machines import doctor as doctor
    from milepost.api.machines import facts as facts
    from milepost.api.machines import install_service as install_service
    from milepost.api.machines import proposals as proposals
    from milepost.api.machines import service_state as service_state
    from milepost.api.machines import unanswered_settings as unanswered_settings
    from milepost.api.machines import uninstall_service as uninstall_service
    from milepost.api.machines import withdraw_settings as withdraw_settings
    from milepost.api.machines import work as work
    from milepost.core.asked_settings import AskedSetting as AskedSetting
    from milepost.core.asked_settings import SettingsQuestion as SettingsQuestion
    from milepost.engine.commands.doctor import Finding as Finding
    from milepost.engine.commands.find_facts import Facts as Facts
    from milepost.engine.commands.look_at_base import BaseTests as BaseTests
    from milepost.engine.commands.service import InterruptedRun as InterruptedRun
    from milepost.engine.commands.service import ServiceState as ServiceState
    from milepost.engine.records.worker_lease import Worker as Worker
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
