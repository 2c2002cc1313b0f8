"""Agent programs behind the real sandbox: one that prints what Claude Code prints, and does what a test says."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.programs.agent import ProgramAgent
from milepost.agents.programs.claude import Claude
from milepost.agents.programs.codex import Codex
from milepost.agents.programs.driver import ProgramSetup
from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.commands import TrustLevel
from milepost.core.ports import Tools, Unrecorded
from milepost.sandbox.levels import open_terminal
from milepost.sandbox.terminal import WalledTerminal
from tests.slow import sampled

PROGRAM = """\
import json, os, subprocess, sys, time

if "--version" in sys.argv:
    print("1.2.3 (A Program)", os.environ.get("ANTHROPIC_API_KEY", ""))
    sys.exit(0)

def tell(**what):
    print(json.dumps(what), flush=True)

def begin(session="s-1"):
    tell(type="system", subtype="init", session_id=session)

def answer(number, *content):
    usage = {"input_tokens": 1000, "output_tokens": 1}
    message = {"id": f"m{number}", "model": "claude-sonnet-4-5", "content": list(content), "usage": usage}
    tell(type="assistant", message=message)

def text(words):
    return {"type": "text", "text": words}

def tool(name, **given):
    return {"type": "tool_use", "id": f"call-{name}", "name": name, "input": given}

def end(subtype="success", is_error=False, cost=0.01, **more):
    usage = {"input_tokens": 2000, "output_tokens": 200}
    tell(type="result", subtype=subtype, is_error=is_error, total_cost_usd=cost, usage=usage, **more)

def write(name, words):
    with open(name, "w") as stream:
        stream.write(words)

exec(sys.argv[-1])
"""
DONE = 'begin(); answer(1, tool("Write", file_path="a.py")); write("a.py", "a = 1"); answer(2, text("Done.")); end()'
ENDLESS = "begin()\nfor n in range(1, 10_000): answer(n, tool('Bash', command=f'step {n}')); time.sleep(0.001)"

LEVELS = sampled((TrustLevel.SANDBOXED, TrustLevel.ISOLATED), 2)


@pytest.fixture(scope="module", params=LEVELS, ids=lambda level: str(level.value))
def level(request: pytest.FixtureRequest) -> TrustLevel:
    return TrustLevel(request.param)


@pytest.fixture(scope="module")
def terminal(level: TrustLevel) -> Iterator[WalledTerminal]:
    with open_terminal(level) as opened:
        yield opened


@dataclass
class Stage:
    """A workspace, a user's home, and a program that does what a test says."""

    folder: Path
    terminal: WalledTerminal
    said: list[str] = field(default_factory=list)
    logbook: Unrecorded = field(default_factory=Unrecorded)
    kept: Path | None = None

    def __post_init__(self) -> None:
        for name in ("workspace", "user", "bin"):
            (self.folder / name).mkdir()
        self.program = self.folder / "bin/claude"
        self.program.write_text(f"#!{sys.executable}\n{PROGRAM}")
        self.program.chmod(0o755)
        self.workspace = Workspace(folder=self.folder / "workspace", scratch=self.folder / "scratch", base="0" * 40)
        self.assignment = Assignment(run="r1", task="1.1", title="Create", text="a file", attempt=1)

    def agent(self, code: str = "", driver: Claude | Codex | None = None, **setup: Any) -> ProgramAgent:
        setup.setdefault("env", {"ANTHROPIC_API_KEY": "sk-own"})
        made = ProgramSetup(program=str(self.program), args=(code,), **setup)
        return ProgramAgent(driver or Claude(), made, users_home=self.folder / "user")

    def act(
        self, code: str, *, assignment: Assignment | None = None, setup: dict[str, Any] | None = None, **tools: Any
    ) -> Outcome:
        given = Tools(
            terminal=self.terminal,
            say=self.said.append,
            logbook=self.logbook,
            **{"timeout_s": 60.0, "idle_timeout_s": None, **tools},
        )
        workspace = replace(self.workspace, kept=self.kept)
        return self.agent(code, **(setup or {})).act(assignment or self.assignment, workspace, given)

    def text(self, name: str) -> str:
        return (self.workspace.folder / name).read_text()


@pytest.fixture
def stage(tmp_path: Path, terminal: WalledTerminal) -> Stage:
    return Stage(tmp_path, terminal)


def running(word: str) -> list[str]:
    """The processes of this machine with a word on their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_text() if folder.name.isdigit() else ""
        except OSError:
            continue
        found += [command] if word in command else []
    return found


def test_a_program_that_does_its_work_has_finished_and_what_it_took_is_known(stage: Stage) -> None:
    outcome = stage.act(DONE)
    assert (outcome.status, outcome.said) == ("finished", "Done.")
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens, outcome.usage.cost_usd) == (2000, 200, 0.01)
    assert "process-tree" in outcome.enforced
    assert stage.text("a.py") == "a = 1"
    assert stage.said == ["Write a.py", "Done."]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (f"{DONE}; sys.exit(1)", "exit 1, whatever it reports"),
        ('begin(); answer(1, text("Done.")); sys.exit(0)', "ended without reporting that it is done (exit 0)"),
        ('begin(); answer(1, text("Done.")); end(is_error=True, result="broken")', "broken"),
        ('begin(); end("error_max_turns", True, errors=["too many turns"])', "too many turns"),
        (f"{DONE}; os.kill(os.getpid(), 9)", "SIGKILL"),
        ('print(\'{"type": "result", "subtype": "success", "is_err\'); sys.stdout.flush()', "without reporting"),
        ("print('Done. ' * 1_000_000); sys.exit(0)", "without reporting"),
        ("sys.stdout.buffer.write(bytes(range(256)) * 1000); sys.exit(3)", "(exit 3)"),
    ],
    ids=["exit 1", "no end", "error", "turns", "killed", "half an end", "huge line", "garbage"],
)
def test_a_lie_or_half_an_end_is_no_end(stage: Stage, code: str, said: str) -> None:
    outcome = stage.act(code)
    assert outcome.status == "gave_up"
    assert said in outcome.said


def test_a_line_longer_than_any_piece_is_read_whole(stage: Stage) -> None:
    outcome = stage.act('begin(); answer(1, text("x" * 300_000)); end(result="y" * 100_000)')
    assert outcome.status == "finished"
    assert "characters left out" in outcome.said


@pytest.mark.parametrize(
    ("setup", "tools", "status", "said"),
    [
        ({"max_turns": 5}, {}, "gave_up", "stopped after 5 turns without an end"),
        ({}, {}, "gave_up", "stopped after 100 turns without an end"),
        ({"max_usd": 0.01}, {}, "gave_up", "stopped at $0.01 of $0.01"),
        ({"max_usd": 5.0}, {"usd_left": 0.01}, "spent", "stopped at $0.01 of $0.01"),
    ],
    ids=["turns", "turns by default", "own money", "budget"],
)
def test_a_program_that_never_ends_is_ended_at_its_bound(
    stage: Stage, setup: dict[str, Any], tools: dict[str, Any], status: str, said: str
) -> None:
    outcome = stage.act(ENDLESS, setup=setup, **tools)
    assert (outcome.status, outcome.said) == (status, said)
    assert running(str(stage.program)) == []


@pytest.mark.parametrize(
    ("code", "tools", "said"),
    [
        ("begin()\nwhile True: tell(type='ping'); time.sleep(0.05)", {"timeout_s": 1.0}, "timed out after 1 s"),
        ("begin(); time.sleep(600)", {"idle_timeout_s": 1.0}, "said nothing for 1 s"),
    ],
    ids=["time", "idle"],
)
def test_a_program_that_takes_too_long_is_ended(stage: Stage, code: str, tools: dict[str, Any], said: str) -> None:
    outcome = stage.act(code, **tools)
    assert outcome.status == "timed_out"
    assert said in outcome.said
    assert running(str(stage.program)) == []


def test_nothing_that_a_program_started_survives_a_bound_not_even_in_a_session_of_its_own(stage: Stage) -> None:
    mark = f"mark-{stage.folder.name}-{os.getpid()}"
    seen: list[list[str]] = []
    stage.said = Watching(lambda line: seen.append(running(mark)) if line == "Bash started" else None)
    outcome = stage.act(
        f"""
begin()
code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(600)"
child = [sys.executable, "-c", code, {mark!r}]
started = subprocess.Popen(child, start_new_session=True, stdout=subprocess.PIPE)
started.stdout.readline()
answer(1, tool("Bash", command="started"))
for n in range(2, 10_000): answer(n, tool("Bash", command="more"))
""",
        setup={"max_turns": 3},
    )
    assert outcome.said == "stopped after 3 turns without an end"
    assert len(seen) == 1 and seen[0] != []
    assert running(mark) == []


class Watching(list[str]):
    """Lines that somebody looks at as they are said."""

    def __init__(self, look: Callable[[str], object]) -> None:
        super().__init__()
        self._look = look

    def append(self, line: str) -> None:
        super().append(line)
        self._look(line)


def test_a_stop_ends_a_program_at_once(stage: Stage, level: TrustLevel) -> None:
    with open_terminal(level) as terminal:
        stage.terminal = terminal
        stage.said = Watching(lambda line: threading.Thread(target=terminal.stop).start())
        outcome = stage.act("begin(); answer(1, text('Working.')); time.sleep(600)")
    assert (outcome.status, running(str(stage.program))) == ("gave_up", [])


def test_a_long_prompt_arrives_whole(stage: Stage) -> None:
    long = replace(stage.assignment, evidence=tuple(f"{number} é " * 2_000 for number in range(20)))
    prompt = prompt_for(long)
    assert len(prompt.encode()) > 200_000
    code = "got = sys.stdin.buffer.read(); open('got', 'wb').write(got); begin(); answer(1, text('Read.')); end()"
    assert stage.act(code, assignment=long).status == "finished"
    assert stage.text("got") == prompt


def test_a_program_that_reads_no_prompt_is_no_trouble(stage: Stage) -> None:
    long = replace(stage.assignment, evidence=("x" * 11_000,) * 20)
    assert stage.act(f"sys.stdin.close(); os.close(0); {DONE}", assignment=long).status == "finished"


def test_a_program_sees_its_own_key_and_no_other_of_the_environment(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "sk-canary")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    (stage.folder / "user/secret").write_text("sk-canary")
    code = """
write("env", json.dumps(dict(os.environ)))
try: write("secret", open(os.path.dirname(os.path.dirname(sys.argv[0])) + "/user/secret").read())
except OSError as problem: write("secret", type(problem).__name__)
begin(); answer(1, text("Looked.")); end()
"""
    assert stage.act(code).status == "finished"
    seen = json.loads(stage.text("env"))
    assert seen["ANTHROPIC_API_KEY"] == "sk-own"
    assert "sk-canary" not in stage.text("env")
    assert seen["HOME"] == str(stage.workspace.scratch / "program/home")
    assert {name for name in seen if name.endswith(("KEY", "TOKEN", "SECRET"))} == {"ANTHROPIC_API_KEY"}
    assert stage.text("secret") in ("PermissionError", "FileNotFoundError")


@pytest.mark.parametrize("ending", ["end()", "time.sleep(600)"], ids=["ends", "is ended"])
def test_a_login_is_lent_to_the_program_it_belongs_to_and_comes_back_renewed(stage: Stage, ending: str) -> None:
    for name, token in ((".claude/.credentials.json", "old"), (".codex/auth.json", "other's")):
        (stage.folder / "user" / name).parent.mkdir()
        (stage.folder / "user" / name).write_text(json.dumps({"accessToken": token}))
    code = f"""
home = os.environ["HOME"]
login = os.environ["CLAUDE_CONFIG_DIR"] + "/.credentials.json"
write("found", open(login).read())
write("others", str(os.path.exists(home + "/.codex")))
write(login, json.dumps({{"accessToken": "new"}}))
begin(); answer(1, text("Renewed.")); {ending}
"""
    outcome = stage.act(code, setup={"env": {}}, idle_timeout_s=5.0)
    assert outcome.status == ("finished" if ending == "end()" else "timed_out")
    assert (json.loads(stage.text("found")), stage.text("others")) == ({"accessToken": "old"}, "False")
    assert json.loads((stage.folder / "user/.claude/.credentials.json").read_text()) == {"accessToken": "new"}
    assert json.loads((stage.folder / "user/.codex/auth.json").read_text()) == {"accessToken": "other's"}
    assert not (stage.workspace.scratch / "program/home/.claude/.credentials.json").exists()


def test_with_a_key_no_login_is_lent(stage: Stage) -> None:
    (stage.folder / "user/.claude").mkdir()
    (stage.folder / "user/.claude/.credentials.json").write_text('{"accessToken": "old"}')
    code = "write('there', str(os.path.exists(os.environ['CLAUDE_CONFIG_DIR'] + '/.credentials.json')))"
    assert stage.act(f"{code}; {DONE}").status == "finished"
    assert stage.text("there") == "False"


def test_a_login_is_not_lent_where_another_service_is_asked(stage: Stage) -> None:
    (stage.folder / "user/.claude").mkdir()
    (stage.folder / "user/.claude/.credentials.json").write_text('{"accessToken": "old"}')
    code = "write('there', str(os.path.exists(os.environ['CLAUDE_CONFIG_DIR'] + '/.credentials.json')))"
    setup = {"env": {}, "base_url": "http://127.0.0.1:9/"}
    assert stage.act(f"{code}; {DONE}", setup=setup).status == "finished"
    assert stage.text("there") == "False"


class Cut(BaseException):
    """The engine dies here."""


@dataclass
class Fragile(Unrecorded):
    """A logbook whose process dies when so much was noted."""

    dies_at: int = 0
    session: str = ""
    noted: int = 0

    def note_session(self, session: str) -> None:
        self.session, self.noted = session, self.noted + 1
        if self.noted == self.dies_at:
            raise Cut


WITH_SESSIONS = """
path = os.environ["HOME"] + "/session"
there = open(path).read() if os.path.exists(path) else ""
known = "--resume" in sys.argv and there == sys.argv[sys.argv.index("--resume") + 1]
write("prompt", sys.stdin.read())
if "--resume" in sys.argv and not known:
    end("error_during_execution", True, errors=["no such session"]); sys.exit(1)
if known:
    begin("s-7"); answer(1, text("Going on.")); end(cost=0.5); sys.exit(0)
write(path, "s-7")
begin("s-7")
for n in range(1, 4): answer(n, tool("Bash", command=f"step {n}"))
answer(4, text("From the start.")); end(cost=0.25)
"""


def test_an_attempt_that_was_cut_short_goes_on_in_its_session(stage: Stage) -> None:
    stage.kept = stage.folder / "kept"
    stage.logbook = Fragile(dies_at=6)
    with pytest.raises(Cut):
        stage.act(WITH_SESSIONS)
    assert running(str(stage.program)) == []
    noted = json.loads(stage.logbook.session)
    assert (noted["session"], noted["turns"]) == ("s-7", 2)

    stage.logbook = Fragile(session=stage.logbook.session)
    outcome = stage.act(WITH_SESSIONS)

    assert (outcome.status, outcome.said) == ("finished", "Going on.")
    assert "cut short" in stage.text("prompt")
    assert outcome.cost_usd == pytest.approx(noted["cost_usd"] + 0.5)
    assert "continuing session s-7" in stage.said


@pytest.mark.parametrize("lost", ["home", "session"])
def test_an_attempt_whose_session_is_lost_starts_anew(stage: Stage, lost: str) -> None:
    stage.kept = stage.folder / "kept"
    stage.logbook = Fragile(session=json.dumps({"session": "s-7", "turns": 2, "cost_usd": 1.0}))
    if lost == "session":
        (stage.kept / "home").mkdir(parents=True)
        (stage.kept / "home/session").write_text("another")
    outcome = stage.act(WITH_SESSIONS)
    assert (outcome.status, outcome.said) == ("finished", "From the start.")
    assert stage.text("prompt") == prompt_for(stage.assignment)
    assert outcome.cost_usd == pytest.approx(1.25)


class Leaving:
    """A stop that is asked for after so many looks."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def pause(self, seconds: float) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cut

    def check(self) -> None:
        pass


@pytest.mark.parametrize("kept", [True, False])
def test_at_a_stop_a_program_is_left_between_two_steps_if_it_can_go_on_later(stage: Stage, kept: bool) -> None:
    stage.kept = stage.folder / "kept" if kept else None
    stage.logbook = Fragile()
    if kept:
        with pytest.raises(Cut):
            stage.act(ENDLESS, stops=Leaving(4))
        assert json.loads(stage.logbook.session)["turns"] == 2
    else:
        assert stage.act(DONE, stops=Leaving(0)).status == "finished"
    assert running(str(stage.program)) == []


def test_a_service_that_asks_for_a_long_wait_is_waited_for_without_the_program(stage: Stage) -> None:
    retry = "tell(type='system', subtype='api_retry', error_status=429, retry_delay_ms=600_000, error='rate_limit')"
    outcome = stage.act(f"begin(); {retry}; time.sleep(600)")
    assert (outcome.status, outcome.said.splitlines()[-1]) == ("limited", "limit reached: try again in 600 s")
    assert running(str(stage.program)) == []


def test_who_is_found_starts_and_is_signed_in_can_be_used(stage: Stage) -> None:
    standing = stage.agent().validate(stage.terminal)
    assert (standing.usable, standing.version, standing.signed_in) == (True, "1.2.3 (A Program)", "key")
    nobody = stage.agent(env={}).validate(stage.terminal)
    assert (nobody.usable, nobody.problem) == (False, f"the program {str(stage.program)!r} is not signed in")
    assert "ANTHROPIC_API_KEY" in nobody.advice
    (stage.folder / "user/.claude").mkdir()
    (stage.folder / "user/.claude/.credentials.json").write_text("{}")
    assert stage.agent(env={}).validate(stage.terminal).signed_in == "login"
    stage.program.write_text("#!/bin/sh\necho broken >&2; exit 4\n")
    broken = stage.agent().validate(stage.terminal)
    assert not broken.usable
    assert "does not start in the sandbox: exit 4\nbroken" in broken.problem
    stage.program.unlink()
    missing = stage.agent().validate(stage.terminal)
    assert missing.problem == f"there is no program {str(stage.program)!r}"
    assert stage.act(DONE).said == f"{missing.problem}: {missing.advice}"
