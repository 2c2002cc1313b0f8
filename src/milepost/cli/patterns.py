"""The patterns command: which patterns there are, what they take, and what one would do here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

import milepost
import milepost.patterns
from milepost.cli.arguments import Json
from milepost.cli.format_text import from_here, hanging, safe
from milepost.cli.output import print_lines, terminal_width


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(patterns)


def patterns(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The pattern to show. Default: list all.")] = None,
    inputs: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Its inputs.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what it would change. Also the default when inputs are given.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Apply it to the files in this folder.")] = False,
    as_json: Json = False,
) -> None:
    """List the patterns (code changes that need no model), show one's inputs, or try one here."""
    if dry_run and write:
        raise milepost.Misuse("--dry-run and --write exclude each other", "use one of them")
    if name is not None and (inputs or dry_run or write):
        _show_trial(milepost.patterns.try_out(name, _inputs(inputs or []), write=write), write, as_json)
        return
    found = milepost.patterns.available() if name is None else (milepost.patterns.find(name),)
    if as_json:
        rows = [entry_to_json(entry) for entry in found]
        print_lines(json.dumps(rows if name is None else rows[0], indent=2))
    else:
        print_lines(
            "\n".join(list_lines(found, terminal_width()) if name is None else page_lines(found[0], terminal_width()))
        )


def list_lines(found: tuple[milepost.patterns.PatternEntry, ...], width: int) -> list[str]:
    """The patterns, one a line, and what to do next."""
    room = max(len(entry.name) for entry in found) + 2
    lines: list[str] = []
    for entry in found:
        told = f"cannot be used: {entry.problem}" if entry.problem else entry.about
        origin = "" if entry.origin == "built in" else f" ({_origin(entry)})"
        lines += hanging(f"{safe(entry.name):<{room}}", f"{told}{origin}", width)
    return [*lines, "", "milepost patterns NAME shows the inputs of one"]


def page_lines(entry: milepost.patterns.PatternEntry, width: int) -> list[str]:
    """What one pattern takes, and how it is asked for."""
    lines = [*hanging(f"{entry.name}  ", entry.about or entry.problem, width), f"  {_origin(entry)}", ""]
    properties: Mapping[str, Any] = entry.schema.get("properties", {})
    required = entry.schema.get("required", ())
    room = max((len(key) for key in properties), default=0) + 2
    for key, schema in properties.items():
        lines += hanging(f"  {key:<{room}}", "; ".join(_facts(schema, needed=key in required)), width)
    words = " ".join(f"{key}=…" for key in required)
    return [
        *lines,
        *(["  it takes no inputs"] if not properties else []),
        "",
        f"in a roadmap, below its task:   Pattern: {entry.name} {words}".rstrip(),
        f"to try it here:                 milepost patterns {entry.name} {words or '--dry-run'}",
    ]


def entry_to_json(entry: milepost.patterns.PatternEntry) -> dict[str, Any]:
    """The same for machines."""
    return {
        "name": entry.name,
        "origin": entry.origin,
        "about": entry.about,
        "problem": entry.problem,
        "schema": dict(entry.schema),
    }


def _show_trial(trial: milepost.patterns.PatternTrial, write: bool, as_json: bool) -> None:
    if as_json:
        told = {
            "pattern": trial.pattern,
            "diff": trial.diff,
            "remarks": list(trial.remarks),
            "commands": list(trial.commands),
            "written": list(trial.written),
        }
        print_lines(json.dumps(told, indent=2))
        return
    for line in trial.diff.splitlines():
        print_lines(safe(line))
    for remark in trial.remarks:
        print_lines(safe(remark), err=True)
    for line in _done(trial) if write else [_not_done(trial)]:
        print_lines(line, err=True)


def _done(trial: milepost.patterns.PatternTrial) -> list[str]:
    ran = f"ran {', '.join(map(safe, trial.commands))}; files changed by these commands are not listed here"
    wrote = f"wrote {', '.join(map(safe, trial.written))}"
    return [*([ran] if trial.commands else []), *([wrote] if trial.written else [])] or ["nothing changed"]


def _not_done(trial: milepost.patterns.PatternTrial) -> str:
    if trial.commands:
        return "nothing was run or written; --write applies it"
    return "nothing was written; --write applies it" if trial.diff else "nothing would change"


def _inputs(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    if bad := [key for key, equals, _ in pairs if not (key and equals)]:
        raise milepost.Misuse(f"{bad[0]!r} is not an input", "write each one as key=value")
    names = [key for key, _, _ in pairs]
    if repeated := [key for key in dict.fromkeys(names) if names.count(key) > 1]:
        raise milepost.Misuse(f"given more than once: {', '.join(repeated)}", "set each input once")
    return {key: value for key, _, value in pairs}


def _facts(schema: Mapping[str, Any], *, needed: bool) -> list[str]:
    facts = ["needed"] if needed else [f"default {schema['default']}"] if "default" in schema else []
    if "enum" in schema:
        facts.append(" | ".join(map(str, schema["enum"])))
    elif schema.get("type", "string") != "string":
        facts.append(str(schema["type"]))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        facts.append(f"{'' if low is None else low}..{'' if high is None else high}")
    return [*facts, *([schema["description"]] if "description" in schema else [])]


def _origin(entry: milepost.patterns.PatternEntry) -> str:
    from pathlib import Path

    return from_here(Path(entry.origin)) if entry.origin.startswith("/") else entry.origin
