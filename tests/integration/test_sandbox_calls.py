"""Functions of the host that code in a session calls: what holds meanwhile, and what forged calls come to."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.host_calls import MOST_CALLS
from milepost.sandbox.levels import require

LEVELS = [TrustLevel.ISOLATED, TrustLevel.SANDBOXED]

# What an attacker finds in its own process: the channel, the token of the question, and how messages are framed.
FORGE = """
import os, threading, time
channel = tool._channel
def frame(body, kind=b"c", token=None):
    message = (channel._token if token is None else token) + kind + body
    return len(message).to_bytes(4, "big") + message
def put(frame):
    while frame: frame = frame[os.write(channel._descriptor, frame):]
CALL = b'{"name": "tool", "args": ["forged"], "kwargs": {}}'
"""


class Tool:
    """Says what it was called with."""

    def __init__(self) -> None:
        self.given: list[object] = []
        self.overlapped = False
        self._turn = threading.Lock()

    def __call__(self, what: object = None) -> object:
        self.overlapped = not self._turn.acquire(blocking=False) or self.overlapped
        self.given.append(what)
        self._turn.release()
        return what


@pytest.fixture
def tool() -> Tool:
    return Tool()


@pytest.fixture(params=LEVELS, ids=str)
def executor(request: pytest.FixtureRequest, tool: Tool) -> Iterator[WalledExecutor]:
    require(request.param)
    with WalledExecutor(ExecutionLimits(timeout_s=120, steps=50), trust=request.param) as opened:
        opened.inject("tool", tool)
        yield opened


def is_gone_within(process: int, seconds: float) -> bool:
    poller = select.poll()
    poller.register(process, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def keeper_of(executor: WalledExecutor) -> int:
    """A hold on the relay of the session, which ends after its whole tree."""
    session = executor._current.session
    assert session is not None and session.guest._relay is not None
    return session.guest._relay


def test_the_time_of_a_run_goes_on_while_a_call_is_made(executor: WalledExecutor) -> None:
    gone: list[bool] = []
    executor.inject("wait_for_the_end", lambda: gone.append(is_gone_within(keeper_of(executor), 120)))
    executor.open()
    done = executor.run("wait_for_the_end()\nprint('never')", timeout_s=5)
    assert (done.termination, done.error, done.output) == ("timeout", "ran longer than 5 s", "")
    assert gone == [True]


def test_kill_works_while_a_call_is_made(executor: WalledExecutor) -> None:
    def kill() -> bool:
        executor.kill()
        return is_gone_within(keeper_of(executor), 120)

    executor.inject("kill", kill)
    done = executor.run("kill()\nprint('never')")
    assert (done.termination, done.output) == ("killed", "")
    assert executor.run("print('anew')").output == "anew\n"


def test_what_a_glance_raises_ends_the_session_and_is_raised(executor: WalledExecutor, tool: Tool) -> None:
    class Leave(BaseException):
        pass

    def glance() -> None:
        if tool.given:
            raise Leave

    executor.run("kept = 1", glance=glance)
    with pytest.raises(Leave):
        executor.run("tool()\nwhile True: pass", glance=glance)
    assert "NameError" in (executor.run("kept").error or "")


def test_what_the_code_prints_while_a_call_is_made_is_taken(executor: WalledExecutor) -> None:
    code = "import threading\nthreading.Thread(target=print, args=('x' * 500_000,)).start()\ntool()\nprint('end')"
    done = executor.run(code)
    assert done.truncated and done.succeeded and "end\n" in done.output


def test_calls_are_as_many_and_as_long_as_they_may_be(executor: WalledExecutor, tool: Tool) -> None:
    assert executor.run(f"for _ in range({MOST_CALLS}): tool()").succeeded
    done = executor.run(f"for _ in range({MOST_CALLS + 1}): tool()")
    assert (done.termination, done.error) == ("killed", "killed because it called functions of the host 1001 times")
    assert len(tool.given) == 2 * MOST_CALLS
    assert "longer than 4000000 bytes" in (executor.run("tool('x' * 5_000_000)").error or "")
    assert executor.run("print(len(tool('x' * 3_000_000)))").output == "3000000\n"
    executor.inject("much", lambda: "x" * 5_000_000)
    assert "longer than 4000000 bytes" in (executor.run("much()").error or "")


@pytest.mark.parametrize("value", ["object()", "b'bytes'", "{1}", "deep"])
def test_only_plain_values_are_passed(executor: WalledExecutor, tool: Tool, value: str) -> None:
    deep = "deep = []\nfor _ in range(100_000): deep = [deep]\n"
    assert "TypeError: tool takes what JSON can hold" in (executor.run(f"{deep}tool({value})").error or "")
    assert tool.given == []


def test_only_the_main_thread_of_the_session_calls(executor: WalledExecutor, tool: Tool) -> None:
    code = """
import os, threading
def call():
    try: tool("aside")
    except RuntimeError as problem: print(problem, flush=True)
thread = threading.Thread(target=call)
thread.start()
thread.join()
if os.fork() == 0:
    call()
    os._exit(0)
os.wait()
print(tool("main"))
"""
    only = "tool can be called by the main thread only, one call at a time\n"
    assert executor.run(code).output == f"{only}{only}main\n"
    assert tool.given == ["main"]


def test_a_call_that_the_code_breaks_off_leaves_the_channel_whole(executor: WalledExecutor) -> None:
    code = """
import signal, threading
class Late(Exception): pass
def ring(*_):
    with open("rung", "w") as told: told.write("x")
    raise Late
signal.signal(signal.SIGUSR1, ring)
def later():
    with open("go") as told: told.read(1)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
threading.Thread(target=later).start()
try: wait()
except Late: print("broke it off")
print(tool("after"))
"""
    executor.open()
    pipes = {name: executor._workspace / name for name in ("go", "rung")}
    for pipe in pipes.values():
        os.mkfifo(pipe)

    def wait() -> str:
        with pipes["go"].open("w") as told:
            told.write("x")
        return pipes["rung"].read_text()

    executor.inject("wait", wait)
    done = executor.run(code)
    assert (done.output, done.error, done.forged) == ("broke it off\nafter\n", None, False)
    assert executor.run("print(tool('still'))").output == "still\n"


@pytest.mark.parametrize("made", ["CALL, token=token", "CALL, token=b'0' * 16", "CALL, kind=b'z'", "CALL, kind=b''"])
def test_a_call_that_nobody_waits_for_reaches_no_function_and_is_told(
    executor: WalledExecutor, tool: Tool, made: str
) -> None:
    later = f"""
token = channel._token
count = 0
def later():
    global count
    os.read(asked, 1)
    while True:
        put(frame({made}))
        count += 1
        time.sleep(0.001)
def see_more():
    seen = count
    while count < seen + 3: time.sleep(0.001)
asked, ask = os.pipe()
threading.Thread(target=later, daemon=True).start()
"""
    executor.run(f"{FORGE}{later}")
    executor.run("os.write(ask, b'x')\nsee_more()")
    done = executor.run("see_more()\nfinal_answer(tool('honest'))")
    assert (done.final_value, done.error, done.forged) == ("honest", None, True)
    assert tool.given == ["honest"]


def test_a_flood_of_calls_is_never_more_than_one_at_a_time_and_no_more_than_may_be(
    executor: WalledExecutor, tool: Tool
) -> None:
    flood = """
def flood():
    while not channel._is_calling: time.sleep(0.001)
    many = frame(CALL) * 1000
    for _ in range(100): put(many)
threading.Thread(target=flood, daemon=True).start()
print(slowly())
"""
    executor.inject("slowly", lambda: is_gone_within(keeper_of(executor), 0.3))
    done = executor.run(FORGE + flood, timeout_s=5)
    assert done.forged or done.termination != "exited"  # two who write at once may also write what is no message
    assert not tool.overlapped and len(tool.given) <= MOST_CALLS
    executor.kill()
    assert executor.run("print(tool('fine'))").output == "fine\n"


@pytest.mark.parametrize(
    "body",
    [
        'b"no JSON"',
        'b"[]"',
        'b\'{"name": 5, "args": [], "kwargs": {}}\'',
        'b\'{"name": "tool", "args": 5, "kwargs": {}}\'',
        'b\'{"name": "__class__", "args": [], "kwargs": {}}\'',
        'b"[" * 500_000',
        'b"\\xff" * 100',
    ],
)
def test_a_call_in_words_that_are_none_is_an_error_of_the_codes(
    executor: WalledExecutor, tool: Tool, body: str
) -> None:
    done = executor.run(f"{FORGE}put(frame({body}))\nprint(channel._result())\nprint(tool('fine'))")
    assert done.error is None and done.output.endswith("fine\n")
    assert "'error'" in done.output
    assert tool.given == ["fine"]


def test_a_call_that_a_child_forges_is_one_of_the_codes_own_and_the_session_goes_on(
    executor: WalledExecutor, tool: Tool
) -> None:
    executor.run(f"{FORGE}if os.fork() == 0:\n    put(frame(CALL))\n    os._exit(0)\nos.wait()")
    assert tool.given in ([], ["forged"])
    done = executor.run("print(tool('mine'))")
    assert (done.output, done.error) == ("mine\n", None)


def test_a_session_can_change_its_workspace_directly_and_nothing_beside_it(tmp_path: Path) -> None:
    require(TrustLevel.SANDBOXED)
    work = tmp_path / "work"
    work.mkdir()
    with WalledExecutor(workspace=work, trust=TrustLevel.SANDBOXED, direct=True) as opened:
        assert not opened.holds_changes
        opened.run("open('../outside.txt', 'w').write('x')")
        assert opened.run("open('made.txt', 'w').write('directly')").succeeded
    assert (work / "made.txt").read_text() == "directly"
    assert [path.name for path in tmp_path.iterdir()] == ["work"]
