"""What a repository was set up with, as a person reads it."""

from __future__ import annotations

import shlex
from pathlib import Path

from milepost.cli.format_text import from_here, safe


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
