"""A test that shows an incident again: a script that needs nothing but Python, and what its answers mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from milepost.watch.incident.requests import FailedKind

RED, CANNOT_START = 1, 2
_LINE = re.compile(r"(?P<method>[A-Z]+) (?P<path>/\S*): (?P<answers>\d+(?: \d+)*)(?: .*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request of the test: with which status it has to be answered, 0 for any below 500."""

    method: str
    path: str
    status: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a release is started, and which releases are spoken of."""

    command: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    health_path: str
    title: str
    bad: int
    good: int


Answers = Mapping[tuple[str, str], tuple[int, ...]]


def first_asked(kinds: Sequence[FailedKind]) -> tuple[Asked, ...]:
    """What the release before is asked first, to learn how it answers."""
    return tuple(Asked(method=one.method, path=one.path) for one in kinds if one.is_repeatable)


def answers_in(output: str) -> Answers:
    """What each request was answered, by the lines that the script prints."""
    found = (_LINE.fullmatch(line.strip()) for line in output.splitlines())
    return {(one["method"], one["path"]): tuple(map(int, one["answers"].split())) for one in found if one}


def expecting(asked: Sequence[Asked], good: Answers) -> tuple[Asked, ...]:
    """The requests that the release before answers well, each with its status where that is always the same."""
    known = [(one, good.get((one.method, one.path), ())) for one in asked]
    return tuple(
        Asked(method=one.method, path=one.path, status=answers[0] if len(set(answers)) == 1 else 0)
        for one, answers in known
        if answers and all(0 < status < 500 for status in answers)
    )


def still_failing(asked: Sequence[Asked], bad: Answers) -> tuple[Asked, ...]:
    """The requests that the bad release really fails."""
    return tuple(
        one for one in asked if any(not _is_well(one, status) for status in bad.get((one.method, one.path), ()))
    )


def _is_well(one: Asked, status: int) -> bool:
    return status == one.status if one.status else 0 < status < 500


def script(setup: Setup, asked: Sequence[Asked]) -> str:
    """The test file, two folders below the top of the repository."""
    requests = [f"    ({one.method!r}, {one.path!r}, {one.status})," for one in asked]
    given = {
        "TITLE": setup.title.replace("\\", " ").replace('"', "'"),
        "BAD": str(setup.bad),
        "GOOD": str(setup.good),
        "COMMAND": repr(list(setup.command)),
        "VARIABLES": repr(dict(setup.variables)),
        "HEALTH": repr(setup.health_path),
        "REQUESTS": "\n".join(requests),
    }
    return re.sub("@([A-Z]+)@", lambda found: given[found[1]], _SCRIPT)


_SCRIPT = '''"""@TITLE@

These requests fail on release @BAD@ and did not on release @GOOD@. The program of this tree is started on a free port,
asked, and ended. Exit code 0: each was answered as it should; 1: one was not; 2: the program does not start.
"""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

COMMAND = @COMMAND@
VARIABLES = @VARIABLES@
HEALTH_PATH = @HEALTH@
# Method, path and status; 0 is any below 500. The values of queries were not kept.
REQUESTS = [
@REQUESTS@
]
TIMES = 12
START_S, READY_S, ANSWER_S = 60, 5, 10


def ask(port, method, path):
    """The status of an answer; 0 for none, None where nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        response.read()
        return response.status
    except ConnectionRefusedError:
        return None
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def starts(program, port):
    """Whether the program answers its health path in good time; once it listens that is soon."""
    until = time.monotonic() + START_S
    while program.poll() is None and time.monotonic() < until:
        status = ask(port, "GET", HEALTH_PATH)
        if status and status < 400:
            return True
        if status is not None:
            until = min(until, time.monotonic() + READY_S)
        time.sleep(0.1)
    return False


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [word.replace("{port}", str(port)) for word in COMMAND]
    own = {"HOST": "127.0.0.1", "PORT": str(port), **VARIABLES}
    top = Path(__file__).resolve().parents[2]
    program = subprocess.Popen(argv, cwd=top, env={**os.environ, **own}, stdout=sys.stderr, start_new_session=True)
    try:
        if not starts(program, port):
            print(f"{COMMAND[0]} does not answer GET {HEALTH_PATH}")
            return 2
        failed = False
        for method, path, status in REQUESTS:
            answers, wrong = [], False
            while len(answers) < TIMES and not wrong:
                answers.append(ask(port, method, path) or 0)
                wrong = answers[-1] != status if status else not 0 < answers[-1] < 500
            should = f" instead of {status or 'a status below 500'}" if wrong else ""
            print(f"{method} {path}: {' '.join(map(str, answers))}{should}")
            failed = failed or wrong
        return 1 if failed else 0
    finally:
        try:
            os.killpg(program.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        program.wait()


if __name__ == "__main__":
    sys.exit(main())
'''
