"""The demonstration as a person sees it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import milepost
from milepost import roadmaps
from milepost.cli.exit_codes import DONE, INTERRUPTED, NOT_DONE
from milepost.cli.live_display import LiveDisplay, ending_lines
from milepost.cli.output import print_lines

if TYPE_CHECKING:
    from rich.console import Console


def tell(folder: Path | None, console: Console, on_made: Callable[[Path], None] | None = None) -> int:
    """Run the demonstration and show what it made; gives the exit code. `on_made` is told the roadmap before."""
    place = folder or Path(tempfile.mkdtemp(prefix="milepost-demo-"))

    def begin(roadmap: Path) -> None:
        print_lines(f"a sample repository in {place}\n\n{roadmaps.sample().rstrip()}\n")
        if on_made is not None:
            on_made(roadmap)

    with LiveDisplay(console) as progress:
        ending = milepost.demo(place, on_event=progress, on_made=begin)
    if not isinstance(ending, milepost.RunFinished):
        print_lines(f"the demo was stopped; to continue: cd {place} && milepost resume")
        return INTERRUPTED
    print_lines("\n".join(ending_lines(ending)[:2]))
    print_lines("\nthe history: one commit per task\n")
    print_lines(_git(place, "log", "--format=  %h  %s", "--reverse"))
    print_lines("\nthe roadmap: a box is ticked only with proof\n")
    boxes = [line for line in (place / "ROADMAP.md").read_text(encoding="utf-8").splitlines() if line.startswith("- [")]
    print_lines("\n".join(f"  {line}" for line in boxes))
    steps = (
        ("milepost proof 1.1", "the checks that prove it, and the rejected attempts"),
        ("milepost proof 2.3", "why it is not ticked"),
        ("milepost undo 2.2", "undoes only that milepost"),
    )
    print_lines(next_lines(place, *steps))
    verdicts = {task.id: task.verdict for task in ending.tasks}
    as_told = [task_id for task_id, verdict in verdicts.items() if verdict is milepost.Verdict.PASSED]
    return DONE if len(as_told) == len(verdicts) - 1 else NOT_DONE


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.rstrip()


def next_lines(place: Path, *commands: tuple[str, str]) -> str:
    """What to type next, each command with what it shows."""
    program = shlex.quote(str(Path(sys.argv[0]).absolute()))
    alias = () if shutil.which("milepost") else ((f"alias milepost={program}", ""),)
    steps = (
        *alias,
        (f"cd {shlex.quote(str(place))}", ""),
        *commands,
    )
    width = max(len(command) for command, why in steps if why)
    leads = ("next", *[""] * (len(steps) - 1))
    lines = [
        f"{lead:<6} {command:<{width}}   {why}".rstrip() for lead, (command, why) in zip(leads, steps, strict=True)
    ]
    return "\n" + "\n".join(lines)
