"""The official conformance suite of the protocol: its legs, and what came of each scenario."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LONGEST_S = 300
NOT_PASSED: Final = ("FAILURE", "WARNING", "SKIPPED")
_MODULES: Final = "node_modules/{package}/dist/index.js"
_RESULT = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One version of the suite against one version of the protocol, and how many scenarios it has to have."""

    name: str
    package: str
    chosen: tuple[str, ...]
    scenarios: int


LEGS: Final = (
    Leg(
        name="2025-11-25",
        package="@modelcontextprotocol/conformance",
        chosen=("--suite", "all", "--spec-version", "2025-11-25"),
        scenarios=33,
    ),
    Leg(
        name="2026-07-28",
        package="@modelcontextprotocol/conformance",
        chosen=("--suite", "all", "--spec-version", "2026-07-28"),
        scenarios=40,
    ),
    Leg(name="0.1.16 active", package="conformance-0.1", chosen=("--suite", "active"), scenarios=30),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """How many checks of a scenario had which answer, and what those said that did not pass."""

    name: str
    passed: int
    failed: int
    warned: int
    skipped: int
    complaints: tuple[str, ...]

    @property
    def clean(self) -> bool:
        return self.passed > 0 and not (self.failed or self.warned or self.skipped)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """All scenarios of a leg; `problems` are what is wrong beside them."""

    leg: Leg
    scenarios: tuple[Scenario, ...]
    problems: tuple[str, ...]

    @property
    def clean(self) -> bool:
        return not self.problems and all(scenario.clean for scenario in self.scenarios)


def started(leg: Leg, node: Path, url: str, output: Path) -> subprocess.Popen[str]:
    """The suite at work on one leg."""
    program = node.parents[3] / _MODULES.format(package=leg.package)
    command = [str(node), str(program), "server", "--url", url, *leg.chosen, "--output-dir", str(output)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(leg: Leg, process: subprocess.Popen[str], output: Path) -> Result:
    """What came of a leg, from the files that the suite wrote and not from the words that it printed."""
    printed, _ = process.communicate(timeout=LONGEST_S)
    scenarios = tuple(sorted((scenario_of(path) for path in output.glob("*/checks.json")), key=lambda each: each.name))
    problems = []
    if len(scenarios) != leg.scenarios:
        problems.append(f"{len(scenarios)} scenarios were run, not {leg.scenarios}")
    if process.returncode != 0:
        problems.append(f"the suite ended with {process.returncode}: {printed.strip()[-500:]}")
    return Result(leg=leg, scenarios=scenarios, problems=tuple(problems))


def scenario_of(checks: Path) -> Scenario:
    """One scenario, read from the file with its checks."""
    named = _RESULT.match(checks.parent.name)
    rows = json.loads(checks.read_text())
    count = Counter(row["status"] for row in rows)
    wrong = (f"{row['id']}: {row.get('errorMessage', '')}" for row in rows if row["status"] in NOT_PASSED)
    return Scenario(
        name=named.group(1) if named else checks.parent.name,
        passed=count["SUCCESS"],
        failed=count["FAILURE"],
        warned=count["WARNING"],
        skipped=count["SKIPPED"],
        complaints=tuple(wrong),
    )


def table(results: list[Result]) -> str:
    """All legs side by side: a row a scenario, checks passed of those asked, a dash where a leg has it not."""
    cells = {
        (result.leg.name, each.name): f"{each.passed}/{each.passed + each.failed + each.warned + each.skipped}"
        for result in results
        for each in result.scenarios
    }
    names = sorted({name for _, name in cells})
    legs = [result.leg.name for result in results]
    rows = [("scenario", *legs), *((name, *(cells.get((leg, name), "-") for leg in legs)) for name in names)]
    rows.append(("scenarios", *(f"{sum(each.clean for each in r.scenarios)}/{r.leg.scenarios}" for r in results)))
    rows.append(("checks passed", *(str(sum(each.passed for each in r.scenarios)) for r in results)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
