import pytest
from retry import retry


def test_it_tries_again():
    waits, calls = [], []

    @retry(3, wait_s=1, sleep=waits.append)
    def sometimes():
        calls.append(1)
        if len(calls) < 3:
            raise OSError
        return "done"

    assert (sometimes(), waits) == ("done", [1, 2])


def test_it_gives_up():
    @retry(2, sleep=lambda _: None)
    def never():
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        never()
