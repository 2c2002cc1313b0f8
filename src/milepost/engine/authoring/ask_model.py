"""One question to the settings' model outside of a run: within the budget, with its cost, and without secrets."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from milepost.agents.models.as_json import answer_of, digest_of
from milepost.agents.models.ask import Asker
from milepost.agents.models.faults import Fault
from milepost.agents.models.model import Answer, Conversation
from milepost.agents.models.structured import ask_for
from milepost.core.budget import Spent, count_words, refuse_call, usd_words
from milepost.core.calls import NOTHING, Usage
from milepost.core.errors import BudgetSpent, MilepostError, Misuse, NoAnswer, SettingInvalid
from milepost.core.ports import Unstopped
from milepost.core.secrets.redact import Redactor
from milepost.engine.agents.factory import make_model
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.settings import Settings, budget_of

T = TypeVar("T")


class Consultation:
    """Asks a model for a value. `usage` is what that took, also when nothing came of it; `subject` is what is sent."""

    def __init__(self, settings: Settings, folder: Path, *, subject: str, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._subject = subject
        self._model = make_model(settings, folder)
        self._allowed = budget_of(settings).of_run
        if self._allowed.usd is not None and not self._model.price_known:
            raise SettingInvalid(
                f"the price of {self._model.name} is not known, so a budget in USD cannot be enforced",
                "set input_usd_per_mtok and output_usd_per_mtok under [model] in milepost.toml, or limit tokens",
            )
        self._say = say
        self._key = secrets.token_hex(8)  # an answer that is lost on its way is asked for again, and paid for once
        self._asker = Asker(
            self._model, patience_s=settings.model.patience_s, clock=time.monotonic, stops=Unstopped(), say=say
        )
        self.usage: Usage = NOTHING

    @property
    def price_known(self) -> bool:
        return self._model.price_known

    def ask(self, prompt: str, wanted: type[T], objections: Callable[[T], Sequence[str]]) -> T:
        """The value that the model answers with; told what speaks against it, it is asked again."""
        given = self._settings.model
        timeout_s = given.timeout_s + given.patience_s + 1
        try:
            return ask_for(self._ask, prompt, wanted, timeout_s=timeout_s, objections=objections)
        except MilepostError:
            if self.usage.tokens:
                self._say(
                    f"{self._model.name} gave no usable answer: {cost_words(self.usage, price_known=self.price_known)}"
                )
            raise

    def _ask(self, conversation: Conversation) -> Answer:
        most = self._refuse_too_much(conversation)
        if not conversation.answered:
            self._say(f"asking {self._model.name}: at most {cost_words(most, price_known=self.price_known)}")
        try:
            reply = self._asker.reply(replace(conversation, key=f"{self._key}-{digest_of(conversation)[:16]}"))
        except Fault as fault:
            self.usage += fault.usage
            does = "rejects the request" if fault.kind == "rejected" else "does not answer"
            raise _unanswered(f"{self._model.name} {does}: {fault.what}") from fault
        except TimeoutError as error:
            raise _unanswered(f"{self._model.name} gave no answer in time") from error
        self.usage += reply.usage
        return answer_of(reply.body, reply.usage)

    def _refuse_too_much(self, conversation: Conversation) -> Usage:
        """What an answer takes at most; raises where that does not fit the window or the budget."""
        most, window = self._model.most(conversation), self._settings.model.window_tokens
        if not conversation.answered and most.input_tokens > window:
            raise Misuse(
                f"{self._subject} is too long for one request: up to {count_words(most.input_tokens)} tokens, "
                f"and {count_words(window)} are allowed",
                "split it into several files, or raise window_tokens under [model] if the model takes more",
            )
        spent = Spent(usd=self.usage.cost_usd, tokens=self.usage.tokens)
        refusal = refuse_call(self._allowed, spent, most, "run")
        if refusal is not None:
            raise BudgetSpent(
                f"{self._subject} is not sent to {self._model.name}: {refusal.message}",
                f"raise {refusal.wall} under [budget] in milepost.toml, or lower max_tokens under [model]",
                wall=refusal.wall,
            )
        return most


def cost_words(usage: Usage, *, price_known: bool) -> str:
    """`1.2k tokens in, 300 out, $0.0042`."""
    cost = usd_words(usage.cost_usd) if price_known else "price unknown"
    return f"{count_words(usage.input_tokens)} tokens in, {count_words(usage.output_tokens)} out, {cost}"


def redactor_of(settings: Settings) -> Redactor:
    """What takes the secrets out of a text before a model is told."""
    return Redactor(known_secrets(settings))


def _unanswered(what: str) -> NoAnswer:
    return NoAnswer(what, "nothing was written: check [model] in milepost.toml, then try again")
