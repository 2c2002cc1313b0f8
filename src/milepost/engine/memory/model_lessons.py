"""Lessons that a model chooses from the lines of a task that passed: one question, paid for by the task, made once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.agents.models.as_json import answer_of, digest_of
from milepost.agents.models.ask import Asker
from milepost.agents.models.model import Answer, Conversation
from milepost.agents.models.structured import ask_for
from milepost.core.calls import Call
from milepost.core.errors import SettingInvalid
from milepost.core.memories import Lesson
from milepost.core.task import Task
from milepost.engine.agents.factory import make_model
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records import worker_lease
from milepost.engine.records.call_log import AttemptKey
from milepost.engine.records.call_recorder import CallHooks, CallRecorder, Diverged, resumable
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.services import RunServices
from milepost.memory.lessons.distil.model_choice import Choices, lessons_from, objections, question_for
from milepost.memory.lessons.experience import Experience

FIRST_CALL = 2_000_000  # in the spending of an attempt, behind those of its agent and of a reviewer
KEPT = "chosen"  # stands for a workspace: no call changes one
PAYER = "memory"
TRIES = 2
PATIENCE_S = 10.0  # with a service that does not answer: others wait to land


@dataclass(frozen=True, slots=True)
class _Allowed:
    """Nobody has to be asked before a question to a model."""

    def refusal(self, number: int, call: Call) -> str:
        return ""


def chosen_lessons(
    services: RunServices, order: RunSpec, task: Task, attempt: int, experience: Experience
) -> tuple[Lesson, ...]:
    """The lessons that the settings' model chooses; none where none is named, or nothing passed."""
    question = question_for(experience)
    if not order.memory.distil_with or experience.accepted is None or not question:
        return ()
    while True:
        try:
            ask, timeout_s = _asking(services, order, task, attempt)
            wrong = lambda answer: objections(answer, experience)  # noqa: E731
            answer = ask_for(ask, question, Choices, timeout_s=timeout_s, tries=TRIES, objections=wrong)
        except Diverged:
            continue
        return lessons_from(answer, experience)


def _asking(
    services: RunServices, order: RunSpec, task: Task, attempt: int
) -> tuple[Callable[[Conversation], Answer], float]:
    """What puts a question to the model, from the record where it was answered before; and how long that may take."""
    settings = _with_model(services.settings, order.memory.distil_with)
    model = make_model(settings, services.project.roadmap.parent)
    purse = services.books.wallet.purse(task, attempt, PAYER, first=FIRST_CALL)
    if purse.bounded_usd and not model.price_known:
        raise SettingInvalid(
            f"the price of {model.name} is not known, so a budget in USD cannot be enforced",
            "set it under [model], or leave distil_with empty",
        )
    key = AttemptKey(run=order.run, task=f"{task.id}/lessons", attempt=attempt)
    watch = CallHooks(
        purse=purse,
        veto=_Allowed(),
        keep=lambda: KEPT,
        tell=lambda _, __: None,
        begin=worker_lease.require,
        require=worker_lease.require,
        redact=services.redact,
    )
    book = CallRecorder(services.books.calls, key, resumable(services.books.calls, key), KEPT, watch)
    asker = Asker(
        model,
        patience_s=min(PATIENCE_S, settings.model.patience_s),
        clock=time.monotonic,
        stops=services.parking,
        say=lambda _: None,
        logbook=book,
    )

    def ask(conversation: Conversation) -> Answer:
        reply = asker.reply(replace(conversation, key=f"{key}-{digest_of(conversation)[:16]}"))
        return answer_of(reply.body, reply.usage)

    return ask, settings.model.timeout_s + PATIENCE_S


def _with_model(settings: Settings, name: str) -> Settings:
    """The settings with another model alone; address and prices are those of [model] only where it is the same one."""
    given = settings.model
    if name != given.name:
        own = {"base_url": "", "input_usd_per_mtok": None, "output_usd_per_mtok": None}
        given = given.model_copy(update={"name": name, **own})
    return settings.model_copy(update={"model": given.model_copy(update={"fallback": []})})
