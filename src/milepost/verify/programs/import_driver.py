"""Imports modules with the project's own interpreter, each in a process of its own, and says how that ended.

Run as a script. Its input is a JSON object: `nonce`, `timeout_s` of one module, `time_s` of all, and `modules`, each
with its `name`, an optional attribute `attr` that must be there and be callable, and the folders `first` and `last`
that go around the import path. Its output is a line of JSON for each module, with the nonce; the code that is imported
writes into the void. A module that ends its process before its import is through leaves no report.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
import time
import traceback
import warnings
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

LONGEST_MESSAGE = 500
LONGEST_TRACEBACK = 6_000
LONGEST_LINE = 15_000
SHOWN_FRAMES = 40
LARGEST_REPORT = 64_000
MOST_FILES = 300
COMPILED: dict[str, CodeType] = {}


def main() -> None:
    """Fork for every module, so that none sees what another did, and the interpreter starts once."""
    asked = json.load(sys.stdin)
    out = os.dup(1)
    _silence()
    ends_at = time.monotonic() + asked["time_s"]
    remember_code()
    for number, module in enumerate(asked["modules"]):
        left_s = ends_at - time.monotonic()
        answer = in_a_fork(module, asked["nonce"], max(0.0, min(asked["timeout_s"], left_s)), out)
        if answer.get("timed_out") and left_s < asked["timeout_s"]:
            break
        compile_ahead(answer.pop("files", ()), module["first"])
        line = json.dumps({**answer, "nonce": asked["nonce"], "number": number})
        if len(line) > LONGEST_LINE:
            line = json.dumps({**answer, "traceback": "", "nonce": asked["nonce"], "number": number})
        _write(out, f"{line}\n".encode())


def remember_code() -> None:
    """Let all modules share the code that was compiled for the first: no bytecode is written or read here."""
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        return COMPILED.get(self.get_filename(fullname)) or original(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def compile_ahead(files: Any, roots: list[str]) -> None:
    """Compile what a module imported, and run none of it; a module may say anything of what that was."""
    for file in files if isinstance(files, list) else ():
        if isinstance(file, str) and file not in COMPILED and file.startswith(tuple(f"{root}/" for root in roots)):
            with contextlib.suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                COMPILED[file] = compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)


def in_a_fork(module: dict[str, Any], nonce: str, timeout_s: float, out: int) -> dict[str, Any]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        os.close(reader)
        os.setsid()
        report = json.dumps({**attempt(module), "token": nonce})
        _write(writer, f"{report}\n".encode())
        os._exit(0)
    os.close(writer)
    received, in_time = _receive(reader, timeout_s)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(reader)
    with contextlib.suppress(ValueError):
        found = json.loads(received)
        if isinstance(found, dict) and found.pop("token", "") == nonce:
            return found
    return {"ended": os.waitstatus_to_exitcode(status)} if in_time else {"timed_out": True}


def attempt(module: dict[str, Any]) -> dict[str, Any]:
    """Import it, and describe what came of it."""
    sys.argv = [module["name"]]
    sys.path[:0] = module["first"]
    sys.path.extend(module["last"])
    try:
        found: Any = importlib.import_module(module["name"])
        file = getattr(found, "__file__", None)
        if module.get("attr"):
            for name in module["attr"].split("."):
                found = getattr(found, name)
            if not callable(found):
                raise TypeError(f"{module['attr']!r} is not callable")
        return {"ok": True, "file": file if isinstance(file, str) else "", "files": imported_files(module["first"])}
    except BaseException as problem:
        return describe(problem)


def imported_files(roots: list[str]) -> list[str]:
    """The files below the roots that were imported, as many as a report has room for."""
    places = tuple(f"{root}/" for root in roots)
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    found = [file for file in files if isinstance(file, str) and file.startswith(places) and file.endswith(".py")]
    return found[:MOST_FILES] if sum(map(len, found[:MOST_FILES])) < LARGEST_REPORT // 2 else []


def describe(problem: BaseException) -> dict[str, Any]:
    kind = type(problem)
    try:
        message = str(problem)
    except Exception:
        message = ""
    missing = getattr(problem, "name", None) if isinstance(problem, ImportError) else None
    return {
        "ok": False,
        "kind": kind.__name__,
        "bases": [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"],
        "builtin": kind.__module__ == "builtins",
        "message": message[:LONGEST_MESSAGE],
        "missing": missing if isinstance(missing, str) else "",
        "place": place_of(problem),
        "raised_in": "".join(frame.filename for frame in traceback.extract_tb(problem.__traceback__)[-1:]),
        "traceback": "".join(traceback.format_exception(kind, problem, problem.__traceback__, limit=-SHOWN_FRAMES))[
            -LONGEST_TRACEBACK:
        ],
    }


def place_of(problem: BaseException) -> list[Any]:
    """The file and the line that a problem is about: where a parser stopped, else where it was raised."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return [problem.filename, problem.lineno or 0]
    frames = [
        frame for frame in traceback.extract_tb(problem.__traceback__) if not frame.filename.startswith("<frozen")
    ]
    return [frames[-1].filename, frames[-1].lineno or 0] if frames else ["", 0]


def _receive(reader: int, timeout_s: float) -> tuple[bytes, bool]:
    """What comes through the pipe until its end or the end of a line, and whether that came in time."""
    received = b""
    ends_at = time.monotonic() + timeout_s
    while len(received) < LARGEST_REPORT:
        ready, _, _ = select.select([reader], [], [], max(0.0, ends_at - time.monotonic()))
        if not ready:
            return received, False
        piece = os.read(reader, LARGEST_REPORT)
        received += piece
        if not piece or received.endswith(b"\n"):
            break
    return received, True


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


if __name__ == "__main__":
    main()
