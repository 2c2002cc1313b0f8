"""What a model's server was told to say: answers by task and attempt, and faults."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.fakes.actions import NoTool, blocks_for, calls_for, code_for, wants_blocks, wants_code
from tests.fakes.wires.wire import Asked, Called, Finish, Plain, Said, Wire

INPUT_TOKENS, OUTPUT_TOKENS = 1000, 100
TASK = re.compile(r"^# Task (\S+): ", re.MULTILINE)
ATTEMPT = re.compile(r"^This is attempt (\d+)\.", re.MULTILINE)
# Programs ask beside the work what to call it; there are no tools in such a question.
ASIDE = re.compile(r"\btitle\b|session name|4 words or less|is a new topic|^quota$", re.IGNORECASE | re.MULTILINE)

FaultKind = Literal[
    "status", "refuse", "drop", "lose", "hang", "stall", "tear", "garbage", "invalid", "empty", "cut", "endless"
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the server does instead of answering as its script says."""

    kind: FaultKind
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 1.0
    task: str = ""
    answer: int | None = None
    times: int | None = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request: which answer to which attempt at which task it asks for."""

    key: str
    task: str
    attempt: int
    answer: int
    body: Plain
    wire: Wire
    asked: Asked
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What tells it from other questions: its key, else all that was said."""
        return self.key or hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()

    @property
    def aside(self) -> bool:
        """Whether it is not about the work: a program asks what to call its session."""
        blocks = wants_blocks(self.asked)
        return not self.asked.tools and not blocks and bool(ASIDE.search(f"{self.asked.system}\n{self._last_told}"))

    @property
    def credentials(self) -> dict[str, str]:
        return credentials_in(self.path, self.headers)

    @property
    def _last_told(self) -> str:
        told = [turn.text for turn in self.asked.turns if turn.speaker == "person"]
        return told[-1] if told and not TASK.search(told[-1]) else ""


def question_of(wire: Wire, path: str, headers: Mapping[str, str], body: Plain) -> Question:
    """What a request asks for: the prompt says which task it is about, and which attempt."""
    asked = wire.read(path, body)
    task, attempt = TASK.search(asked.told), ATTEMPT.search(asked.told)
    return Question(
        key=headers.get("idempotency-key", ""),
        task=task[1] if task else "",
        attempt=int(attempt[1]) if attempt else 1,
        answer=asked.given_after(TASK) + 1,
        body=body,
        wire=wire,
        asked=asked,
        path=path,
        headers=headers,
    )


def credentials_in(path: str, headers: Mapping[str, str]) -> dict[str, str]:
    """The keys that came with a request, by where they were."""
    names = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
    found = {name: headers[name].removeprefix("Bearer ") for name in names if name in headers}
    key = re.search(r"[?&]key=([^&]*)", path)
    return found | ({"query": key[1]} if key else {})


def scripted(script: Mapping[str, Any], question: Question) -> Plain:
    """What the script says to a question; `*` is any task, and the last attempt goes for all later ones."""
    tasks = script.get("tasks", {})
    attempts = tasks.get(question.task, tasks.get("*", []))
    answers = attempts[min(question.attempt, len(attempts)) - 1] if attempts else []
    if question.answer <= len(answers):
        found: Plain = answers[question.answer - 1]
        return found
    return {"text": f"nothing is scripted for answer {question.answer} at task {question.task!r}"}


def said_to(question: Question, answer: Plain, folder: Path | None, finish: Finish | None = None) -> Said:
    """An answer of the script as it is said to this question, its actions put into the tools that it offers."""
    text, calls = answer.get("text") or "", list(answer.get("calls", ()))
    try:
        spoken, more = _done(answer.get("do", ()), question.asked, folder)
        text, calls = "\n\n".join(part for part in (text, spoken) if part), calls + more
    except NoTool as error:
        text, calls = f"This script cannot be played: {error}", []
    made = tuple(
        Called(id=f"call-{question.answer}-{number}", name=call["name"], arguments=call.get("arguments", {}))
        for number, call in enumerate(calls, start=1)
    )
    return Said(
        number=question.answer,
        text=text,
        calls=made,
        finish=finish or ("calls" if made else "stop"),
        input_tokens=answer.get("input_tokens", INPUT_TOKENS),
        output_tokens=answer.get("output_tokens", OUTPUT_TOKENS),
    )


def _done(actions: Sequence[Mapping[str, str]], asked: Asked, folder: Path | None) -> tuple[str, list[Plain]]:
    """What is said and called to have these actions done."""
    if actions and wants_code(asked):
        return code_for(actions), []
    said = "\n".join(action["finish"] for action in actions if "finish" in action)
    work = [action for action in actions if "finish" not in action]
    if work and wants_blocks(asked):
        return "\n\n".join(part for part in (said, blocks_for(work)) if part), []
    return said, calls_for(work, asked, folder)


def one_more(question: Question) -> Plain:
    """An answer of a model that never comes to its end."""
    if wants_blocks(question.asked):
        return {"text": "One more.", "do": [{"edit": "nowhere.txt", "old": "absent\n", "new": "present\n"}]}
    return {"text": "One more.", "do": [{"command": f"echo step {question.answer}"}]}
