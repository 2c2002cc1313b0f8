"""The sh command: one command in the sandbox, if the policy lets it, with its output as it comes."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

import milepost
from milepost import executors
from milepost.cli.arguments import Json
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.format_text import number, safe
from milepost.cli.output import print_lines


def register(app: typer.Typer) -> None:
    """Add the command; what follows the program belongs to it."""
    app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})(sh)


def sh(
    argv: Annotated[list[str], typer.Argument(metavar="-- ARGV", help="The program and its arguments.")],
    shell: Annotated[bool, typer.Option("--shell", help="Run the single argument as a shell command.")] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001, metavar="S", help="Timeout in seconds. Default: by the kind of command, see terminal.quick_s."
        ),
    ] = None,
    trust: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="isolated or sandboxed. Default: the strongest level available.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what the policy decides and why, without running it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run one command in this folder in the sandbox, if the policy allows it."""
    if explain:
        found = executors.explain_command(argv, shell=shell, timeout_s=timeout)
        print_lines(json.dumps(ran_to_json(found), indent=2) if as_json else "\n".join(decision_lines(found)))
        raise typer.Exit(DONE if found.decision.verdict == "allow" else NOT_DONE)
    tell = None if as_json else print_line
    ran = executors.run_command(argv, shell=shell, timeout_s=timeout, trust=trust, on_line=tell, ask=ask_person)
    if as_json:
        print_lines(json.dumps(ran_to_json(ran), indent=2))
    else:
        for line in ending_lines(ran):
            print_lines(line, err=True)
    raise typer.Exit(exit_code(ran))


def exit_code(ran: executors.ByHand) -> int:
    """The command's own, where it has one."""
    result = ran.result
    own = result.exit_code if result is not None and result.termination == "exited" else None
    return NOT_DONE if own is None else own


def ending_lines(ran: executors.ByHand) -> list[str]:
    """What is to be said beside the output itself."""
    result = ran.result
    if result is None:
        return []
    lines = [f"blocked by the sandbox: {safe(what)}" for what in result.refused]
    if result.termination != "exited":
        why = f"timed out after {number(ran.timeout_s)} s" if result.termination == "timeout" else result.error
        lines.append(f"error: {safe(why)}")
    if result.termination == "not_started" and ran.decision.verdict == "ask":
        lines.append(
            "  to allow it, run it in a terminal and confirm, or add it to allow under [terminal] in milepost.toml"
        )
    return lines


def decision_lines(found: executors.ByHand) -> list[str]:
    """A decision for people."""
    decision = found.decision
    seconds = "until it is stopped" if found.time_class == "background" else f"{number(found.timeout_s)} s"
    return [
        f"{decision.verdict} · {decision.kind} · {found.time_class}, {seconds}",
        f"  {safe(decision.what)} {decision.reason} (rule {safe(decision.rule)})",
    ]


def ran_to_json(ran: executors.ByHand) -> dict[str, Any]:
    """The same for machines."""
    decision, result = ran.decision, ran.result
    names = ("verdict", "kind", "reason", "rule", "what")
    told: dict[str, Any] = {
        "argv": list(ran.argv),
        "decision": {name: getattr(decision, name) for name in names},
        "time_class": ran.time_class,
        "timeout_s": ran.timeout_s,
    }
    if result is None:
        return told
    facts = ("termination", "exit_code", "stdout", "stderr", "duration_ms", "error")
    lists = {"enforced": list(result.enforced), "refused": list(result.refused)}
    return told | {"trust": ran.trust} | {name: getattr(result, name) for name in facts} | lists


def print_line(line: milepost.Line) -> None:
    """Print a line of a program on the stream that it came on."""
    stream = sys.stdout if line.stream == "stdout" else sys.stderr
    print(line.text, file=stream, flush=True)


def ask_person(decision: executors.Decision) -> bool:
    """Ask whoever sits at the terminal; nobody does where it is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print_lines(f"{safe(decision.what)} {decision.reason}", err=True)
    return typer.confirm("run it?", default=False, err=True)
