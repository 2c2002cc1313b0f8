"""What a repository was set up with, as a person reads it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.cli.format_text import duration, from_here, hanging, safe, wrapped

if TYPE_CHECKING:
    from milepost.machines import BaseTests, Facts


def fact_lines(found: Facts, width: int) -> list[str]:
    """What was found in the repository and on this machine."""
    return [line for said in found.lines() for line in hanging("found  ", said, width)]


def base_lines(standing: BaseTests, width: int) -> list[str]:
    """How the tests stand before any work, with those that are red, or why none could be run."""
    took = "" if standing.took_s is None else f", {duration(int(standing.took_s * 1000))}"
    if not standing.problem:
        left_out = standing.tests - standing.passed
        skipped = f", {left_out} {'is' if left_out == 1 else 'are'} skipped" if left_out else ""
        return [f"tests  {standing.passed} of {standing.tests} pass before any work{skipped}{took}"]
    first, *more = standing.problem.splitlines()
    return [*hanging("tests  ", first, width), *(line for text in more[:6] for line in wrapped(text, width, indent=7))]


def init_lines(
    made: tuple[Path, ...], here: Path, proposed: tuple[str, ...] = (), *, accepted: bool = False
) -> list[str]:
    """The files that were made, what they set, and what to do with them in the folder `here`."""
    if not made:
        return ["nothing to do: ROADMAP.md and milepost.toml exist already"]
    top = made[0].parent
    go = "" if here.is_relative_to(top.resolve()) else f"cd {shlex.quote(from_here(top))} && "
    names = shlex.join(path.name if go else from_here(path) for path in made)
    what = "it" if len(made) == 1 else "them"
    lines = [
        *(f"created {from_here(path)}" for path in made),
        *(f"{'set' if accepted else 'proposed in a comment'}: {said}" for said in proposed),
        f"next   edit {what}, then: {go}git add {names} && git commit -m Roadmap",
        "       milepost plan   what would be done, and in which order",
    ]
    return [*map(safe, lines)]
