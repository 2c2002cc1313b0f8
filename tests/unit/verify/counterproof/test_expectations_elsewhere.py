"""Other expectations in shell scripts, C programs and files of what to expect."""

from __future__ import annotations

import pytest

from milepost.verify.counterproof.expectations_elsewhere import altered, is_shell


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("run.sh", '[ "$(add 2 2)" = "4" ] || exit 1'),
        ("run.sh", "if [[ $got == abc ]]; then echo ok; else exit 1; fi"),
        ("run.sh", 'test "$(add 2 2)" -eq 4'),
        ("run.sh", 'same() { [ "$1" = "$2" ] || exit 1; }\nsame "$(add 2 2)" 4'),
        ("run.sh", "case $got in 4) ;; *) exit 1 ;; esac"),
        ("run.sh", "add 2 2 | grep -qx 4"),
        ("test_a.c", "int main(void) { assert(add(2, 2) == 4); }"),
        ("test_a.c", 'int main(void) { return strcmp(name(), "abc") != 0; }'),
        ("test_a.cpp", "TEST(A, b) { EXPECT_EQ(add(2, 2), 4); }"),
        ("cases/a.expected", "four\n"),
    ],
)
def test_what_is_expected_is_another_value(path: str, line: str) -> None:
    found = altered(path, line.encode(), "seed")

    assert found is not None
    assert found != line.encode()
    assert len(found.splitlines()) == len(line.splitlines())


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("run.sh", '[ "$1" = "-v" ] && verbose=1'),
        ("run.sh", '[ "$failures" -eq 0 ] || exit 1'),
        ("run.sh", 'case "$(uname)" in Linux) ;; *) exit 1 ;; esac'),
        ("run.sh", "if grep -rq forbidden src; then exit 1; fi"),
        ("test_a.c", "int main(int argc, char **argv) { if (argc == 2) verbose = 1; return failures != 0; }"),
        ("notes.txt", "four\n"),
    ],
)
def test_what_expects_nothing_of_the_work_is_left_alone(path: str, line: str) -> None:
    assert altered(path, line.encode(), "seed") is None


def test_a_script_without_a_suffix_says_what_it_is_in_its_first_line() -> None:
    assert is_shell("check", b"#!/usr/bin/env bash\n")
    assert not is_shell("check", b"#!/usr/bin/env python3\n")
