"""The inside of an executor's session: runs the code it is sent, and answers on a channel of its own.

What it says there is the code's own word: the code shares this process and could say anything here. The facts about
how it ran are the relay's, and the relay is all that this channel leads to.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.util
import json
import linecache
import os
import site
import sys
import threading
import traceback
import types
from importlib.machinery import ModuleSpec
from types import CodeType
from typing import Any

from .frames import ANSWER, CALL, LONGEST_FRAME, LONGEST_VALUE, QUESTION, RESULT, TOKEN_BYTES, framed


def serve(descriptor: int) -> None:
    """Answer requests until the channel closes."""
    os.set_inheritable(descriptor, False)
    channel = _Channel(descriptor)
    session = os.getpid()
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - a string is what belongs there
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")  # type: ignore[misc]
    number = 0
    while (request := channel.next_question()) is not None:
        number += 1
        vars(module).update(request["inject"])
        vars(module).update({name: _Tool(name, channel) for name in request["tools"]})
        answer = run(request["code"], f"<run {number}>", vars(module))
        if os.getpid() != session:
            os._exit(0)  # the code forked and let the child come back here
        channel.answer(answer)


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


def run(code: str, name: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """What code says of itself when it was run with these names; `name` is what it is called in errors."""
    answers = _Answers()
    namespace["final_answer"] = answers.final_answer
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    error, value = None, None
    try:
        body, last = _compiled(code, name)
        exec(body, namespace)  # noqa: S102 - this is what it is for
        value = eval(last, namespace) if last is not None else None  # noqa: S307 - the same
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
        "final_json": answers.values[0] if is_final else _last_json(value) if error is None else "null",
        "verified_by": answers.verified_by if is_final else None,
    }


def _compiled(code: str, name: str) -> tuple[CodeType, CodeType | None]:
    """The code without its last expression, and that, where it ends with one; both or none."""
    tree = ast.parse(code, name)
    match tree.body:
        case [*_, ast.Expr(value=expression)]:
            compile(tree, name, "exec", dont_inherit=True)  # what is wrong in the last line is found before any is run
            tree.body.pop()
            last = compile(ast.Expression(expression), name, "eval", dont_inherit=True)
            return compile(tree, name, "exec", dont_inherit=True), last
    return compile(tree, name, "exec", dont_inherit=True), None


def _last_json(value: object) -> str:
    """The value of a last expression as JSON, where it can be written so and is not long."""
    try:
        text = json.dumps(value)
    except BaseException:
        return "null"
    return text if len(text) <= LONGEST_VALUE else "null"


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


class _Tool:
    """A function of the host: called here, run there. Plain values go there and come back; its errors are raised."""

    def __init__(self, name: str, channel: _Channel) -> None:
        self.__name__ = name
        self._channel = channel

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        said = self._channel.call({"name": self.__name__, "args": args, "kwargs": kwargs})
        if "value" in said:
            return said["value"]
        kind = getattr(builtins, said["kind"], None)
        error: Exception = RuntimeError(f"{said['kind']}: {said['error']}")
        if isinstance(kind, type) and issubclass(kind, Exception):
            with contextlib.suppress(TypeError):  # some are made from more than a message
                error = kind(said["error"])
        raise error

    def __repr__(self) -> str:
        return f"<{self.__name__}, a function of the host>"

    def __reduce__(self) -> str:
        raise TypeError(f"{self.__name__} is a function of the host, which cannot be kept")


class _Channel:
    """The way to the relay and back. It belongs to one thread of one process: others would take its messages."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._owner = os.getpid(), threading.get_ident()
        self._token = b""
        self._heard = bytearray()
        self._is_calling = False
        self._is_owed_a_result = False

    def next_question(self) -> dict[str, Any] | None:
        """What is asked next; None when nobody will ask."""
        while (message := self._receive()) is not None:
            token, kind, body = message
            if kind == QUESTION:
                self._token, self._is_owed_a_result = token, False
                question: dict[str, Any] = json.loads(body)
                return question
        return None

    def call(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """What the host says to a call. One that the code broke off is waited for first: there is one at a time."""
        if (os.getpid(), threading.get_ident()) != self._owner or self._is_calling:
            raise RuntimeError(f"{wanted['name']} can be called by the main thread only, one call at a time")
        self._is_calling = True
        try:
            body = _plain(wanted)
            if self._is_owed_a_result:
                self._result()
            self._is_owed_a_result = True
            self._send(CALL, body)
            return self._result()
        finally:
            self._is_calling = False

    def answer(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        if len(body) > LONGEST_FRAME - TOKEN_BYTES - 1:
            error = f"ValueError: the final answer is longer than {LONGEST_FRAME} bytes"
            body = json.dumps({"error": error, "is_final": False, "final_json": "null", "verified_by": None}).encode()
        self._send(ANSWER, body)

    def _result(self) -> dict[str, Any]:
        while (message := self._receive()) is not None:
            token, kind, body = message
            if kind == RESULT and token == self._token:
                self._is_owed_a_result = False
                return dict(json.loads(body))
        raise RuntimeError("the host has gone")

    def _send(self, kind: bytes, body: bytes) -> None:
        frame = framed(self._token + kind + body)
        while frame:
            frame = frame[os.write(self._descriptor, frame) :]

    def _receive(self) -> tuple[bytes, bytes, bytes] | None:
        """The next message; what was read of it stays if code breaks the reading off."""
        while len(self._heard) < 4 or len(self._heard) < 4 + int.from_bytes(self._heard[:4], "big"):
            piece = os.read(self._descriptor, 1 << 20)
            if not piece:
                return None
            self._heard += piece
        end = 4 + int.from_bytes(self._heard[:4], "big")
        body = bytes(self._heard[4:end])
        del self._heard[:end]
        return body[:TOKEN_BYTES], body[TOKEN_BYTES : TOKEN_BYTES + 1], body[TOKEN_BYTES + 1 :]


def _plain(wanted: dict[str, Any]) -> bytes:
    """A call as JSON; raises when it cannot be said so."""
    try:
        body = json.dumps(wanted).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise TypeError(f"{wanted['name']} takes what JSON can hold: {problem}") from None
    if len(body) > LONGEST_FRAME - TOKEN_BYTES - 1:
        raise ValueError(f"what {wanted['name']} is given is longer than {LONGEST_FRAME} bytes")
    return body
