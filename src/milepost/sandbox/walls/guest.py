"""The inside of an executor's session: runs the code it is sent, and answers on a pipe of its own.

Standard library only, run by path with whatever interpreter the session was given. What it answers is the code's own
word: the code shares this process and could say anything here. The facts about how it ran are the relay's.
"""

from __future__ import annotations

import json
import linecache
import math
import os
import resource
import struct
import sys
import traceback
import types
from typing import Any

REQUESTS, ANSWERS = 3, 4
LONGEST_FRAME = 4_000_000


def main() -> None:
    """Answer requests until the pipe closes."""
    os.set_inheritable(REQUESTS, False)
    os.set_inheritable(ANSWERS, False)
    session = os.getpid()
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - a string is what belongs there
    number = 0
    while (request := _receive()) is not None:
        number += 1
        vars(module).update(request["inject"])
        if request["cpu_s"] is not None:
            _allow_cpu(request["cpu_s"])
        answer = _run(request["code"], f"<run {number}>", vars(module))
        if os.getpid() != session:
            os._exit(0)  # the code forked and let the child come back here
        _send({"nonce": request["nonce"], **answer})


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
    sys.stdout, sys.stderr = _writer(sys.__stdout__), _writer(sys.__stderr__)
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    error = None
    try:
        exec(compile(code, name, "exec", dont_inherit=True), namespace)  # noqa: S102 - this is what it is for
    except BaseException as problem:
        error = _describe(problem, name)
    for stream in (sys.stdout, sys.stderr):
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


def _writer(stream: Any) -> Any:
    stream.reconfigure(line_buffering=True, errors="backslashreplace")
    return stream


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


def _allow_cpu(seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime + seconds), hard))


def _receive() -> dict[str, Any] | None:
    header = _read_exactly(4)
    if header is None:
        return None
    body = _read_exactly(struct.unpack(">I", header)[0])
    request: dict[str, Any] | None = None if body is None else json.loads(body)
    return request


def _read_exactly(size: int) -> bytes | None:
    text = bytearray()
    while len(text) < size:
        piece = os.read(REQUESTS, min(size - len(text), 1 << 20))
        if not piece:
            return None
        text += piece
    return bytes(text)


def _send(answer: dict[str, Any]) -> None:
    body = json.dumps(answer).encode()
    if len(body) > LONGEST_FRAME:
        too_long = f"ValueError: the final answer is longer than {LONGEST_FRAME} bytes"
        nothing = {"is_final": False, "final_json": "null", "verified_by": None}
        answer = {"nonce": answer["nonce"], "error": too_long, **nothing}
        body = json.dumps(answer).encode()
    frame = struct.pack(">I", len(body)) + body
    while frame:
        frame = frame[os.write(ANSWERS, frame) :]


if __name__ == "__main__":
    main()
