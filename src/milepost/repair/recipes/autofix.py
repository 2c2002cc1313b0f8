"""The recipe for what the project's own formatter or linter can mend by itself."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath

from milepost.core.verdict import CheckResult
from milepost.repair.recipes.recipe import Answer, Mended, RecipeTools, RepairCase, listed

PYTHON = (".py", ".pyi")
SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue")
STYLED = (*SCRIPTS, ".css", ".scss", ".less", ".json", ".html", ".yaml", ".yml")

_UNFORMATTED = re.compile(r"[Ww]ould reformat|would be reformatted|Code style issues found|Forgot to run Prettier")


class Autofix:
    """Lets ruff, prettier and eslint mend the files that the attempt changed, where the project uses them."""

    name = "formatter and linter"

    def fits(self, case: RepairCase) -> bool:
        return any(tools_of(check) for check in case.failed)

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        named = {tool for check in case.failed for tool in tools_of(check)}
        changed = {file.path for file in case.change.files if not file.is_gone and not file.is_link}
        mendable = tuple(sorted(path for path in changed if case.files.is_file(path)))
        before = {path: case.files.read(path) for path in mendable}
        used = [words[0] for words in commands(case, tools, named, mendable) if _ran(case, tools, words)]
        mended = tuple(path for path in mendable if case.files.read(path) != before[path])
        if not mended:
            return None
        programs = ", ".join(dict.fromkeys(PurePosixPath(program).name for program in used))
        return Mended(what=f"{programs} fixed {listed(mended)}", paths=mended)


def tools_of(check: CheckResult) -> frozenset[str]:
    """Which of our formatters and linters a failed check ran; a lint check without a name of one may have run any."""
    words = {PurePosixPath(word).name for part in check.argv for word in part.split()}
    named = words & {"ruff", "prettier", "eslint"}
    if named:
        return frozenset(named)
    return (
        frozenset({"ruff", "prettier", "eslint"})
        if check.name.partition(" (")[0] in ("lint", "format")
        else frozenset()
    )


def commands(case: RepairCase, tools: RecipeTools, named: set[str], changed: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What to run, each on the changed files that it is for."""
    found: list[tuple[str, ...]] = []
    python = tuple(path for path in changed if path.endswith(PYTHON))
    scripts = tuple(path for path in changed if path.endswith(SCRIPTS))
    styled = tuple(path for path in changed if path.endswith(STYLED))
    unformatted = _UNFORMATTED.search(case.said) is not None
    if "ruff" in named and python and configures_ruff(case):
        ruff = _program_beside(tools.interpreter, "ruff")
        found.append((ruff, "check", "--fix", "--exit-zero", "--quiet", "--no-cache", "--force-exclude", "--", *python))
        if unformatted:
            found.append((ruff, "format", "--quiet", "--no-cache", "--force-exclude", "--", *python))
    if "eslint" in named and scripts and (eslint := _node_program(case, "eslint")):
        found.append((eslint, "--fix", "--", *scripts))
    if "prettier" in named and styled and unformatted and (prettier := _node_program(case, "prettier")):
        found.append((prettier, "--write", "--", *styled))
    return found


def configures_ruff(case: RepairCase) -> bool:
    """Whether the project asks for ruff: in a file of its own, or in pyproject.toml."""
    for path in case.files.paths():
        name = PurePosixPath(path).name
        if name in ("ruff.toml", ".ruff.toml"):
            return True
        if name == "pyproject.toml":
            try:
                tool = tomllib.loads(case.files.text(path) or "").get("tool")
            except (ValueError, RecursionError):
                continue
            if isinstance(tool, dict) and "ruff" in tool:
                return True
    return False


def _ran(case: RepairCase, tools: RecipeTools, words: tuple[str, ...]) -> bool:
    """Whether the program came to an end; what it could not mend is not its fault."""
    return tools.run(words, case.folder).termination == "exited"


def _program_beside(interpreter: Path | None, name: str) -> str:
    """The environment's own program, else whatever the search path has."""
    beside = interpreter.parent / name if interpreter is not None else None
    return str(beside) if beside is not None and beside.is_file() else name


def _node_program(case: RepairCase, name: str) -> str:
    """A program of the project's modules; never one that the attempt itself brought."""
    if any("node_modules" in PurePosixPath(path).parts for path in case.change.paths):
        return ""
    program = case.folder / "node_modules" / ".bin" / name
    return str(program) if program.is_file() else ""
