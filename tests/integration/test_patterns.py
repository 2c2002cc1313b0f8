"""Patterns in a real repository and behind real walls."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from milepost.agents.patterns.agent import PatternAgent, execute
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.registry import pattern_named
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Call, Reply
from milepost.core.ports import Logbook, Terminal, Tools, Unrecorded
from milepost.engine.agents.patterns import pattern_setup
from milepost.sandbox.terminal import WalledTerminal


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as terminal:
        yield terminal


@dataclass
class Project:
    """A repository that an attempt works in."""

    folder: Path
    terminal: Terminal
    logbook: Logbook = field(default_factory=Unrecorded)
    said: list[str] = field(default_factory=list)

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        return subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def commit(self, message: str = "Work") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def act(self, name: str, *, seconds: float = 60, **inputs: str) -> Outcome:
        agent = PatternAgent(pattern_named(name, self.folder, pattern_setup()))
        tools = Tools(terminal=self.terminal, say=self.said.append, timeout_s=seconds, logbook=self.logbook)
        assignment = Assignment(run="r", task="1", title="", text="", attempt=1, inputs=tuple(inputs.items()))
        workspace = Workspace(folder=self.folder, scratch=self.folder.parent / "scratch", base="")
        return agent.act(assignment, workspace, tools)


@pytest.fixture
def project(tmp_path: Path, terminal: Terminal) -> Project:
    made = Project(tmp_path / "project", terminal)
    made.folder.mkdir()
    (tmp_path / "scratch").mkdir()
    made.git("init", "--quiet", "--initial-branch=main")
    return made


def test_a_version_goes_up_from_what_is_committed_and_only_once(project: Project) -> None:
    project.write("x.py", '__version__ = "1.2.3"\n')
    project.commit()

    assert project.act("bump_version", part="patch").said == ("version 1.2.3 → 1.2.4\nbump_version wrote x.py")
    assert project.act("bump_version", part="patch").said.endswith("bump_version wrote nothing new")
    assert project.git("diff", "--stat").count("x.py") == 1
    project.commit()
    project.act("bump_version", part="patch")
    assert (project.folder / "x.py").read_text() == '__version__ = "1.2.5"\n'


def test_what_of_a_roadmap_is_verified_is_told_by_the_history(project: Project) -> None:
    project.write(
        "ROADMAP.md",
        "- [x] 1.1 First\n  - Files: a.py\n- [ ] 1.2 Second\n  - Files: b.py\n- [ ] 1.3 Third\n  - Files: c.py\n"
        "- [x] 1.4 Fourth\n",
    )
    project.write("a.py", "a = 1\n")
    project.write("b.py", "def b():\n    raise NotImplementedError\n")
    trailers = "Milepost-Task: {}\nMilepost-Run: 7f3a\nMilepost-Verdict: passed\nMilepost-Roadmap: ROADMAP.md\n"
    first = project.commit("1.1: First\n\n" + trailers.format("1.1"))
    fourth = project.commit("1.4: Fourth\n\n" + trailers.format("1.4"))
    project.commit(f"Take 1.4 back\n\nMilepost-Undo: {fourth}\nMilepost-Run: 7f3a\n")

    outcome = project.act("implementation_status")

    assert outcome.status == "finished", outcome.said
    told = json.loads((project.folder / "docs/status.json").read_text())["tasks"]
    assert [(task["id"], task["status"]) for task in told] == [
        ("1.1", "verified"), ("1.2", "stubbed"), ("1.3", "planned"), ("1.4", "implemented"),
    ]  # fmt: skip
    assert first[:12] in told[0]["evidence"]


def test_a_command_is_run_in_the_sandbox_and_its_exit_code_decides(project: Project) -> None:
    (project.folder.parent / "secret").write_text("secret")
    done = project.act(
        "run_command", command="sh -c 'echo made > made.txt; echo printed; cat ../secret || true'", output="log.txt"
    )

    assert done.status == "finished", done.said
    assert done.enforced
    assert (project.folder / "made.txt").read_text() == "made\n"
    assert (project.folder / "log.txt").read_text() == "printed\n"
    failed = project.act("run_command", command="sh -c 'echo All done.; echo no >&2; exit 3'")
    assert (failed.status, failed.said) == (
        "gave_up", "sh -c 'echo All done.; echo no >&2; exit 3': exit 3\nAll done.\nno",
    )  # fmt: skip
    assert project.act("run_command", command="sh -c 'exit 3'", expect="3").status == "finished"
    assert "not found: no-such-program" in project.act("run_command", command="no-such-program").said
    outside = project.act("run_command", command=f"touch {project.folder.parent}/out")
    assert outside.status == "gave_up" and not (project.folder.parent / "out").exists()


def test_a_command_that_takes_too_long_is_ended(project: Project) -> None:
    assert project.act("run_command", seconds=0.5, command="sleep 300").status == "timed_out"
    outcome = project.act("run_command", command="sh -c 'sleep 300 & sleep 300'", timeout_s="1")
    assert outcome.status == "timed_out", outcome.said


class Answered:
    """A logbook of an attempt that was cut short after its command had been run."""

    session = ""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.made = 0

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        if call.request not in self.replies:
            self.made += 1
            self.replies[call.request] = Reply(body=json.loads(json.dumps(make().body)))
        return self.replies[call.request]

    def note_session(self, session: str) -> None:
        raise AssertionError("a pattern has no sessions")


class Vetoed(Answered):
    """A logbook where nothing that is run is allowed."""

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        assert call.argv == ("rm", "-rf", ".")
        return Reply(refused="it removes everything", failed=True)


def test_a_command_that_was_run_before_a_crash_is_not_run_again(project: Project) -> None:
    book = project.logbook = Answered()
    command = "sh -c 'echo once >> count.txt; echo printed'"

    first = project.act("run_command", command=command, output="log.txt")
    second = project.act("run_command", command=command, output="log.txt")

    assert (first.status, second.status, book.made) == ("finished", "finished", 1)
    assert (project.folder / "count.txt").read_text() == "once\n"
    assert (project.folder / "log.txt").read_text() == "printed\n"
    assert first.enforced == second.enforced


def test_a_command_that_is_not_allowed_is_not_run(project: Project) -> None:
    project.logbook = Vetoed()

    outcome = project.act("run_command", command="rm -rf .")

    assert outcome.status == "gave_up" and "rm was not allowed: it removes everything" in outcome.said
    assert (project.folder / ".git").exists()


def test_a_diff_is_one_that_git_applies(project: Project) -> None:
    project.write("pyproject.toml", '[project]\nname = "x"\nversion = "1.0.0"')
    project.write("x/__init__.py", "__version__ = '1.0.0'\n")
    project.write("CHANGELOG.md", "## Unreleased\n\n- All.\n")
    dry = PendingChanges(project.folder, dry=True)
    execute(pattern_named("bump_version"), {"version": "2.0.0"}, dry)
    execute(pattern_named("config_setup"), {"settings": "port: integer = 1"}, dry)

    done = subprocess.run(["git", "apply", "-"], cwd=project.folder, input=dry.diff(), text=True, capture_output=True)

    assert done.returncode == 0, done.stderr
    for name, inputs in (("bump_version", {"version": "2.0.0"}), ("config_setup", {"settings": "port: integer = 1"})):
        site = PendingChanges(project.folder)
        execute(pattern_named(name), inputs, site)
        assert site.written == [], name
