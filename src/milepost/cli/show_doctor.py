"""What the doctor found, as a person and as a program read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.words import hanging

if TYPE_CHECKING:
    from milepost import Finding


LONGEST_NAME = 22


def doctor_lines(findings: tuple[Finding, ...], width: int) -> list[str]:
    """A line for each finding, as many as its detail needs, grouped by what it is about."""
    name_width = min(LONGEST_NAME, max(len(finding.name) for finding in findings))
    lines, area = [], ""
    for finding in findings:
        lead = finding.area if finding.area != area else ""
        area = finding.area
        state = "ok" if finding.ok else ("MISSING" if finding.needed else "no")
        start = f"{lead:<10} {finding.name:<{name_width}}  {state:<8} "
        if len(finding.name) > name_width and len(start) + len(finding.detail) > width:
            lines.append(start.rstrip())
            start = " " * (len(start) - len(finding.name) + name_width)
        lines += [line.rstrip() for line in hanging(start, finding.detail, width)]
    return lines


def finding_to_json(finding: Finding) -> dict[str, Any]:
    names = ("area", "name", "ok", "detail", "needed")
    return {name: getattr(finding, name) for name in names}
