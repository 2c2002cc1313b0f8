"""Asking a model, and asking again while its server does not answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace

from milepost.agents.faults import Fault, wait_before_asking_again, waiting_in_words
from milepost.agents.model import Answer, Conversation, Model
from milepost.agents.recorded import digest_of, plain_answer
from milepost.core.calls import Call, Reply
from milepost.core.ports import Stops

PATIENCE_S = 300.0
LOOK_S = 0.2  # how soon a stop is noticed while the model thinks


class Asker:
    """Asks the model of one attempt; raises the Fault that outlasts `patience_s`."""

    def __init__(
        self,
        model: Model,
        *,
        patience_s: float,
        clock: Callable[[], float],
        stops: Stops,
        say: Callable[[str], None],
    ) -> None:
        self._model = model
        self._patience_s = patience_s
        self.clock = clock
        self._stops = stops
        self._say = say

    def call(self, conversation: Conversation) -> Call:
        """The question, as the logbook knows it."""
        return Call(
            kind="model",
            name=self._model.name,
            summary=f"asking {self._model.name}",
            request=digest_of(conversation),
            most=self._model.most(conversation),
        )

    def ask(self, conversation: Conversation) -> Reply:
        """The answer, as the logbook keeps it, with the seconds it took."""
        started = self.clock()
        answer = self._answer(conversation)
        return Reply(body={**plain_answer(answer), "seconds": self.clock() - started}, usage=answer.usage)

    def _answer(self, conversation: Conversation) -> Answer:
        deadline = self.clock() + conversation.timeout_s
        patient_until = deadline
        tries = 0
        while True:
            try:
                return self._asked(replace(conversation, timeout_s=max(0.001, deadline - self.clock())))
            except TimeoutError:
                if not tries:
                    raise
                # A server that was down all the time must not cost the attempt.
                fault = Fault("silent", "no answer in time")
            except Fault as one:
                fault = one
            if not tries:
                patient_until = min(deadline, self.clock() + self._patience_s)
            tries += 1
            wait_s = wait_before_asking_again(fault, tries=tries, left_s=patient_until - self.clock())
            if wait_s is None:
                raise fault
            self._say(waiting_in_words(fault, wait_s))
            self._stops.pause(wait_s)

    def _asked(self, conversation: Conversation) -> Answer:
        """The answer, asked for in a thread of its own: who has to leave at once does not wait for it."""
        answer: Future[Answer] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._model.answer(conversation))
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, name=f"asking {self._model.name}", daemon=True).start()
        while not wait((answer,), LOOK_S).done:
            self._stops.check()
        return answer.result()
