"""The report of a run, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import path_of

if TYPE_CHECKING:
    from milepost.engine.report.facts import NothingRun, RunStory


def of_run(
    roadmap: Path | str | None = None, *, run: str | None = None, database: str | None = None
) -> RunStory | NothingRun:
    """The report of a run, in progress, interrupted or finished; the newest run unless one is named."""
    from milepost.engine.report.gather import gather

    return gather(path_of(roadmap), run, database)


def to_html(story: RunStory | NothingRun) -> str:
    """A report as one self-contained HTML page."""
    from milepost.engine.report.page.page import render

    return render(story)


def to_markdown(story: RunStory | NothingRun) -> str:
    """A report as Markdown, for a pull request."""
    from milepost.engine.report.markdown import render

    return render(story)


def default_path(run: str, roadmap: Path | str | None = None, *, ending: str = "html") -> Path:
    """Where `milepost report` writes the report of a run if no file is named."""
    from milepost.engine.report.write import place

    return place(path_of(roadmap), run, ending)


def write(text: str, path: Path | str) -> None:
    """Write a report to a file, atomically."""
    from milepost.engine.report.write import write as write_file

    write_file(text, Path(path))
