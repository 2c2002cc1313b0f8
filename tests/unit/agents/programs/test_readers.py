"""What agent programs print, read into notes: on lines recorded from the real ones, and on whatever else may come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from milepost.agents.programs.aider import Aider
from milepost.agents.programs.claude import Claude
from milepost.agents.programs.codex import Codex
from milepost.agents.programs.driver import (
    Driver,
    Note,
    ProgramEnded,
    SessionNamed,
    Spoke,
    Stepped,
    Troubled,
    Turned,
    Used,
)
from milepost.agents.programs.lines import LONGEST, PIECE, JsonLines
from milepost.agents.programs.outcome import ProgramOutcome, judge
from milepost.agents.programs.progress import ProgramLimits, ProgramProgress
from milepost.core.calls import Usage
from milepost.core.commands import CommandResult, Line
from milepost.sandbox.capture_output import LineCutter

GOLDEN = Path(__file__).parents[2] / "golden" / "programs"
SAMPLES = Path(__file__).parents[5] / "shared" / "prototypes" / "adapters" / "samples"
DRIVERS: dict[str, Driver] = {"claude": Claude(), "codex": Codex(), "aider": Aider("openai/gpt-5")}


def notes(name: str, lines: list[str]) -> list[Note]:
    reader = DRIVERS[name].reader()
    return [note for text in lines for note in reader.read(Line(stream="stdout", text=text))]


def recorded(name: str, label: str) -> list[Note]:
    return notes(name, (GOLDEN / f"{name}-{label}.jsonl").read_text().splitlines())


def judged(name: str, told: list[Note], exit_code: int) -> tuple[ProgramOutcome, ProgramProgress]:
    progress = ProgramProgress()
    for note in told:
        progress = progress.after(note, lambda _, usage: usage.tokens / 1_000_000)
    result = CommandResult(termination="exited", exit_code=exit_code, stdout="", stderr="", duration_ms=1, enforced=())
    capabilities = DRIVERS[name].capabilities()
    return judge(result, progress, capabilities, ProgramLimits(turns=100), program=name, timeout_s=60), progress


def test_claude_is_read_note_by_note() -> None:
    told = recorded("claude", "done")
    assert [note for note in told if not isinstance(note, Used)] == [
        SessionNamed("3b2ac2dc-9e3b-4c46-9cc1-6ff7bd2d9b11"),
        Turned(1),
        Spoke("I create."),
        Stepped("Write /repo/hello.py"),
        Turned(2),
        Stepped("Bash echo ran > ran.txt"),
        Turned(3),
        Spoke("All done."),
        ProgramEnded(True),
    ]
    used = [note for note in told if isinstance(note, Used)]
    assert [note.usage.input_tokens for note in used] == [1000, 1000, 2000, 3000, 3000]
    assert {note.model for note in used[:-1]} == {"claude-sonnet-4-5"}
    assert used[-1] == Used(Usage(input_tokens=3000, output_tokens=300, cost_usd=0.013500000000000002), cost_known=True)


def test_codex_is_read_note_by_note() -> None:
    told = recorded("codex", "done")
    assert [note for note in told if not isinstance(note, Used)] == [
        SessionNamed("01a1e574-1111-7000-8000-000000000001"),
        Spoke("I create."),
        Stepped("add /repo/hello.py"),
        Stepped("/bin/bash -c 'echo ran > ran.txt'"),
        Spoke("All done."),
        ProgramEnded(True),
    ]
    used = [note for note in told if isinstance(note, Used)]
    assert [note.cumulative for note in used] == [frozenset(), frozenset(), frozenset({"tokens"})]
    assert used[0].usage.tokens < used[1].usage.tokens
    assert used[-1].usage == Usage(input_tokens=3000, output_tokens=300)


def test_aider_is_read_note_by_note() -> None:
    usage = Usage(input_tokens=1000, output_tokens=100, cost_usd=0.0022500000000000003)
    used = Used(usage, cost_known=True, model="gpt-5")
    assert recorded("aider", "done") == [Turned(1), Spoke("I create."), used, ProgramEnded(True)]


@pytest.mark.parametrize(
    ("name", "label", "status", "said"),
    [
        ("claude", "limited", "limited", "limit reached: try again in 2 s"),
        ("claude", "failing", "limited", "\nthe server does not answer"),
        ("claude", "unauthorized", "gave_up", "401"),
        ("claude", "cut", "gave_up", "output token maximum"),
        ("claude", "turns", "gave_up", "maximum number of turns (3)"),
        ("claude", "torn", "limited", "\nthe server does not answer"),
        ("codex", "limited", "limited", "\nlimit reached"),
        ("codex", "failing", "limited", "\nlimit reached"),
        ("codex", "unauthorized", "gave_up", "401"),
        ("codex", "cut", "gave_up", "max_output_tokens"),
        ("aider", "limited", "limited", "limit reached: try again in 2 s"),
        ("aider", "failing", "limited", "\nthe server does not answer"),
        ("aider", "unauthorized", "gave_up", "AuthenticationError"),
        ("aider", "cut", "gave_up", "FinishReasonLength"),
    ],
)
@pytest.mark.parametrize("exit_code", [0, 1])
def test_what_failed_is_never_taken_for_done_whatever_the_exit_code(
    name: str, label: str, status: str, said: str, exit_code: int
) -> None:
    judgement, _ = judged(name, recorded(name, label), exit_code)
    assert judgement.status == status
    assert said in judgement.said


def test_claudes_own_words_about_a_failure_are_not_its_models() -> None:
    told = recorded("claude", "limited")
    assert not [note for note in told if isinstance(note, Spoke | Turned)]
    wait = Troubled("limited", "its service answered 429 (rate_limit)", 2.0)
    assert [note for note in told if isinstance(note, Troubled)][:2] == [wait, wait]


def test_a_denied_tool_counts_unless_another_one_was_used_after_it() -> None:
    lines = (GOLDEN / "claude-denied.jsonl").read_text().splitlines()
    judgement, _ = judged("claude", notes("claude", lines), 0)
    assert (judgement.status, judgement.said.splitlines()[0]) == (
        "gave_up",
        "not permitted: the tool WebFetch was not permitted",
    )
    step = {"type": "tool_use", "id": "later", "name": "Bash", "input": {"command": "make"}}
    another = json.dumps({"type": "assistant", "message": {"id": "m", "content": [step]}})
    judgement, _ = judged("claude", notes("claude", [*lines[:-2], another, *lines[-2:]]), 0)
    assert judgement.status == "finished"


@pytest.mark.parametrize(("sample", "name"), [("claude", "claude"), ("codex", "codex")])
def test_the_recordings_of_other_versions_are_read(sample: str, name: str) -> None:
    folder = SAMPLES / sample
    if not folder.is_dir():
        pytest.skip(f"there are no recordings in {folder.name!r} beside the repository")
    lines = (folder / "stdout.txt").read_text().splitlines()
    judgement, progress = judged(name, notes(name, lines), json.loads((folder / "result.json").read_text())["rc"])
    assert (judgement.status, judgement.said) == ("finished", "DONE: created hello.py which prints hi.")
    assert progress.session and progress.steps == 1
    assert (progress.usage.input_tokens, progress.usage.output_tokens) == (2000, 100)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    (
        *("session_id", "message", "content", "usage", "error", "error_status", "retry_delay_ms", "permission_denials"),
        *("is_error", "result", "errors", "total_cost_usd", "api_error_status", "thread_id", "item", "count", "text"),
        *("input_tokens", "cost_usd", "status", "wait_s", "what", "fine", "model", "id", "changes", "command"),
    )
)
KINDS = st.sampled_from(
    (
        *("system", "assistant", "user", "result", "thread.started", "item.started", "item.completed", "error"),
        *("turn.failed", "turn", "said", "used", "refused", "agent_message", "file_change", "command_execution"),
    )
)


@given(name=st.sampled_from(sorted(DRIVERS)), lines=st.lists(st.text() | st.binary().map(repr)))
def test_words_that_are_no_json_are_no_end(name: str, lines: list[str]) -> None:
    assert not [note for note in notes(name, lines) if isinstance(note, ProgramEnded | Used | SessionNamed)]


@given(
    name=st.sampled_from(sorted(DRIVERS)),
    kinds=st.lists(st.tuples(KINDS, KINDS), min_size=1, max_size=3),
    fields=st.dictionaries(FIELDS, JSON | st.dictionaries(FIELDS, JSON, max_size=4), max_size=6),
)
def test_fields_of_any_type_break_no_reader_and_make_no_end_a_fine_one(
    name: str, kinds: list[tuple[str, str]], fields: dict[str, Any]
) -> None:
    lines = [
        json.dumps({**fields, "type": kind, "aider": kind, "subtype": "init", "item": {**fields, "type": inner}})
        for kind, inner in kinds
    ]
    told = notes(name, lines)
    judgement, progress = judged(name, told, 0)
    assert judgement.status != "finished"
    assert progress.usage.tokens >= 0
    assert 0 <= progress.usage.cost_usd < float("inf")


@settings(max_examples=50)
@example(sizes=[PIECE - 20], pieces=[8201], letter="x")
@given(
    sizes=st.lists(st.integers(0, 3 * PIECE) | st.integers(PIECE - 20, PIECE + 20), min_size=1, max_size=5),
    pieces=st.lists(st.integers(1_000, 70_000), min_size=1, max_size=5),
    letter=st.sampled_from(["x", "é", "}", "{", '"', "\n"]),
)
def test_lines_that_the_terminal_cuts_are_put_together_again(sizes: list[int], pieces: list[int], letter: str) -> None:
    objects = [{"type": "t", "number": number, "text": letter * size} for number, size in enumerate(sizes)]
    printed = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects).encode()
    cutter, reader, found = LineCutter(), JsonLines(), []
    position, turn = 0, 0
    while position < len(printed):
        size = pieces[turn % len(pieces)]
        position, turn, piece = position + size, turn + 1, printed[position : position + size]
        found += [reader.read(text) for text in cutter.feed(piece, last=position >= len(printed))]
    assert [each for each in found if each is not None] == objects


def test_a_line_without_an_end_does_not_swallow_those_after_it() -> None:
    reader = JsonLines()
    assert reader.read("{" + "x" * (PIECE - 1)) is None
    assert reader.read('{"type": "result"}') == {"type": "result"}
    assert reader.read("{" + "x" * (PIECE - 1)) is None
    read = [reader.read("x" * PIECE) for _ in range(LONGEST // PIECE + 1)]
    assert [each for each in read if each is not None] != []
    assert reader.read('{"a": 1}') == {"a": 1}
    assert reader.read('{"a": ' + "[" * 100_000) is not None


def test_what_no_database_can_keep_is_made_fit() -> None:
    item = {"id": "1", "type": "agent_message", "text": "half \ud83d, nothing \0, whole \U0001f600"}
    usage = {"input_tokens": 1e300, "output_tokens": -5, "cached_input_tokens": float("nan")}
    lines = [{"type": "item.completed", "item": item}, {"type": "turn.completed", "usage": usage}]
    told = notes("codex", [json.dumps(line) for line in lines])
    taken = Usage(input_tokens=10**12)
    assert told == [
        Spoke("half ?, nothing , whole \U0001f600"),
        Used(taken, cumulative=frozenset({"tokens"})),
        ProgramEnded(True),
    ]


def test_the_stated_wait_is_read_from_words_and_from_events() -> None:
    limit = "You've hit your usage limit. Try again in 1 day 2 hours 30 minutes."
    failed = json.dumps({"type": "turn.failed", "error": {"message": limit}})
    judgement, _ = judged("codex", notes("codex", [failed]), 1)
    assert (judgement.status, judgement.said.splitlines()[-1]) == (
        "limited",
        "limit reached: try again in 95400 s",
    )
    retry = {"type": "system", "subtype": "api_retry", "error_status": 429, "retry_delay_ms": 90_000, "error": "x"}
    assert notes("claude", [json.dumps(retry)]) == [Troubled("limited", "its service answered 429 (x)", 90.0)]
