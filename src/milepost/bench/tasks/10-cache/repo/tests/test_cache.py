from cache import cached


def test_results_are_kept_for_a_while():
    now, calls = [0], []

    @cached(10, clock=lambda: now[0])
    def double(number):
        calls.append(number)
        return number * 2

    assert (double(2), double(2), calls) == (4, 4, [2])
    now[0] = 11
    assert (double(2), calls) == (4, [2, 2])
