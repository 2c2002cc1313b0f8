"""A probe that reads its measurements from a script."""

from __future__ import annotations

from collections.abc import Iterable

from milepost.core.shipping import Measurement


class ScriptedProbe:
    """Gives the scripted samples one by one, then the last one again and again, as a steady system would.

    An empty script measures nothing.
    """

    def __init__(self, samples: Iterable[tuple[Measurement, ...]]) -> None:
        self._samples = tuple(samples)
        self._given = 0

    async def sample(self) -> tuple[Measurement, ...]:
        if not self._samples:
            return ()
        sample = self._samples[min(self._given, len(self._samples) - 1)]
        self._given += 1
        return sample
