"""The entry points of a project and how the one that was started ended, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import duration, safe

if TYPE_CHECKING:
    from milepost.executors import StartResult


def list_lines(found: StartResult) -> list[str]:
    """The entry points, the best first; the one that would be started is marked."""
    if not found.entries:
        return ["no entry point found"]
    width = max(map(len, found.names))
    return [
        safe(f"{'*' if entry == found.entry else ' '} {name:<{width}}  {entry.reason}")
        for name, entry in zip(found.names, found.entries, strict=True)
    ]


def ending_lines(ended: StartResult) -> list[str]:
    """How the program ended, and what to do next."""
    lines = []
    if ended.stopped:
        lines.append("stopped")
    elif ended.failure is not None:
        kind = f" {ended.failure.type}" if ended.failure.type else ""
        message = ended.failure.message.partition("\n")[0]
        lines.append(f"failed ({ended.failure.kind}):{kind}{':' if kind else ''} {message}")
    elif ended.result is not None:
        lines.append(f"ended after {duration(ended.result.duration_ms)}")
    if ended.fix:
        label = "fix" if ended.failure is not None else "to keep what was installed"
        lines.append(f"  {label}: {ended.fix}")
    return [safe(line) for line in lines]


def start_to_json(ended: StartResult) -> dict[str, Any]:
    """The same for programs."""
    entries = [
        {"name": name, "way": entry.way, "source": entry.source, "argv": list(entry.argv)}
        for name, entry in zip(ended.names, ended.entries, strict=True)
    ]
    failure, result = ended.failure, ended.result
    facts = ("termination", "exit_code", "stdout", "stderr", "duration_ms", "refused")
    return {
        "entries": entries,
        "entry": None if ended.entry is None else {"name": ended.entry.name, "source": ended.entry.source},
        "trust": ended.trust,
        "environment": list(ended.environment),
        "installed": list(ended.installed),
        "stopped": ended.stopped,
        "result": None if result is None else {name: getattr(result, name) for name in facts},
        "failure": None
        if failure is None
        else {"class": failure.kind, "type": failure.type, "message": failure.message, "missing": failure.missing},
        "fix": ended.fix,
    }
