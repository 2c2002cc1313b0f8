"""An incident as a task of the roadmap: with real releases, real Envoys, the sandbox and git."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from milepost.core.errors import CommitRefused, EditRefused
from milepost.engine.project import consent
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import wanted_by
from milepost.engine.watching.follow import follow
from milepost.engine.watching.incident_task import IncidentTask, task_of
from milepost.engine.watching.records import Incident
from milepost.engine.watching.watcher import Sight, kept
from milepost.roadmap.reading.read import read
from milepost.ship.local.failed_requests import failed_requests
from tests.deploying import SETTINGS as SHOP
from tests.deploying import Deployed, Users, deployed, needs_envoy

pytestmark = needs_envoy
MOST_LOOKS = 300
APPLICATION = """
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        failed = self.path.startswith("/part") and open("fault").read().strip() == "parts"
        if failed:
            sent = self.headers["Authorization"]
            print("ERROR \\x1b[31mno part\\x1b[0m for", sent, os.environ.get("TOKEN"), flush=True)
        self.send_response(500 if failed else 404 if self.path.startswith("/part/7") else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_POST = do_HEAD = do_GET
    def log_message(self, *_): pass
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Request).serve_forever()
"""
SETTINGS = """
[targets.local]
command = ["python3", "-I", "-S", "app.py"]
instances = [2]
soak_s = 0.2
secrets = { TOKEN = "SHOP_GIVEN" }
"""
ROADMAP = "# Parts\r\n\r\n- [ ] 1.1 Sell parts\r\n  - Verify: true\r\n\r\nThat is all."
GIVEN, SENT, ASKED = (
    "zebra-crossing-at-noon",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "hunter2-in-a-query",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """A shop whose second release fails some requests, which are asked; an incident says that a person was called."""
    monkeypatch.setenv("SHOP_GIVEN", GIVEN)
    with deployed(tmp_path, SETTINGS) as project:
        project.place.write("app.py", APPLICATION)
        project.place.write("fault", "none")
        (project.roadmap).write_bytes(ROADMAP.encode())
        project.deploy("one")
        project.place.write("fault", "parts")
        project.deploy("two")
        yield project


def ask(project: Deployed, method: str, path: str) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", project.port, timeout=20)) as connection:
        connection.request(method, path, headers={"Authorization": SENT, "Cookie": f"session={ASKED}"})
        return connection.getresponse().status


def suffer(project: Deployed, *asked: tuple[str, str]) -> int:
    """Ask what fails, until the proxy has written it down, and note an incident."""
    for method, path in asked:
        ask(project, method, path)
    until = time.monotonic() + 20
    while len(failed_requests(project.folder, 2)) < len(asked) and time.monotonic() < until:
        time.sleep(0.05)
    with kept(project.roadmap, "local", "dev") as (_, healing, _):
        began = Incident(release=2, began_at=1_700_000_000, called=True, timeline=((1_700_000_000, "errors"),))
        return healing.put(began).number


def add(project: Deployed, number: int) -> IncidentTask:
    return task_of(project.roadmap, "local", "dev", number, lambda _: None)


def verdict(project: Deployed, test: str, fault: str) -> int:
    """What the test says of the working tree with a fault."""
    project.place.write("fault", fault)
    return subprocess.run([sys.executable, test], cwd=project.place.top, capture_output=True, timeout=120).returncode


def git(project: Deployed, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=project.place.top, capture_output=True, text=True, check=True).stdout


def test_requests_that_failed_become_a_test_that_is_red_on_the_bad_release_and_green_before(project: Deployed) -> None:
    assert ask(project, "GET", f"/part/7?key={ASKED}") == 404, "a retry at the release before hides it from users"
    number = suffer(project, ("GET", f"/part?key={ASKED}&colour=red"), ("POST", "/part"), ("HEAD", "/part/9"))
    made = add(project, number)
    assert made.test == "tests/incidents/2023-11-14-local-dev-1.py", (project.place.top / made.page).read_text()
    assert [verdict(project, made.test, fault) for fault in ("parts", "none")] == [1, 0]
    test = (project.place.top / made.test).read_text()
    for asked in ("('GET', '/part?key=&colour=', 200)", "('GET', '/part/7?key=', 404)", "('HEAD', '/part/9', 200)"):
        assert asked in test
    assert "POST" not in test
    content = project.roadmap.read_bytes()
    assert content.startswith(ROADMAP.encode() + b"\r\n\r\n## Incidents\r\n\r\n- [ ] INC-1 Fix ")
    first, task = read(content).tasks
    assert (first.id, first.verify) == ("1.1", ("true",))
    assert (made.task, task.id, task.verify) == ("INC-1", "INC-1", (f"python3 {made.test}",))
    assert "red on release 2" in task.text and "green on release 1" in task.text and made.page in task.text
    assert git(project, "show", "--name-only", "--format=%s").split("\n") == [
        *("Add task INC-1 to ROADMAP.md", "", "ROADMAP.md", made.page, made.test, "")
    ]
    assert not git(project, "status", "--porcelain", "--", "ROADMAP.md", "tests")


def test_no_secret_of_a_header_a_query_or_the_log_reaches_the_task(project: Deployed) -> None:
    number = suffer(
        project, ("GET", f"/part?key={ASKED}&{SENT[7:]}"), ("GET", f"/part/{SENT[7:]}"), ("GET", "/part/a@b.ch")
    )
    made = add(project, number)
    page = (project.place.top / made.page).read_text()
    everything = git(project, "show", "--format=%B") + page
    raw = "".join(path.read_text(errors="replace") for path in project.folder.glob("failed-*.log"))
    assert "ERROR no part for" in page, "the log is there, without what a terminal obeys"
    assert "GET  /part?key=&[secret]" in page or "GET /part?key=&[secret]" in page
    for secret in (GIVEN, SENT, SENT[7:], ASKED, "a@b.ch", "\x1b"):
        assert secret not in everything
    assert ASKED not in raw, "what a query held is not even written down by the proxy"


def test_an_incident_is_one_task_however_often_it_is_asked_for_and_whenever_it_is_killed(project: Deployed) -> None:
    number = suffer(project, ("GET", "/part"))
    seen = project.folder / "seen"
    seen.write_text("")
    words = (sys.executable, "-m", "milepost", "incidents", "local", "--task", str(number), "--json")
    environment = os.environ | {"MILEPOST_CHAOS_SEEN": str(seen)}
    codes = []
    for _ in range(8):
        done = subprocess.run(
            words, cwd=project.place.top, env=environment, capture_output=True, text=True, timeout=120
        )
        codes.append(done.returncode)
        if done.returncode == 0:
            break
    assert codes == [-9, -9, -9, -9, 0], done.stderr
    assert json.loads(done.stdout)["task"] == add(project, number).task == "INC-1"
    assert [task.id for task in read(project.roadmap.read_bytes()).tasks] == ["1.1", "INC-1"]
    assert git(project, "log", "--format=%s").splitlines()[:2] == ["Add task INC-1 to ROADMAP.md", "two"]
    with kept(project.roadmap, "local", "dev") as (_, healing, _):
        assert healing.incident(number).task == "INC-1"


def test_what_cannot_be_shown_again_is_evidence_and_says_so(project: Deployed) -> None:
    made = add(project, suffer(project, ("POST", "/part")))
    task = read(project.roadmap.read_bytes()).tasks[-1]
    assert (made.test, task.verify) == ("", ())
    assert "evidence, no reproduction: no request that may be repeated as it was written down failed" in task.text
    assert "evidence, no reproduction" in (project.place.top / made.page).read_text()


def test_a_run_on_the_roadmap_is_not_disturbed_and_other_changes_are_not_committed(project: Deployed) -> None:
    number = suffer(project, ("POST", "/part"))
    before = project.roadmap.read_bytes()
    with Project.find(project.roadmap).lock("f00d"), pytest.raises(CommitRefused, match="run f00d is already"):
        add(project, number)
    project.roadmap.write_bytes(before + b"\r\nMore.")
    with pytest.raises(CommitRefused, match="has changes that are not committed"):
        add(project, number)
    assert project.roadmap.read_bytes() == before + b"\r\nMore."
    assert not (project.place.top / "tests").exists()


def test_a_roadmap_of_another_kind_is_left_alone(project: Deployed) -> None:
    number = suffer(project, ("POST", "/part"))
    project.roadmap.write_text("# Parts\n\n- ✅ Sell parts\n- 🚧 Buy parts\n")
    with pytest.raises(EditRefused, match="of the kind emoji"):
        add(project, number)


def test_the_watcher_tells_the_command_and_adds_the_task_itself_where_it_may(project: Deployed) -> None:
    number = suffer(project, ("POST", "/part"))

    def told(said: str) -> bool:
        seen: list[Sight] = []

        def goes_on(sight: Sight) -> bool:
            seen.append(sight)
            return said not in sight.task and len(seen) < MOST_LOOKS

        follow(project.roadmap, "local", "dev", "auto", goes_on)
        return said in seen[-1].task

    assert told(f"milepost incidents local --env dev --task {number}")
    assert "INC-1" not in project.roadmap.read_text()
    project.place.write("milepost.toml", SETTINGS + '[watch]\nincident_task = "add"\ninterval_s = 0.2\n')
    consent.agree_for_this_process(project.place.top / "milepost.toml", wanted_by(project.place.top))
    assert told(f"incident {number} is task INC-1 of the roadmap")
    assert [task.id for task in read(project.roadmap.read_bytes()).tasks] == ["1.1", "INC-1"]


def test_a_release_that_its_deploy_took_back_is_an_incident_and_one_taken_back_by_hand_is_none(tmp_path: Path) -> None:
    with deployed(tmp_path, SHOP) as project:
        project.deploy("one")
        with Users(project.port) as users:
            users.until(lambda: users.count("GET") > 5)
            project.deploy("two", "errors")
        project.deploy("three")
        project.rollback()
        assert project.stages() == {1: "live", 2: "rolled back", 3: "rolled back"}
        for _ in range(2):
            with kept(project.roadmap, "local", "dev") as (_, healing, _):
                (incident,) = healing.incidents()
        assert (incident.release, incident.taken_back) == (2, True)
        assert [said.split()[0] for _, said in incident.timeline][-2:] == ["rolling", "rolled"]
        made = add(project, incident.number)
        assert "GET /work" in (project.place.top / made.page).read_text()
