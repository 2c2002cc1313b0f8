"""Milepost as a server of tools: what a program that speaks the Model Context Protocol can do with it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the package mcp is not installed: pip install 'milepost[mcp]'")

import anyio
from mcp.client import Client
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitResult, TextContent, TextResourceContents

import milepost
import milepost.events
from milepost.core.memories import Circumstances, Episode, EpisodeEnd, EpisodeStart, EpisodeStep, Lesson
from milepost.core.verdict import Verdict
from milepost.mcp import start_run, wait_for_run
from milepost.mcp.profiles import build
from milepost.memory.assessment.assess import assess
from tests.deploying import APPLICATION, SETTINGS, needs_envoy
from tests.e2e.conftest import Sandbox

MARK = f"3218.{os.getpid()}"  # seconds that nothing else sleeps
SLEEPS = f"import subprocess; subprocess.run(['sleep', '{MARK}'])"
TWO_TASKS = """
- [ ] **1.1** Write a
  Verify: `grep -q hello a.txt`
  - wait
  - write a.txt hello
- [ ] **1.2** Write b
  Verify: `grep -q hello b.txt`
  - write b.txt hello
"""
ONE_TASK = "- [ ] **1.1** Write a\n  Verify: `grep -q hello a.txt`\n  - write a.txt hello\n"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture(autouse=True)
def _its_user_named_the_agent(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever started the server may have it use the agent that lies outside of the repository."""
    monkeypatch.setenv("MILEPOST_AGENT", sandbox.agent)


def asked(folder: Path, talk: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    """Talk to a server in this process, as a client does."""

    async def connected() -> None:
        allow, folders = options.pop("allow_answers", False), options.pop("folders", ())
        async with Client(build("full", folder, folders=folders, allow_answers=allow), **options) as client:
            await talk(client)

    asyncio.run(connected())


async def told(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured result of a call that succeeds."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error and result.structured_content is not None, text_of(result)
    assert json.loads(text_of(result)) == result.structured_content
    return dict(result.structured_content)


async def refused(client: Client, name: str, /, **arguments: Any) -> str:
    """The one line that a call is refused with."""
    result = await client.call_tool(name, arguments)
    assert result.is_error and "\n" not in text_of(result), result
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


def words_of(pid: int) -> list[bytes]:
    """What a process was started with; nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def sleeping() -> list[int]:
    """The processes that sleep as long as nothing else does."""
    everybody = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    return [pid for pid in everybody if MARK.encode() in words_of(pid)]


def own_children() -> list[int]:
    found: list[int] = []
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        with suppress(OSError):  # a thread that has ended
            found += map(int, (thread / "children").read_text().split())
    return found


async def ended(client: Client, **more: Any) -> dict[str, Any]:
    """How a run stands that has come to its end, however long that takes here."""
    with anyio.fail_after(300):
        while True:
            result = await client.call_tool("run_status", {"wait_s": 50}, **more)
            status = dict(result.structured_content or {})
            if status["state"] != "running":
                return status


async def until(holds: Callable[[], object]) -> None:
    with anyio.fail_after(60):
        while not holds():
            await anyio.sleep(0.05)


def test_a_run_outlives_the_server_that_began_it_and_another_one_tells_its_end(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.roadmap(TWO_TASKS)
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "milepost", "mcp"],
        cwd=sandbox.repo,
        env={**sandbox.environment, "MILEPOST_AGENT": sandbox.agent},
    )
    seen: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message or "")

    before = own_children()  # servers of tests before this one, which may still be ending

    async def begin() -> str:
        async with Client(server) as client:
            assert (await told(client, "plan"))["ready"] == ["1.1", "1.2"]
            assert "there is no agent 'nobody'" in await refused(client, "run_start", agent="nobody")
            reading = f"command:cp {sandbox.home}/secret taken"
            assert "which only a person may do" in await refused(client, "run_start", agent=reading)
            begun = await told(client, "run_start", agent=sandbox.agent, tasks=["1.1", "1.2"])
            assert begun["action"] == "started"
            assert begun["run"] in await refused(client, "run_start", agent=sandbox.agent), "it is going on"
            status = await told(client, "run_status", run=begun["run"], wait_s=0.5)
            assert (status["state"], status["tasks"]) == ("running", 2)
            (server_pid,) = [pid for pid in own_children() if pid not in before and b"mcp" in words_of(pid)]
            os.kill(server_pid, signal.SIGKILL)
            return str(begun["run"])

    def let_go_after_a_look(roadmap: Path, run: str | None, place: int) -> tuple[milepost.events.Entry, ...]:
        found = look(roadmap, run, place)
        if not place:
            sandbox.let_go()
        return found

    async def follow(client: Client) -> None:
        status = await ended(client, progress_callback=heard)
        commits = {one["task"]: one["commit"] for one in status["done"]}
        assert (status["run"], status["state"], sorted(commits)) == (run, "finished", ["1.1", "1.2"])
        assert status["result"] == {"complete": True, "branch": f"milepost/{run}", "taken_in": "main"}
        proof = await told(client, "proof", task="1.1", limit=1)
        assert (proof["verdict"], proof["commit"]) == ("passed", commits["1.1"])
        assert [check["name"] for check in proof["checks"]] == ["verify"] and proof["left_out"] > 0
        assert await told(client, "run_start", agent=sandbox.agent) == {
            "action": "nothing_to_do",
            "reason": "all 2 tasks are done",
        }

    run = asyncio.run(begin())
    look = wait_for_run._after
    monkeypatch.setattr(wait_for_run, "_after", let_go_after_a_look)
    asked(sandbox.repo, follow)

    assert sorted(sandbox.mileposts()) == ["1.1", "1.2"]
    assert any(line.startswith("1.1: ") for line in seen), seen


def test_a_run_is_stopped_and_goes_on_with_the_next_start(sandbox: Sandbox) -> None:
    sandbox.roadmap(TWO_TASKS)

    async def talk(client: Client) -> None:
        assert await told(client, "run_cancel") == {"action": "nothing_to_stop"}
        run = (await told(client, "run_start", agent=sandbox.agent, tasks=["1.1"]))["run"]
        assert "is not in progress here" in await refused(client, "run_cancel", run="0000")
        stopped = await told(client, "run_cancel", run=run, at_once=True)
        assert (stopped["run"], stopped["action"]) == (run, "stopped")
        assert (await told(client, "run_status"))["state"] == "interrupted"
        sandbox.let_go()
        assert await told(client, "run_start") == {
            "run": run,
            "action": "resumed",
            "next": f"run_status run={run} wait_s=50",
        }
        assert (await ended(client))["state"] == "finished"

    asked(sandbox.repo, talk)
    assert sandbox.mileposts() == ["1.1"]


def test_a_run_begins_without_importing_what_the_repository_calls_like_our_modules(sandbox: Sandbox) -> None:
    seen = sandbox.home / "imported.txt"
    for name in ("pydantic.py", "secrets.py", "sqlalchemy/__init__.py", "milepost/__init__.py"):
        sandbox.write(name, f"open({str(seen)!r}, 'a').write(__name__)\n")
    sandbox.roadmap(ONE_TASK)

    async def talk(client: Client) -> None:
        assert (await told(client, "run_start", agent=sandbox.agent))["action"] == "started"
        assert (await ended(client))["state"] == "finished"

    asked(sandbox.repo, talk)
    assert not seen.exists() and sandbox.mileposts() == ["1.1"]


def test_a_process_that_ends_before_its_run_begins_is_not_taken_for_a_slow_one(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.roadmap(ONE_TASK)
    monkeypatch.setattr(start_run, "PROGRAM", (sys.executable, "-I", "-c", "print('no line', end='')"))

    async def talk(client: Client) -> None:
        assert "ended before the run began" in await refused(client, "run_start")

    asked(sandbox.repo, talk)


def test_nobody_waits_for_a_run_that_asks_a_question_already(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.roadmap(TWO_TASKS + "  - Approve: each\n")
    look, seen = wait_for_run._goes_on_unasked, list[bool]()

    def looked(roadmap: Path, run: str | None) -> bool:
        seen.append(look(roadmap, run))
        return seen[-1]

    async def talk(client: Client) -> None:
        run = (await told(client, "run_start", agent=sandbox.agent, parallel=2))["run"]
        with anyio.fail_after(300):
            while not (await told(client, "run_status", wait_s=50)).get("waits_for_person"):
                pass
        monkeypatch.setattr(wait_for_run, "_goes_on_unasked", looked)
        for name in (run, ""):
            status = await told(client, "run_status", run=name, wait_s=50)
            assert [one["gate"] for one in status["waits_for_person"]] == ["1.2/before"]
            assert (status["state"], status["next"]) == ("running", "answer")
        assert seen == [False, False], "one look each"
        assert (await told(client, "run_cancel", at_once=True))["action"] == "stopped"

    asked(sandbox.repo, talk)


def person(answer: ElicitResult, questions: list[str]) -> ElicitationFnT:
    """Somebody at a client, who reads what they are asked."""

    async def read(context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        questions.append(params.message)
        return answer

    return read


YES = ElicitResult(action="accept", content={"confirm": True})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_no_model_answers_for_a_person_who_does_not_confirm_it(sandbox: Sandbox, mode: str) -> None:
    sandbox.roadmap(ONE_TASK)
    sandbox.run("--approve", "each")
    questions: list[str] = []

    async def alone(client: Client) -> None:
        waits = (await told(client, "run_status"))["waits_for_person"]
        assert [(one["gate"], one["kind"]) for one in waits] == [("1.1/before", "before")]
        told_by_hand = await refused(client, "answer", answer="approve", gate="1.1")
        assert "only a person may answer this" in told_by_hand and "milepost approve 1.1/before" in told_by_hand

    async def unwilling(client: Client) -> None:
        assert "did not confirm" in await refused(client, "answer", answer="approve", gate="1.1")

    async def willing(client: Client) -> None:
        kept = await told(client, "answer", answer="approve", gate="1.1")
        assert (kept["task"], kept["answer"], kept["next"]) == ("1.1", "approve", "run_start continues the run")
        assert "nothing that is called '1.1'" in await refused(client, "answer", answer="skip", gate="1.1")

    asked(sandbox.repo, alone, mode=mode)
    for answer in (
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="accept", content={"confirm": False}),
    ):
        asked(sandbox.repo, unwilling, mode=mode, elicitation_callback=person(answer, questions))
    assert len(sandbox.milepost("gates", "--json").json) == 1
    asked(sandbox.repo, willing, mode=mode, elicitation_callback=person(YES, questions))

    assert len(questions) == 4
    assert all("about task 1.1" in one and "write a.txt hello" in one and "approve" in one for one in questions)
    assert sandbox.milepost("gates", "--json").json == []


def test_whoever_starts_the_server_may_let_it_answer(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE_TASK)
    sandbox.run("--approve", "each")

    async def talk(client: Client) -> None:
        assert "reject needs a reason" in await refused(client, "answer", answer="reject")
        assert (await told(client, "answer", answer="reject", text="not today"))["answer"] == "reject"

    asked(sandbox.repo, talk, allow_answers=True)


def test_held_work_is_told_after_its_run_and_only_a_person_says_yes_to_it(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Write a\n  - write a.txt hello\n")
    assert sandbox.run().code == 1
    questions: list[str] = []

    async def alone(client: Client) -> None:
        status = await told(client, "run_status")
        assert (status["state"], status.get("done", []), status.get("failed", [])) == ("finished", [], [])
        assert [one["task"] for one in status["held"]] == ["1.1"] and "nothing shows" in status["held"][0]["questions"][
            0
        ]
        assert [one["kind"] for one in status["waits_for_person"]] == ["held"]
        for answer in ("approve", "accept"):
            assert "only a person may answer this" in await refused(client, "answer", answer=answer, gate="1.1")

    async def willing(client: Client) -> None:
        kept = await told(client, "answer", answer="accept", gate="1.1", text="I read it")
        assert kept["commit"]
        status = await told(client, "run_status")
        assert [one["task"] for one in status["accepted"]] == ["1.1"] and not status.get("held")
        proof = await told(client, "proof", task="1.1")
        assert (proof["verdict"], proof["notes"][0]) == ("held", "accepted by Ada through MCP, not verified")

    asked(sandbox.repo, alone)
    asked(sandbox.repo, alone, allow_answers=True)
    assert sandbox.mileposts() == []
    asked(sandbox.repo, willing, allow_answers=True, elicitation_callback=person(YES, questions))
    assert len(questions) == 1 and "nothing shows" in questions[0]
    assert sandbox.mileposts() == ["1.1"]


def test_code_runs_in_the_sandbox_with_its_context_and_limits_and_says_how_it_ended(sandbox: Sandbox) -> None:
    async def talk(client: Client) -> None:
        fine = await told(client, "execute_agent_code", code="print(context['a'])\nfinal_answer(2)", context={"a": 1})
        assert (fine["ok"], fine["termination"], fine["output"], fine["value"]) == (True, "exited", "1\n", 2)
        late = await told(client, "execute_agent_code", code="while True: pass", timeout_s=0.3)
        assert (late["ok"], late["termination"]) == (False, "timeout")
        wrong = await told(client, "execute_agent_code", code="1 / 0")
        assert (wrong["termination"], "ZeroDivisionError" in wrong["error"]) == ("exited", True)
        large = await told(client, "execute_agent_code", code="print('x' * 50_000)")
        assert large["truncated"] and len(large["output"]) < 20_000
        value = await told(client, "execute_agent_code", code="final_answer('x' * 20_000)")
        assert not value["ok"] and "value" not in value and "the value is longer than" in value["error"]
        raised = await told(client, "execute_agent_code", code="raise ValueError('x' * 20_000)")
        assert raised["truncated"] and 1_000 < len(raised["error"]) < 5_000
        assert "arguments refused" in await refused(client, "execute_agent_code", code="x" * 100_001)
        deep: Any = 1
        for _ in range(150):
            deep = [deep]
        assert "nested too deeply" in await refused(client, "execute_agent_code", code="1", context={"a": deep})

    asked(sandbox.repo, talk)


def answered(folder: Path, name: str, **arguments: Any) -> CallToolResult:
    """What a single call is answered."""
    found: list[CallToolResult] = []

    async def talk(client: Client) -> None:
        found.append(await client.call_tool(name, arguments))

    asked(folder, talk)
    return found[0]


def test_typescript_runs_there_as_well(sandbox: Sandbox) -> None:
    code = "const n: number = context.n; console.log('seen'); n + 1"
    ran = answered(sandbox.repo, "execute_agent_code", code=code, context={"n": 1}, language="typescript")
    if ran.is_error and "Deno is missing" in text_of(ran):
        pytest.skip(text_of(ran))

    told = ran.structured_content or {}
    assert (told["ok"], told["output"], told["value"]) == (True, "seen\n", 2)


def test_code_sees_a_folder_and_changes_nothing_there(sandbox: Sandbox) -> None:
    code = "print(open('README.md').read()); open('README.md', 'w').write('gone')"
    seen = answered(sandbox.repo, "execute_agent_code", code=code, workspace=str(sandbox.repo))
    weaker = answered(sandbox.repo, "execute_agent_code", code="1", trust="isolated", workspace=str(sandbox.repo))

    assert weaker.is_error and "keeps changes apart" in text_of(weaker)
    if seen.is_error:
        pytest.skip(f"this machine does not hold the level sandboxed: {text_of(seen)}")
    assert (seen.structured_content or {})["output"] == "A project\n\n"
    assert (sandbox.repo / "README.md").read_text() == "A project\n"


def test_a_call_that_is_cancelled_ends_the_code_it_started(sandbox: Sandbox) -> None:
    async def talk(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "execute_agent_code", {"code": SLEEPS, "timeout_s": 50})
            await until(sleeping)
            group.cancel_scope.cancel()
        await until(lambda: not sleeping())
        assert (await told(client, "execute_agent_code", code="print(1)"))["output"] == "1\n"

    asked(sandbox.repo, talk, mode="legacy")


def test_the_server_ends_with_its_client_and_leaves_no_process(sandbox: Sandbox) -> None:
    arguments = {"name": "execute_agent_code", "arguments": {"code": SLEEPS, "timeout_s": 50}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments}
    began = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with subprocess.Popen(
        sandbox.argv("mcp"),
        cwd=sandbox.repo,
        env=sandbox.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdin.write(b"no json\n\xff\xfe\n" + b"x" * 5_000_000 + b"\n")
        server.stdin.writelines(json.dumps(one).encode() + b"\n" for one in (HELLO, began, call))
        server.stdin.flush()
        said = [json.loads(server.stdout.readline()) for _ in range(4)]
        assert [one["id"] for one in said] == [None, None, None, 1]
        assert said[-1]["result"]["serverInfo"]["name"] == "milepost"
        asyncio.run(until(sleeping))
        server.stdin.close()
        assert server.wait(60) == 0
        printed = server.stdout.read()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in printed.splitlines()), printed
        assert b"Traceback" not in server.stderr.read()

    asyncio.run(until(lambda: not sleeping()))


def test_roadmap_events_and_proofs_can_be_read_and_a_task_be_put_to_a_model(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE_TASK)
    assert sandbox.run().code == 0

    async def read(client: Client, uri: str) -> str:
        (content,) = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    async def talk(client: Client) -> None:
        assert "- [x] **1.1** Write a" in await read(client, "milepost://roadmap")
        events = json.loads(await read(client, "milepost://runs/latest/events"))["events"]
        assert (events[0]["event"], events[-1]["event"]) == ("run_started", "run_finished")
        after = json.loads(await read(client, f"milepost://runs/{events[0]['run']}/events?after={events[-2]['seq']}"))
        assert after == {"events": events[-1:]}
        assert json.loads(await read(client, "milepost://proofs/1.1"))["verdict"] == "passed"
        for unknown in ("proofs/9.9", "runs/0000/events", "runs/latest/events?after=x", "proofs/..%2F..%2Fetc", "no"):
            with pytest.raises(MCPError):
                await read(client, f"milepost://{unknown}")
        (message,) = (await client.get_prompt("task", {"task": "1.1"})).messages
        assert isinstance(message.content, TextContent)
        assert "# Task 1.1: Write a" in message.content.text and "grep -q hello a.txt" in message.content.text
        with pytest.raises(MCPError, match="there is no task '7'"):
            await client.get_prompt("task", {"task": "7"})

    asked(sandbox.repo, talk)


def test_a_workspace_can_be_named_with_each_call_and_must_be_there(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.roadmap(ONE_TASK)
    inner = sandbox.repo / "inner"
    inner.mkdir()
    other = tmp_path / "other"
    other.mkdir()

    async def talk(client: Client) -> None:
        assert "there is no ROADMAP.md" in await refused(client, "plan") or "no roadmap" in await refused(
            client, "plan"
        )
        assert (await told(client, "plan", workspace=str(sandbox.repo)))["open"] == 1
        assert (await told(client, "plan", workspace=str(inner)))["open"] == 1
        assert "there is no folder" in await refused(client, "run_status", workspace=str(inner / "no"))

    asked(other, talk, folders=(sandbox.repo,))


def test_only_folders_that_the_server_was_started_for_can_be_named(sandbox: Sandbox, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "key").write_text("a private key")
    (sandbox.repo / "way-out").symlink_to(private)
    (sandbox.repo / "loop").symlink_to("loop")

    async def talk(client: Client) -> None:
        for name in (str(private), "/", "..", "way-out", f"{sandbox.repo}/../private", "~", "loop/../../private"):
            said = await refused(client, "execute_agent_code", code="print(open('key').read())", workspace=name)
            assert "may not use" in said or "there is no folder" in said, name
            assert "may not use" in await refused(client, "plan", workspace=str(private))
        assert "may not use" in await refused(client, "plan", workspace="/no/such/folder")

    asked(sandbox.repo, talk)


def test_a_roadmap_that_is_a_link_out_of_the_project_is_not_read_out(sandbox: Sandbox, tmp_path: Path) -> None:
    private = tmp_path / "private.md"
    private.write_text("- [ ] **1.1** my secret\n")
    (sandbox.repo / "ROADMAP.md").symlink_to(private)

    async def talk(client: Client) -> None:
        with pytest.raises(MCPError) as raised:
            await client.read_resource("milepost://roadmap")
        assert "my secret" not in str(raised.value) and "may not use" in str(raised.value)
        assert "may not use" in await refused(client, "plan")

    asked(sandbox.repo, talk)


remembers = pytest.mark.skipif("open_memory" not in milepost.__all__, reason="this library opens no memory")


@remembers
def test_what_an_agent_from_outside_calls_a_success_is_kept_as_its_word(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE_TASK)

    async def talk(client: Client) -> None:
        assert "lessons" not in await told(client, "query_memory", query="parse durations")
        episode = (await told(client, "episode_start", title="Parse durations", files=["parse.py"]))["episode"]
        for number in (1, 2):
            step = await told(client, "episode_log", episode=episode, tool="pytest", action="run", result="error")
            assert step == {"episode": episode, "step": number}
        assert (await told(client, "episode_complete", episode=episode, outcome="success"))["episode"] == episode
        assert "has ended" in await refused(client, "episode_complete", episode=episode, outcome="failure")
        other = ("1" if episode[0] == "0" else "0") * len(episode)
        assert "there is no episode" in await refused(client, "episode_log", episode=other, tool="a", action="b")
        (found,) = (await told(client, "query_memory", query="parse durations"))["found"]
        assert (found["id"], found["outcome"], found.get("verified", False)) == (episode, "success", False)
        assert await told(client, "lessons") == {} and await told(client, "patterns") == {}
        health = await told(client, "health")
        assert health["memory"]["episodes"] == 1 and health["roadmap"].endswith("ROADMAP.md")

    asked(sandbox.repo, talk)


@remembers
def test_lessons_are_listed_by_pages_explained_quarantined_and_forgotten(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE_TASK)
    with milepost.open_memory(sandbox.repo) as memory:
        memory.complete(memory.start("Mint"), outcome="success")
        for number in range(3):
            lesson = Lesson(
                id=f"{number}" * 12, kind="fact", project=memory.project, subject=f"s{number}", text="`x`", made_at=1.0
            )
            memory._opened.stored.lessons.keep(lesson, ["e"], state="active")

    async def talk(client: Client) -> None:
        first = await told(client, "lessons", limit=2)
        rest = await told(client, "lessons", limit=2, offset=first["next"])
        names = [one["id"] for one in (*first["lessons"], *rest["lessons"])]
        assert sorted(names) == ["0" * 12, "1" * 12, "2" * 12] and "next" not in rest
        (why,) = (await told(client, "lessons", action="why", lesson="0000"))["lessons"]
        assert (why["text"], why["episodes"]) == ("`x`", ["e"])
        (out,) = (await told(client, "lessons", action="quarantine", lesson="1111", why="wrong"))["lessons"]
        assert (out["state"], out["why"]) == ("quarantined", "by hand: wrong")
        assert (await told(client, "lessons", action="forget", lesson="2222"))["action"] == "forget"
        assert len((await told(client, "lessons", state="active"))["lessons"]) == 1
        assert "there is no lesson" in await refused(client, "lessons", action="forget", lesson="2222")
        listed = (await client.read_resource("milepost://lessons")).contents[0]
        assert isinstance(listed, TextResourceContents) and len(json.loads(listed.text)) == 2

    asked(sandbox.repo, talk)


@remembers
def test_lessons_of_another_project_are_told_and_changed_only_where_it_is_named(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE_TASK)
    with milepost.open_memory(sandbox.repo) as memory:
        memory.start("Mint")
        for name, project in (("a" * 12, memory.project), ("b" * 12, "other")):
            lesson = Lesson(id=name, kind="fact", project=project, subject=name, text="`x`", made_at=1.0)
            memory._opened.stored.lessons.keep(lesson, ["e"], state="active")

    async def talk(client: Client) -> None:
        (own,) = (await told(client, "lessons"))["lessons"]
        (others,) = (await told(client, "lessons", project="other"))["lessons"]
        assert (own["id"], "project" in own, others["id"], others["project"]) == ("a" * 12, False, "b" * 12, "other")
        assert (await told(client, "lessons", action="why", lesson="bbbb"))["lessons"][0]["project"] == "other"
        for action in ("quarantine", "forget"):
            assert "is of project 'other'" in await refused(client, "lessons", action=action, lesson="bbbb")
        listed = (await client.read_resource("milepost://lessons")).contents[0]
        assert isinstance(listed, TextResourceContents)
        assert [one["id"] for one in json.loads(listed.text)] == ["a" * 12]
        (out,) = (await told(client, "lessons", action="quarantine", lesson="bbbb", project="other"))["lessons"]
        assert (out["state"], out["project"]) == ("quarantined", "other")

    asked(sandbox.repo, talk)


def worked(memory: milepost.ProjectMemory, name: str, title: str, tools: tuple[str, ...], passed: bool) -> None:
    """An attempt at something that Milepost verified."""
    start = EpisodeStart(
        id=name,
        project=memory.project,
        title=title,
        started_at=1.0,
        owner="run x",
        run="ab12",
        circumstances=Circumstances(language="python"),
    )
    steps = tuple(EpisodeStep(number=number, tool=tool, action="x") for number, tool in enumerate(tools, 1))
    verdict = Verdict.PASSED if passed else Verdict.FAILED
    end = EpisodeEnd(kind="success" if passed else "failure", ended_at=2.0, verdict=verdict)
    episode = Episode(start=start, steps=steps, end=end)
    memory._opened.stored.record(replace(episode, assessment=assess(episode)))


@remembers
def test_what_worked_is_recommended_for_a_task_about_the_same_things_and_for_no_other(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE_TASK)
    with milepost.open_memory(sandbox.repo) as memory:
        memory.start("Mint")
        for number in range(3):
            worked(memory, f"good{number}", "Parse durations", ("edit", "pytest"), passed=True)
            worked(memory, f"bad{number}", "Parse durations", ("guess", "hope"), passed=False)

    async def talk(client: Client) -> None:
        async def parts(task: str, **more: Any) -> list[list[str]]:
            found = await told(client, "recommend", task=task, limit=1, **more)
            return [one["parts"] for one in found.get("patterns", ())]

        assert await parts("Parse the durations of a file") == [["language:python", "edit, pytest"]]
        assert await parts("Parse durations", files=["a.py"]) == [["language:python", "edit, pytest"]]
        assert await parts("Parse durations", files=["a.rs"]) == [], "they were of Python"
        assert await parts("Translate the French manual") == []
        assert await parts("Add a new file") == []

    asked(sandbox.repo, talk)


@remembers
def test_a_lesson_that_no_episode_supports_is_not_activated_and_recall_says_so(sandbox: Sandbox) -> None:
    with milepost.open_memory(sandbox.repo) as memory:
        memory.start("Mint")
        lesson = Lesson(
            id="a" * 12,
            kind="usage",
            project=memory.project,
            subject="clock.parse",
            text="`clock.parse` as it is used in `a.py`, which passed:\n    from clock import parse",
            made_at=1.0,
            terms=("clock", "parse"),
            symbols=("clock.parse",),
        )
        memory._opened.stored.lessons.keep(lesson, [], state="active")

        with pytest.raises(milepost.Misuse, match="no episode here supports it"):
            memory.activate("aaaa", "I looked at it")
        found = memory.recall("Parse the clock")
        assert found.lines == () and any("has no known source here" in line for line in found.explanation)


def test_the_program_starts_without_the_sdk_and_says_what_to_install_when_it_is_missing(sandbox: Sandbox) -> None:
    code = """
import importlib.util, sys
import milepost.cli.main
assert not [name for name in sys.modules if name.split(".")[0] in ("mcp", "mcp_types")]
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "mcp" else real(name, *more)
sys.argv = ["milepost", "mcp"]
milepost.cli.main.main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=sandbox.repo, capture_output=True, text=True, timeout=60)

    assert done.returncode == 1
    assert done.stderr == "error: the package mcp is not installed\n  pip install 'milepost[mcp]'\n"
    for option in ("--workspace", "--folder"):
        assert sandbox.milepost("mcp", option, "/no/such/folder").stderr.startswith("error: there is no folder")


@needs_envoy
def test_a_deploy_and_a_rollback_wait_for_the_word_of_a_person(sandbox: Sandbox) -> None:
    sandbox.write("app.py", APPLICATION)
    sandbox.write("release", "one,")
    sandbox.write("milepost.toml", SETTINGS.replace("[2]", "[1]").replace("1.5", "0.3"))
    sandbox.roadmap(ONE_TASK)
    questions: list[str] = []

    async def alone(client: Client) -> None:
        assert "milepost deploy local" in await refused(client, "deploy", unproven=True)
        assert "it is not proven" in await refused(client, "deploy")
        assert await told(client, "releases") == {"target": "local", "environment": "dev"}

    async def unwilling(client: Client) -> None:
        assert "did not confirm" in await refused(client, "deploy", unproven=True)
        assert "releases" not in await told(client, "releases")

    async def willing(client: Client) -> None:
        assert (await told(client, "deploy", unproven=True))["releases"][0]["stage"] == "live"
        sandbox.write("release", "two,")
        sandbox.commit()
        assert (await told(client, "deploy", unproven=True))["releases"][0]["stage"] == "live"
        gone = await told(client, "rollback")
        assert [(one["release"], one["stage"]) for one in gone["releases"]] == [(2, "rolled back"), (1, "live")]

    try:
        asked(sandbox.repo, alone)
        asked(sandbox.repo, alone, allow_answers=True)
        no = ElicitResult(action="accept", content={"confirm": False})
        asked(sandbox.repo, unwilling, elicitation_callback=person(no, questions))
        assert len(questions) == 1 and "nothing (" in questions[0] and "to local (dev)" in questions[0]
        asked(sandbox.repo, willing, allow_answers=True, elicitation_callback=person(YES, questions))
        assert [one.split()[0] for one in questions[1:]] == ["Deploy", "Deploy", "Take"]
    finally:
        sandbox.milepost("scale", "local", "0")
