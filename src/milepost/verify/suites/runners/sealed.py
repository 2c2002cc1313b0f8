"""Reports that carry a seal: code under test can destroy one, never write one.

Our reporters run in the runner's main process. The key comes to them on standard input, which neither the
workers that run the tests nor a look at /proc gives away.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milepost.verify.suites import report_file

NONE = "the runner wrote no report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The place of a report that is yet to be written, the key it is sealed with, and the mark of lines with notes."""

    path: Path
    key: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    marker: str = field(default_factory=lambda: f"#{secrets.token_hex(8)} ", repr=False)

    @property
    def stdin(self) -> str:
        """What the reporter is told."""
        return json.dumps({"key": self.key, "report": str(self.path), "marker": self.marker})

    def read(self) -> dict[str, Any] | str:
        """What was reported, or why that is not to be believed."""
        text = report_file.read(self.path)
        if text is None:
            return NONE
        mark, _, body = text.partition("\n")
        if not hmac.compare_digest(mark.encode(), seal_of(self.key, body).encode()):
            return "the report is not the one that the runner wrote: something changed it"
        told: dict[str, Any] = json.loads(body)
        return told


def seal_of(key: str, body: str) -> str:
    return hmac.new(key.encode(), body.encode(), hashlib.sha256).hexdigest()


def fresh(scratch: Path) -> Seal:
    """A seal for a report that nobody can have prepared."""
    scratch.mkdir(parents=True, exist_ok=True)
    path = scratch / f"tests-{secrets.token_hex(8)}.report"
    report_file.clear(path)
    return Seal(path=path)
