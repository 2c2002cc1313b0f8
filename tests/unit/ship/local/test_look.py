"""What is told of a release of which no instance is well."""

from __future__ import annotations

from milepost.ship.local.look import Instance, most_telling


def test_an_instance_that_died_is_told_before_one_that_is_only_being_started() -> None:
    waits = Instance(name="3.0", port=1, alive=False, deaths=0, problem="instance 3.0: it is being started")
    died = Instance(name="3.1", port=2, alive=False, deaths=1, problem="instance 3.1: it ended with 1")
    assert most_telling((waits, died)) is most_telling((died, waits)) is died
    assert most_telling((waits,)) is waits
