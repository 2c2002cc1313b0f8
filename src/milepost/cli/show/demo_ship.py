"""The demonstration of a release as a person sees it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from milepost import releases
from milepost.cli.deploy import teller
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.live_display import LiveDisplay
from milepost.cli.output import print_lines
from milepost.cli.show.demo import next_lines

if TYPE_CHECKING:
    from rich.console import Console


def tell(folder: Path | None, console: Console) -> int:
    """Show three releases while users ask; gives the exit code."""
    place = folder or Path(tempfile.mkdtemp(prefix="milepost-demo-"))
    print_lines(f"a small service in {place}")
    with LiveDisplay(console) as progress:
        seen = releases.demo(place, tell=print_lines, on_event=progress, on_move=teller())
    for one in (seen.bad, seen.mended):
        print_lines(
            " ".join(filter(None, (f"release {one.number} is {one.stage.value}", one.said and f"({one.said})")))
        )
    print_lines(f"what the users saw: {seen.requests} requests, {seen.failed} failed")
    print_lines("all of it is stopped again; milepost deploy local starts what was live")
    steps = (
        ("milepost releases local", "each with what speaks for it"),
        ("milepost releases local --release 2", "its life, step by step"),
        ("milepost incidents local", "what was done, and the task that came of it"),
    )
    print_lines(next_lines(place, *steps))
    return DONE if seen.as_told else NOT_DONE
