import asyncio

from mirrors import first


def test_the_first_answer_is_taken():
    async def fetch(address):
        await asyncio.sleep({"slow": 30, "fast": 0}[address])
        return address

    assert asyncio.run(first(fetch, ["slow", "fast"])) == "fast"
