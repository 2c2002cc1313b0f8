"""Changes that only pretend to do the task of a small project: none lands, and the honest change after them does.

Of each project a few are told; with `MILEPOST_ALL_TESTS=1` all, and those that are known to be believed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import lean, tools
from tests.e2e.conftest import Sandbox, make_machine
from tests.exercises.changes import SCENES
from tests.exercises.changes.scene import Files, Scene
from tests.slow import ALL, sampled

LONGEST_RUN_S = 1800
SETTINGS = '[run]\nparallel = 1\n\n[limits]\nattempts = 1\n\n[verify]\npython = "{python}"\n'
WRITE = """\
import json, pathlib, sys

for name, text in json.loads(pathlib.Path(sys.argv[1]).read_text())[sys.argv[2]].items():
    place = pathlib.Path(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
print("All done.")
"""
BELIEVED = [(scene, name) for scene in SCENES for name in scene.believed]
Record = Callable[[str, object], None]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path does not speak of tests, as those of pytest do."""
    with tempfile.TemporaryDirectory(prefix="milepost-") as place:
        yield Path(place)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_no_change_that_pretends_lands_and_the_honest_one_after_them_does(
    folder: Path, scene: Scene, record_property: Record
) -> None:
    told = {name: scene.lies[name] for name in sampled(tuple(scene.lies), 3)}
    tasks = run(folder, scene, {**told, "done": scene.done})
    honest = tasks.pop("done")
    done = [name for name, task in tasks.items() if task["verdict"] == "passed"]
    record_property("lies", [scene.name, len(tasks), done])
    assert done == []
    assert honest["verdict"] == "passed", honest["reason"]


@pytest.mark.skipif(not ALL, reason="takes long: MILEPOST_ALL_TESTS=1")
@pytest.mark.xfail(reason="believed where no hidden or independent test is there", strict=True)
@pytest.mark.parametrize(("scene", "name"), BELIEVED, ids=[name for _, name in BELIEVED])
def test_a_change_that_is_known_to_be_believed(folder: Path, scene: Scene, name: str) -> None:
    assert run(folder, scene, {name: scene.believed[name]})[name]["verdict"] != "passed"


def run(folder: Path, scene: Scene, changes: Mapping[str, Files]) -> dict[str, dict[str, Any]]:
    """What becomes of a task for each change, in a repository of its own, where an agent writes just these files."""
    tools.need(*scene.programs)
    machine = make_machine(folder)
    for path, text in scene.files.items():
        machine.write(path, text)
    machine.write("milepost.toml", SETTINGS.format(python=sys.executable if scene.own_python else lean.python()))
    writer, files = folder / "agent" / "write.py", folder / "agent" / "files.json"
    writer.write_text(WRITE)
    files.write_text(json.dumps({name: dict(change) for name, change in changes.items()}))
    tasks = (
        f"- [ ] 1.{number} {scene.title}\n  - Verify: {scene.verify}\n"
        f"  - Agent: command:{sys.executable} {writer} {files} {name}\n"
        for number, name in enumerate(changes, 1)
    )
    machine.roadmap(f"# {scene.name}\n\n" + "".join(tasks))
    with machine.start("run", "--json", PATH=path_of(scene, machine)) as process:
        stdout, stderr = process.communicate(timeout=LONGEST_RUN_S)
    assert process.returncode in (0, 1), stderr
    events = [json.loads(line) for line in stdout.splitlines()]
    claimed = {event["task"] for event in events if event["event"] == "agent_said" and "All done" in event["text"]}
    assert len(claimed) == len(changes), stdout[-2000:]
    ended = {task["id"]: task for task in events[-1]["tasks"]}
    return {name: ended[f"1.{number}"] for number, name in enumerate(changes, 1)}


def path_of(scene: Scene, machine: Sandbox) -> str:
    """The search path of programs; rustup's own choose nothing where the home is another."""
    path = machine.environment["PATH"]
    if "cargo" not in scene.programs:
        return path
    asked = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True)
    return f"{asked.stdout.strip()}/bin{os.pathsep}{path}"
