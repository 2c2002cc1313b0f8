"""Rows as a Markdown table and as JSON, for patterns that write a page about what they found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def markdown(title: str, intro: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A page with one table."""
    lines = [
        f"# {title}",
        "",
        intro,
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(map(_cell, row))} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def json_text(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
