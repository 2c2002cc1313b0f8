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
def test_the_demonstration_takes_a_bad_release_back_while_users_ask(tmp_path: Path) -> None:
    machine = Sandbox(home=tmp_path, repo=tmp_path, agent="")
    place = tmp_path / "demo"
    done = machine.milepost("demo", "--ship", str(place))
    assert done.code == 0, done.stdout + done.stderr
    assert "is not proven: answers.py changed after the last milepost" in done.stdout
    assert "release 2 was rolled back: " in done.stdout
    assert re.search(r"what the users saw: [1-9]\d+ requests, 0 failed\n", done.stdout)
    kept = Sandbox(home=tmp_path, repo=place, agent="").milepost("releases", "local", "--json").json
    assert [(one["release"], one["stage"], one["proof"] is None) for one in kept] == [
        *((2, "rolled back", True), (1, "live", False))
    ]
    wanted = read_wanted(places.state(place) / "targets/local/dev")
    assert wanted is not None and not list(carrying(wanted.mark)), "nothing of it runs on"
