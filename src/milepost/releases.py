"""Releases: deploy a proven commit to a target, take it back, look at what is deployed where.

For example:

    from milepost import releases

    release = releases.deploy("local")
    if release.stage != "live":
        print(release.said)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.releases import demo as demo
    from milepost.api.releases import deploy as deploy
    from milepost.api.releases import event_to_json as event_to_json
    from milepost.api.releases import events as events
    from milepost.api.releases import life as life
    from milepost.api.releases import logs as logs
    from milepost.api.releases import of_target as of_target
    from milepost.api.releases import preview as preview
    from milepost.api.releases import resume as resume
    from milepost.api.releases import rollback as rollback
    from milepost.api.releases import scale as scale
    from milepost.api.releases import targets as targets
    from milepost.api.releases import to_json as to_json
    from milepost.core.shipping import Health as Health
    from milepost.core.shipping import Release as Release
    from milepost.core.shipping import Stage as Stage
    from milepost.core.shipping import TargetSpec as TargetSpec
    from milepost.demo.release import ReleaseDemo as ReleaseDemo
    from milepost.engine.deploys.deploy import DeployPlan as DeployPlan
    from milepost.engine.deploys.deploy import TargetView as TargetView
    from milepost.engine.deploys.proven import Standing as Standing
    from milepost.engine.records.releases import Move as Move
    from milepost.engine.records.releases import ReleaseRecord as ReleaseRecord
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
