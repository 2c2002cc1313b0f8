"""The contract of the Agent port, held by every agent that ships."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.names import agent_named
from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.ports import Agent, Terminal, Tools
from milepost.sandbox.terminal import WalledTerminal

MODULE = (("name", "created"), ("kind", "utility"))


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as terminal:
        yield terminal


@dataclass
class Stage:
    """A workspace with one file in it, beside a folder that no agent may change."""

    folder: Path
    terminal: Terminal
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = Workspace(folder=self.folder / "workspace", scratch=self.folder / "scratch", base="0" * 40)
        self.workspace.folder.mkdir()
        (self.workspace.folder / "existing.py").write_text("old = 1\n")
        (self.folder / "outside").mkdir()
        (self.folder / "outside" / "secret.txt").write_text("secret")
        self.assignment = Assignment(run="r1", task="1.1", title="Create", text="a … file", attempt=1)

    def command(self, script: str) -> Agent:
        return agent_named(f"command:sh -c {shlex.quote(script)}", folder=self.folder)

    def replay(self, *answers: dict[str, Any]) -> Agent:
        tape = {"version": 1, "answers": {"1.1": [answers]}}
        (self.folder / "tape.json").write_text(json.dumps(tape))
        return agent_named("replay:tape.json", folder=self.folder)

    def act(
        self,
        agent: Agent,
        *,
        inputs: tuple[tuple[str, str], ...] = MODULE,
        timeout_s: float = 60,
        idle_timeout_s: float | None = None,
    ) -> Outcome:
        tools = Tools(terminal=self.terminal, say=self.said.append, timeout_s=timeout_s, idle_timeout_s=idle_timeout_s)
        return agent.act(replace(self.assignment, inputs=inputs), self.workspace, tools)

    def text(self, name: str) -> str:
        return (self.workspace.folder / name).read_text()


@pytest.fixture
def stage(tmp_path: Path, terminal: Terminal) -> Stage:
    return Stage(tmp_path, terminal)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def creating(kind: str, stage: Stage) -> Agent:
    match kind:
        case "command":
            return stage.command("echo 'new = 1' > created.py && echo writing created.py")
        case "replay":
            return stage.replay(call("write_file", path="created.py", content="new = 1\n"), {"text": "Done."})
        case _:
            return agent_named("pattern:module_creation", folder=stage.folder)


@pytest.mark.parametrize("kind", ["command", "replay", "pattern"])
def test_an_agent_creates_a_file_says_so_and_finishes(kind: str, stage: Stage) -> None:
    outcome = stage.act(creating(kind, stage))

    assert outcome.status == "finished"
    assert stage.text("created.py")
    assert any("created.py" in line for line in stage.said)
    assert stage.text("existing.py") == "old = 1\n"


@pytest.mark.parametrize("kind", ["command", "replay"])
def test_an_agent_edits_a_file(kind: str, stage: Stage) -> None:
    agent = (
        stage.command("sed -i s/old/new/ existing.py")
        if kind == "command"
        else stage.replay(call("edit_file", path="existing.py", old="old", new="new"), {"text": "Done."})
    )

    assert stage.act(agent).status == "finished"
    assert stage.text("existing.py") == "new = 1\n"


@pytest.mark.parametrize("kind", ["command", "replay"])
def test_an_agent_that_takes_too_long_is_ended(kind: str, stage: Stage) -> None:
    agent = (
        stage.command("sleep 300; touch late.py")
        if kind == "command"
        else stage.replay(call("execute", argv=["sleep", "300"]), call("write_file", path="late.py", content=""), {})
    )

    started = time.monotonic()
    outcome = stage.act(agent, timeout_s=0.5)

    assert outcome.status == "timed_out"
    assert time.monotonic() - started < 60
    assert not (stage.workspace.folder / "late.py").exists()


def escaping(kind: str, stage: Stage) -> Agent:
    target = stage.folder / "outside" / "secret.txt"
    match kind:
        case "command":
            return stage.command(f"echo trying; echo broken > {target}; ln -s {target} l; echo broken > l; rm {target}")
        case "replay":
            return stage.replay(
                call("execute", argv=["ln", "-s", str(target.parent), "link"]),
                call("write_file", path="link/secret.txt", content="broken"),
                call("write_file", path="../outside/secret.txt", content="broken"),
                call("delete", path=str(target)),
                call("execute", argv=["rm", "-f", str(target)]),
                {"text": "Done."},
            )
        case _:
            (stage.workspace.folder / "tests").symlink_to(target.parent)
            return agent_named("pattern:module_creation", folder=stage.folder)


@pytest.mark.parametrize("kind", ["command", "replay", "pattern"])
def test_an_agent_cannot_leave_the_workspace(kind: str, stage: Stage) -> None:
    stage.act(escaping(kind, stage))

    outside = stage.folder / "outside"
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("secret.txt", "secret")]
    assert stage.said


@pytest.mark.parametrize("kind", ["command", "replay", "pattern"])
def test_an_agent_that_cannot_do_it_gives_up_and_says_why(kind: str, stage: Stage) -> None:
    match kind:
        case "command":
            outcome = stage.act(stage.command("echo 'All done.'; echo 'no idea how' >&2; exit 1"))
        case "replay":
            outcome = stage.act(stage.replay(call("give_up", reason="no idea how")))
        case _:
            agent = agent_named("pattern:module_creation", folder=stage.folder)
            outcome = stage.act(agent, inputs=(("name", "no idea how"), ("kind", "poem")))
            assert "'poem'" in outcome.said

    assert outcome.status == "gave_up"
    assert "no idea how" in outcome.said


def test_a_pattern_takes_no_input_twice(stage: Stage) -> None:
    agent = agent_named("pattern:module_creation", folder=stage.folder)

    outcome = stage.act(agent, inputs=(*MODULE, ("kind", "cli")))

    assert outcome == Outcome(status="gave_up", said="given more than once: kind")
    assert not (stage.workspace.folder / "created.py").exists()


def test_a_command_reads_its_prompt_its_assignment_and_what_lies_beside_it(stage: Stage) -> None:
    tools = stage.folder / "tools"
    tools.mkdir()
    (tools / "answer.txt").write_text("from beside")
    script = tools / "agent.sh"
    script.write_text(
        "#!/bin/sh\n"
        "set -e\n"
        "cat > prompt.txt\n"
        'cp "$MILEPOST_ASSIGNMENT" assignment.json\n'
        'cp "$(dirname "$0")/answer.txt" .\n'
    )
    script.chmod(0o755)

    outcome = stage.act(agent_named("command:./tools/agent.sh", folder=stage.folder))

    assert outcome.status == "finished", outcome.said
    assert stage.text("prompt.txt") == prompt_for(stage.assignment)
    assert json.loads(stage.text("assignment.json"))["text"] == "a … file"
    assert stage.text("answer.txt") == "from beside"


def test_a_command_may_commit_in_its_own_checkout(stage: Stage) -> None:
    git = ["git", "-C", str(stage.workspace.folder)]
    subprocess.run([*git, "init", "--quiet"], check=True)

    outcome = stage.act(stage.command("git add -A && git commit --quiet --message work"))

    assert outcome.status == "finished", outcome.said
    author = subprocess.run([*git, "log", "--format=%an <%ae>"], check=True, capture_output=True, text=True).stdout
    assert author == "Milepost agent <agent@milepost.invalid>\n"


def test_a_command_that_says_nothing_for_too_long_is_ended(stage: Stage) -> None:
    outcome = stage.act(stage.command("echo one; sleep 300"), idle_timeout_s=1)

    assert outcome.status == "timed_out"
    assert stage.said == ["one"]


def test_a_command_whose_program_went_away_gives_up_and_says_so(stage: Stage) -> None:
    script = stage.folder / "agent.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    agent = agent_named("command:./agent.sh", folder=stage.folder)
    script.unlink()

    outcome = stage.act(agent)

    assert outcome.status == "gave_up"
    assert outcome.said.startswith("not found: ") and outcome.said.endswith("agent.sh")
