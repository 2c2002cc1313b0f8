from __future__ import annotations

import base64
import json
import textwrap
from urllib.parse import quote

import pytest

from milepost.core.secrets.redact import MASK, TELLING, Redactor, secrets_of


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
        "xapp-1-A0B1-" + "2" * 20,
        "hooks.slack.com/services/T0000/B0000/" + "x" * 20,
        "AKIA" + "A1" * 8,
        "ASIA" + "A1" * 8,
        "ya29." + "a" * 40,
        "GOCSPX-" + "a" * 28,
        "sk_live_" + "a1" * 12,
        "rk_test_" + "a1" * 12,
        "whsec_" + "a" * 32,
        "SG." + "a" * 22 + "." + "b" * 40,
        "npm_" + "a" * 36,
        "pypi-" + "A" * 60,
        "hf_" + "a" * 34,
        "dop_v1_" + "0" * 64,
        "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "s" * 43,
        "AIza" + "b" * 35,
        "-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\ncut off",
    ],
)
def test_text_of_a_secrets_shape_is_masked_and_what_is_around_it_stays(secret: str) -> None:
    redacted = Redactor()(f"before {secret}")
    assert redacted == f"before {MASK}"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("postgres://app:pa55word@db/app", f"postgres://app:{MASK}@db/app"),
        ("clone https://x-token:abc@host/r.git now", f"clone https://x-token:{MASK}@host/r.git now"),
        ("Authorization: Bearer abc.def-123", f"Authorization: Bearer {MASK}"),
        ('"authorization": "Basic dXNlcjpwYXNz"', f'"authorization": "Basic {MASK}"'),
        ("bearer " + "a1" * 10, f"bearer {MASK}"),
        ("AWS_SECRET_ACCESS_KEY=" + "a/B+" * 10, f"AWS_SECRET_ACCESS_KEY={MASK}"),
        ('"SecretAccessKey": "' + "a/B+" * 10 + '"', f'"SecretAccessKey": "{MASK}"'),
        ("AccountName=x;AccountKey=" + "a/B+" * 20 + "==;", f"AccountName=x;AccountKey={MASK};"),
        ("https://x/y?sv=1&sig=" + "a%2B" * 12 + "&x=1", f"https://x/y?sv=1&sig={MASK}&x=1"),
    ],
)
def test_a_password_is_masked_by_what_is_before_it(text: str, redacted: str) -> None:
    assert Redactor()(text) == redacted
    assert Redactor()(redacted) == redacted


@pytest.mark.parametrize(
    "text", ["http://localhost:8080/a@b", "see https://a/b: c@d", "authorization: none", "bearer of"]
)
def test_what_only_resembles_a_password_stays(text: str) -> None:
    assert Redactor()(text) == text


VALUE = "pa55/word+with&signs?"


@pytest.mark.parametrize(
    "written",
    [
        quote(VALUE, safe=""),
        json.dumps(VALUE),
        base64.b64encode(VALUE.encode()).decode(),
        base64.b64encode(f"user:{VALUE}".encode()).decode(),
        base64.b64encode(f"x{VALUE}y".encode()).decode(),
        base64.b64encode(f"xy{VALUE}zz".encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
        "\n".join(textwrap.wrap(base64.b64encode(VALUE.encode() * 3).decode(), 20)),
        f"{VALUE[:9]}\r\n{VALUE[9:]}",
    ],
)
def test_a_known_value_is_masked_as_programs_write_it(written: str) -> None:
    redacted = Redactor({VALUE})(f"before {written} after")
    assert redacted.startswith("before ") and redacted.endswith(" after") and MASK in redacted
    assert not any(
        written[at : at + 9] in redacted for at in range(len(written) - 8) if "\n" not in written[at : at + 9]
    )


@pytest.mark.parametrize("shown", ["caf\udce9-secret", "caf\ufffd-secret", "caf%E9-secret", "Y2Fm6S1zZWNyZXQ="])
def test_a_value_that_is_no_text_is_masked_as_its_bytes_are_shown(shown: str) -> None:
    assert MASK in Redactor({"caf\udce9-secret"})(shown)


def test_every_line_of_a_known_value_is_masked_by_itself() -> None:
    redact = Redactor({"first-line-of-it\nsecond-line-of-it"})
    assert redact("second-line-of-it then first-line-of-it") == f"{MASK} then {MASK}"


@pytest.mark.parametrize("cut", range(1, len(VALUE)))
def test_a_value_that_is_split_over_two_lines_is_masked_in_both(cut: int) -> None:
    redact = Redactor({VALUE}).lines()
    first, second, third = redact(f"before {VALUE[:cut]}"), redact(f"{VALUE[cut:]} after"), redact("next")
    assert first == (f"before {MASK}" if cut >= TELLING else f"before {VALUE[:cut]}")
    assert (second, third) == (f"{MASK} after", "next")


def test_a_value_that_is_split_over_many_lines_is_masked_in_all() -> None:
    redact = Redactor({VALUE}).lines()
    lines = [
        redact(line) for line in (f"a {VALUE[:7]}", VALUE[7:10], "", VALUE[10:15], f"{VALUE[15:]} b", f"c {VALUE} d")
    ]
    assert lines == [f"a {MASK}", MASK, "", MASK, f"{MASK} b", f"c {MASK} d"]


def test_lines_between_the_ends_of_a_private_key_are_masked() -> None:
    redact = Redactor().lines()
    said = ("a", "-----BEGIN RSA PRIVATE KEY-----", "MIIE", "-----END RSA PRIVATE KEY-----", "b")
    assert [redact(line) for line in said] == ["a", MASK, MASK, MASK, "b"]


@pytest.mark.parametrize("text", ["task-skills are many", "a risk-averse-plan-for-everybody", "AKIA", "ghp_short"])
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor()(text) == text


def test_a_secret_whose_end_is_like_its_beginning_is_taken_out_of_a_line_whole() -> None:
    redact = Redactor(["hunter2-hunter2"])
    assert redact.lines()("token=hunter2-hunter2") == f"token={MASK}"
    line = redact.lines()
    assert (line("token=hunter2"), line("-hunter2 and so on")) == (f"token={MASK}", f"{MASK} and so on")


@pytest.mark.parametrize(
    "lines",
    [
        ["plain", "", "words"],
        ["plain", VALUE, "words"],
        [VALUE[:9], VALUE[9:], "words"],
        ["-----BEGIN RSA PRIVATE KEY-----", "abc", "-----END RSA PRIVATE KEY-----", "words"],
        ["postgres://u:pw@host", "sk-" + "a" * 30, "\ud800"],
        ["a\nb", "words"],
        [],
    ],
)
@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_lines_that_come_in_blocks_are_masked_as_those_that_come_one_by_one(lines: list[str], cut: int) -> None:
    one, many = Redactor({VALUE}).lines(), Redactor({VALUE}).lines()
    assert [*many.block(lines[:cut]), *many.block(lines[cut:])] == [one(line) for line in lines]
