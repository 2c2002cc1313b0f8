"""The command that runs an entry point and reports the exception that it ends with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.sandbox.scripts.entry_points import EntryPoint
from milepost.sandbox.typescript.deno import find_deno

EXCEPTION_REPORTS = Path(__file__).parent / "exception_reports"
REPORT_VARIABLE = "MILEPOST_REPORT"
PLAIN_OUTPUT = {
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
    "DENO_NO_UPDATE_CHECK": "1",
    "NPM_CONFIG_UPDATE_NOTIFIER": "false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportingCommand:
    """A command line and its variables."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


def reporting_command(entry: EntryPoint, arguments: tuple[str, ...], report: Path) -> ReportingCommand:
    """What runs an entry point; the exception that it ends with is written to `report`."""
    program, *words = entry.argv
    env = {**PLAIN_OUTPUT, REPORT_VARIABLE: str(report)}
    match program:
        case "python3":
            argv = (program, str(EXCEPTION_REPORTS / "exception_report.py"), str(report), *words, *arguments)
        case "node" | "npm":
            own = ("--", *arguments) if program == "npm" and arguments else arguments
            argv = (program, *words, *own)
            env["NODE_OPTIONS"] = f"--require {json.dumps(str(EXCEPTION_REPORTS / 'exception_report.cjs'))}"
        case "deno" if words[0] == "run":
            preload = ("--preload", str(EXCEPTION_REPORTS / "exception_report.mjs"))
            argv = (str(find_deno()), "run", *preload, *words[1:], *arguments)
        case "deno":
            argv = (str(find_deno()), *words, *arguments)
        case _:
            argv = (*entry.argv, *arguments)
    return ReportingCommand(argv=argv, env=env)
