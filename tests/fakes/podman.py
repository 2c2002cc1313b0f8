#!/usr/bin/env python3
"""A podman that holds nothing: it answers as podman does, and runs commands right here, as what is around it asks.

For machines whose own podman cannot start containers. It shows who asks for containers and with which words; that
containers hold is for the tests with a real one. What it was told to run is in the file of `MILEPOST_FAKE_PODMAN`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

INFO = {
    "host": {"cgroupVersion": "v2", "cgroupControllers": ["memory", "pids"], "security": {"rootless": False}},
    "version": {"Version": "4.9.9"},
}
ALONE = ("run", "--interactive", "--read-only", "--rm")  # all other options have a value


def main(words: list[str]) -> int:
    if "run" in words:
        return run(words)
    if "info" in words:
        json.dump(INFO, sys.stdout)
    if "container" in words:
        code = int(_state(words[-1]).read_text())
        json.dump({"StartedAt": "2026-01-01", "ExitCode": code, "OOMKilled": False}, sys.stdout)
    return 0


def run(words: list[str]) -> int:
    """Run the command that these words give a container; what they say of walls is not done."""
    options, at = {}, 0
    while words[at].startswith("--") or words[at] == "run":
        if words[at] not in ALONE:
            options[words[at]] = words[at + 1]
            at += 1
        at += 1
    env = dict(line.split("=", 1) for line in _lines(options.get("--env-file"))) | {"PATH": os.environ["PATH"]}
    argv = [options["--entrypoint"], *words[at + 1 :]]
    with Path(os.environ["MILEPOST_FAKE_PODMAN"]).open("a", encoding="utf-8") as told:
        told.write(json.dumps({"image": words[at], "network": options["--network"], "argv": argv}) + "\n")
    code = subprocess.run(argv, env=env, cwd=options.get("--workdir"), check=False).returncode
    _state(options["--name"]).write_text(str(code))
    return code


def _lines(file: str | None) -> list[str]:
    return Path(file).read_text(encoding="utf-8").splitlines() if file else []


def _state(name: str) -> Path:
    return Path(os.environ["MILEPOST_FAKE_PODMAN"]).with_name(f"{name}.exit")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
