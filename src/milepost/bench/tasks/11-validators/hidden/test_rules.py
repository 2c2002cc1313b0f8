import pytest
from validators import between, matches, required, validate


@pytest.mark.parametrize(("value", "fine"), [("x", True), (0, True), (False, True), ("", False), (None, False)])
def test_required(value, fine):
    assert (required(value) is None) is fine


@pytest.mark.parametrize(("value", "fine"), [(1, True), (5, True), (0, False), (6, False), (None, True), (2.5, True)])
def test_between(value, fine):
    assert (between(1, 5)(value) is None) is fine


@pytest.mark.parametrize(("value", "fine"), [("ab", True), ("abc", False), ("xab", False), (None, True), ("ab\n", False)])
def test_matches_the_whole_text(value, fine):
    assert (matches("[ab]+")(value) is None) is fine


def test_the_first_message_counts():
    rules = {"age": [required, between(0, 9)], "name": [lambda value: "first", lambda value: "second"]}
    assert validate({"age": None}, rules) == {"age": required(None), "name": "first"}


def test_messages_are_words():
    assert all(isinstance(message, str) and message for message in (required(None), between(1, 2)(3), matches("a")("b")))
