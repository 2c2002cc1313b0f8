"""Runs that nobody ended: a note of each among the user's states, so that they are found when the machine is back.

A note is made when a run begins to work and removed when it ends or a person stops it. One that is left was killed,
failed, or was ended by a shutdown.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from milepost.engine.project.state_place import user_folder

FOLDER = "open-runs"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LONGEST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run by its roadmap; `boot` is which start of the machine it worked in."""

    roadmap: str
    run: str
    boot: str


def note(roadmap: Path, run: str, environ: Mapping[str, str] = os.environ) -> None:
    """Write down that a run works; where that cannot be written, it is not found again by itself."""
    path = _path(roadmap, environ)
    half = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        half.write_text(json.dumps(asdict(OpenRun(roadmap=str(roadmap), run=run, boot=boot_id()))), encoding="utf-8")
        half.replace(path)


def forget(roadmap: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Remove the note of a roadmap's run."""
    with suppress(OSError):
        _path(roadmap, environ).unlink(missing_ok=True)


def noted(environ: Mapping[str, str] = os.environ) -> tuple[OpenRun, ...]:
    """All notes that can be read, in the order of their roadmaps."""
    found = []
    with suppress(OSError):
        for path in (user_folder(environ) / FOLDER).glob("*.json"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                told = json.loads(path.read_bytes()[:_LONGEST])
                found.append(OpenRun(**{name: str(told[name]) for name in ("roadmap", "run", "boot")}))
    return tuple(sorted(found, key=lambda one: one.roadmap))


def boot_id() -> str:
    """Which start of the machine this is; empty where the system does not say."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _path(roadmap: Path, environ: Mapping[str, str]) -> Path:
    name = hashlib.sha256(os.fsencode(roadmap)).hexdigest()[:32]
    return user_folder(environ) / FOLDER / f"{name}.json"
