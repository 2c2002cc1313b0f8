"""The inside of an executor's session: runs the code it is sent, and answers on a channel of its own.

What it answers is the code's own word: the code shares this process and could say anything here. The facts about how it
ran are the relay's, and the relay is all that this channel leads to.
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import os
import site
import sys
import traceback
import types
from importlib.machinery import ModuleSpec
from typing import Any

from .frames import LONGEST_FRAME, TOKEN_BYTES, framed


def serve(channel: int) -> None:
    """Answer requests until the channel closes."""
    os.set_inheritable(channel, False)
    session = os.getpid()
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - a string is what belongs there
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")  # type: ignore[misc]
    number = 0
    while (received := _receive(channel)) is not None:
        token, request = received
        number += 1
        vars(module).update(request["inject"])
        answer = _run(request["code"], f"<run {number}>", vars(module))
        if os.getpid() != session:
            os._exit(0)  # the code forked and let the child come back here
        _send(channel, token, answer)


class LateSite:
    """Adds the packages of this interpreter when an import first needs them.

    What they bring to be run at the start of Python runs here, behind the walls, and costs nothing where nobody asks.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        sys.meta_path.remove(self)
        site.main()
        return importlib.util.find_spec(name) if path is None else None


class _Answers:
    """What the code called its final answer, and how often."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self.verified_by: str | None = None
        self.problem: str | None = None

    def final_answer(self, value: Any, verified_by: Any = None) -> None:
        """Name the result of the whole work, and what has verified it if anything did; once in a run."""
        try:
            text = json.dumps(value)
        except (TypeError, ValueError, RecursionError) as problem:
            text = json.dumps(repr(value))
            self.problem = f"TypeError: the final answer cannot be written as JSON, so its repr was kept: {problem}"
        self.values.append(text)
        self.verified_by = None if verified_by is None else str(verified_by)
        if len(self.values) > 1:
            raise RuntimeError("final_answer was called twice in one run")


def _run(code: str, name: str, namespace: dict[str, Any]) -> dict[str, Any]:
    answers = _Answers()
    namespace["final_answer"] = answers.final_answer
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    error = None
    try:
        exec(compile(code, name, "exec", dont_inherit=True), namespace)  # noqa: S102 - this is what it is for
    except SystemExit as problem:
        error = None if problem.code in (None, 0) else _describe(problem, name)
    except BaseException as problem:
        error = _describe(problem, name)
    streams: tuple[Any, Any] = (sys.stdout, sys.stderr)
    for stream in streams:
        try:
            stream.flush()
        except BaseException as problem:
            error = error or _describe(problem, name)
    if len(answers.values) > 1:
        error = error or "RuntimeError: final_answer was called twice in one run"
    is_final = error is None and len(answers.values) == 1
    return {
        "error": error or answers.problem,
        "is_final": is_final,
        "final_json": answers.values[0] if is_final else "null",
        "verified_by": answers.verified_by if is_final else None,
    }


def _stream(descriptor: int, mode: str) -> Any:
    """A standard stream of this process: those that it was forked with were made for other files."""
    return open(descriptor, mode, 1, "utf-8", "backslashreplace", closefd=False)


def _describe(problem: BaseException, name: str) -> str:
    """`TypeName: message (line n)`, the line being the last one of this run's own code."""
    try:
        message = problem.msg if isinstance(problem, SyntaxError) else str(problem)
    except BaseException:
        message = "<no message: str() of the error failed>"
    lines = [line for frame, line in traceback.walk_tb(problem.__traceback__) if frame.f_code.co_filename == name]
    if isinstance(problem, SyntaxError) and problem.filename == name and problem.lineno is not None:
        lines.append(problem.lineno)
    text = f"{type(problem).__name__}: {message}" if message else type(problem).__name__
    return f"{text} (line {lines[-1]})" if lines else text


def _receive(channel: int) -> tuple[bytes, dict[str, Any]] | None:
    size = _read_exactly(channel, 4)
    body = None if size is None else _read_exactly(channel, int.from_bytes(size, "big"))
    return None if body is None else (body[:TOKEN_BYTES], json.loads(body[TOKEN_BYTES:]))


def _read_exactly(channel: int, size: int) -> bytes | None:
    text = bytearray()
    while len(text) < size:
        piece = os.read(channel, min(size - len(text), 1 << 20))
        if not piece:
            return None
        text += piece
    return bytes(text)


def _send(channel: int, token: bytes, answer: dict[str, Any]) -> None:
    body = json.dumps(answer).encode()
    if len(body) > LONGEST_FRAME - TOKEN_BYTES:
        too_long = f"ValueError: the final answer is longer than {LONGEST_FRAME} bytes"
        body = json.dumps({"error": too_long, "is_final": False, "final_json": "null", "verified_by": None}).encode()
    frame = framed(token + body)
    while frame:
        frame = frame[os.write(channel, frame) :]
