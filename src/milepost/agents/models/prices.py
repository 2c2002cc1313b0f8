"""What a model's tokens cost: as the settings state it, else as the maintained list of genai-prices has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BYTES_PER_TOKEN = 2  # about four characters in prose, fewer in code: a bound should rather be too high
TOKENS_AROUND = 200  # what a service adds to a conversation of its own
PER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of one model; what is stated goes before the list, and for cached tokens, too."""

    provider: str
    model: str
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None

    @property
    def known(self) -> bool:
        stated = self.input_usd_per_mtok is not None and self.output_usd_per_mtok is not None
        return stated or self._listed({"input_tokens": 1, "output_tokens": 1}) is not None

    def of(self, *, input_tokens: int, output_tokens: int, read: int = 0, written: int = 0) -> float:
        """What an answer costs, of whose input so much was read from a cache or written to it; 0 when unknown."""
        cached = {"cache_read_tokens": read, "cache_write_tokens": written}
        told = {"input_tokens": input_tokens, **{name: count for name, count in cached.items() if count}}
        # With some models a long input makes the output dearer: it has a price only together with it.
        listed_input = self._listed(told) or 0.0
        listed_output = (self._listed({**told, "output_tokens": output_tokens}) or 0.0) - listed_input
        return _side(self.input_usd_per_mtok, input_tokens, listed_input) + _side(
            self.output_usd_per_mtok, output_tokens, listed_output
        )

    def most(self, *, input_tokens: int, output_tokens: int) -> float:
        """The most that an answer can cost: writing to a cache is dearer than plain input with some providers."""
        plain = self.of(input_tokens=input_tokens, output_tokens=output_tokens)
        return max(plain, self.of(input_tokens=input_tokens, output_tokens=output_tokens, written=input_tokens))

    def _listed(self, counts: dict[str, int]) -> float | None:
        return listed_usd(self.provider, self.model, counts)


def most_input_tokens(size: int) -> int:
    """A bound for the tokens of a conversation of so many bytes."""
    return size // BYTES_PER_TOKEN + TOKENS_AROUND


def listed_usd(provider: str, model: str, counts: dict[str, int]) -> float | None:
    """What so many tokens cost by the list; None when it does not know the model."""
    from genai_prices import Usage, calc_price

    known: Any = Usage(**counts)
    try:
        return float(calc_price(known, model, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None


def _side(stated: float | None, tokens: int, listed: float) -> float:
    return listed if stated is None else tokens * stated / PER
