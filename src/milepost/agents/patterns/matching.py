"""Which pattern the inputs of a task are for, when no pattern is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from milepost.agents.patterns.registry import KnownPattern


def matching(inputs: Mapping[str, str], known: Iterable[KnownPattern]) -> str:
    """The name of the one pattern that takes exactly these inputs; empty where none does, or more than one."""
    fitting = {each.name for each in known if _takes(each, inputs)} if inputs else set()
    return fitting.pop() if len(fitting) == 1 else ""


def _takes(known: KnownPattern, inputs: Mapping[str, str]) -> bool:
    try:
        return not known.load().validate_inputs(inputs)
    except Exception:  # it may be a user's, and one that is broken takes nothing
        return False
