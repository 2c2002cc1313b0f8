"""Answers say what is wrong, and nothing of the machine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

import milepost
from milepost.core.errors import GateChanged, GitFailed, RunUnknown, TaskChanged
from milepost.web.replies import answered, discreet, reply, status_of, text_of

FOLDER = Path("/home/ada/project")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("'/home/ada/project/ROADMAP.md' cannot be written", "'ROADMAP.md' cannot be written"),
        ("in /home/ada/project", "in project"),
        ("no /home/ada/.ssh/id_rsa", "no …/id_rsa"),
        ("see https://example.com/a/b and 1.1/2/after", "see https://example.com/a/b and 1.1/2/after"),
        ("one\nline\tof words", "one line of words"),
        ("x" * 900, "x" * 500),
    ],
)
def test_an_error_is_a_line_in_which_paths_begin_at_the_project(words: str, told: str) -> None:
    assert discreet(words, FOLDER) == told


@pytest.mark.parametrize(
    ("error", "status"),
    [(RunUnknown, 404), (milepost.Misuse, 422), (GateChanged, 409), (TaskChanged, 409), (GitFailed, 503)],
)
def test_the_status_says_whether_it_is_worth_to_ask_again(error: type[milepost.MilepostError], status: int) -> None:
    assert status_of(error("x")) == status


def test_a_mistake_of_ours_is_one_line_without_where_it_was_made() -> None:
    async def crash(_: Request) -> Response:
        raise ValueError("/home/ada/secret")

    request = Request({"type": "http", "method": "GET", "path": "/api/plan", "headers": [], "query_string": b""})
    answer = asyncio.run(answered(FOLDER / "ROADMAP.md", crash)(request))
    assert answer.status_code == 500
    assert json.loads(bytes(answer.body))["error"] == "internal error in milepost: ValueError"


def test_half_a_character_is_told_by_its_number() -> None:
    assert json.loads(bytes(reply(text_of(["\udc80 é"])).body)) == ["\udc80 é"]
