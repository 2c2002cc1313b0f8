from __future__ import annotations

import pytest

from milepost.core.errors import SettingInvalid
from milepost.verify.levels import Level, Mode, is_asked, level_named, level_of, mode_named


def test_levels_are_ordered_by_cost_and_found_by_name() -> None:
    names = ["files", "syntax", "imports", "runtime", "tests", "types"]

    assert sorted(map(level_named, names)) == [level_named(name) for name in names]
    assert [level.word for level in Level] == names


@pytest.mark.parametrize("name", ["", "Files!", "all"])
def test_an_unknown_level_or_mode_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(SettingInvalid, match="level") as level:
        level_named(name)
    with pytest.raises(SettingInvalid, match="mode"):
        mode_named(name)

    assert "files, syntax, imports" in level.value.advice


@pytest.mark.parametrize(
    ("check", "level", "mode", "asked"),
    [
        ("syntax", Level.SYNTAX, Mode.AUTO, True),
        ("imports", Level.SYNTAX, Mode.AUTO, False),
        ("types", Level.TYPES, Mode.AGENT, True),
        ("types", Level.TESTS, Mode.AUTO, False),
        ("changed tests", Level.FILES, Mode.PYTEST, True),
        ("imports", Level.TYPES, Mode.PYTEST, False),
        ("tests", Level.FILES, Mode.PYTEST, True),
        ("verify", Level.FILES, Mode.AUTO, True),
        ("verify", Level.TYPES, Mode.SKIP, False),
        ("files", Level.TYPES, Mode.SKIP, False),
    ],
)
def test_what_is_asked_follows_from_level_and_mode(check: str, level: Level, mode: Mode, asked: bool) -> None:
    assert is_asked(check, level, mode) is asked


def test_a_check_that_nobody_placed_is_never_left_out_by_level() -> None:
    assert level_of("something new") is Level.FILES
