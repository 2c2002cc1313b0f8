"""Programs that speak the Agent Client Protocol, behind the real sandbox: an honest one, and all the others."""

from __future__ import annotations

import fcntl
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from milepost.agents.programs.acp.acp import acp_driver
from milepost.agents.programs.agent import ProgramAgent
from milepost.agents.programs.driver import ProgramSetup
from milepost.agents.programs.progress import ResumePoint
from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.commands import TrustLevel
from milepost.core.ports import Tools, Unrecorded
from milepost.sandbox.terminal import WalledTerminal
from tests.slow import sampled

PROGRAM = '''\
"""An agent that speaks the protocol; its last word says how it behaves."""
import fcntl, hashlib, json, os, pathlib, subprocess, sys, time

here, way, numbers, state = pathlib.Path.cwd(), sys.argv[-1], iter(range(100, 10**9)), {}
outside = pathlib.Path(sys.argv[1])

def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)

def ask(method, **params):
    number = next(numbers)
    send(id=number, method=method, params={"sessionId": "s1", **params})
    while True:
        message = receive()
        if message.get("id") == number and "method" not in message:
            return message
        state["cancelled"] = state.get("cancelled") or message.get("method") == "session/cancel"

def update(name, **values):
    send(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": name, **values}})

def say(text, message="m1"):
    update("agent_message_chunk", content={"type": "text", "text": text}, messageId=message)

def call(number, title, **values):
    update("tool_call", toolCallId=number, title=title, **values)

def permission(number, title, **values):
    options = [{"optionId": kind[0], "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
    told = {"toolCallId": number, "title": title, **values}
    return ask("session/request_permission", toolCall=told, options=options)["result"]["outcome"].get("optionId")

def note(name, what):
    (here / name).write_text(json.dumps(what))

def honest(prompt):
    text = prompt[0]["text"]
    say("I will "), say("look."), call("c0", "Read existing.py", kind="read")
    old = ask("fs/read_text_file", path=str(here / "existing.py"))["result"]["content"]
    missing = ask("fs/read_text_file", path=str(here / "missing.py"))["error"]
    edit = permission("c1", "Edit existing.py", kind="edit", locations=[{"path": str(here / "existing.py")}])
    ask("fs/write_text_file", path=str(here / "existing.py"), content=old.replace("old", "new"))
    run = permission("c2", "make > /dev/null", kind="execute", rawInput={"command": "make 2>/dev/null"})
    note("seen.json", {
        "asked": [edit, run], "missing": missing["code"], "prompt": hashlib.sha256(text.encode()).hexdigest(),
        "bytes": len(text.encode()), "environment": sorted(os.environ), "sessions": state["opened"],
    })
    update("usage_update", used=9, size=10, cost={"amount": 0.25, "currency": "USD"})
    say("Done.", "m2")
    usage = {"totalTokens": 1150, "inputTokens": 600, "cachedReadTokens": 400, "outputTokens": 150}
    return {"stopReason": "end_turn", "usage": usage}

def passwd(prompt):
    note("asked.json", [
        permission("c1", "Read", kind="read", locations=[{"path": "/etc/passwd"}]),
        permission("c2", "Edit", kind="edit", content=[{"type": "diff", "path": "../x", "newText": ""}]),
        permission("c3", "cat /etc/passwd", kind="execute"),
        permission("c4", "Shell", kind="execute", rawInput={"command": "cat </etc/passwd"}),
        permission("c5", "Write", kind="edit", rawInput={"file_path": str(outside / "new")}),
    ])
    say("All done.")

def escapes(prompt):
    os.symlink(outside, here / "link")
    git = here / ".git"
    git.mkdir()
    target = outside / "secret.txt"
    paths = [str(target), "../outside/secret.txt", "link/secret.txt", str(here / "link" / "secret.txt"), ".git/config"]
    answers = [ask("fs/write_text_file", path=path, content="broken") for path in paths]
    answers += [ask("fs/read_text_file", path=path) for path in paths]
    call("c1", "Look")
    note("answers.json", ["error" in answer for answer in answers])
    say("All done.")

def odd(prompt):
    for line in ("no json", "[1]", "{", "[" * 100000, "\\ud800", json.dumps({"id": 7, "result": {}})):
        sys.stdout.write(line.encode("utf-8", "replace").decode() + "\\n")
    sys.stdout.buffer.write(b"\\xff\\xfe\\n")
    for params in ([1], None, {}, {"update": None}, {"update": {"sessionUpdate": "agent_message_chunk"}}):
        send(method="session/update", params=params)
    update("tool_call", toolCallId=["x"], title={"a": 1})
    update("usage_update", cost={"currency": "USD", "amount": "much"})
    asked = [ask("terminal/create", command="ls"), ask("session/request_permission"), ask("fs/read_text_file")]
    note("answers.json", ["error" in answer for answer in asked])
    say("Still here.")

def flood(prompt):
    while True:
        sys.stdout.write("garbage\\n" * 1000)

def silent(prompt):
    time.sleep(600)

def endless(prompt):
    while True:
        say("more and more ")

def huge(prompt):
    sys.stdout.write('{"method": "' + "x" * 17_000_000 + '"}\\n')
    sys.stdout.flush()
    receive()

def long(prompt):
    say("x" * 3_000_000)

def dies(prompt):
    say("Almost there.")
    os._exit(3)

def closes(prompt):
    say("All done.")
    sys.stdout.flush()
    os.close(1)
    time.sleep(600)

def hollow(prompt):
    pass

def confesses(prompt):
    say("I will look.")
    say("Ran into this error: Server error (500 Internal Server Error): no.\\n\\nPlease retry.", "m2")

def refuses(prompt):
    say("No.")
    return {"stopReason": "refusal"}

def signed_out(prompt):
    return {"code": -32000, "message": "Authentication required"}

def limited(prompt):
    return {"code": -32603, "message": "Internal error", "data": {"details": "429 Too Many Requests: try again in 7 s"}}

def orphan(prompt):
    lock = "import fcntl, time; file = open('held', 'w'); fcntl.flock(file, fcntl.LOCK_EX)"
    hold = lock + "; open('ready', 'w'); time.sleep(600)"
    null = subprocess.DEVNULL
    subprocess.Popen([sys.executable, "-c", hold], start_new_session=True, stdin=null, stdout=null, stderr=null)
    while not pathlib.Path("ready").exists():
        time.sleep(0.01)
    call("c1", "Serve")
    say("All done.")

def tireless(prompt):
    for number in range(10**6):
        permission(f"c{number}", "Again", kind="other")
        if state.get("cancelled"):
            note("cancelled.json", number)
            return {"stopReason": "cancelled", "usage": {"totalTokens": 30, "inputTokens": 20, "outputTokens": 10}}

def deaf(prompt):
    for number in range(10**6):
        permission(f"c{number}", "Again", kind="other")

def main():
    state["opened"] = []
    while True:
        message = receive()
        method, params, number = message.get("method"), message.get("params", {}), message.get("id")
        if method == "initialize":
            version = 7 if way == "newer" else 1
            can = {"loadSession": way != "forgetful"}
            send(id=number, result={"protocolVersion": version, "agentCapabilities": can})
        elif method == "session/new":
            state["opened"].append("new")
            send(id=number, result={"sessionId": None if way == "nameless" else "s1"})
        elif method == "session/load" and params["sessionId"] == "s1":
            state["opened"].append("s1")
            if way == "late":
                send(id=number, result={})
                time.sleep(0.3)
            say("What I said before."), call("before", "What I did before")
            if way != "late":
                send(id=number, result={})
        elif method == "session/prompt":
            result = (globals().get(way) or honest)(params["prompt"]) or {"stopReason": "end_turn"}
            send(id=number, **({"error": result} if "code" in result else {"result": result}))
        elif number is not None:
            send(id=number, error={"code": -32601, "message": "no such method or session"})

main()
'''

LEVELS = sampled(("sandboxed", "isolated"), 2)


@pytest.fixture(scope="module", params=LEVELS)
def terminal(request: pytest.FixtureRequest) -> Iterator[WalledTerminal]:
    with WalledTerminal(trust=TrustLevel(request.param)) as terminal:
        yield terminal


@dataclass
class Stage:
    """A workspace with one file in it, beside a folder that no agent may change, and the program to do the work."""

    folder: Path
    terminal: WalledTerminal
    said: list[str] = field(default_factory=list)
    logbook: Unrecorded = field(default_factory=Unrecorded)

    def __post_init__(self) -> None:
        self.workspace = Workspace(
            folder=self.folder / "workspace",
            scratch=self.folder / "scratch",
            base="0" * 40,
            kept=self.folder / "kept",
        )
        for folder in (self.workspace.folder, self.folder / "outside", self.folder / "bin"):
            folder.mkdir()
        (self.workspace.folder / "existing.py").write_text("old = 1\n")
        (self.folder / "outside" / "secret.txt").write_text("secret")
        self.program = self.folder / "bin" / "agent"
        self.program.write_text(f"#!{Path(sys.executable).resolve()}\n{PROGRAM}")
        self.program.chmod(0o755)
        self.assignment = Assignment(run="r1", task="1.1", title="Rename", text="a … variable", attempt=1)

    def act(
        self,
        way: str,
        *,
        timeout_s: float = 60,
        idle_timeout_s: float | None = None,
        max_turns: int | None = None,
        assignment: Assignment | None = None,
    ) -> Outcome:
        setup = ProgramSetup(
            program=str(self.program),
            args=(str(self.folder / "outside"), way),
            env={"AGENT_KEY": "its own"},
            max_turns=max_turns,
        )
        tools = Tools(
            terminal=self.terminal,
            say=self.said.append,
            timeout_s=timeout_s,
            idle_timeout_s=idle_timeout_s,
            logbook=self.logbook,
        )
        agent = ProgramAgent(acp_driver("scripted", setup), setup, users_home=self.folder / "home")
        return agent.act(assignment or self.assignment, self.workspace, tools)

    def noted(self, name: str) -> object:
        return json.loads((self.workspace.folder / name).read_text())


@pytest.fixture
def stage(tmp_path: Path, terminal: WalledTerminal) -> Stage:
    return Stage(tmp_path, terminal)


def test_a_program_is_served_permitted_and_followed_to_its_end(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_KEY", "of somebody else")
    long = replace(stage.assignment, evidence=("why it failed " * 850,) * 20)

    outcome = stage.act("honest", assignment=long)

    assert (outcome.status, outcome.said) == ("finished", "Done."), outcome
    assert (stage.workspace.folder / "existing.py").read_text() == "new = 1\n"
    assert stage.said == ["I will look.", "Read existing.py", "Edit existing.py", "make > /dev/null", "Done."]
    used = outcome.usage
    assert (used.input_tokens, used.cached_tokens, used.output_tokens, used.cost_usd) == (1000, 400, 150, 0.25)
    seen = stage.noted("seen.json")
    assert isinstance(seen, dict)
    prompt = prompt_for(long).encode()
    assert (seen["prompt"], seen["bytes"]) == (hashlib.sha256(prompt).hexdigest(), len(prompt))
    assert len(prompt) > 200_000
    assert (seen["asked"], seen["missing"], seen["sessions"]) == (["a", "a"], -32002, ["new"])
    assert "AGENT_KEY" in seen["environment"]
    assert "CANARY_KEY" not in seen["environment"]


@pytest.mark.parametrize(
    ("way", "status", "says"),
    [
        ("hollow", "gave_up", "it did nothing and said nothing"),
        ("refuses", "gave_up", "its model refused to do it"),
        ("newer", "gave_up", "speaks version 7 of the protocol, not 1"),
        ("nameless", "gave_up", "opened a session without a name"),
        ("dies", "gave_up", "the program ended with exit 3"),
        ("closes", "gave_up", "the program closed its pipes"),
        ("huge", "gave_up", "sent a message of more than 16000000 bytes"),
        ("signed_out", "gave_up", "Authentication required (-32000)"),
        ("limited", "limited", "limit reached: try again in 7 s"),
        ("confesses", "limited", "Ran into this error: Server error (500"),
        ("long", "finished", "xxx"),
    ],
)
def test_what_the_program_says_at_its_end_is_judged_and_not_believed(
    way: str, status: OutcomeStatus, says: str, stage: Stage
) -> None:
    outcome = stage.act(way)

    assert outcome.status == status, outcome
    assert says in outcome.said
    assert len(outcome.said) < 20_000


@pytest.mark.parametrize("way", ["silent", "flood"])
def test_a_program_that_says_nothing_of_the_protocol_is_ended_as_idle(way: str, stage: Stage) -> None:
    outcome = stage.act(way, idle_timeout_s=2)

    assert outcome.status == "timed_out", outcome
    assert "said nothing for 2 s" in outcome.said


def test_a_program_without_an_end_is_ended_with_its_time(stage: Stage) -> None:
    outcome = stage.act("endless", timeout_s=4)

    assert outcome.status in ("timed_out", "gave_up"), outcome
    assert sum(map(len, stage.said)) < 3_000_000


def test_a_program_that_asks_for_what_is_outside_is_told_no(stage: Stage) -> None:
    outcome = stage.act("passwd")

    assert stage.noted("asked.json") == ["r"] * 5
    assert outcome.status == "gave_up"
    assert "outside the workspace" in outcome.said
    assert any("'/etc/passwd'" in line for line in stage.said)


def test_files_outside_the_workspace_are_not_served(stage: Stage) -> None:
    stage.act("escapes")

    assert stage.noted("answers.json") == [True] * 10
    assert [(path.name, path.read_text()) for path in (stage.folder / "outside").iterdir()] == [
        ("secret.txt", "secret")
    ]


def test_what_is_not_of_the_protocol_is_survived(stage: Stage) -> None:
    outcome = stage.act("odd")

    assert (outcome.status, outcome.said) == ("finished", "Still here."), outcome
    assert stage.noted("answers.json") == [True, False, True]


def test_nothing_that_the_program_started_is_left(stage: Stage) -> None:
    stage.act("orphan")

    with (stage.workspace.folder / "held").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_program_that_goes_on_and_on_is_asked_to_stop_and_tells_what_it_took(stage: Stage) -> None:
    outcome = stage.act("tireless", max_turns=3)

    assert outcome.status == "gave_up"
    assert outcome.said.startswith("stopped after 3 turns without an end")
    assert stage.noted("cancelled.json") == 3
    assert outcome.usage.tokens == 30


def test_a_program_that_does_not_stop_when_asked_is_ended(stage: Stage) -> None:
    outcome = stage.act("deaf", max_turns=2)

    assert outcome.status == "gave_up"
    assert outcome.said.startswith("stopped after 2 turns without an end")


@pytest.mark.parametrize("way", ["honest", "late"])
def test_a_program_goes_on_with_its_session_and_what_it_did_before_is_not_counted_again(way: str, stage: Stage) -> None:
    stage.act(way)
    (stage.workspace.folder / "existing.py").write_text("old = 1\n")
    noted, stage.said = stage.logbook.session, []

    outcome = stage.act(way)

    assert "s1" in noted
    assert outcome.status == "finished"
    seen = stage.noted("seen.json")
    assert isinstance(seen, dict) and seen["sessions"] == ["s1"]
    assert seen["prompt"] != hashlib.sha256(prompt_for(stage.assignment).encode()).hexdigest()
    assert not [line for line in stage.said if "before" in line]


@pytest.mark.parametrize("way", ["honest", "forgetful"])
def test_a_program_that_lost_its_session_starts_anew_with_the_whole_prompt(way: str, stage: Stage) -> None:
    stage.logbook.note_session(ResumePoint(session="lost").noted())
    kept = stage.workspace.kept
    assert kept is not None
    (kept / "home").mkdir(parents=True)
    (kept / "home" / "something").touch()

    outcome = stage.act(way)

    assert outcome.status == "finished", outcome
    seen = stage.noted("seen.json")
    assert isinstance(seen, dict) and seen["sessions"] == ["new"]
    assert seen["prompt"] == hashlib.sha256(prompt_for(stage.assignment).encode()).hexdigest()


def test_a_program_that_is_gone_is_said_to_be(stage: Stage) -> None:
    stage.program.unlink()

    outcome = stage.act("honest")

    assert outcome.status == "gave_up"
    assert "there is no program" in outcome.said
