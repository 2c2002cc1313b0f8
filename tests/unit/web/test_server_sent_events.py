"""What a page is told: where it goes on, in which pieces, and how a run stands in a few numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

import milepost
import milepost.events
from milepost.web.poll import Sight
from milepost.web.server_sent_events import BATCH_BYTES, StreamPosition, batches, changes, message, place_named
from milepost.web.summary import counted


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("abc.7f3a:12", ("abc.7f3a", 12)),
        ("a:b:3", ("a:b", 3)),
        ("", ("", 0)),
        ("abc", ("", 0)),
        ("abc:", ("", 0)),
        ("abc:-1", ("", 0)),
        ("abc:1.5", ("", 0)),
        ("abc:١٢", ("", 0)),
        ("abc:" + "9" * 5000, ("", 0)),
    ],
)
def test_a_place_that_makes_no_sense_is_nowhere(text: str, place: tuple[str, int]) -> None:
    assert place_named(text) == StreamPosition(epoch=place[0], seq=place[1])


def test_rows_come_in_pieces_of_a_bounded_size_and_none_is_lost() -> None:
    sizes = [10, BATCH_BYTES, BATCH_BYTES * 3, 5, 5, BATCH_BYTES - 10, 1]
    rows = tuple(milepost.events.Row(seq, 1.0, "x" * size) for seq, size in enumerate(sizes))

    pieces = list(batches(rows))

    assert [row.seq for piece in pieces for row in piece] == list(range(len(sizes)))
    assert all(len(piece) == 1 or sum(len(row.body) for row in piece) <= BATCH_BYTES for piece in pieces)
    assert len(pieces) == 5
    assert list(batches(())) == []


def test_a_message_says_where_it_is_and_what_it_follows() -> None:
    rows = (milepost.events.Row(7, 1.5, '{"event":"a"}'), milepost.events.Row(9, 2.0, '{"event":"b"}'))

    head, body, *rest = message(StreamPosition(epoch="e.7f3a", seq=4), rows, caught_up=False).split("\n")

    assert (head, rest) == ("id: e.7f3a:9", ["", ""])
    assert json.loads(body.removeprefix("data: ")) == {
        "after": 4,
        "caught_up": False,
        "events": [[7, 1.5, {"event": "a"}], [9, 2.0, {"event": "b"}]],
    }


def test_what_changed_beside_rows_is_told_and_else_a_sign_of_life() -> None:
    seen = Sight(epoch="e", newest="7f3a", last=1, alive=True)

    assert changes(seen, seen, 5.0) == [": still here\n\n"]
    assert changes(seen, Sight(epoch="e", newest="7f3a", last=2, alive=True), 5.0) == []
    assert changes(seen, Sight(epoch="e", newest="7f3b", last=1, alive=False), 5.0) == [
        'event: alive\ndata: {"alive": false, "now": 5.0}\n\n',
        'event: newer\ndata: {"run": "7f3b"}\n\n',
    ]


def test_a_summary_counts_the_last_verdict_of_each_task_and_what_waits() -> None:
    events: list[dict[str, Any]] = [
        {"event": "task_finished", "task": "1", "verdict": "failed"},
        {"event": "task_finished", "task": "1", "verdict": "passed"},
        {"event": "task_finished", "task": "2", "verdict": "unverified"},
        {"event": "task_finished", "task": "3", "verdict": None},
        {"event": "gate_opened", "gate": "a"},
        {"event": "gate_opened", "gate": "b"},
        {"event": "gate_answered", "gate": "a"},
        {"event": "of another version"},
    ]

    assert counted(events) == {"waiting": 1, "passed": 1, "accepted": 0, "held": 0, "failed": 0, "unverified": 1}
    assert counted([*events, {"event": "run_finished"}])["waiting"] == 0
