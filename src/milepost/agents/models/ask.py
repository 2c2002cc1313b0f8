"""Asking a model, and asking again while its server does not answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace
from queue import Empty, SimpleQueue

from milepost.agents.models.as_json import digest_of, plain_answer, size_of
from milepost.agents.models.fallback import Chain, Succession, fault_in, plain_fault
from milepost.agents.models.faults import Fault, wait_before_asking_again, waiting_in_words
from milepost.agents.models.model import Answer, Conversation, Model
from milepost.core.calls import NOTHING, Call, Reply
from milepost.core.ports import Logbook, Stops, Unrecorded

PATIENCE_S = 300.0
TOO_LATE = "no answer in time"
LOOK_S = 0.2  # how soon a stop is noticed while the model thinks


class Asker:
    """Asks the models of one attempt, for all who talk with them in it; raises the Fault that outlasts `patience_s`.

    `aloud` says the lines of an answer as they come.
    """

    def __init__(
        self,
        model: Model,
        *,
        patience_s: float,
        clock: Callable[[], float],
        stops: Stops,
        say: Callable[[str], None],
        logbook: Logbook | None = None,
        aloud: bool = False,
    ) -> None:
        self._models = Succession(model.models if isinstance(model, Chain) else (model,))
        self._patience_s = patience_s
        self.clock = clock
        self._stops = stops
        self._say = say
        self._logbook = logbook or Unrecorded()
        self._aloud = aloud
        self._questions = 0
        self._said = 0

    def reply(self, conversation: Conversation) -> Reply:
        """The answer as the logbook keeps it, with the seconds it took; a stand-in's where one had to be asked.

        Each model is asked, recorded and paid for under its own name: what one did instead of answering is a failed
        call. When all of them failed, the next life of the attempt goes round once more, with all of its time: what
        was lost to faults in the life that got the answer is recorded with it, what was lost before is forgotten.
        """
        self._questions += 1
        asked, lost_s, usage = replace(conversation, number=self._questions), 0.0, NOTHING
        while True:
            self._said = 0
            asked_here = False

            def make(asked: Conversation = asked, lost_s: float = lost_s) -> Reply:
                nonlocal asked_here
                asked_here = True
                return self._answer_or_fault(asked, lost_s)

            try:
                reply = self._logbook.once(self.call(asked), make)
            except TimeoutError:
                if not lost_s:
                    raise
                raise Fault("silent", TOO_LATE, usage=usage) from None
            usage += reply.usage
            fault = fault_in(reply.body)
            if fault is None:
                self._models.answered()
                return replace(reply, usage=usage)
            self._hand_on(fault.after(usage), asked_here)
            lost_s += reply.body["seconds"] if asked_here else 0.0
            asked = replace(conversation, number=asked.number, timeout_s=conversation.timeout_s - lost_s)
            if asked.timeout_s <= 0:
                raise Fault("silent", TOO_LATE, usage=usage)

    def tell(self, answer: Answer) -> None:
        """Say what an answer says, but for the lines that were said as they came."""
        for line in answer.text.splitlines()[self._said :]:
            self._say(line)
        self._said = 0

    def call(self, conversation: Conversation) -> Call:
        """The question, as the logbook knows it."""
        model = self._models.current
        return Call(
            kind="model",
            name=model.name,
            summary=f"asking {model.name}",
            request=digest_of(conversation),
            most=model.most(conversation),
        )

    def _answer_or_fault(self, conversation: Conversation, lost_s: float) -> Reply:
        """What came of asking the current model; a fault is recorded where another one can be asked, or it cost money.

        An answer took the time, too, that was lost to faults before it.
        """
        started = self.clock()
        try:
            answer = self._answer(conversation)
        except Fault as fault:
            if self._models.alone and fault.usage == NOTHING:
                raise
            body = {**plain_fault(fault), "seconds": self.clock() - started}
            return Reply(body=body, usage=fault.usage, failed=True)
        took_s, told = lost_s + self.clock() - started, size_of(conversation)
        return Reply(body={**plain_answer(answer), "seconds": took_s, "told_bytes": told}, usage=answer.usage)

    def _hand_on(self, fault: Fault, asked_here: bool) -> None:
        """Let the next model be asked; raises when all of them failed just now."""
        failed = self._models.current.name
        self._models.move_on(fault)
        if self._models.all_failed:
            hope = self._models.hope.after(fault.usage)
            self._models.begin_again()
            if asked_here or hope.kind == "rejected":
                raise hope
        self._say(f"{failed} does not answer ({fault.what}): asking {self._models.current.name}")

    def _answer(self, conversation: Conversation) -> Answer:
        deadline = self.clock() + conversation.timeout_s
        patient_until = deadline
        tries, lost = 0, NOTHING
        while True:
            try:
                answer = self._asked(replace(conversation, timeout_s=max(0.001, deadline - self.clock())))
                return replace(answer, usage=answer.usage + lost)
            except TimeoutError:
                if not tries:
                    raise
                # A server that was down all the time must not cost the attempt.
                fault = Fault("silent", TOO_LATE)
            except Fault as one:
                fault = one
            lost += fault.usage
            if not tries:
                patient_until = min(deadline, self.clock() + self._patience_s)
            tries += 1
            wait_s = wait_before_asking_again(fault, tries=tries, left_s=patient_until - self.clock())
            if wait_s is None:
                raise fault.after(lost) from fault
            self._say(waiting_in_words(fault, wait_s))
            self._stops.pause(wait_s)

    def _asked(self, conversation: Conversation) -> Answer:
        """The answer, asked for in a thread of its own: who has to leave at once does not wait for it.

        Lines are said in this thread, so that nothing is said by an attempt that was left.
        """
        answer: Future[Answer] = Future()
        lines: SimpleQueue[str] = SimpleQueue()
        model = self._models.current
        asked = replace(conversation, hear=lines.put if self._aloud else None)

        def ask() -> None:
            try:
                answer.set_result(model.answer(asked))
            except BaseException as error:
                answer.set_exception(error)

        self._said = 0
        threading.Thread(target=ask, name=f"asking {model.name}", daemon=True).start()
        while not wait((answer,), LOOK_S).done:
            self._say_new(lines)
            self._stops.check()
        self._say_new(lines)
        return answer.result()

    def _say_new(self, lines: SimpleQueue[str]) -> None:
        while True:
            try:
                line = lines.get_nowait()
            except Empty:
                return
            self._say(line)
            self._said += 1
