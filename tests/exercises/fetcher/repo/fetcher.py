"""Many pages at a time."""

import asyncio


async def fetch_all(fetch, pages, limit=4):
    """What `fetch` gives for each page."""
    return await asyncio.gather(*(fetch(page) for page in pages))
