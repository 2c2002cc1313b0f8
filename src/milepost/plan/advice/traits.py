"""What a task is like: its kind, its size, and whether it is risky. Who should do it is decided by these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from milepost.core.task import Task
from milepost.plan.advice.risk import risk_of

Kind = Literal["code", "tests", "docs", "config", "fix", "refactor", "dependency"]
Size = Literal["small", "medium", "large"]
Trait = Literal["code", "tests", "docs", "config", "fix", "refactor", "dependency", "risky", "small", "large"]

FEW_WORDS, MANY_WORDS, MANY_FILES = 60, 400, 4

# The first of these words in a title tells the kind: "Document the fix" is docs.
_WORDS: Mapping[Kind, str] = {
    "fix": r"fix(?:es|ed|ing)?|bug|bugs|bugfix|hotfix|regression|crash|crashes|repair|broken",
    "refactor": r"refactor(?:s|ed|ing)?|rename|extract|restructure|simplify|deduplicate|inline|tidy|clean ?up",
    "tests": r"tests?|testing|coverage|e2e",
    "docs": r"docs?|document|documents|documentation|docstrings?|readme|changelog|tutorial|guide|manual",
    "config": r"config|configure|configuration|ci|workflow|linter|linting|pre commit|editorconfig|gitignore",
    "dependency": r"dependency|dependencies|upgrade|bump|dependabot|renovate",
}
_TITLE = re.compile(rf"\b(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _WORDS.items())})\b")
_DOCS = re.compile(r"(^|/)docs?/|\.(md|markdown|rst|adoc)$|(^|/)(readme|changelog|contributing|licen[cs]e)$")
_TESTS = re.compile(r"(^|/)(tests?|specs?|__tests__)/|(^|/)test_[^/]*$|[._](test|spec)\.\w+$|_test\.\w+$")
_CONFIG = re.compile(r"(^|/)\.[^/]+(/|$)|\.(toml|ya?ml|ini|cfg|json|env)$|(^|/)(dockerfile|makefile|containerfile)$")
_MANIFEST = re.compile(
    r"(^|/)(requirements[^/]*\.txt|pyproject\.toml|package(-lock)?\.json|pnpm-lock\.yaml|(yarn|uv|poetry|cargo)\.lock"
    r"|cargo\.toml|go\.(mod|sum)|pom\.xml|build\.gradle|gemfile|composer\.json)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a task is like, as far as it matters to who should do it."""

    kind: Kind = "code"
    size: Size = "medium"
    risky: bool = False

    @property
    def by_weight(self) -> tuple[Trait, ...]:
        """All that is so of it, what tells most first."""
        sizes: tuple[Trait, ...] = () if self.size == "medium" else (self.size,)
        return (*(("risky",) if self.risky else ()), self.kind, *sizes)


def traits_of(task: Task) -> Traits:
    """The traits of a task with its subtasks."""
    return Traits(kind=_kind(task), size=_size(task), risky=risk_of(task).level == "high")


def _kind(task: Task) -> Kind:
    """By its files, where all are of one kind; else by its title."""
    files = [file.lower() for part in task.walk() for file in part.files]
    told = _TITLE.search(" ".join(re.findall(r"[a-z0-9]+", task.title.lower())))
    named: Kind = told.lastgroup if told else "code"  # type: ignore[assignment]
    if named == "dependency" or not files:
        return named
    if all(map(_MANIFEST.search, files)):
        return "dependency" if "depend" in task.text.lower() else "config"
    ones: tuple[tuple[Kind, re.Pattern[str]], ...] = (("tests", _TESTS), ("docs", _DOCS), ("config", _CONFIG))
    return next((kind for kind, pattern in ones if all(map(pattern.search, files))), named)


def _size(task: Task) -> Size:
    files = {file for part in task.walk() for file in part.files}
    words = sum(len(f"{part.title} {part.text}".split()) for part in task.walk())
    if len(files) >= MANY_FILES or words > MANY_WORDS:
        return "large"
    return "small" if len(files) <= 1 and words <= FEW_WORDS and not task.subtasks else "medium"
