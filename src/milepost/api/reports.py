"""All that is told of a run, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.given import path_of

if TYPE_CHECKING:
    from milepost.engine.report.facts import NothingRun, RunStory


def report(
    roadmap: Path | str | None = None, *, run: str | None = None, database: str | None = None
) -> RunStory | NothingRun:
    """All that is told of a run, running, interrupted or over; the newest unless another is named."""
    from milepost.engine.report.gather import gather

    return gather(path_of(roadmap), run, database)


def report_to_html(story: RunStory | NothingRun) -> str:
    """A report as one HTML page that needs nothing else."""
    from milepost.engine.report.page.page import render

    return render(story)


def report_to_markdown(story: RunStory | NothingRun) -> str:
    """A report as Markdown, for a pull request."""
    from milepost.engine.report.markdown import render

    return render(story)


def report_place(run: str, roadmap: Path | str | None = None, *, ending: str = "html") -> Path:
    """Where `milepost report` puts the report of a run when no file is named."""
    from milepost.engine.report.write import place

    return place(path_of(roadmap), run, ending)


def write_report(text: str, path: Path | str) -> None:
    """Put a report into a file, whole or not at all."""
    from milepost.engine.report.write import write

    write(text, Path(path))
