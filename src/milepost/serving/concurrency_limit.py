"""How much of one kind is done at once; what comes beyond that waits its turn."""

from __future__ import annotations

import asyncio

import anyio


class AtOnce:
    """Has so many places, on each event loop; those of loops that are closed are forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: dict[asyncio.AbstractEventLoop, anyio.CapacityLimiter] = {}

    @property
    def places(self) -> anyio.CapacityLimiter:
        """The places on the loop that runs."""
        for other in [other for other in self._places if other.is_closed()]:
            del self._places[other]
        return self._places.setdefault(asyncio.get_running_loop(), anyio.CapacityLimiter(self._most))
