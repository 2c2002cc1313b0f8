"""A program that is talked to over its pipes, one JSON-RPC message a line.

It runs beside the program, inside the sandbox, so it is made of the standard library alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from typing import IO, Any, cast

LONGEST_MESSAGE = 16_000_000
MOST_MESSAGES = 500_000
LONGEST_STRAY = 1_000
LEAVE_S = 2.0


class ConversationEnd(Exception):
    """The conversation is over: why, and what went wrong if anything did."""

    def __init__(self, reason: str, error: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error


class Peer:
    """The program at the other end. Whatever makes it impossible to go on is raised as `Ending`."""

    def __init__(self, argv: list[str], folder: Path) -> None:
        try:
            self._program = subprocess.Popen(
                argv, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as problem:
            raise ConversationEnd("not_started", f"could not start {argv[0]!r}: {problem.strerror}") from problem
        self._stdin = cast(IO[bytes], self._program.stdin)
        self._inbox: queue.Queue[dict[str, Any] | str | ConversationEnd] = queue.Queue(1000)
        self._received = 0
        threading.Thread(target=_read, args=(self._program.stdout, self._inbox), daemon=True).start()

    def send(self, message: dict[str, Any]) -> None:
        try:
            self._stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._stdin.flush()
        except OSError as problem:
            raise ConversationEnd("died", f"the program {self._how_it_left()}: {problem.strerror}") from problem

    def receive(self, within_s: float | None) -> dict[str, Any] | str:
        """The next message, or a line that is none; `TimeoutError` when nothing comes."""
        try:
            message = self._inbox.get(timeout=within_s)
        except queue.Empty:
            raise TimeoutError from None
        self._received += 1
        if self._received > MOST_MESSAGES:
            raise ConversationEnd("flood", f"the program sent more than {MOST_MESSAGES} messages")
        if isinstance(message, ConversationEnd):
            raise ConversationEnd(message.reason, message.error or f"the program {self._how_it_left()}")
        return message

    def leave(self) -> None:
        """Let the program go, then end it with its group; the sandbox ends whatever is left of it elsewhere."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                if end is not None:
                    os.killpg(self._program.pid, end)
                self._program.wait(LEAVE_S)
                return

    def _how_it_left(self) -> str:
        try:
            return f"ended with exit {self._program.wait(LEAVE_S)}"
        except subprocess.TimeoutExpired:
            return "closed its pipes"


def _read(stream: IO[bytes], inbox: queue.Queue[dict[str, Any] | str | ConversationEnd]) -> None:
    """Put every message into the inbox, a line that is none as its text, and at the end why it is the end."""
    while line := stream.readline(LONGEST_MESSAGE):
        if len(line) == LONGEST_MESSAGE and not line.endswith(b"\n"):
            inbox.put(ConversationEnd("flood", f"the program sent a message of more than {LONGEST_MESSAGE} bytes"))
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        inbox.put(message if isinstance(message, dict) else line[:LONGEST_STRAY].decode(errors="replace").strip())
    inbox.put(ConversationEnd("died"))
