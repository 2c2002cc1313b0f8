"""Patterns: changes that the agent `pattern:NAME` makes without a model.

For example:

    from milepost import patterns

    print([entry.name for entry in patterns.available()])
    print(patterns.try_out("module_creation", {"name": "durations"}).diff)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.agents.patterns.trial import PatternEntry as PatternEntry
    from milepost.agents.patterns.trial import PatternTrial as PatternTrial
    from milepost.api.patterns import available as available
    from milepost.api.patterns import find as find
    from milepost.api.patterns import try_out as try_out
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
