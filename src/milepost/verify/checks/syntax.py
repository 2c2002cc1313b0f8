"""The check that the changed files parse."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import LARGEST_READ, Change, ChangedFile
from milepost.core.verdict import CheckOutcome, CheckResult
from milepost.verify.checks.tool_findings import ToolFinding, told
from milepost.verify.command_runner import Bench
from milepost.verify.programs.parsers import Parsed, SourceFile, kind_of, parse
from milepost.verify.programs.project_tools import answer, is_about, plain_files

NAME = "syntax"

# Text to be filled in or to be refused by somebody's parser is kept under these names.
_SAMPLES = re.compile(
    r"(^|/)(__)?(fixtures?|testdata|test[-_]data|corpus|snapshots?|golden|goldens|templates?|skeleton)(__)?/|\{\{|"
    r"(^|/)tests?/(.*/)?data/"
)
_CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ")
_PROSE = (".md", ".rst", ".txt", ".adoc", ".patch", ".diff", ".rej")
_TEMPLATES = (("{{", "}}"), ("{%", "%}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxCheck:
    """Asks each language's own parser about the changed files; nothing of them is run.

    A file that did not parse before either does not fail an attempt, unless the task is about it: `expected` holds
    the files, folders or globs that the task names. Samples and templates are named, not judged.
    """

    change: Change
    bench: Bench
    expected: tuple[str, ...] = ()

    def run(self, workspace: Workspace) -> CheckResult:
        files = {file.path: file for file in plain_files(self.change)}
        conflicts = tuple(filter(None, map(conflict_in, files.values())))
        sources = tuple(_sources(files, workspace.folder))
        if not sources and not conflicts:
            return answer(NAME, "absent", "no changed file is of a type that can be parsed")
        parsed = parse(sources, self.bench, workspace, self.change)
        judged = tuple(finding for finding in parsed.broken if not is_sample(files[finding.path]))
        before = self._broken_before({finding.path: files[finding.path] for finding in judged}, sources, workspace)
        excused = {path for path in before if not is_about(path, self.expected, workspace.folder)}
        wrong = tuple(finding for finding in judged if finding.path not in excused)
        named = tuple(finding for finding in parsed.broken if finding not in wrong)
        in_conflict = {finding.path for finding in conflicts}
        wrong = (*conflicts, *(finding for finding in wrong if finding.path not in in_conflict))
        return _answer(parsed, wrong, named, self.bench)

    def _broken_before(
        self, broken: dict[str, ChangedFile], sources: tuple[SourceFile, ...], workspace: Workspace
    ) -> frozenset[str]:
        """Those of the broken files that did not parse at the base either."""
        older: list[SourceFile] = []
        with tempfile.TemporaryDirectory(dir=workspace.scratch, prefix="before-") as place:
            for number, source in enumerate(sources):
                content = broken[source.path].before if source.path in broken else None
                if content is not None and len(content) < LARGEST_READ:
                    copy = Path(place, f"{number}{source.file.suffix}")
                    copy.write_bytes(content)
                    older.append(SourceFile(path=source.path, file=copy, kind=source.kind))
            parsed = parse(tuple(older), self.bench, workspace, self.change)
        return frozenset(finding.path for finding in parsed.broken)


def is_sample(file: ChangedFile) -> bool:
    """Whether a file may be meant not to parse: a sample for tests, or a template of something else."""
    if _SAMPLES.search(file.path):
        return True
    if file.path.endswith((".py", ".js")):
        return False
    text = file.text_after
    return any(opening in text and closing in text[text.find(opening) :] for opening, closing in _TEMPLATES)


def conflict_in(file: ChangedFile) -> ToolFinding | None:
    """The first conflict that a merge left in a file and that was not there before; text about such things has none."""
    if file.path.endswith(_PROSE) or is_sample(file) or b"\n>>>>>>> " not in (file.after or b""):
        return None
    line = _conflict_line(file.text_after)
    if not line or _conflict_line(file.text_before):
        return None
    return ToolFinding(path=file.path, line=line, message="it contains merge conflict markers")


def _conflict_line(text: str) -> int:
    """The line that a whole conflict begins on, 0 where there is none."""
    begun, reached = 0, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(_CONFLICT[0]):
            begun, reached = number, 1
        elif reached and line.startswith(_CONFLICT[reached]):
            reached += 1
            if reached == len(_CONFLICT):
                return begun
    return 0


def _sources(files: dict[str, ChangedFile], checkout: Path) -> list[SourceFile]:
    kinds = {path: kind_of(path, file.after or b"", checkout) for path, file in files.items()}
    return [SourceFile(path=path, file=checkout / path, kind=kind) for path, kind in kinds.items() if kind]


def _answer(
    parsed: Parsed, wrong: tuple[ToolFinding, ...], named: tuple[ToolFinding, ...], bench: Bench
) -> CheckResult:
    notes = [f"not counted: {told(named)}"] if named else []
    notes.extend(parsed.unread)
    log = "\n".join(map(str, (*wrong, *named)))
    outcome: CheckOutcome = "passed"
    if wrong or parsed.crash:
        outcome, said = "failed", "; ".join(part for part in (told(wrong), parsed.crash) if part)
    elif not parsed.read:
        outcome, said = "absent", "nothing could be parsed"
    else:
        count = len(parsed.read) - len(named)
        said = "1 file parses" if count == 1 else f"{count} files parse"
    return answer(
        NAME, outcome, "; ".join([said, *notes]), bench=bench, argv=parsed.argv, results=parsed.results, log=log
    )
