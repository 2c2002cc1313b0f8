import pytest
from cache import cached


@pytest.fixture
def made():
    now, calls = [0], []

    @cached(10, most=2, clock=lambda: now[0])
    def double(number, plus=0):
        """Twice as much."""
        calls.append(number)
        if number < 0:
            raise ValueError(number)
        return number * 2 + plus

    return double, now, calls


def test_the_one_used_longest_ago_goes(made):
    double, _, calls = made
    for number in (1, 2, 1, 3, 1, 2):
        double(number)
    assert calls == [1, 2, 3, 2]


def test_keywords_count(made):
    double, _, _ = made
    assert (double(1), double(1, plus=5), double(1, plus=6)) == (2, 7, 8)


def test_exceptions_are_not_kept(made):
    double, _, calls = made
    for _ in range(2):
        with pytest.raises(ValueError):
            double(-1)
    assert calls == [-1, -1]


def test_time_passes(made):
    double, now, calls = made
    double(1)
    now[0] = 9
    double(1)
    now[0] = 10
    double(1)
    assert calls == [1, 1]


def test_it_can_be_cleared(made):
    double, _, calls = made
    double(1)
    double.cache_clear()
    double(1)
    assert calls == [1, 1]


def test_the_function_is_itself(made):
    assert (made[0].__name__, made[0].__doc__) == ("double", "Twice as much.")


def test_none_is_a_result():
    calls = []

    @cached(10)
    def nothing():
        calls.append(1)

    assert (nothing(), nothing(), calls) == (None, None, [1])
