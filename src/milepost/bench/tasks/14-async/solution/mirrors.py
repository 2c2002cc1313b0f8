"""The same file from several places."""

import asyncio

MIRRORS = ("https://a.example", "https://b.example")


async def first(fetch, addresses, timeout_s=5):
    """The first answer of any address; all are asked at once."""
    tasks = [asyncio.ensure_future(fetch(address)) for address in addresses]
    if not tasks:
        raise ValueError("there is no address to ask")
    try:
        async with asyncio.timeout(timeout_s):
            return await _first_that_succeeds(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _first_that_succeeds(tasks):
    error = None
    for answer in asyncio.as_completed(tasks):
        try:
            return await answer
        except Exception as failure:
            error = failure
    raise error
