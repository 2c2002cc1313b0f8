"""Answers to what a run asks a person. A model cannot give one silently: a person confirms it, or it is refused."""

# Annotations are evaluated here, not kept as text: they name functions that are made for one server.
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.resolve import AcceptedElicitation
from pydantic import BaseModel, Field

import milepost
from milepost import gates, runs
from milepost.api.detached.request import is_outside
from milepost.mcp.project_folder import Folder, ServerProject
from milepost.mcp.tool import Brief
from milepost.serving.threads import aside

LONGEST_SHOWN = 2_000
Answer = Literal["approve", "reject", "edit", "skip", "delegate", "accept"]
YES = ("approve", "accept")
GateName = Annotated[str, Field(max_length=300, description="Gate or task, as run_status names it; default: the only")]
AnswerText = Annotated[
    str, Field(max_length=10_000, description="Reason (reject, accept), change (edit), agent (delegate)")
]


class Confirmation(BaseModel):
    """What a person is asked for."""

    confirm: bool = Field(description="Give this answer to the run")


class Answered(Brief):
    gate: str
    task: str
    answer: str
    commit: str = ""
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """An answer that is to be given, to what is asked now; with an agent that `names_outside` paths, or not."""

    gate: gates.Gate
    answer: Answer
    text: str
    names_outside: bool


def answer_tools(place: ServerProject, *, allow_answers: bool = False) -> tuple[Callable[..., Any], ...]:
    """The tool `answer`; with `allow_answers` the person who started the server has confirmed all answers but a
    yes to held work."""

    async def proposed(gate: str, answer: Answer, text: str, workspace: str) -> Proposed:
        roadmap = place.roadmap(workspace)
        waiting = await aside(lambda: milepost.waiting_gates(roadmap))
        names_outside = answer == "delegate" and await aside(lambda: is_outside(text, roadmap))
        return Proposed(gate=meant(waiting, gate), answer=answer, text=text, names_outside=names_outside)

    async def confirmed(
        ctx: Context[Any, Any], what: Annotated[Proposed, Resolve(proposed)]
    ) -> Confirmation | Elicit[Confirmation]:
        if allow_answers and not is_persons_alone(what):
            return Confirmation(confirm=True)
        if not can_ask(ctx):
            raise milepost.MilepostError(
                "only a person may answer this, and this client cannot ask one", f"they type: {by_hand(what)}"
            )
        return Elicit(question_of(what), Confirmation)

    async def answer(
        answer: Answer,
        what: Annotated[Proposed, Resolve(proposed)],
        person: Annotated[ElicitationResult[Confirmation], Resolve(confirmed)],
        gate: GateName = "",
        text: AnswerText = "",
        workspace: Folder = "",
    ) -> Answered:
        """Answer what a run asks a person (waits_for_person in run_status). A person confirms it first."""
        if not (isinstance(person, AcceptedElicitation) and person.data.confirm):
            raise milepost.MilepostError("the person did not confirm this answer", f"they can type: {by_hand(what)}")
        roadmap = place.roadmap(workspace)
        by_person = not allow_answers or is_persons_alone(what)
        by = f"{gates.person(roadmap)} through MCP" if by_person else "the server's --allow-answers"
        kept = await aside(
            lambda: milepost.answer_gate(
                f"{what.gate.run}/{what.gate.gate}", answer, text, roadmap, digest=what.gate.digest, by=by
            )
        )
        going_on = await aside(lambda: runs.current(roadmap))
        follow = "run_status wait_s=50" if going_on else "run_start" if kept.over else "run_start continues the run"
        return Answered(
            gate=kept.gate,
            task=kept.task,
            answer=answer,
            commit=kept.landed.commit if kept.landed else "",
            next=follow,
        )

    return (answer,)


def meant(waiting: tuple[gates.Gate, ...], name: str) -> gates.Gate:
    """The question that a name means; without one, the only one there is."""
    named = [gate for gate in waiting if name in ("", gate.gate, f"{gate.run}/{gate.gate}")]
    found = named or [gate for gate in waiting if gate.task.lower() == name.lower()]
    if not found:
        what = f"nothing that is called {name!r} waits for a person" if name else "nothing waits for a person"
        raise milepost.MilepostError(what, "run_status shows the state of the run")
    if len(found) > 1:
        names = ", ".join(gate.gate for gate in found[:5])
        raise milepost.MilepostError(f"{len(found)} questions wait: {names}", "name one of them as gate")
    return found[0]


def is_persons_alone(what: Proposed) -> bool:
    """Whether only a person may give this answer, whatever the server allows.

    That is a yes to work that is not proven, and an agent that may read paths outside of the repository.
    """
    return what.names_outside or (what.gate.kind == "held" and what.answer in YES)


def can_ask(ctx: Context[Any, Any]) -> bool:
    """Whether the client can put a form before a person."""
    capabilities = ctx.client_capabilities
    asking = capabilities.elicitation if capabilities is not None else None
    return asking is not None and (asking.form is not None or asking.url is None)


def question_of(what: Proposed) -> str:
    """What the person is asked: the run's question, what it is about, and the answer that would be given."""
    gate = what.gate
    quote = "\n".join(f"  {line}" for line in plain(gate.shown[:LONGEST_SHOWN]).splitlines())
    cut = "\n  …" if len(gate.shown) > LONGEST_SHOWN else ""
    said = f"{what.answer}: {plain(what.text)}" if what.text else what.answer
    return (
        f"Run {gate.run} asks you about task {gate.task}: {plain(gate.question)}\n"
        f"It is about this ({gate.digest[:12]}):\n{quote}{cut}\n"
        f"The answer that a model wants to give for you: {said}"
    )


def by_hand(what: Proposed) -> str:
    """The command with which a person gives the answer."""
    if what.answer == "accept":
        return f"milepost accept {what.gate.task}"
    option = {"reject": " --reason …", "edit": " --text …", "delegate": " --agent …"}.get(what.answer, "")
    return f"milepost {what.answer} {what.gate.gate}{option}"


def plain(text: str) -> str:
    """Text whose signs are all printable."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "�" for sign in text)
