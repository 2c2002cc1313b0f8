import pytest
from retry import retry


def failing(error, waits, calls, **options):
    @retry(sleep=waits.append, **options)
    def call(value, more=0):
        """Always fails."""
        calls.append((value, more))
        raise error

    return call


def test_waits_grow():
    waits, calls = [], []
    with pytest.raises(KeyError):
        failing(KeyError(1), waits, calls, times=4, wait_s=2, factor=3)("a", more=1)
    assert (waits, calls) == ([2, 6, 18], [("a", 1)] * 4)


def test_other_exceptions_go_through_at_once():
    waits, calls = [], []
    with pytest.raises(TypeError):
        failing(TypeError(), waits, calls, times=4, on=(OSError, KeyError))(1)
    assert (waits, len(calls)) == ([], 1)


def test_interrupts_go_through():
    waits, calls = [], []
    with pytest.raises(KeyboardInterrupt):
        failing(KeyboardInterrupt(), waits, calls, times=3)(1)
    assert len(calls) == 1


def test_each_call_starts_anew():
    waits, calls = [], []
    call = failing(OSError(), waits, calls, times=2, wait_s=1)
    for _ in range(2):
        with pytest.raises(OSError):
            call(1)
    assert waits == [1, 1]


def test_once_means_once():
    waits, calls = [], []
    with pytest.raises(OSError):
        failing(OSError(), waits, calls, times=1)(1)
    assert (waits, len(calls)) == ([], 1)


def test_never_is_refused():
    with pytest.raises(ValueError):
        retry(0)


def test_the_function_is_itself():
    call = failing(OSError(), [], [], times=1)
    assert (call.__name__, call.__doc__) == ("call", "Always fails.")
