"""How much of the repository agents may be shown, in the tokens of the model that is asked."""

from __future__ import annotations

from milepost.agents.models.prices import BYTES_PER_TOKEN, most_input_tokens
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.call_log import CallLog
from milepost.plan.context.build_context import ContextBounds
from milepost.plan.context.tokens import bytes_per_token

MOST_QUESTIONS = 50
_SHORTEST = 200  # tokens of a question that tells something: what services add to it weighs little then


def bounds_of(settings: Settings, calls: CallLog) -> ContextBounds:
    """As many tokens as the settings say, and never more than half of the model's window: the work needs the rest."""
    rate = bytes_per_token(_answered(settings.model.name, calls))
    half = int(settings.model.window_tokens * BYTES_PER_TOKEN / 2 / rate)
    return ContextBounds(tokens=min(settings.context.tokens, half), bytes_per_token=rate)


def _answered(model: str, calls: CallLog) -> list[tuple[int, int]]:
    """The questions whose tokens the model's own service counted: where it did not, they are a guess of ours."""
    told = calls.told(model, MOST_QUESTIONS) if model else ()
    return [(size, tokens) for size, tokens in told if tokens >= _SHORTEST and tokens != most_input_tokens(size)]
