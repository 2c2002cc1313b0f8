"""How an attempt of an agent program ended, and when it is ended: decisions over what it told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.agents.programs.claude import Claude
from milepost.agents.programs.driver import (
    Note,
    ProgramEnded,
    ProgramSetup,
    SessionNamed,
    Spoke,
    Stepped,
    Troubled,
    Turned,
    Used,
)
from milepost.agents.programs.limits import bounds_of, hosts_of
from milepost.agents.programs.outcome import at_bound, judge, with_hosts
from milepost.agents.programs.progress import ProgramLimits, ProgramProgress, Reached, ResumePoint, place_in, reached
from milepost.core.attempt import SERVER_SILENT, OutcomeStatus
from milepost.core.calls import Usage
from milepost.core.commands import CommandResult, Termination

WORK = (Turned(1), Spoke("Working."), Stepped("make"), Spoke("All done."))
FINE, FAILED = ProgramEnded(True), ProgramEnded(False, "it broke")
LIMIT = Troubled("limited", "429", 30.0)
SILENT = Troubled("silent", "nobody there")
REJECTED = Troubled("rejected", "401: who are you?")
DENIED = Troubled("denied", "the tool X was not permitted")


def priced(_: str, usage: Usage) -> float:
    return usage.tokens / 1000


def progress_of(*notes: Note, before: ResumePoint | None = None) -> ProgramProgress:
    progress = ProgramProgress(before=before or ResumePoint())
    for note in notes:
        progress = progress.after(note, priced)
    return progress


def ended(termination: Termination = "exited", exit_code: int | None = 0, error: str = "") -> CommandResult:
    return CommandResult(
        termination=termination, exit_code=exit_code, stdout="", stderr="", duration_ms=1, enforced=(), error=error
    )


@pytest.mark.parametrize(
    ("notes", "result", "status", "said"),
    [
        ((*WORK, FINE), ended(), "finished", "All done."),
        # each of the two signs alone is a lie
        ((*WORK, FINE), ended(exit_code=1), "gave_up", "exit 1, whatever it reports\nAll done."),
        (WORK, ended(), "gave_up", "ended without reporting that it is done (exit 0)\nAll done."),
        ((*WORK, FAILED), ended(), "gave_up", "it broke\nAll done."),
        ((), ended("signalled", None, "killed by SIGSEGV"), "gave_up", "was killed by SIGSEGV"),
        ((*WORK, FINE), ended("killed", None, "ended"), "gave_up", "was ended\nAll done."),
        ((*WORK, FINE), ended("memory", None), "gave_up", "was stopped: it used too much\nAll done."),
        ((), ended("not_started", None, "no"), "gave_up", "could not start: no"),
        # time
        (WORK, ended("timeout", None), "timed_out", "timed out after 60 s"),
        (WORK, ended("idle", None), "timed_out", "was stopped: it said nothing for too long"),
        # its service's fault
        ((*WORK, LIMIT, FAILED), ended(exit_code=1), "limited", "429\nlimit reached: try again in 30 s"),
        ((*WORK, SILENT, FAILED), ended(exit_code=1), "limited", "nobody there\nthe server does not answer"),
        ((*WORK, SILENT), ended("timeout", None), "limited", "nobody there\nthe server does not answer"),
        ((*WORK, SILENT), ended(exit_code=1), "limited", "nobody there\nthe server does not answer"),
        ((*WORK, REJECTED, FAILED), ended(exit_code=1), "gave_up", "401: who are you?\nit broke\nAll done."),
        # what it got over does not count
        ((LIMIT, *WORK, FAILED), ended(exit_code=1), "gave_up", "it broke\nAll done."),
        ((SILENT, *WORK), ended("idle", None), "timed_out", "was stopped: it said nothing for too long"),
        ((LIMIT, *WORK, FINE), ended(), "finished", "All done."),
        ((LIMIT, Spoke("Hm."), FAILED), ended(), "gave_up", "it broke\nHm."),
        ((LIMIT, Turned(1), FAILED), ended(), "gave_up", "it broke"),
        ((*WORK, DENIED, FINE), ended(), "gave_up", "not permitted: the tool X was not permitted\nAll done."),
        ((DENIED, *WORK, FINE), ended(), "finished", "All done."),
    ],
)  # fmt: skip
def test_an_end_is_judged_by_its_word_its_exit_code_and_its_troubles_together(
    notes: tuple[Note, ...], result: CommandResult, status: OutcomeStatus, said: str
) -> None:
    judgement = judge(
        result, progress_of(*notes), Claude().capabilities(), ProgramLimits(turns=9), program="claude", timeout_s=60
    )
    assert (judgement.status, judgement.said) == (status, said)


def test_a_program_without_an_end_event_is_judged_by_its_exit_code() -> None:
    can = replace(Claude().capabilities(), ends_itself=False)
    statuses = [
        judge(ended(exit_code=code), progress_of(*WORK), can, ProgramLimits(turns=9), program="p", timeout_s=60).status
        for code in (0, 1)
    ]
    assert statuses == ["finished", "gave_up"]


@pytest.mark.parametrize(
    ("notes", "bound"),
    [
        ((Turned(3),), None),
        ((Turned(4),), Reached(what="stopped after 3 turns without an end")),
        ((Stepped("a"),) * 4, Reached(what="stopped after 3 turns without an end")),
        ((Turned(4), FINE), None),
        ((Used(Usage(input_tokens=1999)),), None),
        ((Used(Usage(input_tokens=2000)),), Reached(what="stopped at $2.00 of $2.00", status="spent")),
        ((Used(Usage(cost_usd=2.5), cost_known=True),), Reached(what="stopped at $2.50 of $2.00", status="spent")),
        ((Troubled("limited", "429", 60.0),), None),
        (
            (Troubled("limited", "429", 61.0),),
            Reached(what="429\nlimit reached: try again in 61 s", status="limited"),
        ),
    ],
)
def test_a_program_is_ended_at_the_first_bound_it_comes_to(notes: tuple[Note, ...], bound: Reached | None) -> None:
    assert reached(progress_of(*notes), ProgramLimits(turns=3, usd=2.0, from_budget=True)) == bound


def test_the_bound_in_money_is_the_narrower_one_and_only_the_budgets_is_spent() -> None:
    setup = ProgramSetup(max_usd=2.0)
    assert bounds_of(setup, None) == ProgramLimits(turns=100, usd=2.0)
    assert bounds_of(setup, 3.0) == ProgramLimits(turns=100, usd=2.0)
    assert bounds_of(setup, 1.0) == ProgramLimits(turns=100, usd=1.0, from_budget=True)
    assert bounds_of(ProgramSetup(max_turns=5), None) == ProgramLimits(turns=5)
    used = progress_of(Spoke("One more."), Used(Usage(cost_usd=2.0), cost_known=True), FAILED)
    can = Claude().capabilities()
    itself = judge(ended(exit_code=1), used, can, bounds_of(setup, 2.0), program="claude", timeout_s=60)
    assert (itself.status, itself.said) == ("spent", "One more.\nstopped at $2.00 of $2.00")
    own = judge(ended(exit_code=1), used, can, bounds_of(setup, None), program="claude", timeout_s=60)
    assert own.status == "gave_up"
    assert at_bound(Reached(what="x\nlimit reached: try again in 90 s", status="limited"), used).said.endswith("90 s")


def test_what_was_taken_before_a_crash_counts_towards_the_bounds() -> None:
    taken = Usage(input_tokens=100, output_tokens=10, cached_tokens=50, cost_usd=1.5)
    before = ResumePoint(session="s", turns=2, usage=taken)
    assert place_in(before.noted()) == before
    assert progress_of(before=before).place == before
    assert reached(progress_of(Turned(2), before=before), ProgramLimits(turns=3)) is not None
    later = progress_of(SessionNamed("s"), Turned(1), Used(Usage(input_tokens=500)), before=before)
    assert later.place == ResumePoint(
        session="s",
        turns=3,
        usage=Usage(input_tokens=600, output_tokens=10, cached_tokens=50, cost_usd=2.0),
    )
    whole = Used(Usage(input_tokens=700), cumulative=frozenset({"tokens"}))
    assert progress_of(whole, before=before).place.usage == Usage(input_tokens=700, cost_usd=0.7)
    anew = replace(before, session="")
    assert progress_of(whole, before=anew).place.usage.cost_usd == pytest.approx(2.2)


@pytest.mark.parametrize("name", ["--dangerously", "-c", "a b", "a\nb", "", "x" * 201, "é"])
def test_a_session_that_could_be_more_than_a_name_on_a_command_line_is_not_noted(name: str) -> None:
    assert progress_of(SessionNamed("01a1-s_1.2"), SessionNamed(name)).place.session == "01a1-s_1.2"


@pytest.mark.parametrize("note", ["", "s-1", "[]", '{"session": 5, "turns": "many", "cost_usd": NaN}', "{" * 100_000])
def test_a_note_that_is_no_place_is_the_beginning(note: str) -> None:
    assert place_in(note) == ResumePoint()


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("", ()),
        ("https://gateway.example.org/v1", ("gateway.example.org",)),
        ("https://gateway.example.org:8443", ("gateway.example.org:8443",)),
        ("http://gateway.example.org", ("gateway.example.org:80",)),
        ("http://localhost:11434/v1", ("127.0.0.1:11434",)),
        ("http://127.0.0.1:8080", ("127.0.0.1:8080",)),
    ],
)
def test_the_host_of_an_address_is_what_the_program_must_reach(address: str, hosts: tuple[str, ...]) -> None:
    assert hosts_of(address) == hosts


def test_a_server_that_does_not_answer_is_named_before_the_time_that_it_states() -> None:
    silent = f"fetch failed\n{SERVER_SILENT}"
    assert with_hosts(silent, ("gateway:80",)) == f"{silent}: gateway:80"
    assert with_hosts(f"{silent}: try again in 9 s", ("gateway:80",)) == f"{silent}: gateway:80: try again in 9 s"
    assert with_hosts("limit reached", ("gateway:80",)) == "limit reached"


def test_an_end_that_goes_on_is_none() -> None:
    """Whatever a program starts can print a line that looks like its end."""
    begun = (ProgramEnded(fine=True), *(note for turn in range(1, 5) for note in (Turned(turn), Stepped("Bash"))))

    assert reached(progress_of(*begun), ProgramLimits(turns=3)) == Reached(what="stopped after 3 turns without an end")
    assert (
        judge(
            ended(), progress_of(*begun), Claude().capabilities(), ProgramLimits(turns=9), program="p", timeout_s=1
        ).status
        == "gave_up"
    )
