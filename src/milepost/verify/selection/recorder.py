"""A command run so that the test runs it starts are noted, whatever starts them: make, npm, a script."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult
from milepost.verify.command_runner import Bench
from milepost.verify.selection.starts import StartedTests
from milepost.verify.suites import report_file

GUEST = Path(__file__).parent / "guest"
MOST_NOTES = 200

_PYTHON = ("python", "python3", "pytest", "py.test")
_COMPILED = ("go", "cargo")

# $1 shims, $2 notes, $3 guest; then the command. A program that is not there gets no shim, or it would seem to be.
_STARTER = """
shims=$1 notes=$2 guest=$3; shift 3
env -0 > "$notes/plain"
for name in python python3 pytest py.test node go cargo; do
    if command -v "$name" > "$notes/where"; then PATH="$shims/$name:$PATH"; fi
done
rm -f "$notes/where"
PYTHONPATH="$guest${PYTHONPATH:+:$PYTHONPATH}"
NODE_OPTIONS="--require \\"$guest/notes.cjs\\"${NODE_OPTIONS:+ $NODE_OPTIONS}"
MILEPOST_NOTES=$notes
export PATH PYTHONPATH NODE_OPTIONS MILEPOST_NOTES
exec "$@"
"""

_FIND_THE_REAL = """
IFS=:
for folder in $PATH; do
    if [ "$folder" != "{shim}" ] && [ -x "$folder/{name}" ]; then unset IFS; exec "$folder/{name}" "$@"; fi
done
echo "{name}: not found" >&2
exit 127
"""
_BEFORE = {
    "python": 'case ":$PYTHONPATH:" in *":{guest}:"*) ;; *) export PYTHONPATH="{guest}:$PYTHONPATH" ;; esac',
    "node": 'case "$NODE_OPTIONS" in *notes.cjs*) ;;'
    ' *) export NODE_OPTIONS="--require \\"{guest}/notes.cjs\\" $NODE_OPTIONS" ;; esac',
    "compiled": 'if [ "$1" = test ] && [ -z "$MILEPOST_BELOW_A_RUN" ]; then\n'
    '    note="$MILEPOST_NOTES/$$.argv"; env -0 > "$note.env"; printf "%s\\\\0" "$PWD" {name} "$@" > "$note"\n'
    "    export MILEPOST_BELOW_A_RUN=1\nfi",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """How the command ended, the test runs it started, in order, and the variables it was itself started with."""

    result: CommandResult
    starts: tuple[StartedTests, ...] = ()
    plain: dict[str, str] = field(default_factory=dict)


def record(argv: tuple[str, ...], workspace: Workspace, bench: Bench) -> Recording:
    """Run a command of a tree that is trusted; what it does and how it ends is as without the notes."""
    place = workspace.scratch / f"recorder-{secrets.token_hex(4)}"
    notes, shims = place / "notes", place / "shims"
    notes.mkdir(parents=True)
    for name in (*_PYTHON, "node", *_COMPILED):
        _write_shim(shims / name, name)
    started = ("/bin/sh", "-c", _STARTER, "sh", str(shims), str(notes), str(GUEST), *argv)
    result = bench.run(started, workspace, readable=(GUEST,))
    plain = _pairs(report_file.read(notes / "plain") or "")
    return Recording(result=result, starts=tuple(_starts(notes)), plain=plain)


def _write_shim(folder: Path, name: str) -> None:
    kind = "python" if name in _PYTHON else "compiled" if name in _COMPILED else "node"
    before = _BEFORE[kind].replace("{guest}", str(GUEST)).replace("{name}", name)
    real = _FIND_THE_REAL.replace("{shim}", str(folder)).replace("{name}", name)
    folder.mkdir(parents=True)
    (folder / name).write_text(f"#!/bin/sh\n{before}\n{real}", encoding="utf-8")
    (folder / name).chmod(0o755)


def _starts(notes: Path) -> list[StartedTests]:
    files = [path for path in notes.iterdir() if path.suffix in (".json", ".argv")]
    files.sort(key=lambda path: path.lstat().st_mtime_ns)
    found = (_read(path) for path in files[:MOST_NOTES])
    return [start for start in found if start is not None]


def _read(path: Path) -> StartedTests | None:
    text = report_file.read(path) or ""
    if path.suffix == ".argv":
        cwd, *argv = text.split("\0")[:-1] or [""]
        env = _pairs(report_file.read(path.with_name(f"{path.name}.env")) or "")
        return StartedTests(kind=argv[0], argv=tuple(argv), cwd=cwd, env=env) if argv else None
    try:
        told: dict[str, Any] = json.loads(text)
        return StartedTests(
            kind=told["kind"],
            argv=tuple(told["argv"]),
            cwd=told["cwd"],
            env=_without_recorder(told["env"]),
            words=tuple(told.get("words", ())),
            tests=tuple((file, group, name) for file, group, name in told.get("tests", ())),
            passed=report_file.read(path.with_name(f"{path.name}.end")) == "passed",
        )
    except (ValueError, KeyError, TypeError):
        return None


def _pairs(text: str) -> dict[str, str]:
    return _without_recorder(dict(pair.split("=", 1) for pair in text.split("\0") if "=" in pair))


def _without_recorder(env: dict[str, str]) -> dict[str, str]:
    """PYTHONPATH as the project has it."""
    entries = [entry for entry in env.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != str(GUEST)]
    rest = {name: value for name, value in env.items() if name != "PYTHONPATH"}
    return {**rest, "PYTHONPATH": os.pathsep.join(entries)} if entries else rest
