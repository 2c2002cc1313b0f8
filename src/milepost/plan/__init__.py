"""Tasks to a graph in waves, and what is wrong with it."""

from milepost.plan.as_json import to_json
from milepost.plan.graph.build_graph import plan
from milepost.plan.graph.schedule import blocked, ready

__all__ = ["blocked", "plan", "ready", "to_json"]
