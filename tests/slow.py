"""Tests that take long and look at what others look at in a smaller way: `MILEPOST_ALL_TESTS=1 make test` runs them."""

from __future__ import annotations

import os

import pytest

slow = pytest.mark.skipif(
    not os.environ.get("MILEPOST_ALL_TESTS"), reason="takes long: MILEPOST_ALL_TESTS=1 make test runs it, too"
)
