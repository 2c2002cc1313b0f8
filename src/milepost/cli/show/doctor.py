"""What the doctor found, as a person and as a program read it."""

from __future__ import annotations

import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import hanging

if TYPE_CHECKING:
    from milepost.machines import Finding


LONGEST_NAME = 22


def doctor_lines(findings: tuple[Finding, ...], width: int) -> list[str]:
    """A line for each finding, as many as its name and its detail need, grouped by what it is about."""
    name_width = min(LONGEST_NAME, max(len(finding.name) for finding in findings))
    lines, area = [], ""
    for finding in findings:
        lead = finding.area if finding.area != area else ""
        area = finding.area
        lines += _finding_lines(finding, f"{lead:<10} ", name_width, width)
    return lines


def _finding_lines(finding: Finding, lead: str, name_width: int, width: int) -> list[str]:
    state = "ok" if finding.ok else ("MISSING" if finding.needed else "no")
    whole = f"{lead}{finding.name:<{name_width}}  {state:<8} {finding.detail}".rstrip()
    if len(whole) <= width:
        return [whole]
    names = textwrap.wrap(finding.name, name_width, break_long_words=False, break_on_hyphens=False)
    left = [f"{lead if number == 0 else '':<{len(lead)}}{name}" for number, name in enumerate(names)]
    edge = len(lead) + name_width
    right = [line[edge:] for line in hanging(f"{'':<{edge}}  {state:<8} ", finding.detail, width)]
    if len(left[0]) > edge:  # a path, which has no place to break
        right.insert(0, "")
    return [f"{name:<{edge}}{detail}".rstrip() for name, detail in zip_longest(left, right, fillvalue="")]


def finding_to_json(finding: Finding) -> dict[str, Any]:
    names = ("area", "name", "ok", "detail", "needed")
    return {name: getattr(finding, name) for name in names}
