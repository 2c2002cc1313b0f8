"""What a person is asked before a setting of a repository takes effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSetting:
    """One value: `key` is as `sandbox.network`, `does` what it does in plain words, `was` and `now` the values.

    `was` is empty where nobody agreed to a value before, `now` where the one agreed to is no longer wanted.
    """

    key: str
    does: str
    was: str = ""
    now: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsQuestion:
    """All values that a file wants and nobody agreed to here; `agree` keeps that a person did."""

    file: str
    asked: tuple[AskedSetting, ...]
    agree: Callable[[], None] = field(repr=False, compare=False)
