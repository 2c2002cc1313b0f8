"""Calls of the library beside the event loop: each on a thread that does not keep the server from ending."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from milepost.serving.concurrency_limit import AtOnce

T = TypeVar("T")

MOST_AT_ONCE = 16
ENDING_S = 5.0  # how long a call that was told to end is waited for

_short, _long = AtOnce(MOST_AT_ONCE), AtOnce(MOST_AT_ONCE)


@dataclass(slots=True, eq=False)
class _Outcome(Generic[T]):
    """What came of a call: its result, or what it raised."""

    result: T | None = None
    error: BaseException | None = None


async def aside(call: Callable[[], T], *, end: Callable[[], None] | None = None) -> T:
    """The result of a call that blocks.

    When nobody waits for it any more, `end` is called to end it, and it is given a moment to clear up. Without `end` it
    goes on alone, and its result is dropped. It counts as one of those at once until it has ended; those that can be
    ended are those that take long, and count for themselves.
    """
    done, outcome, loop = anyio.Event(), _Outcome[T](), asyncio.get_running_loop()
    limiter = (_short if end is None else _long).places

    def ended() -> None:
        limiter.release_on_behalf_of(outcome)
        done.set()

    def work() -> None:
        try:
            outcome.result = call()
        except BaseException as error:
            outcome.error = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(ended)

    await limiter.acquire_on_behalf_of(outcome)
    try:
        threading.Thread(target=work, name="milepost call", daemon=True).start()
    except RuntimeError:  # the machine has no room for another thread
        limiter.release_on_behalf_of(outcome)
        raise
    try:
        await done.wait()
    except BaseException:
        if end is not None:
            end()
            with anyio.move_on_after(ENDING_S, shield=True):
                await done.wait()
        raise
    if outcome.error is not None:
        raise outcome.error
    return outcome.result  # type: ignore[return-value]  # a call that raised nothing has a result
