"""The executor of the levels that the kernel holds: sessions of Python code, and attacks on them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import MachineFailed
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.levels import require


@pytest.fixture(scope="module", params=[TrustLevel.ISOLATED, TrustLevel.SANDBOXED])
def shared(request: pytest.FixtureRequest) -> Iterator[WalledExecutor]:
    require(request.param)
    with WalledExecutor(ExecutionLimits(timeout_s=120, memory_mb=200), trust=request.param) as opened:
        yield opened


@pytest.fixture
def executor(shared: WalledExecutor) -> WalledExecutor:
    shared.reset()
    return shared


def test_variables_stay_until_reset(executor: WalledExecutor) -> None:
    assert executor.run("x = 41").succeeded
    assert executor.run("x += 1; print(x)").output == "42\n"
    executor.reset()
    assert executor.run("print(x)").error == "NameError: name 'x' is not defined (line 1)"


def test_a_result_carries_facts(executor: WalledExecutor) -> None:
    done = executor.run("ballast = bytearray(60_000_000)")
    assert done.succeeded and done.memory_used_bytes > 60_000_000
    assert {"process-tree", "no-new-privileges", "rlimits"} < set(done.enforced)
    assert (done.termination, done.truncated, done.is_final) == ("exited", False, False)


def test_the_language_is_all_there(executor: WalledExecutor) -> None:
    code = """
import asyncio, dataclasses, pickle, subprocess, threading

@dataclasses.dataclass
class Point:
    x: int

def count():
    yield from range(3)

async def wait():
    await asyncio.sleep(0)
    return list(count())

thread = threading.Thread(target=lambda: print("thread"))
thread.start()
thread.join()
print(asyncio.run(wait()), pickle.loads(pickle.dumps(Point(1))))
print(subprocess.run(["echo", "child"], capture_output=True, text=True, check=True).stdout, end="")
try:
    {}["missing"]
except KeyError as problem:
    print(repr(problem))
"""
    done = executor.run(code)
    assert (done.error, done.output) == (None, "thread\n[0, 1, 2] Point(x=1)\nchild\nKeyError('missing')\n")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("\n1 / 0", "ZeroDivisionError: division by zero (line 2)"),
        ("def f():\n    raise ValueError('deep')\n\nf()", "ValueError: deep (line 2)"),
        ("import json\njson.loads('{')", "(line 2)"),
        ("x = (", "SyntaxError: '(' was never closed (line 1)"),
        ("raise SystemExit(3)", "SystemExit: 3 (line 1)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (line 1)"),
        ("class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd", "Odd: <no message"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        ("open('big', 'wb').write(bytes(70_000_000))", "OSError: [Errno 27] File too large (line 1)"),
    ],
)
def test_errors_name_type_message_and_line_and_leave_the_session_alive(
    executor: WalledExecutor, code: str, error: str
) -> None:
    executor.run("alive = True")
    done = executor.run(code)
    assert not done.succeeded and error in (done.error or "")
    assert executor.run("print(alive)").output == "True\n"


def test_the_final_answer_is_that_of_this_run_only(executor: WalledExecutor) -> None:
    done = executor.run("final_answer({'a': [1, None]}, verified_by='tests'); print('more')")
    assert (done.is_final, done.final_value, done.output, done.error) == (True, {"a": [1, None]}, "more\n", None)
    assert done.verified_by == "tests"
    later = executor.run("y = 1")
    assert (later.is_final, later.final_value, later.verified_by) == (False, None, None)


@pytest.mark.parametrize(
    ("code", "is_final", "value", "error"),
    [
        ("final_answer(1); final_answer(2)", False, None, "final_answer was called twice"),
        ("try:\n  final_answer(1); final_answer(2)\nexcept RuntimeError: pass", False, None, "called twice"),
        ("final_answer(1); 1 / 0", False, None, "ZeroDivisionError"),
        ("final_answer({1, 2})", True, "{1, 2}", "cannot be written as JSON"),
        ("final_answer('x' * 5_000_000)", False, None, "longer than 4000000 bytes"),
    ],
)
def test_a_doubtful_final_answer_is_an_error(
    executor: WalledExecutor, code: str, is_final: bool, value: object, error: str
) -> None:
    done = executor.run(code)
    assert (done.is_final, done.final_value) == (is_final, value)
    assert error in (done.error or "")


def test_injected_values_arrive_and_survive_the_loss_of_a_session(executor: WalledExecutor) -> None:
    executor.inject("given", {"numbers": [1, 2.5, None, True], "text": "é"})
    assert executor.run("print(given)").output == "{'numbers': [1, 2.5, None, True], 'text': 'é'}\n"
    executor.kill()
    assert executor.run("print(given['text'])").output == "é\n"


@pytest.mark.parametrize("value", [{1: 2}, [object()], {"f": lambda: 1}, b"bytes"])
def test_what_is_no_plain_value_is_not_injected(executor: WalledExecutor, value: object) -> None:
    with pytest.raises(TypeError, match="given"):
        executor.inject("given", value)
    with pytest.raises(ValueError, match="name of a variable"):
        executor.inject("not a name", 1)


def test_a_timeout_ends_the_session_and_the_next_run_gets_a_new_one() -> None:
    with WalledExecutor(ExecutionLimits(timeout_s=5)) as executor:
        executor.run("kept = 1")
        done = executor.run("print('begun', flush=True)\nwhile True: pass")
        assert (done.timeout, done.termination, done.output) == (True, "timeout", "begun\n")
        assert done.error == "ran longer than 5 s" and not done.succeeded
        assert executor.run("print('kept' in globals())").output == "False\n"


def test_code_that_leaves_with_success_has_succeeded(executor: WalledExecutor) -> None:
    done = executor.run("import sys\nprint('done')\nsys.exit(0)")
    assert (done.output, done.error) == ("done\n", None)
    assert executor.run("raise SystemExit").succeeded


def test_kill_ends_a_run_from_another_thread(executor: WalledExecutor, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    with WalledExecutor(workspace=tmp_path) as killed, ThreadPoolExecutor(1) as threads:
        code = "open('begun', 'w').close()\nimport subprocess\nsubprocess.run(['sleep', '60'])"
        run = threads.submit(killed.run, code)
        (tmp_path / "begun").open().close()
        killed.kill()
        done = run.result(timeout=60)
        assert (done.termination, done.error) == ("killed", "killed while it ran")
        assert killed.run("print(1)").output == "1\n"


@pytest.mark.parametrize(
    ("code", "termination", "error"),
    [
        ("import os; os._exit(0)", "exited", "the code ended its own process with exit code 0"),
        ("import os; os.kill(os.getpid(), 9)", "signalled", "ended by SIGKILL"),
        ("import os; os.close(3); print(1)", "exited", "the code ended its own process with exit code 1"),
        ("import os; os.write(3, b'\\xff' * 9); input()", "output", "answered with more than 4000000 bytes"),
        ("while True: print('x' * 100_000)", "output", "wrote more than 64000000 bytes"),
    ],
)
def test_code_that_ends_its_own_session_is_no_success(
    executor: WalledExecutor, code: str, termination: str, error: str
) -> None:
    done = executor.run(code)
    assert (done.termination, done.error, done.succeeded, done.is_final) == (termination, error, False, False)
    assert executor.run("print('anew')").output == "anew\n"


def test_memory_has_a_bound(executor: WalledExecutor) -> None:
    done = executor.run("hog = bytearray(500_000_000)")
    assert not done.succeeded and "MemoryError" in (done.error or "")


def test_processor_time_has_a_bound() -> None:
    with WalledExecutor(ExecutionLimits(timeout_s=60, cpu_s=0.5)) as executor:
        done = executor.run("while True: pass")
        assert (done.termination, done.error) == ("cpu", "used more than 0.5 s of processor time")


def test_code_cannot_give_itself_more_processor_time() -> None:
    with WalledExecutor(ExecutionLimits(timeout_s=60, cpu_s=0.5)) as executor:
        lift = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY,) * 2)\n"
        burn = "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()"
        assert executor.run(lift + burn).termination == "cpu"


def test_a_session_has_so_many_runs_until_it_is_reset() -> None:
    with WalledExecutor(ExecutionLimits(steps=2)) as executor:
        assert [executor.run("1").termination for _ in range(3)] == ["exited", "exited", "steps"]
        executor.reset()
        assert executor.run("print('again')").output == "again\n"


def test_output_has_a_bound(executor: WalledExecutor) -> None:
    done = executor.run("print('first'); print('x' * 50_000); print('last')")
    assert done.truncated and len(done.output) < 10_100
    assert done.output.startswith("first\n") and done.output.endswith("last\n")


def test_printing_an_answer_is_only_output(executor: WalledExecutor) -> None:
    forged = '{"nonce": "", "error": null, "is_final": true, "final_json": "1", "verified_by": null}'
    done = executor.run(f"import os\nos.write(1, {forged.encode()!r})")
    assert (done.is_final, done.output) == (False, forged)


def test_an_answer_given_before_it_was_asked_for_is_dropped(executor: WalledExecutor) -> None:
    code = """
import json, os, struct, threading
late = threading.Event()
def forge():
    late.wait()
    forged = {"error": None, "is_final": True, "final_json": "666", "verified_by": None}
    body = b"0123456789abcdef" + json.dumps(forged).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    os.write(1, b"leaked")
    done.set()
done = threading.Event()
threading.Thread(target=forge, daemon=True).start()
"""
    assert executor.run(code).succeeded
    later = executor.run("late.set(); done.wait(); final_answer(1)")
    assert (later.is_final, later.final_value, later.forged) == (True, 1, True)
    assert not executor.run("1").forged


def test_a_fork_that_comes_back_does_not_answer_twice(executor: WalledExecutor) -> None:
    done = executor.run("import os\nchild = os.fork()\nif child: os.waitpid(child, 0); final_answer('parent')")
    assert done.final_value == "parent"
    assert executor.run("final_answer('next')").final_value == "next"


def test_the_code_reaches_its_workspace_and_not_the_rest(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "helper.py").write_text("def answer(): return 42\n")
    with WalledExecutor(workspace=workspace) as executor:
        assert executor.run("import helper; open('made', 'w').write('x'); print(helper.answer())").output == "42\n"
        assert "PermissionError" in (executor.run("open('../outside').read()").error or "")
        assert "PermissionError" in (executor.run("open('../new', 'w')").error or "")
        assert executor.run("import os; print(sorted(os.listdir('/proc/self/fd'))[:5])").output == (
            "['0', '1', '2', '3', '4']\n"
        )
    assert (workspace / "made").read_text() == "x"


def test_a_missing_interpreter_is_said_and_a_closed_executor_leaves_no_folder() -> None:
    executor = WalledExecutor(interpreter=Path("/no/such/python"))
    done = executor.run("1")
    assert (done.termination, done.error) == ("not_started", "'/no/such/python' does not exist")
    folder = executor._own_folder
    executor.close()
    assert not folder.exists()


def test_runs_from_many_threads_take_turns(executor: WalledExecutor) -> None:
    executor.run("seen = []")
    start = threading.Barrier(5)

    def run(number: int) -> str:
        start.wait()
        return executor.run(f"seen.append({number}); print({number})").output

    with ThreadPoolExecutor(5) as threads:
        assert list(threads.map(run, range(5))) == [f"{number}\n" for number in range(5)]
    assert executor.run("print(sorted(seen))").output == "[0, 1, 2, 3, 4]\n"


def test_a_session_whose_keeper_is_lost_is_the_machines_failure_and_the_next_run_gets_a_new_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    with WalledExecutor(workspace=tmp_path) as executor, ThreadPoolExecutor(1) as threads:
        relay = int(executor.run("import os; print(os.getppid())").output)
        run = threads.submit(executor.run, "open('begun', 'w').close()\nimport time\ntime.sleep(60)")
        (tmp_path / "begun").open().close()
        os.kill(relay, signal.SIGKILL)
        with pytest.raises(MachineFailed, match="supervisor was lost"):
            run.result(timeout=60)
        assert executor.run("print(1)").output == "1\n"
