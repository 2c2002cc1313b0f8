"""Inputs made of pieces that a reader knows, of whole examples cut and joined, and of one piece over and over."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

LONGEST = 200_000
_ODD = ("\0", "\ufeff", "\u2028", "\r", "\x85", "\ud800", "\u200b", "ſ", "İ", "𝕏", "9" * 5000, "-1", "1e999", "NaN")
_BRACKETS = tuple("()[]{}<>\"'`\\/*#|-_=+:;,.!?~^$@%& \t\n")


def texts(words: Sequence[str], examples: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Bytes for a reader that knows these words and can read these examples."""
    piece = st.one_of(
        st.sampled_from([*words]), st.sampled_from(_BRACKETS), st.sampled_from(_ODD), st.text(max_size=12)
    )
    several = st.lists(piece, max_size=12).map("".join)
    example = st.sampled_from([*examples])
    text = st.one_of(
        several,
        st.builds(_over_and_over, several, piece, st.integers(1, 100_000), several),
        st.builds(_over_and_over, example, st.builds(str.__add__, piece, piece), st.integers(1, 100_000), several),
        st.builds(_spliced, example, example, several, st.integers(0, 10_000), st.integers(0, 10_000)),
        st.builds(_spliced, example, example, several, st.integers(0, 10_000), st.integers(0, 10_000)),
    )
    return st.one_of(text.map(lambda whole: whole.encode("utf-8", "surrogatepass")), st.binary(max_size=200))


def _over_and_over(start: str, piece: str, times: int, end: str) -> str:
    return start + (piece * min(times, LONGEST // max(1, len(piece)))) + end


def _spliced(one: str, other: str, between: str, cut: int, further: int) -> str:
    here, there = cut % (len(one) + 1), further % (len(other) + 1)
    return one[:here] + between + other[there:]
