"""The facts of a project that an agent is told: what it is, how it is tested, which conventions its settings state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from milepost.plan.context.conventions import conventions_in, kinds_in
from milepost.sources.grammars import grammar_of, language_of

MOST_LANGUAGES = 6
MOST_VARIABLES = 60
MANIFESTS = (
    *("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "ruff.toml", ".ruff.toml", ".flake8", "mypy.ini"),
    *(".python-version", "pyrightconfig.json", "package.json", "tsconfig.json", ".prettierrc", ".prettierrc.json"),
    *(".nvmrc", ".node-version", "deno.json", "biome.json", "Cargo.toml", "rustfmt.toml", "rust-toolchain.toml"),
    *("go.mod", "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile", "composer.json", "CMakeLists.txt"),
    *("Makefile", "justfile", ".editorconfig"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A folder with manifests: their texts by name, and the files beside them."""

    folder: str
    manifests: Mapping[str, str]
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """How many commits there are, and the files that most of the newest `looked_at` changed, with how many did."""

    commits: int
    looked_at: int = 0
    changed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """All that is known of a repository beside its code. `suites` are as `tests/ (pytest)`."""

    paths: Collection[str]
    projects: tuple[Project, ...] = ()
    suites: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    unread: int = 0
    history: History | None = None


def fact_lines(facts: ProjectFacts) -> list[str]:
    """The facts, one line each; what is not known is not said."""
    lines = []
    for project in facts.projects:
        where = f" ({project.folder}/)" if project.folder else ""
        lines += [f"project{where}: {kind}" for kind in kinds_in(project.manifests)]
        lines += [f"{what}{where}: {value}" for what, value in conventions_in(project.manifests, project.beside)]
    lines += [f"tests: {', '.join(facts.suites)}"] if facts.suites else []
    lines += language_lines(facts.paths)
    lines += history_lines(facts.history)
    if facts.unread:
        lines.append(f"not read for the outline: {facts.unread} files, too many, too large or broken")
    if facts.variables:
        more = len(facts.variables) - MOST_VARIABLES
        names = ", ".join(facts.variables[:MOST_VARIABLES])
        lines.append(f"environment variables that the code reads: {names}{f' and {more} more' if more > 0 else ''}")
    return lines


def history_lines(history: History | None) -> list[str]:
    """How long the history is and which files change most often, in a line; nothing where none was changed often."""
    if history is None or not history.changed:
        return []
    often = ", ".join(f"{path} ({count})" for path, count in history.changed)
    return [f"git: {history.commits} commits; the newest {history.looked_at} changed most often: {often}"]


def language_lines(paths: Collection[str]) -> list[str]:
    """The languages of the files, most of them first, and those that no outline can be made of."""
    counted = Counter("TypeScript" if (one := language_of(path)) == "TSX" else one for path in paths)
    counted.pop("", None)
    best = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    lines = (
        [f"languages: {', '.join(f'{name} ({count} files)' for name, count in best[:MOST_LANGUAGES])}"] if best else []
    )
    example = {language_of(path): path for path in paths}
    unknown = sorted(name for name, path in example.items() if name and grammar_of(path) is None)
    return [*lines, *([f"no grammar here, so only file names: {', '.join(unknown)}"] if unknown else [])]
