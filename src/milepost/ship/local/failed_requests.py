"""The tries that failed at a release, as both Envoys wrote them down."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from milepost.core.watching import FailedRequest
from milepost.ship.local.envoy_config import SIDES, failed_log

_MOST_READ = 4_000_000


def failed_requests(folder: Path, release: int) -> tuple[FailedRequest, ...]:
    """Those of a release, the oldest first; what was moved aside since is looked at, too."""
    found: list[FailedRequest] = []
    for side in SIDES:
        for name in (f"{failed_log(side)}.before", failed_log(side)):
            with suppress(OSError), (folder / name).open(encoding="utf-8", errors="replace") as lines:
                found += [one for line in lines.read(_MOST_READ).splitlines() if (one := request_of(line)) is not None]
    return tuple(sorted((one for one in found if one.release == release), key=lambda one: one.at))


def request_of(line: str) -> FailedRequest | None:
    """What a line says; None for half a line, and for a try that reached no instance."""
    try:
        said = json.loads(line)
        return FailedRequest(
            at=float(said["at"]),
            method=str(said["method"]),
            path=str(said["path"]),
            status=int(said["status"]),
            release=int(said["release"]),
        )
    except (ValueError, TypeError, KeyError):
        return None
