"""Tasks done by patterns: from the roadmap to mileposts, with no model anywhere."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import Answer, Sandbox
from tests.tools import needs

MODULES = r"""
- [ ] 1.1 A module for areas
  - Pattern: module_creation name=areas description="Areas of shapes." functions="area(width: float, height: float) -> float = width * height" examples="area(2, 3) == 6"
- [ ] 1.2 A program that greets
  - Depends on: 1.1
  - Pattern: module_creation name=greeter kind=cli functions='greet(name: str) -> str = "Hello, " + name' examples='greet("Ada") == "Hello, Ada"' license=MIT holder=Ada year=2026
- [ ] 1.3 A service that counts
  - Depends on: 1.2
  - Pattern: module_creation name=counter kind=api functions='following(count: int) -> int = count + 1' examples='following(3) == 4'
- [ ] 1.4 Settings of the program
  - Depends on: 1.3
  - Pattern: config_setup name=greeter settings='port: integer (1..65535) = 8080; level: quiet|loud = quiet'
- [ ] 1.5 Name it better
  - Depends on: 1.4
  - Pattern: rename_symbol old=area new=area_of
  - Tests: may change
  - Verify: python3 -c 'import areas; assert areas.area_of(2, 3) == 6'
- [ ] 1.6 The first release
  - Depends on: 1.5
  - Pattern: bump_version part=minor
  - Verify: python3 -c 'import areas; assert areas.__version__ == "0.2.0"'
- [ ] 1.7 What runs by itself
  - Depends on: 1.6
  - Pattern: automation_enabled_status
  - Verify: python3 -m json.tool docs/automation.json
- [ ] 1.8 A list of the files
  - Depends on: 1.7
  - Pattern: run_command command="ls areas" output=files.txt
  - Verify: grep -q __init__.py files.txt
"""  # noqa: E501

SCRIPTS = r"""
- [ ] 1.1 A module for areas
  - Pattern: module_creation language=javascript name=areas functions="area(width: number, height: number) -> number = width * height" examples="area(2, 3) == 6"
- [ ] 1.2 A program that greets
  - Depends on: 1.1
  - Pattern: module_creation language=javascript name=greeter kind=cli functions='greet(name: string) -> string = `Hello, ${name}`' examples='greet("Ada") == "Hello, Ada"'
- [ ] 1.3 A service that counts
  - Depends on: 1.2
  - Pattern: module_creation language=javascript name=counter kind=api functions='following(count: int) -> int = count + 1' examples='following(3) == 4'
"""  # noqa: E501


def landed(machine: Sandbox, answer: Answer) -> list[str]:
    assert answer.code == 0, answer.stderr + machine.milepost("log").stdout
    assert machine.git("status", "--porcelain") == ""
    return machine.mileposts()


def test_a_roadmap_of_patterns_runs_to_its_mileposts(sandbox: Sandbox) -> None:
    sandbox.roadmap(MODULES)

    answer = sandbox.milepost("run", "--json")

    assert landed(sandbox, answer) == [f"1.{number}" for number in range(1, 9)]
    assert answer.events[-1].get("cost_usd", 0) == 0
    proofs = {task: sandbox.milepost("proof", task, "--json").json for task in ("1.1", "1.3", "1.5")}
    assert {proof["verdict"] for proof in proofs.values()} == {"passed"}
    assert "from areas import" not in (sandbox.repo / "examples/areas_example.py").read_text()
    assert "areas.area_of(2, 3)" in (sandbox.repo / "examples/areas_example.py").read_text()
    assert sandbox.git("show", "HEAD:files.txt").splitlines() == ["__init__.py", "py.typed"]


@needs("node")
def test_modules_of_javascript_pass_the_verification_of_a_run(sandbox: Sandbox) -> None:
    sandbox.roadmap(SCRIPTS)

    assert landed(sandbox, sandbox.milepost("run", "--json")) == ["1.1", "1.2", "1.3"]


def test_a_pattern_that_cannot_do_its_task_ends_it_with_the_reason(sandbox: Sandbox) -> None:
    sandbox.write("areas.py", "mine = 1\n")
    sandbox.roadmap(
        "- [ ] 1.1 A module\n  - Pattern: module_creation name=areas\n"
        "- [ ] 1.2 A command\n  - Pattern: run_command command='sh -c \"echo All done.; exit 1\"'\n"
    )

    answer = sandbox.milepost("run", "--json")

    assert (answer.code, sandbox.mileposts()) == (1, [])
    said = json.dumps(answer.events)
    assert "areas.py is there already and would be imported by the same name" in said
    assert "exit 1" in said


def own_pattern(machine: Sandbox, folder: str) -> None:
    schema = {
        "type": "object",
        "description": "A note about something.",
        "properties": {"topic": {"type": "string", "pattern": "^[a-z ]+$"}},
        "required": ["topic"],
    }
    machine.write(f"{folder}/note/schema.json", json.dumps(schema))
    machine.write(f"{folder}/note/templates/notes/{{{{ topic | kebab }}}}.md", "# {{ topic | title }}\n")


@pytest.mark.parametrize("folder", [".milepost/patterns", "tools/patterns"])
def test_a_pattern_of_the_project_does_a_task(folder: str, sandbox: Sandbox) -> None:
    own_pattern(sandbox, folder)
    if folder != ".milepost/patterns":
        sandbox.write("milepost.toml", f'[patterns]\nfolders = ["{folder}"]\n')
    sandbox.roadmap(
        "- [ ] 1.1 Note it\n  - Pattern: note topic='stop watches'\n  - Verify: grep -q Stop notes/stop-watches.md\n"
        "- [ ] 1.2 How far we are\n  - Depends on: 1.1\n  - Pattern: implementation_status\n"
        "  - Verify: python3 -m json.tool docs/status.json\n"
    )

    assert landed(sandbox, sandbox.milepost("run", "--json")) == ["1.1", "1.2"]
    assert sandbox.git("show", "HEAD:notes/stop-watches.md") == "# Stop Watches"
    told = json.loads(sandbox.git("show", "HEAD:docs/status.json"))["tasks"]
    assert [(task["id"], task["status"]) for task in told] == [("1.1", "verified"), ("1.2", "planned")]


def test_patterns_are_listed_shown_and_tried_out(sandbox: Sandbox) -> None:
    own_pattern(sandbox, ".milepost/patterns")
    sandbox.write(".milepost/patterns/broken/schema.json", "{")
    sandbox.write("x.py", '__version__ = "1.2.3"\n')
    sandbox.commit()

    listed = sandbox.milepost("patterns")
    assert listed.code == 0, listed.stderr
    assert "A note about something. (.milepost/patterns/note)" in listed.stdout
    assert "broken" in listed.stdout and "cannot be used" in listed.stdout
    names = [entry["name"] for entry in sandbox.milepost("patterns", "--json").json]
    assert names[:2] == ["module_creation", "config_setup"] and names[-2:] == ["broken", "note"]
    assert "topic  needed" in sandbox.milepost("patterns", "note").stdout
    shown = sandbox.milepost("patterns", "bump_version", "part=minor")
    assert (shown.code, '+__version__ = "1.3.0"' in shown.stdout) == (0, True), shown.stderr
    assert "nothing was written" in shown.stderr and sandbox.git("status", "--porcelain") == ""
    written = sandbox.milepost("patterns", "bump_version", "part=minor", "--write", "--json")
    assert written.json["written"] == ["x.py"]
    assert (sandbox.repo / "x.py").read_text() == '__version__ = "1.3.0"\n'
    assert "nothing would change" in sandbox.milepost("patterns", "bump_version", "part=minor").stderr


def test_a_pattern_that_runs_a_command_tells_so_and_runs_it_only_when_it_may_write(sandbox: Sandbox) -> None:
    touch = ("patterns", "run_command", "command=touch made.txt")
    shown = sandbox.milepost(*touch)
    assert (shown.code, (sandbox.repo / "made.txt").exists()) == (0, False)
    assert "would run: touch made.txt\nnothing was run or written; --write applies it\n" in shown.stderr

    done = sandbox.milepost(*touch, "--write")

    assert (done.code, (sandbox.repo / "made.txt").exists()) == (0, True)
    assert "ran touch made.txt; files changed by these commands are not listed here\n" in done.stderr
    assert "nothing" not in done.stderr
    noted = sandbox.milepost(*touch, "output=log.txt", "--write", "--json").json
    assert (noted["commands"], noted["written"]) == (["touch made.txt"], ["log.txt"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("fly",), "there is no pattern 'fly'"),
        (("fly", "a=b"), "there is no pattern 'fly'"),
        (("bump_version", "minor"), "'minor' is not an input"),
        (
            ("bump_version", "part=huge", "colour=red"),
            "colour is not known; known are part, version, date; part must be",
        ),
        (("bump_version", "part=minor", "part=major"), "given more than once: part"),
        (("bump_version", "--dry-run", "--write"), "exclude each other"),
    ],
)
def test_a_pattern_that_is_misused_says_what_to_do(words: tuple[str, ...], says: str, sandbox: Sandbox) -> None:
    answer = sandbox.milepost("patterns", *words)

    assert (answer.code, says in answer.stderr) == (2, True), answer.stderr
