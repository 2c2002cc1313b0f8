"""The port of recipes: what one is given, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from milepost.core.change import Change
from milepost.core.commands import Command, CommandResult
from milepost.core.failures import Failure
from milepost.core.ports import Terminal
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence
from milepost.repair.file_scope import in_scope
from milepost.sandbox.confined import PlainFolder

CASES_READ = 200
LONGEST_TRACEBACK = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairCase:
    """A failed attempt: its evidence, what it changed, and a checkout of the tree it left, for the recipe to edit."""

    task: Task
    failure: Failure
    evidence: Evidence
    folder: Path
    change: Change
    files: PlainFolder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", PlainFolder(self.folder))

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        return tuple(check for check in self.evidence.checks if check.outcome == "failed")

    @property
    def said(self) -> str:
        """All that the failed checks tell, with paths of the checkout made relative."""
        parts: list[str] = []
        for check in self.failed:
            parts += [check.summary, check.log]
            for case in [case for case in check.cases if case.outcome == "failed"][:CASES_READ]:
                parts += [case.message, case.traceback[-LONGEST_TRACEBACK:]]
        return "\n".join(part for part in parts if part).replace(f"{self.folder}/", "")

    def at_base(self, path: str) -> bytes | None:
        """What a file held before the attempt: only that was written by nobody who is to be doubted."""
        changed = self.change.file(path)
        return self.files.read(path) if changed is None else changed.before

    def paths_at_base(self) -> tuple[str, ...]:
        new = {file.path for file in self.change.files if file.is_new}
        gone = {file.path for file in self.change.files if file.is_gone}
        return tuple(sorted((set(self.files.paths()) - new) | gone))

    def may_change(self, path: str) -> bool:
        """Whether the author of the task allows an edit of this file."""
        return in_scope(self.task, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeTools:
    """What a recipe works with. `approved` are packages that a person allowed by name."""

    terminal: Terminal
    scratch: Path
    interpreter: Path | None = None
    approved: frozenset[str] = frozenset()
    redact: Callable[[str], str] = str
    env: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    timeout_s: float = 120.0

    def run(self, argv: tuple[str, ...], checkout: Path, *, cwd: str = "", stdin: str = "") -> CommandResult:
        """Run a command in the sandbox, in the checkout or in its folder `cwd`, which must not lead out of it."""
        result = self.terminal.run(
            Command(
                argv=argv,
                cwd=checkout / cwd,
                scratch=self.scratch,
                env=self.env,
                stdin=stdin,
                timeout_s=self.timeout_s,
                readable=self.readable,
                writable=(checkout,),
            )
        )
        redact = self.redact
        return replace(result, stdout=redact(result.stdout), stderr=redact(result.stderr), error=redact(result.error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """Files were edited: what the checkout holds now is worth verifying."""

    what: str
    paths: tuple[str, ...]
    recipe: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """The roadmap names a path that is not there, and this one is meant: for the rest of the run, in the open."""

    what: str
    path_named: str
    path_found: str
    recipe: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyAgain:
    """Nothing is wrong with the tree that could be told: verify it once more."""

    what: str
    recipe: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The cause was found, but no mechanical edit is safe: for the next attempt to read."""

    what: str
    recipe: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsPerson:
    """It could be mended, but only a person may decide so: for them to read."""

    what: str
    recipe: str = ""


Answer = Mended | Correction | VerifyAgain | Advice | NeedsPerson


class Recipe(Protocol):
    """Mends one kind of failure mechanically. Its result is verified like anybody's."""

    @property
    def name(self) -> str: ...

    def fits(self, case: RepairCase) -> bool:
        """Whether the evidence alone looks like this kind of failure."""
        ...

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        """Edit files of the checkout, or say what else is to be done; None when it turned out not to fit."""
        ...


def listed(paths: Sequence[str], shown: int = 5) -> str:
    """The first few paths, and how many more there are."""
    more = f" and {len(paths) - shown} more" if len(paths) > shown else ""
    return ", ".join(paths[:shown]) + more


def joined(answers: Sequence[Mended | NeedsPerson]) -> Mended | NeedsPerson | None:
    """Several answers of one recipe as one: what was mended counts, what was refused is told with it."""
    if not answers:
        return None
    what = "; ".join(dict.fromkeys(answer.what for answer in answers))
    paths = [path for answer in answers if isinstance(answer, Mended) for path in answer.paths]
    return Mended(what=what, paths=tuple(dict.fromkeys(paths))) if paths else NeedsPerson(what=what)
