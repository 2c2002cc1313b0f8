from __future__ import annotations

import pytest

from milepost.core.redact import MASK, Redactor, secrets_of


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("GITHUB_TOKEN", True),
        ("DB_PASSWORD", True),
        ("MY_SECRET_VALUE", True),
        ("AWS_CREDENTIALS", True),
        ("apikey", True),
        ("KEYBOARD_LAYOUT", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("MONKEY", False),
        ("PATH", False),
    ],
)
def test_a_variable_is_secret_by_its_name(name: str, secret: bool) -> None:
    assert bool(secrets_of({name: "some-long-value"})) is secret


def test_a_value_too_short_to_be_secret_hides_nothing() -> None:
    assert secrets_of({"API_KEY": "1234567"}) == frozenset()
    assert Redactor({"1234567", ""})("1234567") == "1234567"


def test_known_values_go_the_longest_first_and_are_no_patterns() -> None:
    redact = Redactor({"secret-value", "secret-value-longer", "dots.are.dots"})
    assert redact("a secret-value-longer b secret-value c") == f"a {MASK} b {MASK} c"
    assert redact("dotsXareXdots dots.are.dots") == f"dotsXareXdots {MASK}"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "a1" * 12,
        "sk-ant-api03-" + "x" * 20,
        "ghp_" + "A1b2" * 9,
        "github_pat_" + "A1_b" * 9,
        "glpat-" + "a" * 20,
        "xoxb-1234567890-abc",
        "AKIA" + "A1" * 8,
        "AIza" + "b" * 35,
        "-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\ncut off",
    ],
)
def test_text_of_a_secrets_shape_is_masked_and_what_is_around_it_stays(secret: str) -> None:
    redacted = Redactor()(f"before {secret}")
    assert redacted == f"before {MASK}"


@pytest.mark.parametrize("text", ["task-skills are many", "a risk-averse-plan-for-everybody", "AKIA", "ghp_short"])
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor()(text) == text
