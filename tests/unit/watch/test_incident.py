"""What an incident becomes: which requests are told and asked again, the test's text, the task's words."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from milepost.core.secrets.redact import Redactor
from milepost.core.watching import FailedRequest
from milepost.watch.incident.reproduction import (
    Asked,
    Setup,
    answers_in,
    expecting,
    first_asked,
    script,
    still_failing,
)
from milepost.watch.incident.requests import FailedKind, kinds_of, path_told
from milepost.watch.incident.task_text import IncidentFacts, line_of, page_of, summary_of, title_of

REDACT = Redactor({"zebra-crossing"})
KIND = FailedKind(method="GET", path="/part", count=3, statuses=(500,))
FACTS = IncidentFacts(
    number=4,
    place="local (dev)",
    release=2,
    commit="b" * 40,
    previous=1,
    previous_commit="a" * 40,
    began_at=0.0,
    ended_at=60.0,
    timeline=((0.0, "roll back 2"),),
    requests=(KIND,),
    log=("Traceback", "    ValueError"),
)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/", "/"),
        ("/parts/7", "/parts/7"),
        ("/parts/7.json?page=2&colour=red", "/parts/7.json?page=&colour="),
        ("/how-to-write-tests-in-2026", "/how-to-write-tests-in-2026"),
        ("/reset/9f8c1d2e3a4b5c6d7e8f", "/reset/[secret]"),
        ("/users/0b2c1f9e-1d2e-4c3b-9a8f-7e6d5c4b3a29", "/users/[secret]"),
        ("/users/ada@example.org/parts", "/users/[secret]/parts"),
        ("/call/0041791234567", "/call/[secret]"),
        ("/zebra-crossing/x", "/[secret]/x"),
        ("/a?9f8c1d2e3a4b5c6d7e8f=", "/a?[secret]"),
        ("/a`b<c>/d", "/[secret]/d"),
        ("/" + "a" * 300, "/[secret]"),
    ],
)
def test_of_a_path_only_what_can_be_nobodys_secret_is_told(path: str, told: str) -> None:
    assert path_told(path, REDACT) == told


def test_requests_that_are_alike_are_counted_and_the_most_frequent_comes_first() -> None:
    asked = [("GET", "/a?x=1", 500), ("GET", "/a?x=2", 503), ("POST", "/b", 500), ("GET", "-", 500), ("G T", "/", 500)]
    found = kinds_of(
        [FailedRequest(at=0.0, method=how, path=path, status=status, release=2) for how, path, status in asked], REDACT
    )
    assert found == (
        FailedKind(method="GET", path="/a?x=", count=2, statuses=(500, 503)),
        FailedKind(method="POST", path="/b", count=1, statuses=(500,)),
    )


def test_only_what_changes_nothing_and_is_told_whole_is_asked_again() -> None:
    kinds = [replace(KIND, method="POST"), replace(KIND, path="/a/[secret]"), KIND, replace(KIND, method="HEAD")]
    assert [(one.method, one.path) for one in first_asked(kinds)] == [("GET", "/part"), ("HEAD", "/part")]


def test_a_test_expects_what_the_release_before_answered_and_asks_what_fails() -> None:
    answers = answers_in("GET /a: 200 200\nGET /b: 200 404\nGET /c: 500 500 instead of 200\nnoise\nGET /d: 0 200\n")
    asked = [Asked(method="GET", path=path) for path in ("/a", "/b", "/c", "/d", "/e")]
    good = expecting(asked, answers)
    assert good == (Asked(method="GET", path="/a", status=200), Asked(method="GET", path="/b"))
    assert still_failing(good, {("GET", "/a"): (200, 302), ("GET", "/b"): (404, 200)}) == good[:1]
    assert still_failing(good, {("GET", "/a"): (200, 200), ("GET", "/b"): (200, 0)}) == good[1:]


def test_what_is_written_into_a_test_stays_text() -> None:
    hostile = '"""\nimport os\n'
    setup = Setup(
        command=("python3", hostile), variables=(("A", hostile),), health_path="/", title=hostile, bad=2, good=1
    )
    text = script(setup, [Asked(method="GET", path="/a'b", status=200)])
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert values["COMMAND"] == ["python3", hostile]
    assert values["VARIABLES"] == {"A": hostile}
    assert values["REQUESTS"] == [("GET", "/a'b", 200)]


def test_a_task_says_what_fails_where_all_of_it_is_and_whether_a_test_shows_it() -> None:
    assert title_of(FACTS) == "Fix GET /part, which answers 500 in release 2 of local (dev)"
    silent = replace(FACTS, requests=(replace(KIND, statuses=(0, 502)), KIND))
    assert (
        title_of(silent)
        == "Fix GET /part and 1 more, which answers 502 and is not answered in release 2 of local (dev)"
    )
    assert title_of(replace(FACTS, requests=())) == "Find out why release 2 of local (dev) was not well: roll back 2"
    said = summary_of(FACTS, "tests/incidents/a.md")
    assert "red on release 2 (bbbbbbb), green on release 1 (aaaaaaa)" in said
    assert "`tests/incidents/a.md`" in said
    said = summary_of(replace(FACTS, unshown="no request failed"), "a.md")
    assert "There is evidence, no reproduction: no request failed." in said
    assert "red on" not in said


def test_the_page_has_what_others_wrote_as_code_and_what_is_not_known_not_at_all() -> None:
    page = page_of(FACTS)
    assert "\n    3 times  GET /part  answers 500\n" in page.replace("         3", "    3")
    assert "\n    Traceback\n        ValueError\n" in page
    assert "## Commits" not in page
    assert page_of(replace(FACTS, log=tuple(map(str, range(500))))).count("\n") < 120


def test_a_line_that_somebody_wrote_obeys_no_terminal_and_is_not_long() -> None:
    assert line_of("  a\x1b[31mb\x07\u202ec\t.") == "  ab c    ."
    assert len(line_of("x" * 1000)) == 300
