"""How long a model's server asks to wait."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.agents.models.faults import stated_wait_s
from milepost.core.stated_time import LONGEST_WAIT_S

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Thu, 01 Jan 2026 00:02:00 GMT"}, 120),
        ({"retry-after": "Wed, 31 Dec 2025 00:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "1 Jan 99999999999999999999 00:00:00 GMT"}, None),
        ({"retry-after": "99999999"}, LONGEST_WAIT_S),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-ratelimit-reset-requests": "20ms"}, 0.02),
        ({"x-ratelimit-reset": f"{NOW + 30:.0f}"}, 30),
        ({"anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:45Z"}, 45),
        ({"anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:45"}, 45),
        (
            {
                "x-ratelimit-reset-tokens": "2s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-requests": "1h",
                "x-ratelimit-remaining-requests": "41",
            },
            2,
        ),
    ],
)
def test_a_wait_is_read_from_the_headers_that_services_send(headers: dict[str, str], wait_s: float | None) -> None:
    assert stated_wait_s(headers, NOW) == (None if wait_s is None else pytest.approx(wait_s))


@given(st.text(max_size=40))
def test_no_header_can_break_it_or_make_it_wait_for_ever(value: str) -> None:
    for name in ("retry-after", "retry-after-ms", "x-ratelimit-reset-tokens"):
        wait_s = stated_wait_s({name: value}, NOW)
        assert wait_s is None or 0 <= wait_s <= LONGEST_WAIT_S
