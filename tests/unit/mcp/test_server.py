"""The core of the MCP server: who is let in, what is told to whom, how lists are cut, how many are in at once."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import JSONRPCRequest

from milepost.api.detached.request import StartRequest
from milepost.core.errors import MachineFailed, MilepostError, SettingInvalid
from milepost.core.secrets.redact import Redactor
from milepost.mcp import start_run
from milepost.mcp.admission import Admission, refusal
from milepost.mcp.http import checked, new_token
from milepost.mcp.log_levels import say
from milepost.mcp.pages import PAGE, first_of, page
from milepost.mcp.request_limit import Crowd
from milepost.mcp.sendable_text import sound
from milepost.mcp.server import new_server
from milepost.serving.listen import bound, host_names
from milepost.serving.read_request import Timed
from milepost.serving.threads import MOST_AT_ONCE, aside
from milepost.serving.warnings import LONGEST, Complaint, Unblocked
from tests.mcp.conformance_server.resuming import RecentMessages

WANTED = Admission(hosts=frozenset({"127.0.0.1:8"}), origins=frozenset({"http://127.0.0.1:8"}), token="right")
HOST, ORIGIN = (b"host", b"127.0.0.1:8"), (b"origin", b"http://127.0.0.1:8")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([HOST, (b"authorization", b"Bearer right")], None),
        ([(b"Host", b"127.0.0.1:8"), (b"Authorization", b"bearer  right")], None),
        ([HOST, ORIGIN, (b"authorization", b"Bearer right")], None),
        ([(b"authorization", b"Bearer right")], 421),
        ([HOST, HOST, (b"authorization", b"Bearer right")], 421),
        ([(b"host", b"127.0.0.1"), (b"authorization", b"Bearer right")], 421),
        ([HOST, (b"origin", b""), (b"authorization", b"Bearer right")], 403),
        ([HOST, (b"origin", b"https://127.0.0.1:8"), (b"authorization", b"Bearer right")], 403),
        ([HOST, ORIGIN, (b"origin", b"http://evil"), (b"authorization", b"Bearer right")], 403),
        ([HOST], 401),
        ([HOST, (b"authorization", b"Bearer")], 401),
        ([HOST, (b"authorization", b"Bearer \xff")], 401),
        ([HOST, (b"authorization", b"right")], 401),
    ],
)  # fmt: skip
def test_a_request_is_let_in_only_by_its_names_and_the_token(
    headers: list[tuple[bytes, bytes]], status: int | None
) -> None:
    refused = refusal(headers, WANTED)

    assert (refused.status if refused else None) == status


def test_a_body_that_does_not_come_counts_as_a_client_that_went() -> None:
    async def told() -> dict[str, Any]:
        async def never() -> dict[str, Any]:
            await asyncio.Event().wait()
            return {}

        return dict(await Timed(never, 0.01)())

    assert asyncio.run(told()) == {"type": "http.disconnect"}


def test_a_server_has_the_names_of_its_address_and_those_of_this_machine() -> None:
    assert host_names("127.0.0.1", 8) == ("127.0.0.1:8", "localhost:8", "[::1]:8")
    assert host_names("::1", 8)[0] == "[::1]:8"
    assert host_names("Build.Example", 8) == ("build.example:8",)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "*"])
def test_an_address_that_stands_for_all_is_refused(host: str) -> None:
    with pytest.raises(SettingInvalid, match="no address that clients could name"):
        bound(host, 0)


def test_a_port_that_is_taken_is_said_in_a_line() -> None:
    with bound("127.0.0.1", 0) as taken, pytest.raises(MachineFailed, match="cannot listen on"):
        bound("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize("token", ["", "guessed", "with a space in the middle", "sixteen\nor more signs", "ä" * 20])
def test_a_token_that_could_not_be_sent_or_is_guessed_easily_is_refused(token: str) -> None:
    with pytest.raises(SettingInvalid) as raised:
        checked(token)
    assert token == "" or token not in f"{raised.value.message} {raised.value.advice}"


def test_a_token_of_ours_is_long_enough_and_never_the_same() -> None:
    assert checked(new_token()) != checked(new_token())


def test_all_of_a_list_comes_in_pages_and_a_cursor_of_nobody_is_refused() -> None:
    entries = list(range(PAGE * 2 + 1))
    seen, cursor = page(entries, 0)
    while cursor:
        more, cursor = page(entries, first_of(cursor))
        seen += more

    assert seen == entries
    for stranger in ("", "from-", "from-1", "from--100", "from-" + "9" * 50, "from-１００", 3, ["from-100"]):
        with pytest.raises(MCPError):
            first_of(stranger)


def test_a_client_gets_all_of_a_long_list_page_by_page() -> None:
    server = new_server(instructions="")
    for number in range(PAGE + 5):
        server.add_tool(lambda: "", name=f"tool-{number}", description="")

    async def listed() -> list[int]:
        async with Client(server) as client:
            first = await client.list_tools()
            second = await client.list_tools(cursor=first.next_cursor)
            return [len(first.tools), len(second.tools), second.next_cursor is None]

    assert asyncio.run(listed()) == [PAGE, 5, True]


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize(
    ("asked", "heard"), [(None, ["grave", "news"]), ("error", ["grave"]), ("debug", ["detail", "grave", "news"])]
)
def test_a_client_hears_what_is_as_grave_as_it_asked_for(asked: Any, heard: list[str]) -> None:
    server, told = new_server(instructions=""), []

    async def talk(ctx: Context[Any, Any]) -> str:
        for level, text in (("debug", "detail"), ("info", "news"), ("error", "grave")):
            await say(ctx, level, text)  # type: ignore[arg-type]
        return ""

    server.add_tool(talk)

    async def hear(params: Any) -> None:
        told.append(params.data)

    async def listen() -> None:
        async with Client(server, mode="legacy", logging_callback=hear) as client:
            if asked:
                await client.set_logging_level(asked)
            await client.call_tool("talk", {})

    asyncio.run(listen())
    assert sorted(told) == heard


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_crash_is_told_as_an_internal_error_and_an_unknown_name_as_a_wrong_parameter(mode: Any) -> None:
    server = new_server(instructions="")

    @server.prompt()
    def broken(word: str) -> str:
        """Breaks."""
        raise KeyError("what nobody may know")

    async def answers() -> list[tuple[int, str]]:
        found = []
        async with Client(server, mode=mode) as client:
            for asked in (
                client.call_tool("none", {}),
                client.get_prompt("none"),
                client.get_prompt("broken"),
                client.get_prompt("broken", {"word": "x"}),
            ):
                with pytest.raises(MCPError) as raised:
                    await asked
                found.append((raised.value.error.code, raised.value.error.message))
        return found

    assert asyncio.run(answers()) == [
        (-32602, "Unknown tool: none"),
        (-32602, "Unknown prompt: none"),
        (-32602, "Missing required arguments: word"),
        (-32603, "Internal server error"),
    ]


def test_a_complaint_is_one_line_without_secrets_and_names_what_went_wrong_first() -> None:
    try:
        try:
            raise KeyError("hunter2-hunter2\nsecond line\x1b[31m")
        except KeyError as error:
            raise RuntimeError("came of it") from error
    except RuntimeError as error:
        raised = (type(error), error, error.__traceback__)
    record = logging.LogRecord("mcp", logging.ERROR, "", 0, "it broke %s", ("x" * 9_000,), raised)

    line = Complaint("milepost mcp", Redactor(["hunter2-hunter2"])).format(record)

    assert line.startswith("milepost mcp: it broke xxx") and "KeyError" in line and Path(__file__).name in line
    assert "hunter2" not in line and line.isprintable() and len(line.encode()) < 4 * LONGEST + 96


def test_a_complaint_that_nobody_reads_holds_nobody_up() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writing, b"x" * 65_536)
    os.set_blocking(writing, True)
    with os.fdopen(writing, "w") as stream, os.fdopen(reading, "rb"):
        Unblocked(stream).emit(logging.LogRecord("mcp", logging.ERROR, "", 0, "told to nobody", (), None))


def test_a_request_counts_until_it_is_answered_or_cancelled_whatever_its_id() -> None:
    crowd = Crowd(most=2)

    assert [crowd.comes("a"), crowd.comes("a"), crowd.comes("b")] == [True, True, False]
    strangers: list[object] = ["unknown", None, {}, ["a"], 1.5]
    for stranger in strangers:
        crowd.goes(stranger)
    assert not crowd.comes("b")
    crowd.goes("a")
    assert [crowd.comes("b"), crowd.comes("c")] == [True, False]


def test_a_call_that_was_cancelled_counts_until_its_thread_has_ended() -> None:
    begun: list[int] = []
    let_go = threading.Event()

    def held() -> None:
        begun.append(1)
        let_go.wait(120)

    async def ask() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(MOST_AT_ONCE + 5):
                group.start_soon(aside, held)
            with anyio.fail_after(60):
                while len(begun) < MOST_AT_ONCE:
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        async with anyio.create_task_group() as group:
            group.start_soon(aside, held)
            await anyio.wait_all_tasks_blocked()
            assert len(begun) == MOST_AT_ONCE
            let_go.set()

    asyncio.run(ask())
    assert len(begun) == MOST_AT_ONCE + 1


def test_calls_that_take_long_keep_no_short_one_waiting() -> None:
    let_go = threading.Event()

    async def ask() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(MOST_AT_ONCE + 5):
                group.start_soon(lambda: aside(lambda: let_go.wait(120), end=let_go.set))
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(60):
                assert await aside(let_go.is_set) is False
            let_go.set()

    asyncio.run(ask())


ONE_OF_SEVERAL = """
import os, pathlib, sys, time
folder, at_once = pathlib.Path(sys.argv[1]), int(sys.argv[2])
own = folder / f"here-{os.getpid()}"
own.touch()
(folder / f"seen-{os.getpid()}").write_text(str(len(list(folder.glob("here-*")))))
while len(list(folder.glob("seen-*"))) < at_once:
    time.sleep(0.01)
own.unlink()
"""


def test_no_more_than_a_few_runs_are_begun_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (sys.executable, "-I", "-S", "-c", ONE_OF_SEVERAL, str(tmp_path), str(start_run.MOST_AT_ONCE))
    monkeypatch.setattr(start_run, "PROGRAM", program)
    refused: list[str] = []

    async def start() -> None:
        with pytest.raises(MilepostError) as raised:
            await start_run.depart(StartRequest(roadmap=tmp_path / "ROADMAP.md"))
        refused.append(raised.value.message)

    async def start_all() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(3 * start_run.MOST_AT_ONCE):
                group.start_soon(start)

    asyncio.run(start_all())
    assert refused == ["the process of the run ended before the run began"] * 3 * start_run.MOST_AT_ONCE
    assert max(int(seen.read_text()) for seen in tmp_path.glob("seen-*")) == start_run.MOST_AT_ONCE


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_half_a_character_is_sent_to_nobody(mode: Any) -> None:
    server, heard = new_server(instructions=""), []

    async def talk(ctx: Context[Any, Any]) -> str:
        await say(ctx, "error", "log \udcff")
        await ctx.report_progress(1, message=sound("progress \udcff"))
        return "text \ud800"

    @server.prompt()
    def broken() -> str:
        raise MCPError(code=-32602, message="no \udcff")

    server.add_tool(talk)

    async def hear(params: Any) -> None:
        heard.append(params.data)

    async def hear_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append(str(message))

    async def listen() -> None:
        async with Client(server, mode=mode, logging_callback=hear) as client:
            result = await client.call_tool("talk", {}, progress_callback=hear_progress)
            heard.append(result.model_dump_json())
            with pytest.raises(MCPError) as raised:
                await client.get_prompt("broken")
            heard.append(raised.value.error.message)

    asyncio.run(listen())
    assert all("\ufffd" in text and text.isprintable() for text in heard), heard
    assert sound({"\udcff": ["\ud800", 1, None]}) == {"\ufffd": ["\ufffd", 1, None]}


def test_events_are_kept_within_bounds_and_replayed_for_their_own_stream_alone() -> None:
    async def replayed() -> tuple[object, list[object], object]:
        events, again = RecentMessages(kept=5), []

        async def collect(event: Any) -> None:
            again.append(event.message.id)

        first = await events.store_event("one", None)
        last = await events.store_event("one", None)
        for number in range(4):
            message = JSONRPCRequest(jsonrpc="2.0", id=number, method="ping")
            await events.store_event("one" if number % 2 else "two", message)
        stream = await events.replay_events_after(last, collect)
        return stream, again, await events.replay_events_after(first, collect)

    assert asyncio.run(replayed()) == ("one", [1, 3], None)
