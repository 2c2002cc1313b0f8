"""Reads the metrics that an application shows in the format of Prometheus."""

from __future__ import annotations

import asyncio
import http.client
import math
import time

from prometheus_client.parser import text_string_to_metric_families

from milepost.core.shipping import Measurement
from milepost.watch.probes.http import ask


class ScrapeProbe:
    """Measures the sums of the samples of some names, as `NAME`; without an answer each is without a value."""

    def __init__(self, url: str, names: tuple[str, ...], *, timeout_s: float = 2.0) -> None:
        self._url, self._names, self._timeout_s = url, names, timeout_s

    async def sample(self) -> tuple[Measurement, ...]:
        at, found = time.time(), dict[str, float | None].fromkeys(self._names)
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await ask(self._url)
            if answer.status == 200:
                found |= totals(answer.body.decode(errors="replace"), self._names)
        except (OSError, TimeoutError, EOFError, ValueError, http.client.HTTPException):
            pass
        return tuple(Measurement(metric=name, value=value, at=at) for name, value in found.items())


def totals(text: str, names: tuple[str, ...]) -> dict[str, float | None]:
    """The sum of each name's samples, whatever their labels; None without any, or where it is no finite number.

    ValueError: it is no such text.
    """
    found = dict[str, float | None].fromkeys(names)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name in found:
                found[sample.name] = (found[sample.name] or 0.0) + sample.value
    return {name: value if value is not None and math.isfinite(value) else None for name, value in found.items()}
