"""Output within a bound, and as lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from milepost.sandbox.capture_output import LONGEST_PIECE, Capture, LineCutter


def fed(limit: int, *pieces: bytes) -> Capture:
    capture = Capture(limit)
    for piece in pieces:
        capture.feed(piece)
    return capture


def lines(*pieces: bytes) -> list[str]:
    cutter = LineCutter()
    found = [line for piece in pieces for line in cutter.feed(piece)]
    return [*found, *cutter.feed(b"", last=True)]


def test_output_within_the_bound_is_kept_whole() -> None:
    capture = fed(10, b"12345", b"67890")
    assert (capture.text(), capture.truncated) == ("1234567890", False)


def test_too_much_output_keeps_head_and_tail_and_says_what_was_left_out() -> None:
    capture = fed(10, b"abcdefgh", b"ijklmnop", b"qrstuvwxyz")
    assert capture.text() == "abcde\n[16 bytes left out]\nvwxyz"
    assert capture.truncated


@given(st.lists(st.binary(max_size=40)), st.integers(min_value=0, max_value=60))
def test_what_is_kept_never_depends_on_how_the_bytes_arrived(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces)
    assert fed(limit, *pieces).text() == fed(limit, whole).text()
    assert fed(limit, *pieces).total == len(whole)


def test_memory_stays_bounded_however_much_is_fed() -> None:
    capture = fed(1000, *[b"x" * 65_536] * 200)
    assert len(capture._tail) <= 1000 + LONGEST_PIECE + 65_536


def test_a_character_cut_in_two_by_the_pipe_arrives_whole() -> None:
    euro = "€".encode()
    assert lines(b"a" + euro[:1], euro[1:] + b"\nb") == ["a€", "b"]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert lines(b"\xff\xfe ok\r\n") == ["\ufffd\ufffd ok"]


def test_an_endless_line_comes_in_pieces() -> None:
    cutter = LineCutter()
    assert list(cutter.feed(b"x" * (LONGEST_PIECE + 5))) == ["x" * LONGEST_PIECE, "xxxxx"]
    assert list(cutter.feed(b"y\n")) == ["y"]


@given(st.lists(st.text(alphabet="ab€\n", max_size=30)))
def test_lines_are_those_of_the_whole_text(pieces: list[str]) -> None:
    whole = "".join(pieces)
    expected = whole.split("\n")
    if not expected[-1]:
        expected.pop()
    assert lines(*(piece.encode() for piece in pieces)) == expected
