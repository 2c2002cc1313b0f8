from __future__ import annotations

import asyncio

from milepost.core.ports import Probe
from milepost.core.shipping import Measurement
from milepost.watch.scripted import ScriptedProbe


async def _samples(probe: Probe, count: int) -> list[tuple[Measurement, ...]]:
    return [await probe.sample() for _ in range(count)]


def test_a_script_is_read_to_its_end_and_its_last_sample_stays() -> None:
    low, high = Measurement(metric="errors", value=0.0, at=1.0), Measurement(metric="errors", value=9.0, at=2.0)
    probe = ScriptedProbe([(low,), (low, high)])

    assert asyncio.run(_samples(probe, 4)) == [(low,), (low, high), (low, high), (low, high)]


def test_an_empty_script_measures_nothing() -> None:
    assert asyncio.run(_samples(ScriptedProbe([]), 1)) == [()]
