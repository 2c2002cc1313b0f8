"""Tests that take long and look at what others look at in a smaller way: `MILEPOST_ALL_TESTS=1 make test` runs them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")
ALL = bool(os.environ.get("MILEPOST_ALL_TESTS"))

slow = pytest.mark.skipif(not ALL, reason="takes long: MILEPOST_ALL_TESTS=1 make test runs it, too")


def sampled(values: Sequence[T], every: int) -> Sequence[T]:
    """All of the values where all tests are run, else one of so many: for what is fixed and was seen as a whole."""
    return values if ALL else values[::every]
