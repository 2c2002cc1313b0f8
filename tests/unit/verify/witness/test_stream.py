from __future__ import annotations

import os
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from milepost.core.commands import Line
from milepost.verify.witness.guest.channel import LONGEST_PIECE, open_channel
from milepost.verify.witness.stream import Hearing, Testimony

KEY = bytes(range(32))


def said(*facts: tuple[str, ...], key: bytes = KEY) -> list[str]:
    """The lines that a witness would write."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    lines = b""
    say = open_channel(writer, key)
    for fact in facts:
        say(*fact)
        while piece := _read(reader):
            lines += piece
    os.close(writer)
    os.close(reader)
    return lines.decode("ascii").split("\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except BlockingIOError:
        return b""


def heard(*lines: str) -> Testimony:
    hearing = Hearing(KEY)
    for line in lines:
        hearing.hear(Line(stream="stdout", text=line))
    return hearing.testimony()


@given(st.lists(st.lists(st.text(alphabet=st.characters(), max_size=50), min_size=1).map(tuple), max_size=5))
def test_what_is_said_is_heard(facts: list[tuple[str, ...]]) -> None:
    facts = [("fact", *fact) for fact in facts]

    assert heard(*said(*facts)) == Testimony(facts=tuple(facts))


def test_long_facts_come_in_pieces_that_the_host_does_not_cut() -> None:
    fact = ("report", "é" * LONGEST_PIECE)

    lines = said(fact, ("end", "0"))

    assert max(map(len, lines)) < 16_384 and len(lines) > 4
    assert heard(*lines).facts == (fact, ("end", "0"))


def test_a_line_that_is_forged_left_out_repeated_or_moved_is_noticed() -> None:
    lines = said(("hello", "pytest"), ("over", "a", "1"), ("end", "0"))[1:-1]
    forged = said(("over", "b", "1"), key=bytes(32))[1]
    whole = heard(*lines)

    for order in permutations(lines):
        assert (heard(*order) == whole) == (list(order) == lines)
    for wrong in ([*lines, lines[-1]], [*lines, forged], [lines[0], "over\tb\t1", *lines[1:]], lines[:1] + lines[2:]):
        assert heard(*wrong).disturbed
    assert heard(lines[0], lines[1].replace("over", "done"), lines[2]).disturbed


def test_what_the_interpreter_says_before_the_first_fact_is_let_pass() -> None:
    assert heard("a greeting of site-packages", *said(("hello", "pytest"))) == Testimony(facts=(("hello", "pytest"),))


def test_a_child_of_the_runner_is_not_heard() -> None:
    reader, writer = os.pipe()
    say = open_channel(writer, KEY)
    child = os.fork()
    if not child:
        say("over", "a", "1")
        os._exit(0)
    os.waitpid(child, 0)
    say("end", "0")
    os.close(writer)

    lines = os.read(reader, 65_536).decode().split("\n")
    os.close(reader)

    assert heard(*lines).facts == (("end", "0"),)
