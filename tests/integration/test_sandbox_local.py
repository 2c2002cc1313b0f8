"""The local executor: what is beside the contract of all executors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.commands import ExecutionLimits
from milepost.sandbox.local_executor import LocalExecutor
from tests.slow import slow


@pytest.fixture(scope="module")
def shared() -> Iterator[LocalExecutor]:
    with LocalExecutor(ExecutionLimits(timeout_s=120, memory_mb=64)) as opened:
        yield opened


@pytest.fixture
def executor(shared: LocalExecutor) -> LocalExecutor:
    shared.reset()
    return shared


def test_an_injected_function_is_called_here_with_what_the_code_gives_it(executor: LocalExecutor) -> None:
    calls: list[object] = []

    def look_up(word: str, *, times: int = 1) -> dict[str, object]:
        calls.append((word, times))
        return {"pid": os.getpid(), "word": word * times}

    executor.inject("look_up", look_up)
    done = executor.run(
        "ask = look_up\nfinal_answer([look_up('a')['word'], ask('b', times=2)['word'], ask('c')['pid']])"
    )
    assert (done.error, done.final_value) == (None, ["a", "bb", os.getpid()])
    assert calls == [("a", 1), ("b", 2), ("c", 1)]
    assert executor.run("final_answer(ask('kept')['word'])").final_value == "kept"
    executor.reset()
    assert "NameError" in (executor.run("look_up('gone')").error or "")


def test_what_a_function_raises_is_raised_in_the_code(executor: LocalExecutor) -> None:
    def fail(kind: str) -> object:
        raise {"key": KeyError, "os": OSError}[kind](f"no {kind}")

    executor.inject("fail", fail)
    executor.inject("odd", object)
    done = executor.run("try:\n    fail('key')\nexcept KeyError as problem:\n    print(problem)\nfail('os')")
    assert (done.output, done.error) == ("'no key'\n", "OSError: no os (line 5)")
    assert executor.run("odd()").error == (
        "TypeError: what odd returned is or contains a object: only JSON values can be given to the code (line 1)"
    )
    assert executor.run("print('alive')").output == "alive\n"


@pytest.mark.parametrize(
    ("code", "feature"),
    [
        ("class A(int): pass", "class inheritance"),
        ("def count():\n    yield 1", "yield expressions"),
        ("x = 1\ndel x", "'del' statement"),
        ("x = 1\nx @= 2", "@="),
    ],
)
def test_python_it_does_not_know_is_named_with_the_level_that_does(
    executor: LocalExecutor, code: str, feature: str
) -> None:
    done = executor.run(f"print('begun')\n{code}")
    assert done.error is not None and done.error.startswith("NotSupported: ") and feature in done.error
    assert "use trust level 'isolated'" in done.error
    assert (done.termination, done.output) == ("not_started", "")


def test_an_import_that_is_not_allowed_is_refused_before_anything_runs(executor: LocalExecutor) -> None:
    done = executor.run("print('begun')\nimport socket")
    assert (done.output, done.termination) == ("", "not_started")
    assert "'socket'" in (done.error or "")
    assert executor.run("import math\nprint(math.floor(2.5))").output == "2\n"


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("open('/etc/passwd').read()", "open /etc/passwd"),
        ("open('left', 'w').write('x')", "open /left"),
    ],
)
def test_there_are_no_files_and_what_was_tried_is_told(executor: LocalExecutor, code: str, refused: str) -> None:
    done = executor.run(code)
    assert "PermissionError" in (done.error or "") and done.refused == (refused,)
    assert {"no-files", "no-network", "no-imports", "interpreter", "memory"} < set(done.enforced)


@pytest.mark.parametrize(
    "code",
    [
        "'x' * 10**10",
        "7 ** (9**9)",
        "sorted(range(10**8))",
        "x = [1]\nwhile True:\n    x = x + x",
        "try:\n    'x' * 10**10\nexcept BaseException:\n    pass",
    ],
)
def test_memory_has_a_bound_and_the_next_run_a_new_session(executor: LocalExecutor, code: str) -> None:
    executor.run("kept = 1")
    done = executor.run(code)
    assert (done.termination, done.error) == ("memory", "needed more than 64 MB of memory")
    assert done.memory_used_bytes < 300_000_000
    assert "NameError" in (executor.run("kept").error or "")


@pytest.mark.parametrize(
    "code",
    [
        "a = 7 ** (2 * 10**7)\nb = a * a * a",  # one builtin call that takes minutes
        "max(range(10**10))",
        "while True:\n    try:\n        pass\n    except BaseException:\n        pass",
        "import time\ntime.sleep(600)",
        "import asyncio\nasyncio.run(asyncio.sleep(600))",
    ],
)
def test_time_has_a_bound_within_one_call_too(code: str) -> None:
    with LocalExecutor(ExecutionLimits(timeout_s=0.3)) as executor:
        executor.run("1")
        started = time.monotonic()
        done = executor.run(code)
        assert (done.termination, done.error) == ("timeout", "ran longer than 0.3 s")
        assert time.monotonic() - started < 60, "nobody waited until it was over"


def test_computing_has_a_bound_of_its_own() -> None:
    with LocalExecutor(ExecutionLimits(timeout_s=60, cpu_s=0.2)) as executor:
        done = executor.run("while True: pass")
        assert (done.termination, done.error) == ("cpu", "used more than 0.2 s of processor time")


def test_a_flood_of_output_ends_the_session(executor: LocalExecutor) -> None:
    done = executor.run("while True: print('x' * 1_000_000)")
    assert (done.termination, done.error, done.truncated) == ("output", "wrote more than 64000000 bytes", True)


def test_a_huge_argument_stays_within_the_bound(executor: LocalExecutor) -> None:
    executor.inject("take", len)
    done = executor.run("take('x' * 60_000_000)")
    assert done.termination in ("memory", "exited")
    assert executor.run("print(take('abc'))").output == "3\n"


def test_a_lost_worker_is_no_success_and_the_next_run_gets_a_new_one() -> None:
    def lose() -> None:
        for worker in _workers():
            os.kill(worker, signal.SIGKILL)

    with LocalExecutor() as executor:
        executor.inject("lose", lose)
        done = executor.run("lose()\nwhile True: pass")
        assert not done.succeeded and done.termination == "signalled"
        assert executor.run("print('anew')").output == "anew\n"


@slow
def test_a_host_that_is_killed_leaves_no_worker_computing(tmp_path: Path) -> None:
    program = tmp_path / "host.py"
    program.write_text(
        "import os, threading\n"
        "from milepost.core.commands import ExecutionLimits\n"
        "from milepost.sandbox.local_executor import LocalExecutor\n"
        "from tests.integration.test_sandbox_local import _workers\n"
        "def die():\n"
        "    print(*_workers(), flush=True)\n"
        "    threading.Timer(0.05, os.kill, (os.getpid(), 9)).start()\n"
        "executor = LocalExecutor(ExecutionLimits(timeout_s=0.5))\n"
        "executor.inject('die', die)\n"
        "executor.run('die()\\na = 7 ** (2 * 10**7)\\nb = a * a * a')\n"
    )
    host = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": "."}
    )
    worker = int(host.stdout)
    deadline = time.monotonic() + 60
    while _runs(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(worker)


def test_closing_leaves_no_worker() -> None:
    before = {*_workers()}  # of tests before this one, which may end meanwhile
    for _ in range(3):
        with LocalExecutor() as executor:
            executor.run("1")
            assert {*_workers()} - before
    assert not {*_workers()} - before


def _workers() -> list[int]:
    """The processes of interpreters that this process has started."""
    children = [child for thread in Path("/proc/self/task").iterdir() for child in _read(thread / "children").split()]
    return [int(child) for child in children if _read(Path("/proc", child, "comm")) == "monty\n"]


def _read(told: Path) -> str:
    """A file of /proc, empty where what it tells of has ended."""
    try:
        return told.read_text()
    except OSError:
        return ""


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


THING = """
class Thing:
    kind = 1

    def __call__(self):
        return self.size


thing = Thing()
thing.size = 3
"""


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (
            "callable(thing), callable(Thing), callable(print), callable(tool), callable(3)",
            "(True, True, True, True, False)",
        ),
        ("dir(thing), vars(thing)", "(['__call__', 'kind', 'size'], {'size': 3})"),
        ("'upper' in dir(''), 'items' in dir({})", "(True, True)"),
        (
            "[name for name in dir() if name in vars()] == dir(), 'thing' in dir(), 'dir' in dir()",
            "(True, True, False)",
        ),
        ("(lambda q: sorted(vars()))(1)", "['q']"),
        (
            "issubclass(bool, int), issubclass(int, str), issubclass(KeyError, (ValueError, LookupError))",
            "(True, False, True)",
        ),
        ("issubclass(Thing, object), issubclass(Thing, Thing), issubclass(Thing, int)", "(True, True, False)"),
    ],
)
def test_code_can_look_at_what_there_is(executor: LocalExecutor, code: str, printed: str) -> None:
    executor.inject("tool", lambda: None)
    assert executor.run(THING).succeeded
    result = executor.run(f"print(({code}))")
    assert (result.output.strip(), result.error) == (printed, None)


def test_what_looks_has_the_errors_of_python_and_may_be_replaced(executor: LocalExecutor) -> None:
    assert (executor.run("issubclass(3, int)").error or "").startswith("TypeError: issubclass() arg 1 must be a class")
    assert (executor.run("vars(3)").error or "").startswith("TypeError: vars() argument must have __dict__ attribute")
    assert executor.run("def vars(x):\n    return 'mine'\nprint(vars(1))").output == "mine\n"


def test_a_function_that_is_given_goes_before_one_of_the_interpreters(executor: LocalExecutor) -> None:
    executor.inject("dir", lambda path: f"files of {path}")
    assert executor.run("print(dir('/x'))").output == "files of /x\n"
