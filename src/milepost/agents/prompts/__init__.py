"""What models are told: templates, one file each, filled with what a task brings.

Text from the repository, a tool or memory goes in as data: between fences that nothing in it can close, with a line
that says whose words they are.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from string import Template

from milepost.agents.clip import clip

LONGEST_QUOTE = 12_000


def filled(name: str, **values: str) -> str:
    """The template of this name with every `$place` in it filled."""
    return _template(name).substitute(values)


def quoted(text: str, *, limit: int = LONGEST_QUOTE) -> str:
    """`text` between fences that nothing in it can close."""
    text = clip(text.strip("\n"), limit)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


@cache
def _template(name: str) -> Template:
    return Template(files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8"))
