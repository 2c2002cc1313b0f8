"""A live model: a provider's service, asked through pydantic-ai.

The library takes its time to import, so it is imported when the first agent that needs it is made.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from milepost.agents.faults import Fault, stated_wait_s
from milepost.agents.model import Answer, Conversation
from milepost.agents.prices import Price, most_input_tokens
from milepost.agents.recorded import size_of
from milepost.core.calls import Usage
from milepost.core.errors import AgentUnknown, SettingInvalid

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as Client
    from pydantic_ai.providers import Provider

LONGEST_COMPLAINT = 500
# A request that was cut off, came too early or too often, is worth another try; any other 4xx is not.
_PASSING = frozenset({408, 409, 425})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSetup:
    """What the settings say about the model."""

    name: str = ""
    base_url: str = ""
    max_tokens: int = 8192
    timeout_s: float = 300.0
    patience_s: float = 300.0
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None


def live_model(setup: ModelSetup, env: Mapping[str, str]) -> LiveModel:
    """The model that the settings name, with its key from `env` or the environment; raises on what cannot work."""
    provider, _, model = setup.name.partition(":")
    if not provider or not model:
        what = f"[model] name is {setup.name!r}, not provider:model" if setup.name else "the agent 'tool' has no model"
        raise SettingInvalid(what, 'name one under [model] in milepost.toml: name = "provider:model"')
    if find_spec("pydantic_ai") is None:
        raise AgentUnknown(
            "the agent 'tool' needs pydantic-ai, which is not installed", "pip install 'milepost[models]'"
        )
    price = Price(
        provider=provider.removeprefix("gateway/").removesuffix("-chat").removesuffix("-responses"),
        model=model,
        input_usd_per_mtok=setup.input_usd_per_mtok,
        output_usd_per_mtok=setup.output_usd_per_mtok,
    )
    made = LiveModel(setup=setup, env=dict(env), price=price)
    made.open()
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveModel:
    """Answers by asking the provider's service, once: whoever wants to try again asks again."""

    setup: ModelSetup
    price: Price
    env: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.setup.name

    @property
    def price_known(self) -> bool:
        return self.price.known

    def most(self, conversation: Conversation) -> Usage:
        told, said = most_input_tokens(size_of(conversation)), self.setup.max_tokens
        cost_usd = self.price.most(input_tokens=told, output_tokens=said)
        return Usage(input_tokens=told, output_tokens=said, cost_usd=cost_usd)

    def answer(self, conversation: Conversation) -> Answer:
        from pydantic_ai.exceptions import UnexpectedModelBehavior

        from milepost.agents.live_messages import answer_in

        try:
            response = asyncio.run(self._request(conversation))
        except UnexpectedModelBehavior as error:
            flaw = f"what came is no answer ({_short(error)})"
            return Answer(flaw=flaw, usage=self._guessed(conversation))
        return answer_in(response, self._taken(response, conversation))

    def open(self) -> Client:
        """The library's model. Each request gets its own: clients belong to one event loop, answers to many threads."""
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        provider, _, model = self.setup.name.partition(":")
        if provider == "openai" and self.setup.base_url:
            provider = "openai-chat"  # what servers speak that are compatible with it
        try:
            return infer_model(f"{provider}:{model}", self._provider)
        except UserError as error:
            raise SettingInvalid(
                f"the model {self.setup.name!r} cannot be used: {_short(error)}",
                "set the variable with the provider's key, or see [model] in milepost.toml",
            ) from error
        except ImportError as error:
            raise AgentUnknown(
                f"the model {self.setup.name!r} needs a library that is not installed: {_short(error)}",
                "install it beside milepost, or name another provider under [model] in milepost.toml",
            ) from error

    def _provider(self, name: str) -> Provider[Any]:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.providers import infer_provider, infer_provider_class

        variable = f"{name.removesuffix('-chat').removesuffix('-responses').replace('-', '_').upper()}_API_KEY"
        given = {"base_url": self.setup.base_url, "api_key": self.env.get(variable, os.environ.get(variable, ""))}
        given = {key: value for key, value in given.items() if value}
        try:
            return infer_provider_class(name)(**given) if given else infer_provider(name)
        except ValueError as error:
            raise UserError(f"there is no provider {name!r}") from error
        except TypeError as error:
            raise UserError(f"the provider {name!r} takes no {' and no '.join(given)}") from error
        except UserError as error:
            if variable in str(error) and "api_key" not in given:
                raise UserError(f"{variable} is not set") from error
            raise

    async def _request(self, conversation: Conversation) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError
        from pydantic_ai.settings import ModelSettings

        from milepost.agents.live_messages import messages_of, parameters_of

        timeout_s = min(self.setup.timeout_s, conversation.timeout_s)
        settings = ModelSettings(
            max_tokens=self.setup.max_tokens,
            max_retries=0,
            timeout=timeout_s + 1,
            cache=True,
            extra_headers={"Idempotency-Key": conversation.key} if conversation.key else {},
        )
        try:
            async with asyncio.timeout(timeout_s), self.open() as client:
                return await model_request(
                    client,
                    messages_of(conversation),
                    model_settings=settings,
                    model_request_parameters=parameters_of(conversation),
                )
        except TimeoutError:
            if conversation.timeout_s <= self.setup.timeout_s:
                raise
            raise Fault("silent", f"no answer after {timeout_s:g} s") from None
        except ModelAPIError as error:
            if type(error) is ModelAPIError:  # something came, and was not JSON
                raise UnexpectedModelBehavior(error.message) from error
            raise fault_of(error) from error
        except UserError as error:
            raise Fault("rejected", _short(error)) from error

    def _taken(self, response: ModelResponse, conversation: Conversation) -> Usage:
        used = response.usage
        if used.unmeasured_requests or not used.input_tokens:
            return self._guessed(conversation, response.text or "")
        stated = self.price.of(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            read=used.cache_read_tokens,
            written=used.cache_write_tokens,
        )
        return Usage(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_tokens=used.cache_read_tokens,
            cost_usd=stated if self.price_known else float(used.cost or 0),
        )

    def _guessed(self, conversation: Conversation, said: str = "") -> Usage:
        """What an answer took whose server does not say so."""
        told, output_tokens = most_input_tokens(size_of(conversation)), most_input_tokens(len(said.encode()))
        cost_usd = self.price.of(input_tokens=told, output_tokens=output_tokens)
        return Usage(input_tokens=told, output_tokens=output_tokens, cost_usd=cost_usd)


def fault_of(error: Exception) -> Fault:
    """What an error of the library means."""
    from pydantic_ai.exceptions import ModelHTTPError, ModelQuotaExceededError, ModelRateLimitError, ModelTimeoutError

    if not isinstance(error, ModelHTTPError):
        slow = isinstance(error, ModelTimeoutError)
        return Fault("silent", "it takes too long" if slow else _short(error.__cause__ or error))
    what = f"HTTP {error.status_code}: {_complaint(error.body)}"
    wait_s = stated_wait_s(error.headers or {}, time.time())
    if isinstance(error, ModelQuotaExceededError):
        return Fault("rejected", what)
    if error.status_code == 429 or isinstance(error, ModelRateLimitError):
        return Fault("limited", what, wait_s)
    if error.status_code >= 500 or error.status_code in _PASSING:
        return Fault("silent", what, wait_s)
    return Fault("rejected", what)


def _complaint(body: object) -> str:
    """What the server said about it, in a line."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message", inner) if isinstance(inner, dict) else inner
    return " ".join(str(said or "no reason given").split())[:LONGEST_COMPLAINT]


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:LONGEST_COMPLAINT] or type(error).__name__
