"""The contract of the Agent port, held by every agent that ships and needs no program from outside."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.code_agent.agent import LIMITS, CodeAgent
from milepost.agents.models.model import Answer, Conversation, ToolCall
from milepost.agents.names import agent_named
from milepost.agents.prompt import prompt_for
from milepost.agents.tool_agent.agent import ToolAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.commands import Command, CommandResult, ExecutionLimits, Line, TrustLevel
from milepost.core.errors import BudgetSpent
from milepost.core.ports import Agent, Logbook, Stops, Terminal, Tools, Unrecorded, Unstopped
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.levels import open_executor
from milepost.sandbox.terminal import WalledTerminal

MODULE = (("name", "created"), ("kind", "utility"))
MARK = f"3219.{os.getpid()}"  # seconds that nothing else sleeps
EACH = Usage(input_tokens=10, output_tokens=2, cost_usd=0.25)

ALL = ("command", "replay", "tool", "code", "pattern")
WITH_MODEL = ("replay", "tool", "code")


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal(in_checkouts=True) as terminal:
        yield terminal


class Scripted:
    """A model that gives one answer after the other, and the last one for ever."""

    name = "scripted"
    price_known = True

    def __init__(self, *answers: Answer) -> None:
        self._answers = answers

    def most(self, conversation: Conversation) -> Usage:
        return EACH

    def answer(self, conversation: Conversation) -> Answer:
        return replace(self._answers[min(conversation.number, len(self._answers)) - 1], usage=EACH)


@dataclass(frozen=True, kw_only=True)
class Act:
    """The same thing done by a shell, by the calls of a model, by its code, and by a pattern with its inputs."""

    shell: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    code: str
    pattern: str = "run_command"
    inputs: tuple[tuple[str, str], ...] = ()


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

    def agent(self, kind: str, act: Act, *, max_steps: int = 20, ends: bool = True) -> Agent:
        """Whoever does `act`, and then says that it is done if it `ends`."""
        done = (Answer(text="Done."),) if ends else ()
        match kind:
            case "command":
                return self.command(act.shell)
            case "replay":
                steps = [{"calls": [{"name": name, "arguments": given}], **_cost()} for name, given in act.calls]
                tape = {"version": 1, "answers": {"1.1": [[*steps, *([{"text": "Done.", **_cost()}] if ends else [])]]}}
                (self.folder / "tape.json").write_text(json.dumps(tape))
                return agent_named("replay:tape.json", folder=self.folder)
            case "tool":
                answers = [
                    Answer(calls=(ToolCall(id=str(number), name=name, arguments=given),))
                    for number, (name, given) in enumerate(act.calls)
                ]
                return ToolAgent(Scripted(*answers, *done), max_steps=max_steps)
            case "code":
                code = [act.code, *(["final_answer('Done.', verified_by='looking')"] if ends else [])]
                answers = [Answer(text=f"I go on.\n```python\n{step}\n```") for step in code]
                limits = replace(LIMITS, steps=max_steps)
                return CodeAgent(Scripted(*answers), limits=limits)
            case _:
                return agent_named(f"pattern:{act.pattern}", folder=self.folder)

    def act(
        self,
        agent: Agent,
        *,
        inputs: tuple[tuple[str, str], ...] = MODULE,
        timeout_s: float = 60,
        idle_timeout_s: float | None = None,
        stops: Stops | None = None,
        logbook: Logbook | None = None,
    ) -> Outcome:
        tools = Tools(
            terminal=self.terminal,
            say=self.said.append,
            timeout_s=timeout_s,
            idle_timeout_s=idle_timeout_s,
            stops=stops or Unstopped(),
            logbook=logbook or Unrecorded(),
            open_interpreter=_interpreter,
        )
        return agent.act(replace(self.assignment, inputs=inputs), self.workspace, tools)

    def text(self, name: str) -> str:
        return (self.workspace.folder / name).read_text()

    def holds(self, name: str) -> bool:
        return (self.workspace.folder / name).exists()


def _cost() -> dict[str, Any]:
    return {"cost_usd": EACH.cost_usd, "input_tokens": EACH.input_tokens, "output_tokens": EACH.output_tokens}


def _interpreter(folder: Path, limits: ExecutionLimits) -> WalledExecutor:
    return open_executor(TrustLevel.ISOLATED, limits, workspace=folder, direct=True)


@pytest.fixture
def stage(tmp_path: Path, terminal: Terminal) -> Stage:
    return Stage(tmp_path, terminal)


def sleepers() -> list[str]:
    """What is left running of a command that sleeps."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split() == ["sleep", MARK]]


CREATES = Act(
    shell="echo 'new = 1' > created.py && echo writing created.py",
    calls=(("write_file", {"path": "created.py", "content": "new = 1\n"}),),
    code="write_file('created.py', 'new = 1\\n')\nprint('writing created.py')",
    pattern="module_creation",
    inputs=MODULE,
)
EDITS = Act(
    shell="sed -i s/old/new/ existing.py",
    calls=(("read_file", {"path": "existing.py"}), ("edit_file", {"path": "existing.py", "old": "old", "new": "new"})),
    code="read_file('existing.py')\nedit_file('existing.py', 'old', 'new')",
    inputs=(("command", "sed -i s/old/new/ existing.py"),),
)
RUNS = Act(
    shell="printf ran > ran.txt",
    calls=(("execute", {"argv": ["sh", "-c", "printf ran > ran.txt"]}),),
    code="execute(['sh', '-c', 'printf ran > ran.txt'])",
    inputs=(("command", "sh -c 'printf ran > ran.txt'"),),
)
# It takes a process of a session of its own along, which nobody may forget.
SLEEPS_SHELL = f"echo one; setsid sleep {MARK} & sleep {MARK}; touch late.py"
SLEEPS = Act(
    shell=SLEEPS_SHELL,
    calls=(
        ("execute", {"argv": ["sh", "-c", SLEEPS_SHELL]}),
        ("write_file", {"path": "late.py", "content": ""}),
    ),
    code=f"assert execute(['sh', '-c', {SLEEPS_SHELL!r}])['exit_code'] == 0\nwrite_file('late.py', '')",
    inputs=(("command", shlex.join(["sh", "-c", SLEEPS_SHELL])),),
)


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_creates_a_file_says_so_and_finishes(kind: str, stage: Stage) -> None:
    outcome = stage.act(stage.agent(kind, CREATES))

    assert outcome.status == "finished", outcome.said
    assert stage.text("created.py")
    assert any("created.py" in line for line in stage.said), stage.said
    assert stage.text("existing.py") == "old = 1\n"


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_edits_a_file(kind: str, stage: Stage) -> None:
    outcome = stage.act(stage.agent(kind, EDITS), inputs=EDITS.inputs)

    assert outcome.status == "finished", outcome.said
    assert stage.text("existing.py") == "new = 1\n"


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_runs_a_command_behind_walls_and_says_what_held(kind: str, stage: Stage) -> None:
    outcome = stage.act(stage.agent(kind, RUNS), inputs=RUNS.inputs)

    assert outcome.status == "finished" and stage.text("ran.txt") == "ran"
    assert outcome.enforced


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_that_takes_too_long_is_ended_with_all_that_it_started(kind: str, stage: Stage) -> None:
    outcome = stage.act(stage.agent(kind, SLEEPS), inputs=SLEEPS.inputs, timeout_s=3)

    assert outcome.status == "timed_out", outcome
    assert not stage.holds("late.py") and not sleepers()


@pytest.mark.parametrize("kind", ALL)
def test_a_command_that_says_nothing_for_too_long_is_ended_with_all_that_it_started(kind: str, stage: Stage) -> None:
    outcome = stage.act(stage.agent(kind, SLEEPS), inputs=SLEEPS.inputs, idle_timeout_s=1)

    # To a model it is one command of many that failed.
    assert outcome.status == ("finished" if kind in WITH_MODEL else "timed_out"), outcome
    assert not sleepers()


class Left(BaseException):
    """Whoever was stopped has left."""


class Stop(Unrecorded, Unstopped):
    """A stop that comes while a command of the attempt runs: it ends that, and lets no further call be made."""

    def __init__(self, terminal: WalledTerminal) -> None:
        super().__init__()
        self._terminal = terminal
        self.asked = False

    def ask(self) -> None:
        if not self.asked and sleepers():
            self.asked = True
            self._terminal.stop()

    def check(self) -> None:
        if self.asked:
            raise Left

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        self.check()
        return make()


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_that_is_stopped_leaves_and_goes_on_with_nothing(kind: str, stage: Stage) -> None:
    with WalledTerminal(in_checkouts=True) as terminal:
        stop = Stop(terminal)
        stage.terminal = Watched(terminal, stop.ask)
        try:
            ended: str = stage.act(stage.agent(kind, SLEEPS), inputs=SLEEPS.inputs, stops=stop, logbook=stop).status
        except Left:
            ended = "left"

    assert stop.asked and ended == ("left" if kind in WITH_MODEL else "gave_up")
    assert not stage.holds("late.py") and not sleepers()


class Watched:
    """A terminal on which somebody looks in while a command runs."""

    def __init__(self, terminal: WalledTerminal, look_in: Callable[[], None]) -> None:
        self._terminal = terminal
        self._look_in = look_in

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        over = threading.Event()

        def look() -> None:
            while not over.wait(0.05):
                self._look_in()

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            return self._terminal.run(command, on_line)
        finally:
            over.set()
            watcher.join()


@pytest.mark.parametrize("kind", ["tool", "code"])
def test_a_model_that_never_ends_is_stopped_after_the_turns_it_has(kind: str, stage: Stage) -> None:
    outcome = stage.act(stage.agent(kind, RUNS, max_steps=3, ends=False))

    assert outcome.status == "gave_up" and "stopped after 3 steps" in outcome.said
    assert outcome.usage == Usage(input_tokens=30, output_tokens=6, cost_usd=0.75)


class Wall(Unrecorded):
    """A logbook that pays for so many questions and no more."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self._left = questions

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        if call.kind == "model":
            if not self._left:
                raise BudgetSpent("the wall around the task", scope="task")
            self._left -= 1
        return make()


@pytest.mark.parametrize("kind", WITH_MODEL)
def test_a_model_is_not_asked_what_could_break_the_budget(kind: str, stage: Stage) -> None:
    with pytest.raises(BudgetSpent):
        stage.act(stage.agent(kind, RUNS), logbook=Wall(1))

    assert stage.text("ran.txt") == "ran"


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_reports_what_its_model_took(kind: str, stage: Stage) -> None:
    outcome = stage.act(stage.agent(kind, CREATES))

    asked = 2 if kind in WITH_MODEL else 0
    assert outcome.usage == Usage(input_tokens=10 * asked, output_tokens=2 * asked, cost_usd=0.25 * asked)


def escaping(kind: str, stage: Stage) -> Agent:
    target = stage.folder / "outside" / "secret.txt"
    if kind == "pattern":
        (stage.workspace.folder / "tests").symlink_to(target.parent)
    shell = f"echo trying; echo broken > {target}; ln -s {target} l; echo broken > l; rm {target}"
    act = Act(
        shell=shell,
        calls=(
            ("execute", {"argv": ["ln", "-s", str(target.parent), "link"]}),
            ("write_file", {"path": "link/secret.txt", "content": "broken"}),
            ("write_file", {"path": "../outside/secret.txt", "content": "broken"}),
            ("delete", {"path": str(target)}),
            ("execute", {"argv": ["rm", "-f", str(target)]}),
        ),
        code=f"import os\nexecute(['sh', '-c', {shell!r}])\n"
        f"for path in ('l', '../outside/secret.txt', {str(target)!r}):\n"
        "    for harm in (lambda: open(path, 'w'), lambda: write_file(path, 'broken'), lambda: delete(path)):\n"
        "        try:\n            harm()\n        except Exception as error:\n            print(error)\n",
        pattern="module_creation",
    )
    return stage.agent(kind, act)


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_cannot_leave_the_workspace(kind: str, stage: Stage) -> None:
    stage.act(escaping(kind, stage))

    outside = stage.folder / "outside"
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("secret.txt", "secret")]
    assert stage.said


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_that_cannot_do_it_gives_up_and_says_why(kind: str, stage: Stage) -> None:
    gives_up = Act(
        shell="echo 'All done.'; echo 'no idea how' >&2; exit 1",
        calls=(("give_up", {"reason": "no idea how"}),),
        code="give_up('no idea how')",
        pattern="module_creation",
    )

    outcome = stage.act(stage.agent(kind, gives_up), inputs=(("name", "no idea how"), ("kind", "poem")))

    assert outcome.status == "gave_up"
    assert "no idea how" in outcome.said


@pytest.mark.parametrize("kind", WITH_MODEL)
def test_what_an_agent_says_after_a_command_that_failed_is_only_words(kind: str, stage: Stage) -> None:
    fails = Act(
        shell="", calls=(("execute", {"argv": ["false"]}),), code="print(execute(['false'])['exit_code'])", inputs=()
    )

    outcome = stage.act(stage.agent(kind, fails))

    assert (outcome.status, outcome.said.splitlines()[0]) == ("finished", "Done.")
    assert sorted(path.name for path in stage.workspace.folder.iterdir()) == ["existing.py"]


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
    assert stage.text("prompt.txt") == prompt_for(replace(stage.assignment, inputs=MODULE))
    assert json.loads(stage.text("assignment.json"))["text"] == "a … file"
    assert stage.text("answer.txt") == "from beside"


def test_a_command_may_commit_in_its_own_checkout(stage: Stage) -> None:
    git = ["git", "-C", str(stage.workspace.folder)]
    subprocess.run([*git, "init", "--quiet"], check=True)

    outcome = stage.act(stage.command("git add -A && git commit --quiet --message work"))

    assert outcome.status == "finished", outcome.said
    author = subprocess.run([*git, "log", "--format=%an <%ae>"], check=True, capture_output=True, text=True).stdout
    assert author == "Milepost agent <agent@milepost.invalid>\n"


def test_a_command_whose_program_went_away_gives_up_and_says_so(stage: Stage) -> None:
    script = stage.folder / "agent.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    agent = agent_named("command:./agent.sh", folder=stage.folder)
    script.unlink()

    outcome = stage.act(agent)

    assert outcome.status == "gave_up"
    assert outcome.said.startswith("not found: ") and outcome.said.endswith("agent.sh")
