"""A server's program in the sandbox, spoken to through pipes.

A server is the user's choice, but what it is told to do comes from a model that reads other people's text: it stands
behind the same walls as the commands of the attempt, in a home of its own that those cannot enter. The terminal takes
no further input once a command runs, so the messages go through named pipes in that home. The program's parent waits
on a third one: when our end is closed, or this process dies, it leaves, and the whole tree is ended with it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.agents.command import readable_paths
from milepost.agents.tool_agent.mcp.server import McpServer
from milepost.core.commands import Command, CommandResult, ending_in_words
from milepost.core.ports import Terminal

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

LONGEST_MESSAGE = 16_000_000
_CHUNK = 65_536
_OPEN = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
_GOODBYE_S = 10.0

_PARENT = 'in=$1 out=$2 hold=$3; shift 3; { "$@" <"$in" >"$out"; echo over >"$hold"; } & read -r _ <"$hold"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipes:
    """The named pipes of one server, each open at both ends here so that neither side waits for the other."""

    paths: tuple[Path, Path, Path]
    told: int
    heard: int
    hold: int

    @classmethod
    def make(cls, home: Path) -> Pipes:
        """New ones; nobody knew their names before, so that none can be a link that was laid there."""
        mark = secrets.token_hex(8)
        told, heard, hold = (home / f"{name}-{mark}" for name in ("told", "heard", "hold"))
        for path in (told, heard, hold):
            os.mkfifo(path, 0o600)
        return cls(
            paths=(told, heard, hold), told=os.open(told, _OPEN), heard=os.open(heard, _OPEN), hold=os.open(hold, _OPEN)
        )

    def close(self) -> None:
        for descriptor in (self.told, self.hold, self.heard):
            os.close(descriptor)
        for path in self.paths:
            path.unlink(missing_ok=True)


def server_command(server: McpServer, pipes: Pipes, *, folder: Path, home: Path, timeout_s: float) -> Command:
    """How a server is started."""
    return Command(
        argv=("sh", "-c", _PARENT, "sh", *map(str, pipes.paths), *server.command),
        cwd=folder,
        scratch=home,
        env=server.env,
        timeout_s=timeout_s,
        output_bytes=100_000,
        network=server.network,
        readable=_readable(server),
    )


class WalledServer:
    """A server that runs; `ended` says how, once it does not any more."""

    def __init__(self, terminal: Terminal, command: Command, on_end: Callable[[], None]) -> None:
        self._terminal = terminal
        self._command = command
        self._on_end = on_end
        self._result: CommandResult | BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="an MCP server", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> str:
        """How it ended, with its last words; empty while it runs."""
        match self._result:
            case None:
                return ""
            case BaseException() as error:
                return f"it could not be run: {error}"
            case result:
                ending = ending_in_words(result, program=self._command.argv[7], timeout_s=self._command.timeout_s)
                words = " ".join(result.stderr.split())[-500:]
                return f"it ended ({ending})" + (f": {words}" if words else "")

    def wait(self) -> None:
        self._thread.join(_GOODBYE_S)

    def _run(self) -> None:
        try:
            self._result = self._terminal.run(self._command)
        except BaseException as error:
            self._result = error
        finally:
            self._on_end()


@asynccontextmanager
async def walled_transport(
    terminal: Terminal, server: McpServer, *, folder: Path, home: Path, timeout_s: float, on_end: Callable[[str], None]
) -> AsyncIterator[TransportStreams]:
    """The streams of a server that is started now and is gone afterwards; `on_end` is told how it ended."""
    import anyio
    from mcp.shared.message import SessionMessage

    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    pipes = Pipes.make(home)
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    over = anyio.Event()

    async def hear() -> None:
        async with to_session:
            async for line in _lines(pipes.heard):
                try:
                    await to_session.send(_message(line))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody listens any more
                    return

    async def tell() -> None:
        async with from_session:
            async for message in from_session:
                await _write(pipes.told, message.message.model_dump_json(by_alias=True, exclude_unset=True))

    loop = asyncio.get_running_loop()

    def end() -> None:
        with suppress(RuntimeError):  # nobody waits for it any more
            loop.call_soon_threadsafe(over.set)

    async with anyio.create_task_group() as group:
        command = server_command(server, pipes, folder=folder, home=home, timeout_s=timeout_s)
        guest = WalledServer(terminal, command, end)

        async def watch() -> None:
            await over.wait()
            on_end(guest.ended)
            to_session.close()

        for task in (hear, tell, watch):
            group.start_soon(task)
        try:
            yield from_server, to_server
        finally:
            group.cancel_scope.cancel()
            pipes.close()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(guest.wait)
            for stream in (to_session, from_server, to_server, from_session):
                stream.close()


def _message(line: bytes) -> SessionMessage | Exception:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    import anyio

    rest = bytearray()
    while True:
        await anyio.wait_readable(descriptor)
        rest += os.read(descriptor, _CHUNK)
        *lines, last = rest.split(b"\n")
        rest = bytearray(last)
        for line in lines:
            if line.strip():
                yield bytes(line)
        if len(rest) > LONGEST_MESSAGE:
            raise ValueError(f"a message of the server is longer than {LONGEST_MESSAGE} bytes")


async def _write(descriptor: int, text: str) -> None:
    import anyio

    left = memoryview(text.encode("utf-8", "backslashreplace") + b"\n")
    while left:
        try:
            left = left[os.write(descriptor, left[:_CHUNK]) :]
        except BlockingIOError:
            await anyio.wait_writable(descriptor)


def _readable(server: McpServer) -> tuple[Path, ...]:
    """What a server needs to see: its program, the Python environment that it is part of, and what it is given."""
    program = shutil.which(server.command[0], path=server.env.get("PATH"))
    environment = None if program is None else Path(program).parent.parent
    own = (environment,) if environment is not None and (environment / "pyvenv.cfg").is_file() else ()
    return (*readable_paths(server.command, server.env.get("PATH")), *own, *server.readable)
