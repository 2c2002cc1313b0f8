"""What the doctor found, as a person and as a program read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milepost import Finding


def doctor_lines(findings: tuple[Finding, ...]) -> list[str]:
    """A line for each finding, grouped by what it is about."""
    width = max(len(finding.name) for finding in findings)
    lines, area = [], ""
    for finding in findings:
        lead = finding.area if finding.area != area else ""
        area = finding.area
        state = "ok" if finding.ok else ("MISSING" if finding.needed else "no")
        lines.append(f"{lead:<10} {finding.name:<{width}}  {state:<8} {finding.detail}".rstrip())
    return lines


def finding_to_json(finding: Finding) -> dict[str, Any]:
    names = ("area", "name", "ok", "detail", "needed")
    return {name: getattr(finding, name) for name in names}
