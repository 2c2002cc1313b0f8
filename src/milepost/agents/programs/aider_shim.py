"""Runs aider for one message and tells what becomes of it, one JSON object a line.

It is run by aider's own Python inside the sandbox, so it is made of the standard library and aider alone. Its order is
one JSON object on stdin: `argv` for aider, `files` that it may begin with, `prompt`, and `cache`, a folder for what it
would otherwise leave in the repository. What it tells is named by `aider`: `turn`, `said`, `used`, `refused`, `ended`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

LONGEST = 4_000
LONGEST_RETRY_S = 1.0  # the wait between two tries is doubled up to this: it is the engine that waits


def main() -> None:
    order = json.loads(sys.stdin.read())
    tell = _teller()
    tale = Tale(tell)
    try:
        coder = _coder(order, tale)
        if coder is None:
            tell(aider="ended", fine=False, what="aider did not start")
            sys.exit(1)
        coder.run(with_message=order["prompt"])
    except SystemExit as end:
        tell(aider="ended", fine=False, what=f"aider ended itself (exit {end.code})")
        raise
    problem = tale.problem or _left_undone(coder)
    tell(aider="ended", fine=not problem, what=problem)
    sys.exit(1 if problem else 0)


class Tale:
    """What is told while aider works; `problem` is what became of its last question, if that was not answered."""

    def __init__(self, tell: Callable[..., None]) -> None:
        self.tell = tell
        self.turns = 0
        self.problem = ""

    def asking(self, send: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """Aider's way to ask its model, told: one question may be asked several times."""

        def told(coder: Any, *given: Any, **named: Any) -> Iterator[Any]:
            self.turns += 1
            self.problem = ""
            self.tell(aider="turn", count=self.turns)
            try:
                yield from send(coder, *given, **named)
            except Exception as error:
                self.problem = str(error)[:LONGEST] or type(error).__name__
                refused = {"status": getattr(error, "status_code", None), "wait_s": _stated_wait_s(error)}
                self.tell(aider="refused", what=self.problem, **refused)
                raise
            self.tell(aider="said", text=str(coder.partial_response_content or "")[:LONGEST])

        return told

    def reporting(self, report: Callable[..., None]) -> Callable[..., None]:
        """Aider's report of what a question took, told."""

        def told(coder: Any) -> None:
            report(coder)
            self.tell(
                aider="used",
                input_tokens=coder.total_tokens_sent,
                output_tokens=coder.total_tokens_received,
                cost_usd=coder.total_cost,
                model=str(coder.main_model.name).rpartition("/")[2],
            )

        return told


def _coder(order: dict[str, Any], tale: Tale) -> Any:
    base = importlib.import_module("aider.coders.base_coder")
    base.RETRY_TIMEOUT = LONGEST_RETRY_S  # type: ignore[attr-defined]
    base.Coder.send = tale.asking(base.Coder.send)
    base.Coder.show_usage_report = tale.reporting(base.Coder.show_usage_report)
    importlib.import_module("aider.repomap").RepoMap.TAGS_CACHE_DIR = os.path.join(order["cache"], "tags")  # noqa: PTH118
    files = [name for name in order["files"] if os.path.isfile(name) and not os.path.islink(name)]  # noqa: PTH113, PTH114
    git = [] if _in_repository() else ["--no-git"]
    coder = importlib.import_module("aider.main").main([*order["argv"], *git, *files], return_coder=True)
    return coder if isinstance(coder, base.Coder) else None


def _left_undone(coder: Any) -> str:
    """What aider would still have its model mend, but may not ask about any more."""
    if coder.reflected_message:
        return f"aider gave up on its model's answers: {str(coder.reflected_message)[:LONGEST]}"
    return "its model's window is full" if coder.num_exhausted_context_windows else ""


def _stated_wait_s(error: Exception) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or {}
    with contextlib.suppress(TypeError, ValueError, AttributeError):
        return float(str(headers.get("retry-after")))
    return None


def _in_repository() -> bool:
    asked = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    return asked.returncode == 0 and os.path.realpath(asked.stdout.strip()) == os.path.realpath(os.getcwd())  # noqa: PTH109


def _teller() -> Callable[..., None]:
    """Tells on what was stdout; all else that is printed goes to stderr from now on."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**what: Any) -> None:
        told.write(json.dumps(what, default=str) + "\n")
        told.flush()

    return tell


if __name__ == "__main__":
    main()
