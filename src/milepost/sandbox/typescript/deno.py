"""Where Deno is, and how it is told that it may do nothing."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from milepost.core.errors import SandboxRefused

_HERE = Path(__file__).parent
RUNNER = _HERE / "runner.js"
WORKER = _HERE / "worker.js"
_NO_PERMISSION = ("write", "net", "env", "run", "ffi", "sys")


def find_deno() -> Path:
    """The program; SandboxRefused when there is none."""
    beside = Path(sysconfig.get_path("scripts"), "deno")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("deno")
    if found is None:
        raise SandboxRefused("TypeScript cannot be run here: Deno is missing", 'pip install "milepost[typescript]"')
    return Path(found)


def deno_command(deno: Path, *, memory_mb: int, modules: Path | None) -> tuple[str, ...]:
    """What to start for a session: the runner may read the worker's source, and the worker may do nothing.

    With `modules`, a cache of Deno's, the worker may import what is in it.
    """
    imports = ("--allow-import",) if modules else ("--deny-import", "--no-remote", "--no-npm")
    return (
        *(str(deno), "run", "--quiet", "--no-prompt", "--no-check", "--no-config", "--no-lock"),
        *("--cached-only", "--no-code-cache", "--unstable-worker-options", *imports),
        f"--allow-read={WORKER}",
        *(f"--deny-{permission}" for permission in _NO_PERMISSION),
        f"--v8-flags=--max-old-space-size={memory_mb},--stack-size=900",
        *(str(RUNNER), *(["imports"] if modules else [])),
    )


def deno_environment(modules: Path | None) -> dict[str, str]:
    """What Deno is told beside its flags: where its cache is, and no wish for colours."""
    cache = {"DENO_DIR": str(modules)} if modules else {}
    return {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", **cache}
