"""What every executor of Python promises, whatever holds the code."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import MachineFailed
from milepost.core.ports import Executor
from milepost.sandbox.executors import open_executor

LEVELS = [*TrustLevel]
LOOP = "print('begun')\nwhile True:\n    pass"


@pytest.fixture(scope="module", params=LEVELS, ids=str)
def shared(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with open_executor(request.param, ExecutionLimits(timeout_s=20)) as opened:
        yield opened


@pytest.fixture
def executor(shared: Executor) -> Executor:
    shared.reset()
    return shared


@pytest.fixture(params=LEVELS, ids=str)
def hasty(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with open_executor(request.param, ExecutionLimits(timeout_s=2, steps=3)) as opened:
        yield opened


def test_variables_stay_until_reset(executor: Executor) -> None:
    assert executor.run("x = 41").succeeded
    assert executor.run("x += 1\nprint(x)").output == "42\n"
    executor.reset()
    assert executor.run("print(x)").error == "NameError: name 'x' is not defined (line 1)"


def test_a_result_names_what_was_enforced(executor: Executor) -> None:
    done = executor.run("pass")
    assert {"wall-clock", "output-cap"} < set(done.enforced)
    assert (done.termination, done.error, done.timeout, done.forged) == ("exited", None, False, False)
    assert done.memory_used_bytes > 1_000_000


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("\n1 / 0", "ZeroDivisionError: division by zero (line 2)"),
        ("def f():\n    raise ValueError('deep')\n\nf()", "ValueError: deep (line 2)"),
        ("x = (", "SyntaxError: '(' was never closed (line 1)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (line 1)"),
    ],
)
def test_an_error_names_type_message_and_line_and_leaves_the_session_alive(
    executor: Executor, code: str, error: str
) -> None:
    executor.run("alive = True")
    done = executor.run(code)
    assert (done.error, done.termination, done.succeeded) == (error, "exited", False)
    assert executor.run("print(alive)").output == "True\n"


def test_the_final_answer_is_that_of_this_run_only(executor: Executor) -> None:
    done = executor.run("final_answer({'a': [1, None]}, verified_by='tests')\nprint('more')")
    assert (done.is_final, done.final_value, done.verified_by) == (True, {"a": [1, None]}, "tests")
    assert (done.output, done.error) == ("more\n", None)
    later = executor.run("y = 1")
    assert (later.is_final, later.final_value, later.verified_by, later.output) == (False, None, None, "")


@pytest.mark.parametrize(
    ("code", "is_final", "value", "error"),
    [
        ("final_answer(1); final_answer(2)", False, None, "final_answer was called twice"),
        ("try:\n  final_answer(1); final_answer(2)\nexcept RuntimeError: pass", False, None, "called twice"),
        ("final_answer(1); 1 / 0", False, None, "ZeroDivisionError"),
        ("final_answer({1})", True, "{1}", "cannot be written as JSON"),
        ("final_answer('x' * 5_000_000)", False, None, "longer than 4000000 bytes"),
    ],
)
def test_a_doubtful_final_answer_is_an_error(
    executor: Executor, code: str, is_final: bool, value: object, error: str
) -> None:
    done = executor.run(code)
    assert (done.is_final, done.final_value) == (is_final, value)
    assert error in (done.error or "")


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("x = 20\nx + 1", 21),
        ("{'a': [1, (2, 'é')],\n 'b': None}", {"a": [1, [2, "é"]], "b": None}),
        ("'ä'; (1 +\n 2)  # three", 3),
        ("x = 1", None),
        ("print('shown')", None),
        ("def f():\n    return 1\nf", None),
        ("'x' * 200_000", None),
        ("if True:\n    5", None),
    ],
)
def test_the_last_expression_gives_the_value_where_no_answer_is_given(
    executor: Executor, code: str, value: object
) -> None:
    result = executor.run(code)
    assert (result.error, result.is_final, result.final_value) == (None, False, value)


def test_an_answer_goes_before_the_last_expression_and_an_error_has_no_value(executor: Executor) -> None:
    assert executor.run("final_answer(1)\n2").final_value == 1
    failed = executor.run("1\n2 / 0")
    assert failed.final_value is None and "(line 2)" in (failed.error or "")
    refused = executor.run("print('ran')\nyield 1")
    assert refused.error and refused.output == "", "what is wrong in the last line is found before any is run"


def test_injected_values_survive_the_loss_of_a_session_and_go_with_a_reset(executor: Executor) -> None:
    executor.inject("given", {"numbers": [1, 2.5, None, True], "text": "é"})
    assert executor.run("print(given)").output == "{'numbers': [1, 2.5, None, True], 'text': 'é'}\n"
    executor.run("given = 1")
    executor.kill()
    assert executor.run("print(given['text'])").output == "é\n"
    executor.reset()
    assert "NameError" in (executor.run("given").error or "")


@pytest.mark.parametrize(
    "value", [{1: 2}, [object()], {"f": print}, b"bytes"], ids=["key", "object", "function", "bytes"]
)
def test_what_is_no_plain_value_is_not_injected(executor: Executor, value: object) -> None:
    with pytest.raises(TypeError, match="given"):
        executor.inject("given", value)
    with pytest.raises(ValueError, match="name of a variable"):
        executor.inject("not a name", 1)


def joined(first: str, second: Any = None) -> Any:
    if first == "bad":
        raise ValueError("no such word")
    if first == "odd":
        return object()
    return [first, second]


def test_injected_functions_are_run_by_the_host_and_their_errors_raised_in_the_code(executor: Executor) -> None:
    executor.inject("joined", joined)
    assert executor.run("print(joined('a'), joined('a', second={'b': [None]}))").output == (
        "['a', None] ['a', {'b': [None]}]\n"
    )
    assert executor.run("\njoined('bad')").error == "ValueError: no such word (line 2)"
    caught = "try:\n    joined('bad')\nexcept ValueError as problem:\n    print('caught', problem)"
    assert executor.run(caught).output == "caught no such word\n"
    assert "what joined returned is or contains a object" in (executor.run("joined('odd')").error or "")
    assert "TypeError" in (executor.run("joined()").error or "")


def test_injected_functions_survive_the_loss_of_a_session_and_go_with_a_reset(executor: Executor) -> None:
    executor.inject("joined", joined)
    executor.run("1")
    executor.kill()
    assert executor.run("print(joined('a'))").output == "['a', None]\n"
    executor.inject("joined", 5)
    assert executor.run("print(joined)").output == "5\n"
    executor.inject("joined", joined)
    executor.reset()
    assert "NameError" in (executor.run("joined('a')").error or "")


class Stopped(BaseException):
    pass


@pytest.mark.parametrize("error", [MachineFailed("the disk is full"), Stopped()], ids=["machine", "stop"])
def test_an_error_that_is_not_the_codes_is_raised_by_the_run_and_ends_the_session(
    executor: Executor, error: BaseException
) -> None:
    def broken() -> None:
        raise error

    executor.inject("broken", broken)
    executor.run("kept = 1")
    with pytest.raises(type(error)):
        executor.run("try:\n    broken()\nexcept BaseException:\n    pass")
    assert "NameError" in (executor.run("kept").error or "")


def test_output_has_a_bound(executor: Executor) -> None:
    done = executor.run("print('first'); print('x' * 50_000); print('last')")
    assert done.truncated and len(done.output) < 10_100
    assert done.output.startswith("first\n") and done.output.endswith("last\n")


def test_a_timeout_ends_the_session_and_the_next_run_gets_a_new_one(hasty: Executor) -> None:
    hasty.run("kept = 1")
    done = hasty.run(LOOP)
    assert (done.timeout, done.termination, done.output) == (True, "timeout", "begun\n")
    assert done.error == "ran longer than 2 s" and not done.succeeded
    assert "NameError" in (hasty.run("kept").error or "")


def test_there_are_as_many_runs_as_the_limits_say(hasty: Executor) -> None:
    assert [hasty.run("1").termination for _ in range(4)] == ["exited", "exited", "exited", "steps"]
    hasty.reset()
    assert hasty.run("1").succeeded


def test_kill_ends_a_run_from_another_thread(executor: Executor) -> None:
    executor.run("kept = 1")
    killed = threading.Event()

    def kill() -> None:
        while not killed.is_set():  # a kill between runs ends nothing but the session, so it is said until it counts
            executor.kill()

    with ThreadPoolExecutor(1) as threads:
        killer = threads.submit(kill)
        done = executor.run("while True:\n    pass")
        killed.set()
        killer.result(timeout=60)
    assert (done.termination, done.error) == ("killed", "killed while it ran")
    assert "NameError" in (executor.run("kept").error or "")


def test_runs_from_many_threads_take_turns(executor: Executor) -> None:
    executor.run("seen = []")
    start = threading.Barrier(4)

    def run(number: int) -> str:
        start.wait()
        return executor.run(f"seen.append({number}); print({number})").output

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(run, range(4))) == [f"{number}\n" for number in range(4)]
    assert executor.run("print(sorted(seen))").output == "[0, 1, 2, 3]\n"
