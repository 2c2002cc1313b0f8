from __future__ import annotations

from milepost.core.ports import Probe
from milepost.core.shipping import Measurement
from milepost.watch.scripted import ScriptedProbe


def test_a_script_is_read_to_its_end_and_its_last_sample_stays() -> None:
    low, high = Measurement(metric="errors", value=0.0, at=1.0), Measurement(metric="errors", value=9.0, at=2.0)
    probe: Probe = ScriptedProbe([(low,), (low, high)])

    assert [probe.sample() for _ in range(4)] == [(low,), (low, high), (low, high), (low, high)]


def test_an_empty_script_measures_nothing() -> None:
    assert ScriptedProbe([]).sample() == ()
