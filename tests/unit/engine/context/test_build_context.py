"""How much agents are shown: in tokens as the model's own service counted them, within half of its window."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.agents.models.prices import most_input_tokens
from milepost.core.calls import Reply, Usage
from milepost.engine.context.build_context import bounds_of
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.call_log import AttemptKey, CallLog, RecordedCall
from milepost.store.sqlite import FileDatabase

KEY = AttemptKey(run="r1", task="1.1", attempt=1)


def log_of(*answered: tuple[str, int | None, int]) -> CallLog:
    """A log of questions: each the model, the bytes it was told, and the tokens of input."""
    log = CallLog(FileDatabase(Path(":memory:")))
    for number, (model, told, tokens) in enumerate(answered, start=1):
        body = {} if told is None else {"told_bytes": told}
        reply = Reply(body=body, usage=Usage(input_tokens=tokens))
        call = RecordedCall(number=number, kind="model", name=model, request="", tree="", reply=reply, duration_ms=1)
        log.keep(KEY, call)
    return log


def settings(**context: int) -> Settings:
    return Settings.model_validate({"model": {"name": "openai:m", "window_tokens": 1_000_000}, "context": context})


@pytest.mark.parametrize(
    ("answered", "rate"),
    [
        ([], 4.0),
        ([("openai:m", 30_000, 10_000)] * 5, 3.0),
        ([("openai:other", 30_000, 10_000)] * 5, 4.0),
        ([("openai:m", 300, 100)] * 5, 4.0),
        ([("openai:m", 30_000, most_input_tokens(30_000))] * 5, 4.0),
        ([("openai:m", None, 10_000)] * 5, 4.0),
    ],
    ids=["nothing", "enough", "another model", "too short", "our own guess", "of an earlier version"],
)
def test_bytes_per_token_are_those_of_the_model_in_use(
    answered: list[tuple[str, int | None, int]], rate: float
) -> None:
    assert bounds_of(settings(), log_of(*answered)).bytes_per_token == rate


def test_the_newest_questions_count() -> None:
    answered = [("openai:m", 50_000, 10_000)] * 60 + [("openai:m", 30_000, 10_000)] * 50
    assert bounds_of(settings(), log_of(*answered)).bytes_per_token == 3.0


def test_the_context_takes_at_most_half_of_the_window() -> None:
    assert bounds_of(settings(), log_of()).tokens == 50_000
    assert bounds_of(settings(tokens=0), log_of()).tokens == 0
    small = Settings.model_validate({"model": {"window_tokens": 8_000}})
    assert bounds_of(small, log_of()).tokens == 2_000
    assert most_input_tokens(bounds_of(small, log_of()).room) < 8_000 * 0.6
