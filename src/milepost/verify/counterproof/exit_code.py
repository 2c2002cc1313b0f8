"""The counter-proof of a line that decides by its exit code alone: it must fail with the work taken out.

Only where a program of the repository judges, in Python or JavaScript: the work is taken out where that program
reaches it. What ends the process by itself, from wherever, ends it all the same, and is found out. A judge in Python
must pass as well when it compares by what values are, and come to its own end.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckResult, Question
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.check import ABOUT, NAME
from milepost.verify.counterproof.exact_judge import JudgeExit, endings_in, lay_comparison, with_exact_comparisons
from milepost.verify.counterproof.languages import language_of, sabotage
from milepost.verify.judging.paths import PYTHON, suffix
from milepost.verify.suites import report_file
from milepost.verify.suites.runners.flavours import REPORTERS
from milepost.verify.suites.suite import AuditNote
from milepost.verify.watched import Watched
from milepost.verify.witness.guest.other import UNKNOWN
from milepost.verify.witness.swap import read_plainly, swapped

GUEST = Path(__file__).parent / "guest"
WITNESS = Path(__file__).parent.parent / "witness" / "guest"
TIMES = 2

_LEAVES = re.compile(rb"\b_exit\b|\bos\.(?:exec|kill|abort)")  # a judge that may well be gone before its end


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCodeProof:
    """`judges` are the programs of the repository that the line runs; `product` are the changed files."""

    argv: tuple[str, ...]
    bench: Bench
    judges: tuple[str, ...]
    product: tuple[str, ...]

    def run(self, workspace: Workspace) -> tuple[CheckResult, tuple[AuditNote, ...]]:
        """The answer, and what changed files were seen to do while the line ran as it is."""
        watched = Watched(tests=self.judges, changed=self.product).with_names()
        bench = replace(self.bench, about=ABOUT)
        plain = replace(watched, trip="")
        _, notes = self._watched(workspace, replace(bench, about=self.bench.about), plain)
        exactly, by_work = self._exactly(workspace, bench, plain)
        if not exactly:
            said = f"`{' '.join(self.argv)}` passes only where the work itself says what equals what"
            return CheckResult(name=NAME, outcome="failed", summary=said), notes
        files: dict[str, bytes | None] = {}
        for path in self.product:
            source = read_plainly(workspace.folder, path)
            changed = sabotage(path, source, watched.trip) if source is not None else None
            if changed is not None:
                files[path] = changed
        if not files and not by_work:
            return CheckResult(name=NAME, outcome="absent", summary="nothing could be taken out"), notes
        with swapped(workspace.folder, files):
            passed = bool(files) and all(self._watched(workspace, bench, watched)[0] for _ in range(TIMES))
        if passed:
            said = f"`{' '.join(self.argv)}` passes with the work taken out"
            return CheckResult(name=NAME, outcome="failed", summary=said), notes
        if by_work:
            said = f"`{' '.join(self.argv)}` does not come to its own end: {by_work}"
            question = Question(kind="counter-proof", text=f"{said}. Is that meant?", path=by_work.partition(":")[0])
            return CheckResult(name=NAME, outcome="held", summary=said, questions=(question,)), notes
        return CheckResult(name=NAME, outcome="passed", summary="fails, as it must, with the work taken out"), notes

    def _exactly(self, workspace: Workspace, bench: Bench, watched: Watched) -> tuple[bool, str]:
        """Whether the line passes with judges that compare by what values are, true where none is Python; and what
        ended one of them, where that was not the judge itself."""
        place = _room(workspace)
        package = lay_comparison(place)
        sources = {path: read_plainly(workspace.folder, path) for path in self.judges if suffix(path) in PYTHON}
        exact = {path: with_exact_comparisons(source, package) for path, source in sources.items() if source}
        files = {path: changed for path, changed in exact.items() if changed is not None}
        if not files:
            return True, ""
        with swapped(workspace.folder, files):
            passed = any(self._watched(workspace, bench, watched, (str(place),))[0] for _ in range(TIMES))
        leaves = any(_LEAVES.search(source or b"") for source in sources.values())
        return passed, "" if leaves else self._ended_by_work(endings_in(place, package))

    def _ended_by_work(self, endings: tuple[JudgeExit, ...]) -> str:
        """The place in a changed file that ended a judging program, or that it is gone; empty where it ended itself."""
        if any(ending.code is None for ending in endings):
            return "it was ended from elsewhere"
        by_work = (ending for ending in endings if ending.path in self.product)
        return next((f"{ending.path}:{ending.line} ends it" for ending in by_work), "")

    def _watched(
        self, workspace: Workspace, bench: Bench, watched: Watched, beside: tuple[str, ...] = ()
    ) -> tuple[bool, tuple[AuditNote, ...]]:
        place = _room(workspace)
        tops = list(dict.fromkeys((str(workspace.folder), os.path.realpath(workspace.folder))))
        order = {"tops": tops, **asdict(watched)}
        marker = secrets.token_hex(8)
        preload = place / "preload.cjs"
        call = json.dumps({**order, "marker": marker, "unknown": UNKNOWN})
        preload.write_text(f"require({json.dumps(str(REPORTERS / 'watch.cjs'))})({call});\n", encoding="utf-8")
        paper = place / "order.json"
        notes = place / "notes"
        own = {**order, "watch": str(WITNESS / "watch.py"), "notes": str(notes)}
        paper.write_text(json.dumps(own), encoding="utf-8")
        paths = [str(GUEST), *beside, *self._import_path(workspace)]
        env = {
            "MILEPOST_WATCH": str(paper),
            "PYTHONPATH": os.pathsep.join(paths),
            "NODE_OPTIONS": f'--require "{preload}"',
        }
        result = bench.run(self.argv, workspace, env=env, readable=(GUEST, WITNESS, REPORTERS))
        found = [*_lines(report_file.read(notes) or ""), *_marked(result.stderr, marker)]
        return result.succeeded, tuple(dict.fromkeys(note for note in found if note.path in ("", *self.product)))

    def _import_path(self, workspace: Workspace) -> list[str]:
        own = self.bench.interpreter.imports if self.bench.interpreter else ()
        return [str(workspace.folder / entry) for entry in own]


def judging_programs(argv: tuple[str, ...], line: str, programs: tuple[str, ...]) -> tuple[str, ...]:
    """The programs of the repository that a line runs and that could be watched."""
    words = {word.strip("\"'();&|").removeprefix("./") for word in (*argv, *line.split())}
    return tuple(path for path in programs if path in words and language_of(path))


def _room(workspace: Workspace) -> Path:
    place = workspace.scratch / f"watch-{secrets.token_hex(4)}"
    place.mkdir()
    return place


def _lines(text: str) -> list[AuditNote]:
    found: list[AuditNote] = []
    for line in text.splitlines():
        with suppress(ValueError, TypeError):
            what, path, number = json.loads(line)
            found.append(AuditNote(what=str(what), path=str(path), line=int(number)))
    return found


def _marked(text: str, marker: str) -> list[AuditNote]:
    found: list[AuditNote] = []
    for line in text.splitlines():
        if line.startswith(marker):
            with suppress(ValueError, KeyError, TypeError):
                told = json.loads(line.removeprefix(marker))
                found.append(AuditNote(what=str(told["what"]), path=str(told["path"]), line=int(told["line"])))
    return found
