from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.failure_signature import LONGEST_SHOWN, normal_form, signature

SEGMENTS = st.from_regex(r"[a-z_][a-z0-9_-]{0,11}", fullmatch=True)
PATHS = st.lists(SEGMENTS, min_size=2, max_size=5).map(lambda parts: "/" + "/".join(parts) + ".py")
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,20}", fullmatch=True)
LINES = st.integers(1, 99_999)
ADDRESSES = st.integers(0x1000, 2**48).map(hex)
EXCEPTIONS = st.sampled_from(["KeyError", "ValueError", "TypeError", "ImportError", "OSError", "pkg.OwnError"])
PLACES = st.tuples(PATHS, LINES, ADDRESSES, NAMES, st.uuids(), st.floats(0, 900).map(lambda value: f"{value:.2f}"))

TEMPLATES = (
    "{path}:{line}: {error}: no field '{name}' in <Row object at {address}>",
    '  File "{path}", line {line}, in run\n{error}: "{name}" after {seconds}s (request {uuid})',
    "{error}: [Errno 2] No such file or directory: '{path}' took {seconds} ms at 2026-11-16T05:13:{second:02d}Z",
    "\x1b[31m{error}\x1b[0m: `{name}` is not defined ({path}:{line}:{second})",
)


def filled(template: str, error: str, place: tuple[str, int, str, str, object, str]) -> str:
    path, line, address, name, uuid, seconds = place
    return template.format(
        error=error, path=path, line=line, address=address, name=name, uuid=uuid, seconds=seconds, second=line % 60
    )


@given(template=st.sampled_from(TEMPLATES), error=EXCEPTIONS, here=PLACES, there=PLACES)
def test_the_same_error_in_another_place_has_the_same_signature(
    template: str,
    error: str,
    here: tuple[str, int, str, str, object, str],
    there: tuple[str, int, str, str, object, str],
) -> None:
    assert signature(filled(template, error, here)) == signature(filled(template, error, there))


@given(template=st.sampled_from(TEMPLATES), errors=st.sets(EXCEPTIONS, min_size=2, max_size=2), place=PLACES)
def test_another_exception_has_another_signature(
    template: str, errors: set[str], place: tuple[str, int, str, str, object, str]
) -> None:
    one, other = sorted(errors)
    assert signature(filled(template, one, place)) != signature(filled(template, other, place))


@given(text=st.text())
def test_any_text_has_a_signature_of_one_bounded_line_and_is_not_normalised_further(text: str) -> None:
    signed = signature(text)

    assert re.match(r"[0-9a-f]{8}( |$)", signed)
    assert len(signed.splitlines()) == 1
    assert len(signed) <= 9 + LONGEST_SHOWN
    assert signature(text) == signed


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("ModuleNotFoundError: No module named 'yaml.loader'", "ModuleNotFoundError: No module named <name>"),
        ("can't find module 'x', don't know 'y'", "can't find module <name>, don't know <name>"),
        ("tests/test_a.py::TestX::test_y[1-2] failed", "<path> failed"),
        ("src/a.ts(12,5): error TS2307: Cannot find module", "<path>: error TS2307: Cannot find module"),
        ("main.c:3:9: error: expected ';'", "<path>: error: expected <name>"),
        (
            "listen EADDRINUSE: address already in use 127.0.0.1:54321",
            "listen EADDRINUSE: address already in use <host>",
        ),
        ("pid 4121987 of commit 1c9e2d4f was killed", "pid <number> of commit <hash> was killed"),
        ("see https://example.org/x?y=1 for more", "see <url> for more"),
        ("timed out after 600 s", "timed out after <duration>"),
        ("C:\\Users\\me\\a.py is gone", "<path> is gone"),
        ("KeyError: b'abc'", "KeyError: b<name>"),
        ("assert 90 == 5400", "assert 90 == 5400"),
        ("", ""),
    ],
)
def test_the_normal_form_keeps_the_error_and_drops_the_place(text: str, normal: str) -> None:
    assert normal_form(text) == normal


def test_numbers_that_are_the_point_of_an_error_tell_errors_apart() -> None:
    assert signature("assert 90 == 5400") != signature("assert 91 == 5400")
    assert signature("exit 1") != signature("exit 2")
