"""Which errors the same call can get over later."""

from __future__ import annotations

import pytest

from milepost.core import errors


@pytest.mark.parametrize(
    ("kind", "recoverable"),
    [
        (errors.NoAnswer, True),
        (errors.EngineBusy, True),
        (errors.DatabaseAway, True),
        (errors.StateUnwritable, True),
        (errors.Misuse, False),
        (errors.SettingInvalid, False),
        (errors.BudgetSpent, False),
        (errors.SandboxRefused, False),
        (errors.EvidenceForged, False),
    ],
)
def test_an_error_says_whether_the_same_call_can_succeed_later(
    kind: type[errors.MilepostError], recoverable: bool
) -> None:
    assert kind("what").is_recoverable is recoverable
