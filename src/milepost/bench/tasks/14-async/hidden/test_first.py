import asyncio

import pytest
from mirrors import MIRRORS, first


def fetcher(log):
    async def fetch(address):
        log.append(f"ask {address}")
        try:
            if address.startswith("bad"):
                await asyncio.sleep(0)
                raise LookupError(address)
            await asyncio.sleep(0.02 if address == "ok" else 30)
            return address
        except asyncio.CancelledError:
            log.append(f"cancel {address}")
            raise

    return fetch


def test_failures_are_passed_over_and_the_others_cancelled():
    log = []
    assert asyncio.run(first(fetcher(log), ["bad", "slow", "ok"])) == "ok"
    assert log == ["ask bad", "ask slow", "ask ok", "cancel slow"]


def test_when_all_fail_the_last_is_raised():
    with pytest.raises(LookupError, match="bad2"):
        asyncio.run(first(fetcher([]), ["bad1", "bad2"]))


def test_time_is_limited():
    log = []
    with pytest.raises(TimeoutError):
        asyncio.run(first(fetcher(log), ["slow"], timeout_s=0.05))
    assert log[-1] == "cancel slow"


def test_somebody_must_be_asked():
    with pytest.raises(ValueError):
        asyncio.run(first(fetcher([]), []))


def test_the_mirrors_are_still_there():
    assert len(MIRRORS) == 2
