"""Releases on the local target, with real processes and a real Envoy, while users ask."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from milepost.core.errors import EngineBusy, Misuse
from milepost.engine.deploys.place import Place as MilepostPlace
from milepost.engine.project.project import Project
from milepost.events import open_stream
from milepost.ship.local.processes import born
from milepost.web import read_routes
from milepost.web.page_facts import PageFacts
from tests.deploying import APPLICATION, SETTINGS, Deployed, Users, deployed, needs_envoy

pytestmark = needs_envoy

# Starts the application without the mark of the instance, and ends it after a while.
STRANGER = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
command = [sys.executable, "-I", "-S", "server.py"]
stranger = subprocess.Popen(command, env={"PORT": os.environ["PORT"]}, start_new_session=True)
try:
    time.sleep(60)
except BaseException:
    pass
finally:
    stranger.kill()
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Deployed]:
    with deployed(tmp_path) as project:
        yield project


def test_no_get_fails_whatever_becomes_of_a_release(project: Deployed) -> None:
    project.deploy("one")
    with Users(project.port) as users:
        good = project.deploy("two")
        rejected = project.deploy("three", "never")
        dying = project.deploy("four", "dies")
        faulty = project.deploy("five", "errors")
        best = project.deploy("six")
        project.rollback()
        victim = project.pid_of("proxy.a")
        assert victim
        os.kill(victim, signal.SIGKILL)
        users.until(lambda: project.pid_of("proxy.a") not in (None, victim))
        project.target()._proxy.wait()
        more = users.count("GET") + 30
        users.until(lambda: users.count("GET") > more)

    assert users.failed("GET") == {}
    assert [str(one.stage) for one in (good, rejected, dying, faulty, best)] == [
        *("live", "rejected", "rolled back", "rolled back", "live")
    ]
    assert "it cannot be configured" in rejected.said
    assert "ended" in dying.said
    assert "requests failed" in faulty.said
    assert project.stages() == {
        1: "retired",
        2: "live",
        3: "rejected",
        4: "rolled back",
        5: "rolled back",
        6: "rolled back",
    }
    assert project.ask() == (200, "two")
    assert project.shown() == ("2",)
    assert sorted(project.running()) == ["2.0", "2.1", "proxy.a", "proxy.b"]


def test_a_dead_instance_is_started_again_and_a_dead_keeper_loses_none(project: Deployed) -> None:
    project.deploy("one")
    target = project.target()
    keeper, instance = target._keeping.keeper, project.pid_of("1.0")
    assert keeper and instance
    os.kill(keeper.pid, signal.SIGKILL)
    os.kill(instance, signal.SIGKILL)
    assert project.ask() == (200, "one")
    project.deploy()  # the same commit: nothing new, and what should run does
    assert project.stages() == {1: "live"}
    assert project.running() == dict.fromkeys(("proxy.a", "proxy.b", "1.0", "1.1"), 1)
    assert project.pid_of("1.0") != instance
    assert project.pid_of("1.1") != instance


def test_the_page_is_told_what_is_where_how_it_is_and_what_happened(project: Deployed) -> None:
    with open_stream(project.roadmap) as stream:
        site = PageFacts(roadmap=project.roadmap, stream=stream)
        page = TestClient(Starlette(routes=read_routes.routes(site)))
        assert page.get("/api/releases").json() == {"places": [], "moves": []}
        project.deploy("one")
        project.deploy("two", "never")
        found = page.get("/api/releases").json()
    (place,) = found["places"]
    assert (place["target"], place["environment"], place["traffic"], place["healthy"]) == ("local", "dev", 1, True)
    assert [(one["release"], one["stage"]) for one in place["releases"]] == [(2, "rejected"), (1, "live")]
    told = [(move["release"], move["stage"]) for move in found["moves"]]
    assert told[0] == (2, "rejected") and told[-1] == (1, "building")


def test_two_deploys_to_one_target_do_not_meet(project: Deployed) -> None:
    place = MilepostPlace(project=Project.find(project.roadmap), target="local", environment="dev")
    with (
        place.held(),
        pytest.raises(EngineBusy, match=rf"another deploy to local \(dev\) is in progress \(pid {os.getpid()}"),
    ):
        project.deploy("one")
    assert project.running() == {}


def test_what_was_stopped_long_ago_can_be_gone_back_to(project: Deployed) -> None:
    for name in ("one", "two", "three"):
        project.deploy(name)
    assert "1.0" not in project.running()
    project.rollback(to=1)
    assert project.ask() == (200, "one")
    assert project.stages() == {1: "live", 2: "retired", 3: "rolled back"}
    with pytest.raises(Misuse, match="no release was live before 1"):
        project.rollback()


def test_a_first_release_that_is_rejected_leaves_nothing_running(project: Deployed) -> None:
    assert project.deploy("one", "never").stage == "rejected"
    assert project.running() == {}
    project.deploy("two")
    assert project.ask() == (200, "two")


def test_instances_come_and_go_and_are_exchanged(project: Deployed) -> None:
    project.deploy("one")
    with Users(project.port, posts=3) as users:
        target = project.target()
        target.scale(3)
        assert project.running()["1.2"] == 1
        target.scale(1)
        before = project.pid_of("1.0")
        target.restart()
        assert before and born(before) is None
    assert users.failed("GET") == users.failed("POST") == {}
    assert sum(project.running().values()) == 3
    target.scale(0)
    assert project.running() == {}
    project.deploy()
    assert project.ask() == (200, "one")


def test_a_port_that_somebody_else_has_is_told_with_who(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with deployed(tmp_path, f"{SETTINGS}port = {port}\n") as project:
            record = project.deploy("one")
            assert record.stage == "rejected"
            assert f"port {port} is taken by" in record.said
            assert f"pid {os.getpid()}" in record.said
            assert project.running() == {}


def test_a_wrong_health_path_rejects_at_once(tmp_path: Path) -> None:
    with deployed(tmp_path, f'{SETTINGS}health_path = "/health"\n') as project:
        project.place.write("app.py", APPLICATION.replace("500 if failed", "404 if self.path == '/health'"))
        record = project.deploy("one")
        assert record.stage == "rejected"
        assert "answered GET /health with 404" in record.said


def test_an_answer_of_another_program_is_not_taken_for_health(tmp_path: Path) -> None:
    """The application ends in a process of its own that nobody knows to be its: the port is not ours."""
    with deployed(tmp_path, SETTINGS.replace("[2]", "[1]")) as project:
        project.place.write("server.py", APPLICATION)
        project.place.write("app.py", STRANGER)
        record = project.deploy("one")
        assert record.stage == "rejected"
        assert "another program answers on port" in record.said


def test_secrets_reach_the_application_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIS_TOKEN", "a-secret-that-is-nowhere")
    settings = f'{SETTINGS}secrets = {{ TOKEN = "HIS_TOKEN" }}\n'
    with deployed(tmp_path, settings) as project:
        app = APPLICATION.replace("body = name", "body = os.environ['TOKEN']")
        project.place.write("app.py", app.replace('print("listens"', 'print("with", os.environ["TOKEN"]'))
        project.deploy("one")
        assert project.ask() == (200, "a-secret-that-is-nowhere")
        written = [path for path in (tmp_path / "home/project/.git/milepost").rglob("*") if path.is_file()]
        logs = project.folder / "logs"
        assert not [path for path in written if b"a-secret-that" in path.read_bytes() and path.parent != logs]
        assert "with" in project.logs()
        assert "a-secret-that" not in project.logs()
        monkeypatch.delenv("HIS_TOKEN")
        record = project.deploy("two")
        assert record.stage == "rejected"
        assert "variable HIS_TOKEN is not set here" in record.said
