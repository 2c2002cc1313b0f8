"""Functions of the host that code in a session calls: its words become calls, and what came of them goes back."""

from __future__ import annotations

import contextvars
import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from milepost.core.errors import MilepostError
from milepost.sandbox.json_values import read_plain, require_plain

MOST_CALLS = 1_000  # in one run
_LONGEST_ERROR = 10_000

Tool = Callable[..., Any]


class Calls:
    """Makes the calls of one run, one at a time, each in a thread, so that the run is watched meanwhile.

    `ready` can be read from when a call was made. What a tool raises is told to the code; but a MilepostError, and what
    is no Exception, is for whoever runs the code. On leaving the `with` a call that is being made is waited for.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._made = 0
        self._result: Future[bytes] | None = None
        self._maker: threading.Thread | None = None
        self.ready = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def begin(self, words: str) -> bool:
        """Begin a call in the words of a session; False when it had too many."""
        self._made += 1
        if self._made > MOST_CALLS:
            return False
        result: Future[bytes] = Future()
        self._result = result

        def make() -> None:
            try:
                result.set_result(made(words, self._tools))
            except BaseException as problem:
                result.set_exception(problem)
            os.eventfd_write(self.ready, 1)

        self._maker = threading.Thread(target=contextvars.copy_context().run, args=(make,), name="a call", daemon=True)
        self._maker.start()
        return True

    def take(self) -> bytes:
        """What came of the call that was made; raises what its maker must know of."""
        assert self._result is not None
        os.eventfd_read(self.ready)
        result, self._result = self._result, None
        return result.result()

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        if self._maker is not None:
            self._maker.join()  # it would write to whatever has this descriptor's number next
        os.close(self.ready)


def made(words: str, tools: Mapping[str, Tool]) -> bytes:
    """What came of a call, as it goes back to the session."""
    try:
        name, args, kwargs = _read(words)
        if name not in tools:
            raise NameError(f"the host has no function {name!r:.100}")
        value = tools[name](*args, **kwargs)
        require_plain(value, f"what {name} returned")
    except MilepostError:
        raise
    except Exception as problem:
        return json.dumps({"kind": type(problem).__name__, "error": str(problem)[:_LONGEST_ERROR]}).encode()
    return json.dumps({"value": value}).encode()


def _read(words: str) -> tuple[str, list[Any], dict[str, Any]]:
    try:
        said = read_plain(words)
        name, args, kwargs = said["name"], said["args"], said["kwargs"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("the code sent something on its channel that is not a call") from None
    if not (isinstance(name, str) and isinstance(args, list) and isinstance(kwargs, dict)):
        raise ValueError("the code sent something on its channel that is not a call")
    return name, args, kwargs
