"""Reading when a service can be asked again: the wordings of real services, and times that are none."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.stated_time import LONGEST_WAIT_S, stated_wait_s

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
NOW = datetime(2026, 10, 7, 12, 0, tzinfo=UTC)  # a Wednesday; 14:00 in Berlin


def hours(number: float) -> float:
    return number * 3600


@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        # Claude Code
        ("5-hour limit reached ∙ resets 3pm", hours(1)),
        ("You've hit your limit · resets 3:30pm (Europe/Berlin)", hours(1.5)),
        ("Claude usage limit reached. Your limit will reset at 3pm (America/New_York).", hours(7)),
        ("Weekly limit reached ∙ resets Oct 9 at 5am (UTC)", hours(41)),
        ("Weekly limit reached ∙ resets Oct 9, 5am (UTC)", hours(41)),
        ("You've hit your weekly limit · resets Mon 12:00 AM", hours(4 * 24 + 10)),
        ("Claude AI usage limit reached|1791378000", 3600),
        ("limit reached · resets 12am", hours(10)),
        ("limit reached · resets 1pm", hours(23)),
        ("You've hit your session limit · resets 2:10pm (Europe/Berlin)", 600),
        ("You've hit your limit · resets Thu at 9am", hours(19)),
        ("Your limit will reset at 11pm (Asia/Calcutta).", hours(5.5)),
        # Codex
        ("You've hit your usage limit. Try again in 4h 12m.", hours(4.2)),
        ("You've hit your usage limit. Try again in 1 day 2 hours 30 minutes.", hours(26.5)),
        ("You've hit your usage limit, or try again at Oct 9th, 2026 9:01 AM.", hours(43) + 60),
        ("You've hit your usage limit, or try again at 6:15 PM.", hours(4.25)),
        ("stream error: Rate limit reached for gpt-5. Please try again in 20s.", 20),
        ("Rate limit reached for o3 … Please try again in 11.054s. Visit https://x", 11.054),
        ("Please try again in 250ms", 0.25),
        # Gemini
        ("You have exhausted your capacity. Your quota will reset after 10h24m39s.", hours(10) + 24 * 60 + 39),
        ('"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.074824224s"', 34.074824224),
        ("Please retry in 34.07s.", 34.07),
        ("Access resets at 5:30 PM GMT+2.", hours(3.5)),
        ("You have exhausted your daily quota on this model. Access resets at 1:00 AM PDT.", hours(20)),
        ("Your quota will reset after 13h 5m 2s.", hours(13) + 302),
        ('quotaResetDelay: "1h" quotaResetTimeStamp: "2026-10-07T15:12:05Z"', hours(3) + 725),
        ("the quota resets daily at midnight Pacific time", hours(19)),
        # aider and litellm
        ("litellm.RateLimitError: OpenAIException - Rate limit reached. Please try again in 7m12s.", 432),
        ("litellm.RateLimitError: AnthropicException - Retry after 25 seconds", 25),
        ('litellm.RateLimitError: VertexAIException - {"retryDelay":"27s"}', 27),
        # OpenRouter and the APIs
        ('"metadata":{"raw":"rate-limited upstream. Please retry shortly","retry_after_seconds":17}', 17),
        ("retry-after: 120 x-request-id: req_1", 120),
        ("anthropic-ratelimit-unified-reset: 1791378000", 3600),
        ("limit will reset at 2026-10-08 00:00:00 UTC", hours(12)),
        ("try again at 2026/10/08 09:00", hours(19)),
        ('"X-RateLimit-Reset":"1791378000000"', 3600),
        ("x-ratelimit-reset-tokens: 6m0s", 360),
        ("anthropic-ratelimit-tokens-reset: 2026-10-07T12:30:00Z", 1800),
        ("retry-after: 120", 120),
        ("Retry-After: Wed, 07 Oct 2026 13:00:00 GMT", 3600),
        ("retry-after-ms: 1500", 1.5),
        ('{"resets_at": 1791378000}', 3600),
        ('{"resets_in_seconds": 90}', 90),
        # days, noon and midnight
        ("resets tomorrow at 9am", hours(19)),
        ("available again on Friday at 14:00", hours(48)),
        ("your limit resets at midnight UTC", hours(12)),
        ("It resets on Monday, October 12 at 9:00 AM PT", hours(5 * 24 + 4)),
        ("resets 8 PM Pacific", hours(15)),
        ("reset at 21:00 (UTC+8)", hours(1)),
        ("Try again in an hour.", hours(1)),
        ("Try again at 2026-10-07 15:00", hours(1)),
        ("resets 9 Oct 05:00 UTC", hours(41)),
        ("resets 13:55", 0),  # five minutes ago, not tomorrow
        ("resets in 99 days", LONGEST_WAIT_S),
        ("wait 5 s\nlimit reached: try again in 3600 s", 3600),
    ],
)
def test_a_stated_time_is_read_in_the_words_of_each_service(said: str, wait_s: float) -> None:
    assert stated_wait_s(said, NOW.timestamp(), BERLIN) == pytest.approx(wait_s)


@pytest.mark.parametrize(
    ("now", "zone", "said", "wait_s"),
    [
        (datetime(2026, 10, 7, 23, 30), BERLIN, "resets 12:30am", hours(1)),
        (datetime(2026, 12, 31, 23, 0), BERLIN, "resets Jan 1 at 1am", hours(2)),
        (datetime(2026, 10, 24, 23, 0), BERLIN, "resets 4am", hours(6)),  # clocks are set back that night
        (datetime(2026, 3, 28, 23, 0), BERLIN, "resets 4am", hours(4)),  # clocks are set forward that night
        (datetime(2026, 3, 28, 23, 0), BERLIN, "resets 2:30am", hours(3.5)),  # a time that is left out
        (datetime(2026, 10, 25, 2, 45, fold=0), BERLIN, "resets 2:30am", hours(0.75)),  # a time that comes twice
        (datetime(2026, 10, 30, 20, 0), NEW_YORK, "resets 3am (Europe/Berlin)", hours(2)),
    ],
)
def test_midnight_new_year_and_changes_of_the_clocks_are_reckoned_with(
    now: datetime, zone: ZoneInfo, said: str, wait_s: float
) -> None:
    wait = stated_wait_s(said, now.replace(tzinfo=zone).timestamp(), zone)
    if "2:30am" in said and now.month == 10:
        assert wait in (0, pytest.approx(wait_s))
    else:
        assert wait == pytest.approx(wait_s)


@pytest.mark.parametrize(
    "said",
    [
        "rate limit exceeded",
        "I waited 5 minutes",
        "12 passed, 3 failed in 4.31s",
        "test_limits.py::test_resets_the_counter PASSED [ 30%]",
        "2026-10-07 15:00:01 INFO limit is 30 requests per minute",
        "the counter resets when 3 requests came",
        "the fixture resets 3 times",
        "git reset in 3 files",
        "wait until 3 reviewers approve",
        "gave up, retry after 3 failures",
        "this resets 100% of the counters",
        "valid until 2027",
        "until 10.0.0.1 answers",
        "until version 3.2.1",
        "the limit resets on port 8080 of the proxy",
        "limit reached|abc",
        "resets Blursday at 9am",
        "resets 27:00",
        "resets Feb 31 at 5am",
    ],
)
def test_times_that_state_no_reset_are_left_alone(said: str) -> None:
    assert stated_wait_s(said, NOW.timestamp(), BERLIN) is None


@given(said=st.text(), lead=st.sampled_from(["", "resets ", "retry after ", "try again at ", "until "]))
def test_no_text_can_break_it_or_make_it_wait_for_ever(said: str, lead: str) -> None:
    wait_s = stated_wait_s(lead + said, NOW.timestamp(), BERLIN)
    assert wait_s is None or 0 <= wait_s <= LONGEST_WAIT_S
