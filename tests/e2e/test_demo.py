"""`milepost demo`: the whole story, with no key and no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from milepost.ship.local.processes import carrying
from milepost.ship.local.wanted import read_wanted
from tests import lean, places
from tests.deploying import needs_envoy
from tests.e2e.conftest import Sandbox


def test_the_demonstration_shows_every_ending_a_task_can_have(tmp_path: Path) -> None:
    env = {"PATH": f"{lean.python().parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "COLUMNS": "100"}
    place = tmp_path / "demo"
    others = {"MILEPOST_AGENT": "command:false", "MILEPOST_PARALLEL": "many", "MILEPOST_TRUST": "blind"}
    done = subprocess.run(
        [sys.executable, "-m", "milepost", "demo", str(place)],
        env=env | others,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    machine = Sandbox(home=tmp_path, repo=place, agent="")
    assert sorted(machine.mileposts()) == ["1.1", "1.2", "1.3", "2.1", "2.2"]
    boxes = [line[:9] for line in (place / "ROADMAP.md").read_text().splitlines() if line.startswith("- [")]
    assert boxes == ["- [x] 1.1", "- [x] 1.2", "- [x] 1.3", "- [x] 2.1", "- [x] 2.2", "- [ ] 2.3"]
    repaired = machine.milepost("proof", "1.1").stdout
    assert "attempt 2 of 2" in repaired and "test_hours" in repaired
    assert machine.milepost("proof", "1.3", "--json").json["verdict"] == "passed", "the pattern's own tests decide"
    assert machine.milepost("proof", "2.3", "--json").json["verdict"] == "held"
    for shown in ("the history: one commit per task", "a box is ticked only with proof", f"cd {place}\n"):
        assert shown in done.stdout
    again = subprocess.run(
        [sys.executable, "-m", "milepost", "demo", str(place)], env=env, capture_output=True, text=True
    )
    assert (again.returncode, "is not empty" in again.stderr) == (2, True)


@needs_envoy
def test_the_demonstration_goes_from_a_task_to_users_and_from_an_incident_back_to_a_task(tmp_path: Path) -> None:
    machine = Sandbox(home=tmp_path, repo=tmp_path, agent="")
    place = tmp_path / "demo"
    done = machine.milepost("demo", "--ship", str(place))
    assert done.code == 0, done.stdout + done.stderr
    assert "is not proven: answers.py changed after the last milepost" in done.stdout
    assert re.search(r"roll back 2: .* +helped\n", done.stdout)
    assert re.search(r"release 2 is rolled back .*release 1 is live again.*\nrelease 3 is live\n", done.stdout)
    assert re.search(r"what the users saw: [1-9]\d+ requests, 0 failed\n", done.stdout)
    shop = Sandbox(home=tmp_path, repo=place, agent="")
    kept = shop.milepost("releases", "local", "--json").json
    assert [(one["release"], one["stage"], one["proof"] is None) for one in kept] == [
        *((3, "live", False), (2, "rolled back", True), (1, "retired", False))
    ]
    (incident,) = shop.milepost("incidents", "local", "--json").json
    assert incident["task"] == "INC-1"
    (task,) = [one for one in shop.milepost("plan", "--json").json["tasks"] if one["id"] == "INC-1"]
    (test,) = (place / "tests/incidents").glob("*-local-dev-1.py")
    assert (task["status"], task["verify"]) == ("done", [f"python3 tests/incidents/{test.name}"])
    assert sorted(shop.mileposts()) == ["1.1", "INC-1"]
    (check,) = [one for one in shop.milepost("proof", "INC-1", "--json").json["checks"] if one["name"] == "verify"]
    assert (check["before"], check["outcome"]) == ("failed", "passed"), (
        "it was red before the work, and is green with it"
    )
    wanted = read_wanted(places.state(place) / "targets/local/dev")
    assert wanted is not None and not list(carrying(wanted.mark)), "nothing of it runs on"
