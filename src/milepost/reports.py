"""The report of a run, as a page.

For example:

    from milepost import reports

    report = reports.of_run()
    reports.write(reports.to_html(report), "report.html")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.reports import default_path as default_path
    from milepost.api.reports import of_run as of_run
    from milepost.api.reports import to_html as to_html
    from milepost.api.reports import to_markdown as to_markdown
    from milepost.api.reports import write as write
    from milepost.engine.report.facts import NothingRun as NothingRun
    from milepost.engine.report.facts import RunStory as RunStory
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
