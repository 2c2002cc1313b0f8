"""The contract of the Agent port, held by real agent programs with a scripted model. Absent ones are skipped, by name.

`tests/live/install` installs them; a program that MILEPOST_LIVE_REQUIRED names must be there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.programs.agent import ProgramAgent
from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Outcome
from milepost.core.commands import TrustLevel
from milepost.sandbox.terminal import WalledTerminal
from tests.live.faults import AGENTS, FAULTS, rows_of
from tests.live.installed import PROGRAMS, needed
from tests.live.stage import AT_ONCE, KEY, Stage
from tests.slow import sampled, slow

WITH_TOOLS = [name for name in PROGRAMS if name not in AT_ONCE]
CREATE = {"create": "created.py", "content": "new = 1\n"}
READ = {"read": "existing.py"}
EDIT = {"edit": "existing.py", "old": "old = 1\n", "new": "new = 1\n"}
EDIT_BY_COMMAND = {"command": "sed -i s/old/new/ existing.py"}
DONE = {"text": "All done."}


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return Stage(request.param, needed(request.param), tmp_path)


@pytest.fixture(scope="module")
def terminal() -> Iterator[WalledTerminal]:
    with WalledTerminal() as terminal:
        yield terminal


all_programs = pytest.mark.parametrize("stage", PROGRAMS, indirect=True)
with_tools = pytest.mark.parametrize("stage", WITH_TOOLS, indirect=True)
# Where it is our driver that ends a program, another program shows the same.
one_program = pytest.mark.parametrize("stage", sampled(PROGRAMS, len(PROGRAMS)), indirect=True)
one_with_tools = pytest.mark.parametrize("stage", sampled(WITH_TOOLS, len(WITH_TOOLS)), indirect=True)
LEVELS = sampled((TrustLevel.SANDBOXED, TrustLevel.ISOLATED), 2)


def steps(*actions: dict[str, str]) -> list[dict[str, Any]]:
    """One answer for each action, for programs that go step by step."""
    return [*({"text": f"Step {number}.", "do": [action]} for number, action in enumerate(actions, start=1)), DONE]


@pytest.mark.parametrize("trust", LEVELS, ids=lambda trust: trust.value)
@with_tools
def test_a_program_creates_a_file_edits_one_runs_a_command_and_says_what_it_took(
    stage: Stage, trust: TrustLevel
) -> None:
    with (
        WalledTerminal(trust=trust) as terminal,
        stage.model(*steps(CREATE, READ, EDIT, {"command": "echo ran > ran.txt"})) as server,
    ):
        agent = stage.program_agent(server)
        outcome = stage.act(agent, terminal)

        assert (outcome.status, outcome.said) == ("finished", "All done."), stage.said
        assert stage.files() == {"created.py": "new = 1\n", "existing.py": "new = 1\n", "ran.txt": "ran\n"}
        assert "old = 1" in "".join(server.questions[-1].asked.returned)
        if agent.capabilities().counts_tokens:
            assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (5000, 500)
        assert outcome.enforced
        assert not stage.left_running()


@pytest.mark.parametrize("stage", AT_ONCE, indirect=True)
def test_a_program_that_is_asked_once_edits_files_and_says_what_it_took(stage: Stage, terminal: WalledTerminal) -> None:
    with stage.model({"text": "I edit both.", "do": [CREATE, EDIT]}) as server:
        outcome = stage.act(stage.program_agent(server), terminal)

        assert outcome.status == "finished", outcome.said
        assert stage.files() == {"created.py": "new = 1\n", "existing.py": "new = 1\n"}
        assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (1000, 100)
        assert not stage.left_running()


@with_tools
def test_a_program_cannot_leave_the_workspace(stage: Stage, terminal: WalledTerminal) -> None:
    target = stage.outside / "secret.txt"
    tries = [
        {"create": str(stage.outside / "new.txt"), "content": "broken\n"},
        {"command": f"echo broken > {target}"},
        {"command": f"ln -s {target} link; echo broken > link; mv {target} taken; echo tried > tried.txt"},
    ]
    with stage.model(*steps(*tries)) as server:
        outcome = stage.act(stage.program_agent(server), terminal)

        assert [(path.name, path.read_text()) for path in stage.outside.iterdir()] == [("secret.txt", "secret\n")]
        assert stage.files()["tried.txt"] == "tried\n", (outcome, stage.said)
        assert len(server.questions) == 4


@with_tools
def test_a_program_gets_its_own_key_and_no_other_of_the_environment(
    stage: Stage, terminal: WalledTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "a-secret-of-somebody-else"
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SOMETHING_ELSE"):
        monkeypatch.setenv(name, canary)
    with stage.model(*steps({"command": "env > env.txt"})) as server:
        outcome = stage.act(stage.program_agent(server), terminal)

        assert outcome.status == "finished", outcome.said
        assert server.keys == {KEY}
        assert "PATH=" in stage.files()["env.txt"] and canary not in stage.files()["env.txt"]
        told = json.dumps([[dict(one.headers), one.body] for one in server.arrivals])
        assert (
            canary not in told and "PATH" in json.dumps(server.questions[-1].asked.returned) + stage.files()["env.txt"]
        )


SERVER_OF_TOOLS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    tool = {"name": "look", "description": "Looks", "inputSchema": {"type": "object"}}
    answers = {
        "initialize": {"capabilities": {"tools": {}}, "serverInfo": {"name": "docs", "version": "1"}},
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "LOOKED"}]},
    }
    if "id" in asked:
        answer = answers.get(asked["method"], {})
        if asked["method"] == "initialize":
            answer["protocolVersion"] = asked["params"]["protocolVersion"]
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


def furnished(stage: Stage) -> None:
    """A user and a repository that set Claude Code up: with words, a hook, a skill and a server of tools."""
    hook = [{"matcher": "*", "hooks": [{"type": "command", "command": "echo hooked > hooked.txt"}]}]
    server = {"command": "python3", "args": ["tools.py"]}
    for path, text in {
        stage.users_home / ".claude/CLAUDE.md": "USER-WORDS",
        stage.users_home / ".claude/settings.json": json.dumps({"env": {"GITHUB_TOKEN": "a-key"}}),
        stage.workspace.folder / "CLAUDE.md": "PROJECT-WORDS",
        stage.workspace.folder / "tools.py": SERVER_OF_TOOLS,
        stage.workspace.folder / ".mcp.json": json.dumps({"mcpServers": {"docs": server}}),
        stage.workspace.folder / ".claude/settings.json": json.dumps({"hooks": {"PreToolUse": hook}}),
        stage.workspace.folder / ".claude/skills/greet/SKILL.md": "---\nname: greet\ndescription: A-SKILL\n---\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("stage", ["claude"], indirect=True)
@pytest.mark.parametrize("clean", [False, True])
def test_claude_code_is_as_its_user_and_the_repository_set_it_up_unless_clean(
    stage: Stage, terminal: WalledTerminal, clean: bool
) -> None:
    furnished(stage)
    asks = {
        "text": "I look.",
        "calls": [{"name": "Bash" if clean else "mcp__docs__look", "arguments": {"command": "env"}}],
    }
    with stage.model(asks, DONE) as server:
        outcome = stage.act(stage.program_agent(server, clean=clean), terminal)

        assert outcome.status == "finished", (outcome.said, stage.said)
        asked, returned = json.dumps(server.questions[0].body), "".join(server.questions[-1].asked.returned)
        words = ("USER-WORDS", "PROJECT-WORDS", "A-SKILL")
        assert [word in asked for word in words] == [not clean] * 3
        assert ("hooked.txt" in stage.files(), "LOOKED" in returned) == (not clean, not clean)
        assert "a-key" not in returned and server.keys == {KEY}
    given = (
        ("nothing of yours or the repository's (clean = true)",)
        if clean
        else (
            "of the repository: CLAUDE.md, .claude, .mcp.json",
            "of yours: ~/.claude/CLAUDE.md, ~/.claude/settings.json",
            "MCP servers: docs",
        )
    )
    assert outcome.given == given and [f"given: {what}" for what in given] == stage.said[: len(given)]


@all_programs
def test_a_prompt_of_200_kb_arrives_whole(stage: Stage, terminal: WalledTerminal) -> None:
    evidence = tuple("".join(f"{part}: line {line}\n" for line in range(800)) for part in range(24))
    prompt = prompt_for(stage.assignment(evidence))
    assert len(prompt) > 200_000
    with stage.model({"text": "I write.", "do": [CREATE]}, DONE) as server:
        outcome = stage.act(stage.program_agent(server), terminal, evidence=evidence)

        assert outcome.status == "finished", outcome.said
        assert prompt.strip() in server.questions[0].asked.told


def stopped(stage: Stage, agent: ProgramAgent, terminal: WalledTerminal, until: Callable[[], bool]) -> Outcome:
    """The outcome of an attempt during which everything is stopped, once something has come about."""
    with ThreadPoolExecutor(1) as pool:
        attempt = pool.submit(stage.act, agent, terminal)
        deadline = time.monotonic() + 60
        while not until() and not attempt.done():
            assert time.monotonic() < deadline, stage.said
            time.sleep(0.02)
        terminal.stop()
        return attempt.result(60)


@with_tools
def test_a_program_that_is_cancelled_ends_with_all_that_it_started(stage: Stage) -> None:
    begin = "setsid sleep 307 & touch begun; sleep 308"
    with WalledTerminal() as terminal, stage.model(*steps({"command": begin}, CREATE)) as server:
        agent = stage.program_agent(server)
        outcome = stopped(stage, agent, terminal, (stage.workspace.folder / "begun").exists)

        assert outcome.status == "gave_up"
        assert sorted(stage.files()) == ["begun", "existing.py"]
        assert not stage.left_running()


@one_with_tools
def test_a_program_that_takes_too_long_is_ended(stage: Stage, terminal: WalledTerminal) -> None:
    with stage.model(*steps({"command": "touch begun; sleep 309"}, CREATE)) as server:
        outcome = stage.act(stage.program_agent(server), terminal, timeout_s=15)

        assert outcome.status == "timed_out"
        assert sorted(stage.files()) == ["begun", "existing.py"]
        assert not stage.left_running()


@one_program
def test_a_program_that_says_nothing_for_too_long_is_ended(stage: Stage, terminal: WalledTerminal) -> None:
    with stage.model(*steps(CREATE), faults=[{"kind": "hang", "seconds": 60, "times": None}]) as server:
        outcome = stage.act(stage.program_agent(server), terminal, timeout_s=60, idle_timeout_s=5)

        assert outcome.status == "timed_out" and "nothing" in outcome.said, outcome
        assert "created.py" not in stage.files() or not stage.files()["created.py"]
        assert not stage.left_running()


@with_tools
def test_a_program_that_never_comes_to_its_end_is_ended_at_its_turns(stage: Stage, terminal: WalledTerminal) -> None:
    with stage.model(faults=[{"kind": "endless", "times": None}]) as server:
        outcome = stage.act(stage.program_agent(server, max_turns=3), terminal)

        assert outcome.status == "gave_up" and ("turns" in outcome.said or "number of actions" in outcome.said), outcome
        assert 3 <= len(server.questions) <= 6
        assert not stage.left_running()


@with_tools
def test_a_program_is_ended_when_its_budget_is_spent_or_says_that_it_cannot_be_counted(
    stage: Stage, terminal: WalledTerminal
) -> None:
    costly = {"text": "More.", "do": [{"command": "echo more"}], "input_tokens": 100_000, "output_tokens": 10_000}
    with stage.model(*[costly] * 30, DONE) as server:
        agent = stage.program_agent(server)
        outcome = stage.act(agent, terminal, usd_left=1.0)

        if agent.price_known:
            assert outcome.status == "spent", outcome
            assert len(server.questions) < 30 or not agent.capabilities().usd_limit  # some count at their end only
        else:
            assert any("is not known: its work is counted as $0" in line for line in stage.said)
        assert not stage.left_running()


@with_tools
def test_a_program_that_was_cut_short_goes_on_with_its_session(stage: Stage) -> None:
    fault = {"kind": "hang", "seconds": 60, "answer": 2}
    with stage.model(*steps(CREATE, EDIT_BY_COMMAND), faults=[fault]) as server:
        agent = stage.program_agent(server)
        with WalledTerminal() as terminal:
            outcome = stopped(stage, agent, terminal, lambda: len(server.questions) == 2 and stage.keeps("created.py"))
            assert outcome.status != "finished"
        with WalledTerminal() as terminal:
            outcome = stage.act(agent, terminal)

        assert (outcome.status, outcome.said) == ("finished", "All done."), stage.said
        assert stage.files() == {"created.py": "new = 1\n", "existing.py": "new = 1\n"}
        assert any(line.startswith("continuing session") for line in stage.said)
        resumed = server.questions[2].asked.told
        assert "# Task 1.1: " in resumed and "You were cut short" in resumed
        assert [question.answer for question in server.questions][-1] == 3


SLOW_TO_FAIL = ("claude", "codex", "aider")


@pytest.mark.parametrize(
    "agent", [pytest.param(agent, marks=slow if agent in SLOW_TO_FAIL else ()) for agent in AGENTS]
)
def test_no_fault_of_its_service_makes_an_agent_end_as_done_without_the_work(agent: str, tmp_path: Path) -> None:
    if agent in PROGRAMS:
        needed(agent)

    rows = rows_of(agent, tmp_path)

    assert [row.fault for row in rows] == list(FAULTS)
    assert [row for row in rows if row.false_done] == []
    assert {row.fault: (row.status, row.worked) for row in rows}["429 twice, then ok"] == ("finished", True)
