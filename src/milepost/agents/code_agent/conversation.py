"""A code agent's conversation with its model: what was said, within the model's window, and what it cost."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from milepost.agents.code_agent.blocks import Block, NoBlock, block_in
from milepost.agents.code_agent.ending import AttemptOver, Time, ended_by
from milepost.agents.models.as_json import answer_of, digest_of, size_of
from milepost.agents.models.ask import Asker
from milepost.agents.models.faults import Fault
from milepost.agents.models.model import Answer, Conversation, Message, Prompt
from milepost.agents.models.prices import most_input_tokens
from milepost.agents.models.window import pruned
from milepost.agents.prompts import filled
from milepost.core.attempt import Assignment
from milepost.core.calls import Usage
from milepost.core.errors import CassetteExhausted


class CodeConversation:
    """One attempt's conversation. What stands on the scratchpad is said with the last message only, as it is now."""

    def __init__(self, assignment: Assignment, prompt: str, asker: Asker, time: Time, window_tokens: int) -> None:
        self._messages: tuple[Message, ...] = (Prompt(text=prompt),)
        self._place = f"{assignment.run}/{assignment.task}/{assignment.attempt}"
        self._asker = asker
        self._time = time
        self._window_tokens = window_tokens
        self._reminded = False
        self._asked = 0
        self.usage = Usage()

    def ask(self, pad: str) -> Block | NoBlock:
        """The code that the model wants to be run next; or why there is none in its answer."""
        conversation = self._conversation(pad)
        try:
            reply = self._asker.reply(conversation)
        except TimeoutError as error:
            raise self._time.out() from error
        except CassetteExhausted as error:
            raise AttemptOver("gave_up", error.message) from error
        except Fault as fault:
            raise ended_by(fault) from fault
        if reply.refused:
            raise AttemptOver("gave_up", f"the model was not asked: {reply.refused}")
        self._time.spend(reply.body["seconds"])
        self.usage += reply.usage
        answer = answer_of(reply.body, reply.usage)
        block = _block(answer)
        # Calls of tools that were never offered would have to be answered as such.
        self._messages = (*self._messages, replace(answer, calls=(), raw={}) if answer.calls else answer)
        if isinstance(block, Block):
            self._reminded = False
        return block

    def remind(self, why: str) -> None:
        """Tell the model that its answer is of no use; the second time in a row ends the attempt."""
        if self._reminded:
            raise AttemptOver("gave_up", f"two answers in a row could not be used: {why}")
        self._reminded = True
        self.tell(filled("code_reminder", flaw=why))

    def tell(self, text: str) -> None:
        self._messages = (*self._messages, Prompt(text=text))

    def _conversation(self, pad: str) -> Conversation:
        self._asked += 1
        *before, last = self._messages
        assert isinstance(last, Prompt)
        messages = (*before, Prompt(text=f"{last.text}\n{pad}" if pad else last.text))
        messages = pruned(messages, room=self._window_tokens, size=_tokens)
        asked = Conversation(messages=messages, tools=(), timeout_s=self._time.left_s())
        # The digest keeps a service from giving the answer to another question, whoever uses the key again.
        return replace(asked, key=f"{quote(self._place)}/{self._asked}-{digest_of(asked)[:16]}")


def _block(answer: Answer) -> Block | NoBlock:
    if answer.flaw:
        return NoBlock(answer.flaw)
    if answer.calls:
        return NoBlock("it calls a tool, and there are none: what you can use are functions that your code calls")
    return block_in(answer.text)


def _tokens(messages: tuple[Message, ...]) -> int:
    return most_input_tokens(size_of(Conversation(messages=messages, tools=(), timeout_s=0)))
