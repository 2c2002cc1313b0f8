"""Tasks to a graph in waves, and what is wrong with it."""

from milepost.plan.graph import plan
from milepost.plan.schedule import blocked, ready
from milepost.plan.wire import to_json

__all__ = ["blocked", "plan", "ready", "to_json"]
