"""The linters of a project: ruff and eslint, how they are asked, and what they write."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from milepost.core.change import Change
from milepost.sources.parse_documents import table, toml_of
from milepost.sources.paths import folders_above
from milepost.verify.checks.tool_findings import ToolFinding, clipped
from milepost.verify.command_runner import Bench
from milepost.verify.programs.project_tools import is_file, node_program, python_program, relative, text_of

_ESLINT_FILES = tuple(
    f"{stem}{ending}"
    for stem, endings in {
        "eslint.config": (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"),
        ".eslintrc": ("", ".js", ".cjs", ".json", ".yml", ".yaml"),
    }.items()
    for ending in endings
)
_ENDINGS = {
    "ruff": (".py", ".pyi", ".ipynb"),
    "eslint": (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"),
}
_OPTIONS = {
    "ruff": ("check", "--no-fix", "--no-cache", "--force-exclude", "--output-format", "json"),
    "eslint": ("--format", "json", "--no-error-on-unmatched-pattern"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Linter:
    """A linter that the project has set up, and the program of it."""

    tool: Literal["ruff", "eslint"]
    program: Path

    @property
    def endings(self) -> tuple[str, ...]:
        return _ENDINGS[self.tool]

    def on_files(self, paths: tuple[str, ...], output: Path) -> tuple[str, ...]:
        """The command that writes what it finds in these files to `output`, and changes none of them."""
        return (str(self.program), *_OPTIONS[self.tool], "--output-file", str(output), "--", *paths)

    def on_text(self, path: str, output: Path) -> tuple[str, ...]:
        """The same for a text that is given to it as if it stood at `path`."""
        given = ("-",) if self.tool == "ruff" else ("--stdin",)
        options = (*_OPTIONS[self.tool], "--output-file", str(output), f"--stdin-filename={path}")
        return (str(self.program), *options, *given)

    def read(self, text: str, checkout: Path) -> tuple[ToolFinding, ...] | None:
        return read_ruff(text, checkout) if self.tool == "ruff" else read_eslint(text, checkout)


def linters(change: Change, bench: Bench, checkout: Path) -> Iterator[Linter]:
    """The linters that the project has settings for, at the top or above a changed file, and that it has."""
    folders = dict.fromkeys(folder for path in (*change.paths, "") for folder in folders_above(path))
    if any(_sets_up_ruff(checkout / folder) for folder in folders):
        found = python_program(bench, "ruff") or _on_path("ruff", bench.path)
        if found is not None:
            yield Linter(tool="ruff", program=found)
    if any(is_file(checkout / folder, name) for folder in folders for name in _ESLINT_FILES):
        found = node_program(bench, checkout, "eslint", "", change)
        if found is not None:
            yield Linter(tool="eslint", program=found)


def read_ruff(text: str, checkout: Path) -> tuple[ToolFinding, ...] | None:
    """The findings in ruff's JSON, but for those of its parser; None when it is none."""
    try:
        remarks = json.loads(text)
        return tuple(
            ToolFinding(
                path=relative(remark["filename"], checkout),
                line=remark["location"]["row"],
                message=clipped(remark["message"]),
                code=remark["code"],
            )
            for remark in remarks
            if remark["code"] and remark["code"] != "invalid-syntax"
        )
    except (ValueError, KeyError, TypeError):
        return None


def read_eslint(text: str, checkout: Path) -> tuple[ToolFinding, ...] | None:
    """The errors in eslint's JSON, warnings left out; None when it is none."""
    try:
        return tuple(
            ToolFinding(
                path=relative(file["filePath"], checkout),
                line=remark.get("line") or 0,
                message=clipped(remark["message"]),
                code=remark.get("ruleId") or "",
            )
            for file in json.loads(text)
            for remark in file["messages"]
            if remark["severity"] == 2 and remark.get("ruleId")
        )
    except (ValueError, KeyError, TypeError):
        return None


def _sets_up_ruff(folder: Path) -> bool:
    if any(is_file(folder, name) for name in ("ruff.toml", ".ruff.toml")):
        return True
    return "ruff" in table(toml_of(text_of(folder, "pyproject.toml")), "tool")


def _on_path(name: str, path: str) -> Path | None:
    found = shutil.which(name, path=path)
    return Path(found) if found else None
