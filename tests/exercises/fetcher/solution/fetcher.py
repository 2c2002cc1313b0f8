"""Many pages at a time."""

import asyncio


async def fetch_all(fetch, pages, limit=4):
    """What `fetch` gives for each page, or the exception it raised; at most `limit` at a time."""
    gate = asyncio.Semaphore(limit)

    async def one(page):
        async with gate:
            return await fetch(page)

    return await asyncio.gather(*(one(page) for page in pages), return_exceptions=True)
