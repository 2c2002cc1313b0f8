"""Two changes of one file made one, by rules that need no agent; where a rule is not certain there is no answer."""

from milepost.workspace.reconcile.reconcile import reconcile

__all__ = ["reconcile"]
