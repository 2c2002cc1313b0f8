"""Which milepost this is, as it was installed."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def installed_version() -> str:
    """The version of the package; empty for sources that were never installed."""
    try:
        return version("milepost")
    except PackageNotFoundError:
        return ""
