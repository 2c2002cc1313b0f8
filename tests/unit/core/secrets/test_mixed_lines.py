"""Secrets in what a command prints on two streams: found in each, in the mix, and as quickly as surely."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from milepost.core.commands import Line, Stream
from milepost.core.secrets import coloured_lines
from milepost.core.secrets.redact import MASK, Redactor
from milepost.core.secrets.two_streams import MixedLines
from milepost.core.secrets.word_search import LONG, AnyOf

SECRET = "Zq9xW7vT5rP3nM1k"
SECRETS = (SECRET, "pa55/word+with&signs?", "one-line-of-it\nab\nline-three", "hunter2-hunter2", "caf\udce9-secret")
PIECES = (
    *(SECRET[:3], SECRET[3:9], SECRET[9:], SECRET, "pa55%2Fword%2Bwith%26signs%3F", "one-line-of-it", "ab"),
    *("line-three", "hunter2", "-hunter2", "caf\udce9-", "secret", "ghp_", "A1b2" * 9, "task-", "sk-" + "a1" * 9),
    *("Bearer " + "x" * 20, "https://u:", "pw@host/", "-----BEGIN"),
    *("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
    *("\x1b[31m", "\x1b[0m", "\x1b]0;", "\x07", "\x1b]8;;", "\x1b\\", "\x9b1m", "\x1b", "\r", "\0", "\b", "\t"),
    *("", " ", "plain words", "☃", "\ud800", "=" * LONG),
)
STREAMS: tuple[Stream, Stream] = ("stdout", "stderr")

a_line = st.builds(
    lambda stream, pieces: Line(stream=stream, text="".join(pieces)),
    st.sampled_from(STREAMS),
    st.lists(st.sampled_from(PIECES), max_size=5),
)
a_block = st.lists(a_line, max_size=6)


def told(*blocks: list[Line]) -> list[str]:
    lines = MixedLines(Redactor(SECRETS))
    return [text for block in blocks for text in lines.block(block)]


def told_with_suspicion(*blocks: list[Line]) -> list[str]:
    """The same where nothing is passed quickly: each line by itself, and looked at for everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AnyOf, "__call__", lambda *_: True)
        patch.setattr(coloured_lines, "has_escapes", lambda _: True)
        return told(*([line] for block in blocks for line in block))


def out(text: str) -> Line:
    return Line(stream="stdout", text=text)


def err(text: str) -> Line:
    return Line(stream="stderr", text=text)


@given(blocks=st.lists(a_block, max_size=4))
@example(blocks=[[out("=" * LONG), out(SECRET[:9])], [err("x"), out(SECRET[9:])]])
@example(blocks=[[out("=" * LONG + "\x1b[1m"), err(SECRET[:9])], [out("\x1b[31m" + SECRET[9:])]])
@example(blocks=[[out(SECRET + "hunter2"), out("\x1b[31m")]])
def test_what_is_passed_quickly_is_what_would_be_passed_after_a_close_look(blocks: list[list[Line]]) -> None:
    assert told(*blocks) == told_with_suspicion(*blocks)


@given(text=st.lists(st.sampled_from(PIECES)).map("".join), words=st.sets(st.sampled_from(PIECES).filter(bool)))
def test_words_are_found_at_once_as_one_by_one(text: str, words: set[str]) -> None:
    for length in (0, LONG):
        assert AnyOf(words)(text.ljust(length)) == any(word in text.ljust(length) for word in words)


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([out(SECRET[:9]), err(SECRET[9:])], [MASK, MASK]),
        ([out("a"), err(f"b {SECRET[:9]}"), out(f"{SECRET[9:]} c")], ["a", f"b {MASK}", f"{MASK} c"]),
        ([out(SECRET[:9]), err("between"), out(SECRET[9:])], [MASK, "between", MASK]),
        ([out(SECRET[:4]), err(SECRET[4:12]), out(SECRET[12:])], [SECRET[:4], MASK, MASK]),
        ([out("\x1b[1m" + SECRET[:9]), err("\x1b[2m" + SECRET[9:])], [MASK, MASK]),
        ([out("one"), err("two"), out("\x1b[1mthree")], ["one", "two", "\x1b[1mthree"]),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_secret_is_found_in_each_stream_and_in_the_mix(lines: list[Line], shown: list[str], at_once: bool) -> None:
    assert told(*([lines] if at_once else ([line] for line in lines))) == shown


@pytest.mark.parametrize(
    "line", [f"\x1b]0;{SECRET}\x07done", f"\x1b]8;;https://x/{SECRET}\x1b\\here\x1b]8;;\x1b\\", f"\x1bP{SECRET}\x9c"]
)
def test_a_secret_in_what_a_terminal_obeys_is_found(line: str) -> None:
    assert told([out(line)]) == [line.replace(SECRET, MASK)]
