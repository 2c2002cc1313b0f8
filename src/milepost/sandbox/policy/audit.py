"""The audit: every decision about a command as a line of JSON, kept in order and never rewritten."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.sandbox.policy.decision import Decision

LONGEST_WORD = 2_000
MOST_WORDS = 200

_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Audit:
    """Appends to one file; any number of processes may do so at once. `redact` takes out what must not be kept."""

    def __init__(self, path: Path, redact: Callable[[str], str] = str) -> None:
        self._path = path
        self._redact = redact

    def note(self, decision: Decision, argv: Sequence[str], *, runs: bool, place: str = "") -> None:
        """Write a decision down before it has an effect; `place` is where the command was wanted, such as a task."""
        row = {
            **self._wanted(argv, place),
            "verdict": decision.verdict,
            "runs": runs,
            "kind": decision.kind,
            "rule": decision.rule,
            "reason": decision.reason,
            "what": self._redact(decision.what),
        }
        self._append(row)

    def note_refused(self, refused: Sequence[str], argv: Sequence[str], *, place: str = "") -> None:
        """Write down what the sandbox did not let a command do, such as `host example.org:443`."""
        self._append({**self._wanted(argv, place), "refused": [self._redact(each) for each in refused]})

    def _wanted(self, argv: Sequence[str], place: str) -> dict[str, object]:
        return {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "place": place,
            "argv": [self._redact(word)[:LONGEST_WORD] for word in argv[:MOST_WORDS]],
        }

    def _append(self, row: Mapping[str, object]) -> None:
        """One write to a file that is opened for appending: lines of others stand before or after it, never inside."""
        line = json.dumps(row, ensure_ascii=True).encode() + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, _APPENDING, 0o600)
            try:
                written = os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError as problem:
            raise self._unwritable(problem.strerror or str(problem)) from problem
        if written < len(line):
            raise self._unwritable("the disk is full")

    def _unwritable(self, why: str) -> StateUnwritable:
        return StateUnwritable(f"the audit {str(self._path)!r} cannot be written: {why}", "fix that, then try again")
