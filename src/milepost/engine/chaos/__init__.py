"""Chaos: a run is killed over and over, aside, and must end as if nothing had happened."""

from milepost.engine.chaos.report import ChaosReport, KillCosts, findings, rows, to_json
from milepost.engine.chaos.run import ChaosProgress, ChaosRequest, run_chaos

__all__ = ["ChaosProgress", "ChaosReport", "ChaosRequest", "KillCosts", "findings", "rows", "run_chaos", "to_json"]
