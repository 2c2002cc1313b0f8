from __future__ import annotations

import pytest

from milepost.verify.compiled import expectations_go, expectations_rust
from milepost.verify.compiled.code import code_of, edited
from milepost.verify.compiled.literals import other_value


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("0", "17"),
        ("100", "117"),
        ("250u8", "213_u8"),
        ("1_000", "875"),
        ("-5", "-22"),
        ("true", "false"),
        ("2.0", "20.250000"),
        ("Some(3)", "Some(20)"),
        ("vec![1, 2]", "vec![1, 19]"),
    ],
)
def test_another_value_is_of_the_same_type_and_far_away(text: str, other: str) -> None:
    edit = other_value(text, text, 0, len(text))
    assert edit is not None
    assert edited(text, [edit]) == other


@pytest.mark.parametrize("text", ["want", "f(3)", "0x1f", "3 + 4", "", "None", "size::<3>()", "[0; 4]"])
def test_what_is_more_than_a_value_is_left_alone(text: str) -> None:
    assert other_value(text, text, 0, len(text)) is None


def test_a_string_is_longer_than_before_and_has_no_mark() -> None:
    text = '"a \\" b".to_string()'
    edit = other_value(text, code_of(text, rust=True), 0, len(text))
    assert edit is not None
    assert edited(text, [edit]).endswith('a \\" b".to_string()')
    assert len(edited(text, [edit])) > len(text)


def rust(body: str) -> list[tuple[str, bool]]:
    text = f"fn test() {{ {body} }}"
    found = expectations_rust.expectations(text, code_of(text, rust=True), 0, len(text))
    return [(edited(text, edits), sure) for edits, sure in found]


def go(body: str) -> list[tuple[str, bool]]:
    text = f"func TestIt(t *testing.T) {{\n{body}\n}}"
    found = expectations_go.expectations(text, code_of(text, rust=False), 0, len(text))
    return [(edited(text, edits), sure) for edits, sure in found]


def test_either_side_of_a_rust_comparison_may_be_the_expected_one() -> None:
    ((first, sure), (second, _)) = rust('assert_eq!(f(1), 3); assert_eq!(Ok(4), g("a, b", 2), "message {}", 9);')
    assert "assert_eq!(f(1), 20)" in first
    assert "assert_eq!(Ok(21), g(" in second
    assert sure


def test_a_comparison_of_values_or_of_no_value_expects_nothing_that_can_be_replaced() -> None:
    assert rust("assert_eq!(1, 1); assert_eq!(a, b); // assert_eq!(f(), 3)") == []


@pytest.mark.parametrize(
    ("body", "other"),
    [
        ("assert_eq!(a.times(&b), Matrix(vec![vec![2], vec![3]]));", "Matrix(vec![vec![19], vec![20]])"),
        ('assert_eq!(Money::new(4, "EUR"), f(Money::new(1, "EUR")));', "Money::new(21, "),
        ("assert_eq!(f(1), Some(demo::Money { cents: -4, exact: true }));", "cents: -21, exact: false"),
        ("let want = Money::of(2.5).into(); assert_eq!(f(1), want);", "Money::of(20.812500).into()"),
        ("let zero = Money(0); assert_eq!(f(&zero), zero);", ""),
        ("assert_eq!(f(1), Other(4));", ""),
        ("assert_eq!(f(1), Money([0; 4]));", ""),
        ("assert_eq!(Money(1) + Money(2), g(3));", ""),
        ('assert_eq!(f(1), Money::of(format!("{}", 3)));', ""),
    ],
)
def test_all_values_in_what_a_rust_test_builds_to_compare_with_are_replaced(body: str, other: str) -> None:
    text = f"fn test() {{ {body} }}"
    found = expectations_rust.built(text, code_of(text, rust=True), 0, len(text), frozenset({"Matrix", "Money"}))
    assert (found is not None) == bool(other)
    if found is not None:
        assert other in edited(text, found[0])
        assert found[1]


def test_what_is_compared_in_an_inner_block_may_never_be_reached() -> None:
    ((_, sure),) = rust("if odd { assert_eq!(f(1), 3); }")
    assert not sure


def test_conditions_that_complain_expect_their_values() -> None:
    ((text, sure),) = go("if got, err := F(2); err != nil || got != 5 {\n\tt.Fatal(got)\n}")
    assert "got != 22 {" in text
    assert sure


@pytest.mark.parametrize(
    "body",
    [
        "if got != 1 && got != 2 {\n\tt.Fatal(got)\n}",
        "if got != 1 {\n\treturn\n}",
        "if got != 1 {\n\tfor range rows {\n\t\tt.Error(1)\n\t}\n}",
        "if err != nil {\n\tt.Fatal(err)\n}",
        'require.NoError(t, err, "message")',
        "assert.NotEqual(t, got, 5)",
    ],
)
def test_conditions_that_may_hold_with_another_value_are_left_alone(body: str) -> None:
    assert go(body) == []


def test_a_helper_that_compares_is_told_another_value() -> None:
    ((first, _), (second, _)) = go('assert.Equal(t, 5, F(1), "message")\nexpect.Close(t, F(1), 121)')
    assert "assert.Equal(t, 22, F(1)" in first
    assert "expect.Close(t, F(1), 84)" in second


@pytest.mark.parametrize(
    ("body", "other"),
    [
        ("rows := []struct {\n\ta, b int\n\twant int\n}{\n\t{1, 2, 3},\n\t{4, 5, 9},\n}", ["{1, 2, 20}", "{4, 5, 26}"]),
        ("rows := []struct{ n int; want bool }{{1, true}}", ["{1, false}"]),
        ('for text, want := range map[string]int{"1h": 60, "5m": 5} {}', ['"1h": 77', '"5m": 22']),
    ],
)
def test_rows_without_names_have_their_expected_value_by_its_column(body: str, other: list[str]) -> None:
    ((text, _),) = go(body)
    assert all(part in text for part in other)


def test_the_rows_of_a_table_are_replaced_all_at_once() -> None:
    ((text, sure),) = go("rows := []row{{in: 1, want: 2}, {in: 2, want: 4}}")
    assert "{in: 1, want: 19}, {in: 2, want: 21}" in text
    assert not sure
