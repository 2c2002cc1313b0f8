"""Runs pieces of code by an interpreter in its own process; prints the milliseconds of a call, then of each piece.

    python benchmarks/interpreters.py plain|smolagents|restricted ROUNDS CODE...

For benchmarks/sandbox.py, which starts it with an interpreter that has what is compared with.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any


def main() -> None:
    kind, rounds, *pieces = sys.argv[1:]
    run = {"plain": _plain, "smolagents": _smolagents, "restricted": _restricted}[kind]()
    times = [_median_ms(lambda piece=piece: run(piece), int(rounds)) for piece in ("1", *pieces)]  # type: ignore[misc]
    print(*(f"{each:.4f}" for each in times))


def _plain() -> Callable[[str], Any]:
    return lambda code: exec(code, {})


def _smolagents() -> Callable[[str], Any]:
    from smolagents.local_python_executor import LocalPythonExecutor  # type: ignore[import-not-found]

    executor = LocalPythonExecutor(["json"])
    executor.send_tools({})
    run: Callable[[str], Any] = executor
    return run


def _restricted() -> Callable[[str], Any]:
    from RestrictedPython import compile_restricted, safe_globals  # type: ignore[import-not-found]
    from RestrictedPython.Eval import (  # type: ignore[import-not-found]
        default_guarded_getitem,
        default_guarded_getiter,
    )

    allowed = {
        **safe_globals["__builtins__"],
        "__import__": __import__,
        "_getiter_": default_guarded_getiter,
        "_getitem_": default_guarded_getitem,
        "_inplacevar_": lambda operator, left, right: left + right,
    }
    hooks = {name: function for name, function in allowed.items() if name.startswith("_")}
    guards = {**safe_globals, "__builtins__": allowed, "__name__": "piece", **hooks}
    return lambda code: exec(compile_restricted(code, "<piece>", "exec"), dict(guards))


def _median_ms(action: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    main()
