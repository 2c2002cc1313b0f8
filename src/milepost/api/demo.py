"""The demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import ignore

if TYPE_CHECKING:
    from collections.abc import Callable

    from milepost.api.arguments import OnEvent
    from milepost.engine.workers.dispatch import Ending


def demo(
    folder: Path | str, *, on_event: OnEvent | None = None, on_made: Callable[[Path], None] | None = None
) -> Ending:
    """Make the sample repository in an empty folder and run its roadmap, with no key and no network.

    `on_made` gets the roadmap before it is run.
    """
    from milepost.demo import run_demo

    return run_demo(Path(folder), on_event or ignore, on_made or ignore)
