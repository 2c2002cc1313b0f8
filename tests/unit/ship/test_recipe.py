from __future__ import annotations

import pytest

from milepost.ship.recipe import Options, Step, filled, is_requirement, trial_call


def test_a_step_gets_folders_and_requirements_in_the_place_of_their_names() -> None:
    step = Step(argv=("pip", "--dest", "{kit}/wheels", "{asked}"), cwd="{tree}", env={"A": "={tree}"})
    made = filled(step, {"kit": "/k", "tree": "/t"}, {"asked": ("a", "b>=1")})
    assert made == Step(argv=("pip", "--dest", "/k/wheels", "a", "b>=1"), cwd="/t", env={"A": "=/t"})


def test_a_step_for_requirements_is_left_out_where_there_are_none() -> None:
    assert filled(Step(argv=("pip", "{asked}")), {}, {"asked": ()}) is None


@pytest.mark.parametrize("line", ["a", "a>=1,<2", "a[b,c] ~= 1.0", "a; python_version < '3'", "a.b-c==1.0.*"])
def test_a_package_is_asked_for_by_its_name(line: str) -> None:
    assert is_requirement(line)


@pytest.mark.parametrize("line", ["--index-url x", "-r a", "a @ file:///b", "https://a/b.whl", "./a", "/a", "", "a b"])
def test_an_option_an_address_or_a_path_asks_for_no_package_by_its_name(line: str) -> None:
    assert not is_requirement(line)


def test_a_program_is_tried_with_the_words_of_the_settings_or_asked_for_its_help() -> None:
    assert trial_call(("app",), Options()).argv == ("app", "--help")
    assert trial_call(("app",), Options(trial=("1h",))).argv == ("app", "1h")
    assert trial_call(("app",), Options(trial=("1h",))).codes == (0,)
