import asyncio

from fetcher import fetch_all


async def double(page):
    await asyncio.sleep(0)
    return page * 2


def test_answers_come_in_order():
    assert asyncio.run(fetch_all(double, [3, 1, 2])) == [6, 2, 4]


def test_no_more_than_the_limit_at_once():
    now = most = 0

    async def watched(page):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return page

    assert asyncio.run(fetch_all(watched, range(10), limit=3)) == list(range(10))
    assert most == 3


def test_one_that_fails_does_not_stop_the_others():
    async def picky(page):
        if page == 2:
            raise LookupError(page)
        return page

    first, second, third = asyncio.run(fetch_all(picky, [1, 2, 3]))
    assert (first, third) == (1, 3)
    assert isinstance(second, LookupError)
