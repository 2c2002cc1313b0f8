"""A live model: a provider's service, asked through pydantic-ai.

The library takes its time to import, so it is imported when the first agent that needs it is made.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from milepost.agents.models.as_json import size_of
from milepost.agents.models.fallback import Chain
from milepost.agents.models.faults import Fault, stated_wait_s
from milepost.agents.models.model import Answer, Conversation, Model
from milepost.agents.models.prices import Price, most_input_tokens
from milepost.agents.models.providers import LONGEST_COMPLAINT, open_client, require_name, short
from milepost.core.calls import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as Client
    from pydantic_ai.models import StreamedResponse
    from pydantic_ai.settings import ModelSettings

# A request that was cut off, came too early or too often, is worth another try; any other 4xx is not.
_PASSING = frozenset({408, 409, 425})
# How the libraries of some providers meet an answer that they did not expect.
_STUMBLED = (TypeError, ValueError, LookupError, AttributeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSetup:
    """What the settings say about the model; `fallback` are those to ask when it does not answer, in this order.

    An answer that is streamed may pause for `stall_s` before it is asked for again.
    """

    name: str = ""
    base_url: str = ""
    max_tokens: int = 8192
    window_tokens: int = 200_000
    timeout_s: float = 300.0
    patience_s: float = 300.0
    stream: bool = True
    stall_s: float = 120.0
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None
    fallback: tuple[str, ...] = ()


def live_model(setup: ModelSetup, env: Mapping[str, str]) -> Model:
    """The model that the settings name, with those that stand in for it; raises on what cannot work.

    Keys are taken from `env`, else from the environment.
    """
    first = _one(setup, env)
    others = tuple(_one(_stand_in(setup, name), env) for name in setup.fallback)
    return Chain(models=(first, *others)) if others else first


def _stand_in(setup: ModelSetup, name: str) -> ModelSetup:
    """A model of the fallback: the address and the prices that are stated belong to the first one alone."""
    return replace(setup, name=name, base_url="", input_usd_per_mtok=None, output_usd_per_mtok=None, fallback=())


def _one(setup: ModelSetup, env: Mapping[str, str]) -> LiveModel:
    require_name(setup.name, env)
    provider, _, model = setup.name.partition(":")
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

        from milepost.agents.models.live_messages import answer_in, sendable_messages

        messages = sendable_messages(conversation, self.name)
        begun: list[StreamedResponse] = []
        try:
            response = asyncio.run(self._request(conversation, messages, begun))
        except UnexpectedModelBehavior as error:
            flaw = f"what came is no answer ({short(error)})"
            return Answer(flaw=flaw, usage=self._guessed(conversation, *(stream.get() for stream in begun)))
        except Fault as fault:
            for stream in begun:
                fault.usage += self._guessed(conversation, stream.get())
            raise
        return answer_in(response, self._taken(response, conversation), by=self.name)

    def open(self) -> Client:
        """The library's model. Each request gets its own: clients belong to one event loop, answers to many threads."""
        return open_client(self.setup.name, self.setup.base_url, self.env)

    async def _request(
        self, conversation: Conversation, messages: list[ModelMessage], begun: list[StreamedResponse]
    ) -> ModelResponse:
        """The response; where it is streamed, the stream is put into `begun` when its first piece came."""
        from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError

        timeout_s = min(self.setup.timeout_s, conversation.timeout_s)
        opened = self.open()
        try:
            async with asyncio.timeout(timeout_s), opened as client:
                settings = self._settings(conversation, timeout_s)
                return await self._response(client, conversation, messages, settings, begun)
        except TimeoutError:
            if conversation.timeout_s <= self.setup.timeout_s:
                raise
            raise at_address(Fault("silent", f"no answer after {timeout_s:g} s"), opened.base_url) from None
        except ModelAPIError as error:
            if type(error) is ModelAPIError:  # something came, and was not JSON
                raise UnexpectedModelBehavior(error.message) from error
            raise at_address(fault_of(error), opened.base_url) from error
        except UserError as error:
            raise Fault("rejected", short(error)) from error
        except _STUMBLED as error:
            raise UnexpectedModelBehavior(f"{type(error).__name__}: {short(error)}") from error

    async def _response(
        self,
        client: Client,
        conversation: Conversation,
        messages: list[ModelMessage],
        settings: ModelSettings,
        begun: list[StreamedResponse],
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request, model_request_stream

        from milepost.agents.models.live_messages import parameters_of
        from milepost.agents.models.live_stream import whole_answer

        parameters = parameters_of(conversation)
        if not self.setup.stream:
            return await model_request(client, messages, model_settings=settings, model_request_parameters=parameters)
        async with model_request_stream(
            client, messages, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            return await whole_answer(stream, stall_s=self.setup.stall_s, hear=conversation.hear, begun=begun.append)

    def _settings(self, conversation: Conversation, timeout_s: float) -> ModelSettings:
        from pydantic_ai.settings import ModelSettings

        return ModelSettings(
            max_tokens=self.setup.max_tokens,
            max_retries=0,
            timeout=timeout_s + 1,
            cache=True,
            extra_headers={"Idempotency-Key": conversation.key} if conversation.key else {},
        )

    def _taken(self, response: ModelResponse, conversation: Conversation) -> Usage:
        used = response.usage
        if used.unmeasured_requests or not used.input_tokens:
            return self._guessed(conversation, response)
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

    def _guessed(self, conversation: Conversation, *responses: ModelResponse) -> Usage:
        """What an answer took whose server does not say so, by as much of it as came."""
        from milepost.agents.models.live_messages import said_in

        said = "".join(map(said_in, responses)).encode("utf-8", "backslashreplace")
        told, output_tokens = most_input_tokens(size_of(conversation)), most_input_tokens(len(said))
        cost_usd = self.price.of(input_tokens=told, output_tokens=output_tokens)
        return Usage(input_tokens=told, output_tokens=output_tokens, cost_usd=cost_usd)


def at_address(fault: Fault, base_url: str | None) -> Fault:
    """The same fault; one of a server that does not answer names its address, without what may be a password."""
    parts = urlsplit(base_url or "")
    if fault.kind != "silent" or not parts.hostname:
        return fault
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
    return Fault(fault.kind, f"{address}: {fault.what}", fault.wait_s, fault.usage)


def fault_of(error: Exception) -> Fault:
    """What an error of the library means."""
    from pydantic_ai.exceptions import ModelHTTPError, ModelQuotaExceededError, ModelRateLimitError, ModelTimeoutError

    if not isinstance(error, ModelHTTPError):
        slow = isinstance(error, ModelTimeoutError)
        return Fault("silent", "it takes too long" if slow else short(error.__cause__ or error))
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
