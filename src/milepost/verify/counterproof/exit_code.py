"""The counter-proof of a line that decides by its exit code alone: it must fail with the work taken out.

Only where a program of the repository judges, in Python or JavaScript: the work is taken out where that program
reaches it. What ends the process by itself, from wherever, ends it all the same, and is found out.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckResult
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.check import ABOUT, NAME
from milepost.verify.counterproof.languages import language_of, sabotage
from milepost.verify.suites import report_file
from milepost.verify.suites.runners.flavours import REPORTERS
from milepost.verify.suites.suite import Note
from milepost.verify.watched import Watched
from milepost.verify.witness.guest.other import UNKNOWN
from milepost.verify.witness.swap import read_plainly, swapped

GUEST = Path(__file__).parent / "guest"
WITNESS = Path(__file__).parent.parent / "witness" / "guest"
TIMES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCodeProof:
    """`judges` are the programs of the repository that the line runs; `product` are the changed files."""

    argv: tuple[str, ...]
    bench: Bench
    judges: tuple[str, ...]
    product: tuple[str, ...]

    def run(self, workspace: Workspace) -> tuple[CheckResult, tuple[Note, ...]]:
        """The answer, and what changed files were seen to do while the line ran as it is."""
        watched = Watched(tests=self.judges, changed=self.product).with_names()
        bench = replace(self.bench, about=ABOUT)
        _, notes = self._watched(workspace, replace(bench, about=self.bench.about), replace(watched, trip=""))
        files: dict[str, bytes | None] = {}
        for path in self.product:
            source = read_plainly(workspace.folder, path)
            changed = sabotage(path, source, watched.trip) if source is not None else None
            if changed is not None:
                files[path] = changed
        if not files:
            return CheckResult(name=NAME, outcome="absent", summary="nothing could be taken out"), notes
        with swapped(workspace.folder, files):
            passed = all(self._watched(workspace, bench, watched)[0] for _ in range(TIMES))
        if passed:
            said = f"`{' '.join(self.argv)}` passes with the work taken out"
            return CheckResult(name=NAME, outcome="failed", summary=said), notes
        return CheckResult(name=NAME, outcome="passed", summary="fails, as it must, with the work taken out"), notes

    def _watched(self, workspace: Workspace, bench: Bench, watched: Watched) -> tuple[bool, tuple[Note, ...]]:
        place = workspace.scratch / f"watch-{secrets.token_hex(4)}"
        place.mkdir()
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
        paths = [str(GUEST), *self._import_path(workspace)]
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


def _lines(text: str) -> list[Note]:
    found: list[Note] = []
    for line in text.splitlines():
        with suppress(ValueError, TypeError):
            what, path, number = json.loads(line)
            found.append(Note(what=str(what), path=str(path), line=int(number)))
    return found


def _marked(text: str, marker: str) -> list[Note]:
    found: list[Note] = []
    for line in text.splitlines():
        if line.startswith(marker):
            with suppress(ValueError, KeyError, TypeError):
                told = json.loads(line.removeprefix(marker))
                found.append(Note(what=str(told["what"]), path=str(told["path"]), line=int(told["line"])))
    return found
