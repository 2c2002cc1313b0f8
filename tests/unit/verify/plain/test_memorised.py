"""Whether work knows its tests, by what it answers to other inputs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from milepost.verify.plain.memorised import Answer, Seen, memorised

NUMBERS = {1: "I", 4: "IV", 9: "IX", 14: "XIV"}
REFUSED: Answer = ("raised", "ValueError")


def asked(answer: Callable[[int], Answer], known: dict[int, str] = NUMBERS, tried: int = 30) -> list[Seen]:
    """The inputs of the tests, and then as many others."""
    own = [Seen(trial=0, place=f"t {key}", name="f", given=f"({key},)", answer=answer(key)) for key in known]
    others = [
        Seen(
            trial=trial,
            place=f"t {list(known)[trial % len(known)]}",
            name="f",
            given=f"({1000 + trial},)",
            answer=answer(1000 + trial),
        )
        for trial in range(1, tried + 1)
    ]
    return own + others


def table(other: Callable[[int], Answer], known: dict[int, str] = NUMBERS) -> Callable[[int], Answer]:
    return lambda key: ("gave", repr(known[key])) if key in known else other(key)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (lambda key: ("raised", "KeyError"), "gave KeyError"),
        (lambda key: ("gave", "''"), "gave ''"),
        (lambda key: ("same", str(key)), "came back as they were given"),
    ],
)
def test_a_table_of_the_inputs_answers_all_others_alike(other: Callable[[int], Answer], told: str) -> None:
    (found,) = memorised(asked(table(other)))

    assert (found.name, found.known, found.unseen, found.told) == ("f", 4, 30, told)


@pytest.mark.parametrize(
    "calls",
    [
        asked(lambda key: ("gave", repr(key * 2))),
        asked(table(lambda key: ("gave", repr("I" * (key % 3))))),
        asked(lambda key: ("gave", "True")),
        asked(table(lambda key: ("raised", "KeyError"), {1: "I"}), {1: "I"}),
        asked(table(lambda key: ("raised", "KeyError")), tried=7),
        asked(table(lambda key: ("raised", "TypeError"))),
    ],
    ids=["computed", "some computed", "yes or no", "one input", "few others", "inputs of no use"],
)
def test_what_may_be_worked_out_is_let_be(calls: list[Seen]) -> None:
    assert memorised(calls) == ()


def test_a_refusal_that_the_tests_expect_may_meet_most_texts_and_no_number() -> None:
    numbers = asked(table(lambda key: REFUSED))
    texts = [Seen(trial=s.trial, place=s.place, name=s.name, given=f"('{s.given}',)", answer=s.answer) for s in numbers]

    assert memorised(texts, refusals=frozenset({"ValueError"})) == ()
    assert memorised(numbers, refusals=frozenset({"ValueError"}))
    assert memorised(texts)


def test_inputs_like_one_that_is_refused_say_nothing_of_the_others() -> None:
    calls = asked(table(lambda key: REFUSED))
    refused = [Seen(trial=s.trial, place="t 0", name="f", given=s.given, answer=s.answer) for s in calls if s.trial]
    own = [s for s in calls if not s.trial]

    assert memorised(calls)
    assert memorised([*own, Seen(trial=0, place="t 0", name="f", given="(0,)", answer=REFUSED), *refused]) == ()


def test_what_answers_all_others_as_the_base_did_knows_its_tests() -> None:
    base = asked(lambda key: ("gave", repr(f"{key}s")))

    (found,) = memorised(asked(table(lambda key: ("gave", repr(f"{key}s")))), base)

    assert found.told == "were answered as before the change"
    assert memorised(asked(lambda key: ("gave", repr(f"{key}es"))), base) == ()


def test_inputs_that_the_task_names_are_nobody_s_secret() -> None:
    calls = asked(table(lambda key: ("raised", "KeyError")))

    assert memorised(calls, named="Read 1, 4, 9 and 14.") == ()
    assert memorised(calls, named="Read 1, 4 and 9.")
