from __future__ import annotations

import pytest

from milepost.verify.judging.line_words import programs_in, subjects_in, work_named_in

FILES = frozenset({"check.py", "scripts/check.sh", "examples.txt", "a.txt", "ci.mk", "tools/verify.js"})


@pytest.mark.parametrize(
    ("line", "programs", "subjects"),
    [
        ("python check.py examples.txt", {"check.py", "examples.txt"}, ()),
        ("./scripts/check.sh", {"scripts/check.sh"}, ()),
        ("sh scripts/check.sh && node tools/verify.js", {"scripts/check.sh", "tools/verify.js"}, ()),
        ("make -f ci.mk test", {"ci.mk"}, ()),
        ("grep -q hello a.txt", set(), ("hello", "a.txt")),
        ("test -f a.txt && ! grep -q 'x y' a.txt", set(), ("a.txt", "x y")),
        ("[ -s ./a.txt ]", set(), ("a.txt",)),
        ("FOO=1 uv run python check.py", {"check.py"}, ()),
        ("pytest tests/test_a.py", set(), ("tests/test_a.py",)),
        ("python3 -m json.tool docs/status.json", set(), ("json.tool", "docs/status.json")),
        ("cat a.txt | python check.py", {"check.py"}, ("a.txt",)),
        ("sh -c 'grep x a.txt && ./scripts/check.sh'", {"scripts/check.sh"}, ("x", "a.txt")),
        ("it's broken", set(), ()),
    ],
)
def test_what_a_line_runs_judges_and_what_it_looks_at_is_the_work(
    line: str, programs: set[str], subjects: tuple[str, ...]
) -> None:
    assert programs_in([line], FILES) == programs
    assert subjects_in([line], FILES) == subjects


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("Add an option --json to `cli.js`", ("cli.js",)),
        ("stats.py FILE prints how many numbers the file has", ("stats.py",)),
        ("Add an option --json", ()),
        ("Make stats.py faster: cli.js must end in a second", ("stats.py",)),
        ("Read numbers.txt in cli.js", ()),
        ("Make cli.js pass", ()),
        ("Get cli.js green", ()),
    ],
)
def test_the_program_that_a_title_says_is_worked_on(title: str, named: tuple[str, ...]) -> None:
    assert work_named_in(title, frozenset({"cli.js", "stats.py"})) == named
