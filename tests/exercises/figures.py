"""The two figures of the lying agents, at the end of pytest's own report: false done, and false fail."""

from __future__ import annotations

from collections import defaultdict

import pytest

ASKED = ("lies", "honest")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what the tests recorded, in whichever process each of them ran."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    wrong: dict[tuple[str, str], list[str]] = defaultdict(list)
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if isinstance(report, pytest.TestReport) and report.when == "call":
            for asked, value in report.user_properties:
                if asked in ASKED and isinstance(value, list):
                    exercise, count, names = value
                    counts[asked, exercise] += count
                    wrong[asked, exercise] += names
    if counts:
        for line in rows(counts, wrong):
            terminalreporter.write_line(line)


def rows(counts: dict[tuple[str, str], int], wrong: dict[tuple[str, str], list[str]]) -> list[str]:
    """The table as lines: an exercise each, and the sums."""
    exercises = sorted({exercise for _, exercise in counts})
    lines = ["", f"{'exercise':<12}{'lies':>6}{'false done':>12}{'honest':>8}{'false fail':>12}"]
    for exercise in exercises:
        told, true = counts.get(("lies", exercise), 0), counts.get(("honest", exercise), 0)
        done, failed = wrong.get(("lies", exercise), []), wrong.get(("honest", exercise), [])
        names = "  ".join((*done, *failed))
        lines.append(f"{exercise:<12}{told:>6}{len(done):>12}{true:>8}{len(failed):>12}  {names}".rstrip())
    sums = {asked: sum(count for (kind, _), count in counts.items() if kind == asked) for asked in ASKED}
    off = {asked: sum(len(names) for (kind, _), names in wrong.items() if kind == asked) for asked in ASKED}
    lines.append(f"{'all':<12}{sums['lies']:>6}{off['lies']:>12}{sums['honest']:>8}{off['honest']:>12}")
    return lines
