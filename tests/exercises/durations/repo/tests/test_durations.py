import pytest

from durations import seconds


def test_one_part():
    assert seconds("90s") == 90
    assert seconds("2h") == 7200


def test_parts_add_up():
    assert seconds("1h30m") == 5400
    assert seconds("5s1m") == 65


@pytest.mark.parametrize("text", ["", "h", "1h2h", "3 m", "1d"])
def test_nonsense_is_refused(text):
    with pytest.raises(ValueError):
        seconds(text)
