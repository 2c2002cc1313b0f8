"""The benchmark of agents, and chaos: a run that is killed over and over.

For example:

    from milepost import benchmarks

    report = benchmarks.run("command:./agent.sh")
    for row in benchmarks.rows(report):
        print(*row)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.benchmarks import chaos as chaos
    from milepost.api.benchmarks import chaos_findings as chaos_findings
    from milepost.api.benchmarks import chaos_rows as chaos_rows
    from milepost.api.benchmarks import chaos_to_json as chaos_to_json
    from milepost.api.benchmarks import rows as rows
    from milepost.api.benchmarks import run as run
    from milepost.api.benchmarks import to_json as to_json
    from milepost.bench.report import Report as Report
    from milepost.bench.report import TaskReport as TaskReport
    from milepost.engine.chaos.report import ChaosReport as ChaosReport
    from milepost.engine.chaos.run import ChaosProgress as ChaosProgress
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
