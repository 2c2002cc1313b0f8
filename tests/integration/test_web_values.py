"""What the page is told of a real run, and what it may change: over HTTP, on a real repository."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import milepost
from milepost import events, runs
from milepost.engine.records.journal import Journal
from milepost.web import action_routes, read_routes
from milepost.web.page_facts import PageFacts
from milepost.web.stream_routes import routes as stream_routes
from tests import places
from tests.e2e.conftest import Sandbox, make_machine

ODD = "new\nline \u202egnp.py"
ROADMAP = """\
# Roadmap

## Phase 1: Begin

- [ ] 1.1 Write the app
  - Verify: grep -q 'x = 1' app.py

## Phase 2: End

- [ ] 1.2 Say so
  - Approve: before
  - Files: said.txt
  - Verify: grep -q 1.2 said.txt
- [ ] 1.3 Say more
  - Approve: before
  - Files: said.txt
  - Verify: grep -q 1.3 said.txt
"""
# Its first attempt is broken; all of them leave what no page should stumble over.
AGENT = f"""
import json, os, pathlib
told = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
here = pathlib.Path(".")
if told["task"] == "1.1":
    text = "broken" if told["attempt"] == 1 else "x = 1"
    here.joinpath("app.py").write_text(f'\"\"\"One\\ntwo.\"\"\"\\n\\n{{text}}\\n')
    here.joinpath("picture.png").write_bytes(bytes(range(256)))
    here.joinpath("shortcut").symlink_to("app.py")
    here.joinpath({ODD!r}).write_text("y = 2\\n")
    here.joinpath("README.md").rename("READ.md")
else:
    here.joinpath("said.txt").write_text(f"said {{told['task']}}\\n")
"""


@dataclass(frozen=True)
class Page:
    """A page on a run that waits for a person."""

    machine: Sandbox
    run: str
    client: TestClient

    @property
    def roadmap(self) -> Path:
        return self.machine.repo / "ROADMAP.md"

    def get(self, where: str, /, **words: object) -> Any:
        answer = self.client.get(where, params={name: str(word) for name, word in words.items()})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, **body: object) -> tuple[int, dict[str, Any]]:
        answer = self.client.post(path, json=body, params={"run": self.run})
        return answer.status_code, answer.json()

    def status(self, where: str, /, **words: str) -> int:
        answer = self.client.get(where, params=words)
        assert set(answer.json()) == {"error", "advice"}
        assert "\n" not in answer.text and str(self.machine.home) not in answer.text
        return answer.status_code


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    machine = make_machine(tmp_path_factory.mktemp("page"))
    program = machine.home / "agent.py"
    program.write_text(AGENT)
    machine.write("README.md", "A project\nof some lines\nthat stay\n")
    machine.write("large.txt", "0123456789abcde\n" * 330_000)
    (machine.repo / "way").symlink_to("/etc/passwd")
    machine.roadmap(ROADMAP)
    ran = machine.milepost("run", "--agent", f"command:{sys.executable} {program}", "--json")
    assert sorted(ran.events[-1]["waits_for"]) == ["1.2", "1.3"], ran.stdout + ran.stderr
    with events.open_stream(machine.repo / "ROADMAP.md") as stream:
        site = PageFacts(roadmap=machine.repo / "ROADMAP.md", stream=stream)
        app = Starlette(routes=[*read_routes.routes(site), *action_routes.routes(site), *stream_routes(site)])
        with TestClient(app) as client:
            yield Page(machine, ran.events[-1]["run"], client)


def test_an_attempt_is_told_with_why_it_was_refused_its_checks_and_what_it_changed(page: Page) -> None:
    refused = page.get("/api/attempt", run=page.run, task="1.1", attempt=1)
    assert (refused["verdict"], refused["attempts"]) == ("failed", [1, 2])
    assert refused["reason"] and any(check["failed"] for check in refused["checks"])
    passed = page.get("/api/attempt", task="1.1")
    assert (passed["attempt"], passed["verdict"], passed["run"]) == (2, "passed", page.run)
    assert {"name", "asked", "before", "after", "failed", "decisive", "seconds", "details"} <= set(passed["checks"][0])
    files = {file["path"]: file for file in passed["diff"]["files"]}
    (hunk,) = files["app.py"]["hunks"]
    assert hunk["header"] == "@@ -0,0 +1,4 @@" and files["app.py"]["kind"] == "added"
    assert hunk["rows"][1] == ["+", None, 2, [["sd", 'two."""']]]
    assert files["picture.png"]["binary"] and files["picture.png"]["hunks"] == []
    assert files["shortcut"]["hunks"][0]["rows"] == [["+", None, 1, [["", "app.py"]]]]
    assert files[ODD]["added"] == 1
    assert (files["READ.md"]["kind"], files["READ.md"]["was"]) == ("renamed", "README.md")


def test_one_file_can_be_asked_for_with_all_its_lines(page: Page) -> None:
    diff = page.get("/api/attempt", task="1.1", attempt=2, path="app.py", context="all")["diff"]
    assert [file["path"] for file in diff["files"]] == ["app.py"]


def test_the_files_of_the_run_are_listed_and_read_from_git_alone(page: Page) -> None:
    listed = page.get("/api/files", run=page.run)
    changes = {file["path"]: file["change"] for file in listed["files"]}
    assert (changes["app.py"], changes["README.md"], listed["cut"]) == ("added", "removed", False)
    assert page.get("/api/file", path="app.py")["rows"][0] == [1, [["sd", '"""One']]]
    assert page.get("/api/file", path=ODD)["rows"] == [[1, [["n", "y"], ["", " "], ["o", "="], ["", " "], ["mi", "2"]]]]
    link = page.get("/api/file", path="way")
    assert link["link"] and link["rows"] == [[1, [["", "/etc/passwd"]]]], "where it leads, never what is there"
    assert page.get("/api/file", path="picture.png")["binary"]
    large = page.get("/api/file", path="large.txt")
    assert large["cut"] and 20_000 < len(large["rows"]) < 30_000
    for path in ("../../etc/passwd", "/etc/passwd", "way/x", ".git/config", "nothing", "a\0b", ":/", "*", "--help"):
        assert page.status("/api/file", path=path) == 404


def test_what_is_not_there_and_what_cannot_be_meant_is_said_in_a_line(page: Page) -> None:
    assert page.status("/api/attempt", task="9.9") == 404
    assert page.status("/api/attempt", task="1.1", attempt="7") == 404
    assert page.status("/api/attempt", task="1.1", attempt="-1") == 422
    assert page.status("/api/attempt", task="1.1", context="x") == 422
    assert page.status("/api/attempt") == 422
    assert page.status("/api/plan", run="ffff0") == 404
    assert page.status("/api/task", task="9.9") == 404
    assert page.status("/api/log", task="1.1", attempt="1", check="nothing") == 404
    assert page.status("/api/file", path="x" * 5_000) == 422


def test_the_plan_the_log_of_a_check_and_the_costs_are_told(page: Page) -> None:
    plan = page.get("/api/plan")
    assert [task["id"] for task in plan["tasks"]] == ["1.1", "1.2", "1.3"] and len(plan["phases"]) == 2
    checks = page.get("/api/attempt", task="1.1", attempt=1)["checks"]
    failed = next(check["name"] for check in checks if check["failed"])
    assert "broken" in page.get("/api/log", task="1.1", attempt=1, check=failed)["text"]
    costs = page.get("/api/costs")
    assert costs["run"] == page.run and [row["name"] for row in costs["by_task"]] == ["1.1"]
    assert costs["by_agent"][0]["attempts"] == 2


def test_a_browser_that_has_an_answer_is_not_sent_it_again(page: Page) -> None:
    first = page.client.get("/api/attempt", params={"task": "1.1", "attempt": "1"})
    assert first.headers["cache-control"] == "private, no-cache"
    again = page.client.get(
        "/api/attempt", params={"task": "1.1", "attempt": "1"}, headers={"if-none-match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/steer", {"verb": "dance"}),
        ("/api/steer", {"verb": "pause", "more": 1}),
        ("/api/steer", {"verb": "note", "text": "x" * 9_000}),
        ("/api/steer", {"verb": "note", "text": 7}),
        ("/api/steer", {"verb": "note", "text": " "}),
        ("/api/steer", {"verb": "drop"}),
        ("/api/steer", {"verb": "parallel", "text": "many"}),
        ("/api/steer", {"verb": "parallel", "text": "²"}),
        ("/api/steer", {"verb": "parallel", "text": "9" * 5_000}),
        ("/api/steer", {"verb": "agent", "text": "nobody-knows-it"}),
        ("/api/steer", {"verb": "retry"}),
        ("/api/gates/1.2/before", {"answer": "approve"}),
        ("/api/gates/1.2/before", {"answer": "approve", "digest": ""}),
        ("/api/task", {"task": "1.2", "text": "x", "digest": "zz"}),
    ],
)
def test_a_body_that_is_not_as_agreed_changes_nothing(page: Page, path: str, body: dict[str, object]) -> None:
    before = len([*events.read(page.roadmap, run=page.run)])
    status, said = page.post(path, **body)
    assert status == 422 and set(said) == {"error", "advice"}, said
    assert len([*events.read(page.roadmap, run=page.run)]) == before
    assert page.roadmap.read_text() == ROADMAP


def test_held_work_of_a_finished_run_lands_from_the_page_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = make_machine(tmp_path)
    machine.roadmap("- [ ] 1.1 Write a\n  - write a.txt hello\n")
    assert machine.run().code == 1
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    roadmap = machine.repo / "ROADMAP.md"
    (gate,) = milepost.waiting_gates(roadmap)
    with events.open_stream(roadmap) as stream:
        site = PageFacts(roadmap=roadmap, stream=stream)
        app = Starlette(routes=[*read_routes.routes(site), *action_routes.routes(site), *stream_routes(site)])
        with TestClient(app) as client:
            page = Page(machine, gate.run, client)
            assert page.get("/api/gates", run=gate.run)["waiting"] == [gate.gate]
            before = page.get("/api/summary", run=gate.run)
            assert (before["waiting"], before["passed"], before["held"], before["alive"]) == (1, 0, 1, False)
            status, said = page.post(f"/api/gates/{gate.gate}", answer="accept", text="I read it", digest=gate.digest)
            assert status == 200, said
            assert (
                said["said"].startswith(f"accepted, not verified: {gate.gate}: milepost ")
                and "main is at" in said["said"]
            )
            after = page.get("/api/summary", run=gate.run)
            assert (after["waiting"], after["passed"], after["accepted"], after["held"]) == (0, 0, 1, 0)
            story = page.get("/api/attempt", run=gate.run, task="1.1", attempt=1)
            assert story["decided"] == "accepted by Ada on the page, not verified" and story["verdict"] == "held"
            assert [one["kind"] for one in story["questions"]] == ["not shown"] and story["milepost"]
    assert (machine.repo / "a.txt").read_text() == "hello\n"


def test_garbage_for_a_body_is_refused(page: Page) -> None:
    for garbage in (b"", b"[]", b"\xff\xfe", b"{" * 30_000, b'{"verb": "pause", "verb": NaN}'):
        assert page.client.post("/api/steer", content=garbage).status_code == 422


def test_a_person_answers_edits_and_goes_on_once_and_only_with_what_they_were_shown(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(page.machine.home))
    asked = {gate.task: gate for gate in milepost.waiting_gates(page.roadmap)}
    gate = {"answer": "approve", "text": ""}
    status, said = page.post("/api/gates/1.2%2Fbefore", **gate, digest="0" * 64)
    assert status == 409 and "has changed since it was shown" in said["error"]
    assert len(milepost.waiting_gates(page.roadmap)) == 2, "nothing changed"
    assert page.post("/api/gates/9.9/before", **gate, digest="0" * 64)[0] == 404

    with ThreadPoolExecutor(2) as clicks:
        approve = partial(page.post, "/api/gates/1.2/before", **gate, digest=asked["1.2"].digest)
        answers = [click.result() for click in [clicks.submit(approve), clicks.submit(approve)]]
    assert sorted(status for status, _ in answers) == [200, 409], answers
    (answered,) = [said for status, said in answers if status == 200]
    assert page.get("/api/summary", run=page.run)["waiting"] == 1, "though the run did not take the answer up yet"
    assert answered["said"] == "approved 1.2/before: nothing runs now: continue with resume"
    assert page.post("/api/gates/1.2/before", **gate, digest=asked["1.2"].digest)[0] == 409, "an answer stands"

    shown = page.get("/api/task", task="1.3")
    other = shown["text"].replace("Say more", "Say much more")
    assert page.post("/api/task", task="1.3", text=other, digest="0" * 64)[0] == 409
    status, said = page.post("/api/task", task="1.3", text=other, digest=shown["digest"], commit=True)
    assert (status, said["error"]) == (409, f"run {page.run} is unfinished, and will update your branch when it ends")
    assert page.roadmap.read_text() == ROADMAP
    status, edited = page.post("/api/task", task="1.3", text=other, digest=shown["digest"])
    assert (status, edited["text"]) == (200, other)
    assert page.roadmap.read_text() == ROADMAP.replace("Say more", "Say much more")
    assert page.post("/api/task", task="1.3", text="- [ ] 1.3 Late", digest=shown["digest"])[0] == 409

    status, said = page.post("/api/steer", verb="note", task="1.2", text="be brief")
    noted = "noted for 1.2: the agent reads it from the next attempt on, when the run is resumed"
    assert (status, said["said"]) == (200, noted)
    for verb in ("drop", "note", "agent"):
        status, said = page.post("/api/steer", verb=verb, task="nope", text="command:true")
        assert (status, said["error"]) == (404, f"there is no task 'nope' in run {page.run}")
    status, said = page.post("/api/steer", verb="pause")
    assert (status, said["error"]) == (409, f"run {page.run} is not running")
    status, said = page.post("/api/steer", verb="stop")
    assert (status, said["error"]) == (409, "nothing runs here")

    status, said = page.post("/api/steer", verb="resume")
    assert (status, said) == (200, {"ok": True, "said": f"run {page.run} continues"})
    until(lambda: page.get("/api/files", run=page.run)["commit"] and "said.txt" in names(page), "1.2")
    assert page.post("/api/steer", verb="resume")[0] == 409, "it is on"
    assert page.post("/api/steer", verb="stop", text="now")[0] == 200
    until(lambda: runs.current(page.roadmap) is None, "the end")

    with Journal(places.database(page.roadmap.parent)) as journal:
        order = journal.runs()[0].order
        journal.leave_run(page.run)
        journal.open_run("beef", "1", {**order, "run": "beef"})
    assert page.post("/api/steer", verb="resume") == (
        409,
        {
            "error": f"run {page.run} cannot continue: it was abandoned",
            "advice": "milepost resume continues run beef",
        },
    ), "the page shows an older run"


def names(page: Page) -> list[str]:
    return [file["path"] for file in page.get("/api/files", run=page.run)["files"]]


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.1)
