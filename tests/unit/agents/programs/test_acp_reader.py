"""What our client's lines come to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from milepost.agents.programs.acp.acp import AcpReader
from milepost.agents.programs.driver import Note, ProgramEnded, SessionNamed, Spoke, Stepped, Troubled, Used
from milepost.core.calls import Usage
from milepost.core.commands import Line, Stream


def notes(
    *lines: dict[str, Any] | str, counts_tokens: bool = False, tells_tools: bool = False, stream: Stream = "stdout"
) -> tuple[Note, ...]:
    reader = AcpReader(counts_tokens=counts_tokens, tells_tools=tells_tools)
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    return tuple(note for text in texts for note in reader.read(Line(stream=stream, text=text)))


def ended(reason: str = "end_turn", error: str = "", steps: int = 1, last: str = "Done.") -> dict[str, Any]:
    return {"acp": "ended", "reason": reason, "error": error, "steps": steps, "last": last}


def test_the_lines_of_a_run_become_its_notes() -> None:
    assert notes(
        {"acp": "session", "id": "s1", "resumable": True},
        {"acp": "said", "text": "I look."},
        {"acp": "alive"},
        {"acp": "stray", "text": "debug"},
        {"acp": "step", "what": "Edit a.py"},
        {"acp": "denied", "what": "cat /etc/passwd"},
        {"acp": "used", "input": 10, "output": 2, "cached": 3},
        {"acp": "used", "usd": 0.5},
        ended(),
    ) == (
        SessionNamed("s1"),
        Spoke("I look."),
        Stepped("Edit a.py"),
        Troubled("denied", "cat /etc/passwd"),
        Used(Usage(input_tokens=10, output_tokens=2, cached_tokens=3)),
        Used(
            Usage(input_tokens=10, output_tokens=2, cached_tokens=3, cost_usd=0.5),
            cost_known=True,
            cumulative=frozenset({"usd"}),
        ),
        ProgramEnded(fine=True),
    )


def test_a_session_that_cannot_be_gone_on_with_is_not_noted() -> None:
    assert notes({"acp": "session", "id": "s1", "resumable": False}) == ()


@pytest.mark.parametrize("line", ["", "words", "{", "[1]", '{"acp": 1}', '{"acp": "new kind"}', '{"other": 1}'])
def test_other_lines_tell_nothing(line: str) -> None:
    assert notes(line) == ()


def test_what_the_program_itself_prints_is_no_line_of_ours() -> None:
    assert notes(ended(), stream="stderr") == ()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (ended("refusal"), "its model refused to do it"),
        (ended("max_tokens"), "its model's answer was cut off at the length limit"),
        (ended("max_turn_requests"), "it reached its own limit of turns"),
        (ended("cancelled"), "it was cancelled"),
        (ended("None"), "it stopped for an unknown reason: 'None'"),
        (ended("died", "the program ended with exit 1"), "the program ended with exit 1"),
        (ended("session", "cannot go on: 429"), "cannot go on: 429"),
        (ended(steps=0, last=""), "it did nothing and said nothing"),
        ({**ended(), "unfinished": 2}, "it stopped in the middle of 2 tool calls"),
    ],
)
def test_only_the_end_of_a_turn_is_a_good_end(line: dict[str, Any], what: str) -> None:
    assert notes(line) == (ProgramEnded(fine=False, what=what),)


@pytest.mark.parametrize(
    ("line", "kind", "wait_s"),
    [
        (ended("error", "session/prompt: Authentication required (-32000)"), "rejected", None),
        (ended("error", "session/prompt: scripted 429 (status 429)"), "limited", None),
        (ended("error", "Internal error: API Error: 500 scripted. This is a server-side issue"), "silent", None),
        (ended("error", "Rate limit reached, try again in 2 minutes"), "limited", 120.0),
        (ended(last="Ran into this error: Rate limit exceeded: no.\n\nPlease retry if"), "limited", None),
        (ended(last="Ran into this error: Server error: Server error (500 Internal Server Error)"), "silent", None),
        (ended(last="Network error: Stream decode error: error decoding response body"), "silent", None),
        (ended(last="The model returned an empty response. Please resend your message"), "rejected", None),
        (ended(last="I've reached the maximum number of actions I can do without user input."), "rejected", None),
        (ended(last="exceeded retry limit, last status: 429 Too Many Requests"), "limited", None),
        (ended(last="We’re currently experiencing high demand, which may cause temporary errors."), "limited", None),
        (ended(last="stream disconnected before completion: Transport error"), "silent", None),
    ],
)
def test_an_error_is_found_also_where_the_protocol_says_that_all_is_well(
    line: dict[str, Any], kind: str, wait_s: float | None
) -> None:
    trouble, end = notes(line)

    assert isinstance(trouble, Troubled)
    assert (trouble.kind, trouble.wait_s) == (kind, wait_s)
    assert isinstance(end, ProgramEnded) and not end.fine


def test_a_model_that_speaks_of_errors_has_not_failed() -> None:
    assert notes(ended(last="I mended it. Before, it said: Ran into this error: x")) == (ProgramEnded(fine=True),)


def test_a_program_that_counts_tokens_and_counted_none_had_no_answer() -> None:
    words = ended(steps=0, last="I create.I create.")

    trouble, end = notes(words, counts_tokens=True)

    assert isinstance(trouble, Troubled) and trouble.kind == "silent"
    assert end == ProgramEnded(fine=False, what="its model gave no complete answer")
    assert notes(words) == (ProgramEnded(fine=True),)
    assert notes({"acp": "used", "input": 5}, words, counts_tokens=True)[-1] == ProgramEnded(fine=True)


def test_a_program_that_tells_its_tools_and_used_none_has_changed_nothing() -> None:
    words = ended(steps=0, last="Again.")
    diff = {"acp": "said", "text": "Here:\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"}

    assert notes(words, tells_tools=True) == (
        ProgramEnded(fine=False, what="it used no tool and gave no diff, so it changed nothing"),
    )
    assert notes(diff, words, tells_tools=True)[-1] == ProgramEnded(fine=True)
    assert notes(ended(steps=1, last="Again."), tells_tools=True) == (ProgramEnded(fine=True),)
    assert notes(words) == (ProgramEnded(fine=True),), "others may work without a word of it"
