"""The tests of a Go package, built into an ordinary program and run with every test file out of sight."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.folders import NOT_SOURCE
from milepost.verify.at_home import home_in, login
from milepost.verify.command_runner import last_line
from milepost.verify.compiled.drawn import DrawnTest
from milepost.verify.compiled.go_source import GoProgram, program
from milepost.verify.compiled.program import ProgramOutcome, TestEndings, both, is_odd, outcome
from milepost.verify.plain.hide import out_of_sight
from milepost.verify.plain.outcome import Unit
from milepost.verify.plain.run import Word
from milepost.verify.suites.runners.go import OFFLINE, module_folder, module_of
from milepost.verify.suites.runners.must_fail import word
from milepost.verify.trees import Tree
from milepost.verify.walk_checkout import text_of
from milepost.verify.witness.swap import swapped

# Tests that are about the program they are in, its name or its files, or that build others.
_NEEDS_ITS_RUNNER = re.compile(
    r"os\.Args|os\.Executable|\"-test\.|runtime\.Callers?\(|_test\.go\"|testing\.Testing\(|flag\.Lookup|"
    r"\bt\.Name\(\)|go/parser|go/packages|exec\.Command\(\"go\"|//go:embed|import \"C\""
)
NEEDS_TESTS = "it does not build without the test files beside it"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPackage:
    """A package of a tree whose tests are in `folder`."""

    tree: Tree
    folder: str

    def run(self, units: tuple[Unit, ...]) -> ProgramOutcome:
        checkout = self.tree.workspace.folder
        texts = {path.name: text_of(path) for path in sorted((checkout / self.folder).glob("*_test.go"))}
        if odd := next((found[0] for text in texts.values() if (found := _NEEDS_ITS_RUNNER.search(text))), ""):
            return ProgramOutcome(place=self.folder, problem=f"its tests need `go test`: {odd}")
        deciding = frozenset(unit.place for unit in units if unit.decides)
        controls = frozenset(unit.place for unit in units if not unit.decides)
        made = program(texts, self._import_path(), deciding, controls)
        if not any(test.kind == "test" and test.of in deciding for test in made.tests):
            return ProgramOutcome(place=self.folder, problem="its deciding tests are not of the usual form")
        room = self.tree.workspace.scratch / secrets.token_hex(4)
        room.mkdir()
        try:
            return self._built_and_run(made, units, room / word())
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def _built_and_run(self, made: GoProgram, units: tuple[Unit, ...], target: Path) -> ProgramOutcome:
        checkout = self.tree.workspace.folder
        hidden = tuple(_test_files(checkout))
        laid = {os.path.normpath(f"{self.folder}/{path}"): content for path, content in made.files.items()}
        with _laid(checkout, {**dict.fromkeys(hidden), **laid}):
            problem = self._build(f"./{made.build}", ("-o", str(target)))
        if problem:
            return self._not_built(problem, hidden)
        with out_of_sight(checkout, hidden):
            first = self._both(target, made.tests)
            again = self._both(target, made.tests) if is_odd(first, made.tests) else TestEndings()
        return outcome(self.folder, units, made.tests, first, again)

    def _not_built(self, problem: str, hidden: tuple[str, ...]) -> ProgramOutcome:
        """Whether the product itself cannot be built without tests, or only this program of them."""
        with _laid(self.tree.workspace.folder, dict.fromkeys(hidden)):
            alone = self._build(".")
        if alone and not self._build("."):
            return ProgramOutcome(place=self.folder, refused=f"{NEEDS_TESTS}: {alone}")
        return ProgramOutcome(place=self.folder, problem=f"they cannot be built as an ordinary program: {problem}")

    def _build(self, what: str, words: tuple[str, ...] = ()) -> str:
        """Build a package below the folder; why it could not be."""
        result = self.tree.bench.run(
            ("go", "build", *(words or ("-o", os.devnull)), what),
            self.tree.workspace,
            cwd=self.folder if self.folder != "." else "",
            env=OFFLINE,
        )
        return "" if result.succeeded else last_line(result.stderr) or result.error or "go build failed"

    def _both(self, target: Path, tests: tuple[DrawnTest, ...]) -> TestEndings:
        """The tests, and in a process of their own the copies: they use the same files and ports."""
        told = self._run((str(target),), tests)
        if told.problem or not any(test.kind == "otherwise" for test in tests):
            return told
        return both(told, self._run((str(target), word()), tests))

    def _run(self, argv: tuple[str, ...], tests: tuple[DrawnTest, ...]) -> TestEndings:
        workspace = self.tree.workspace
        around = {**login(workspace.folder / self.folder), **home_in(Path(argv[0]).parent)}
        result = self.tree.bench.run(argv, workspace, env=around, cwd=self.folder if self.folder != "." else "")
        lines = result.stdout.splitlines()
        if result.termination != "exited":
            return TestEndings(problem=result.error or "it did not run to its end", result=result)
        endings: dict[str, tuple[Word, str]] = {}
        for test in tests:
            if test.skipped in lines:
                endings[test.name] = ("unfit", "it was skipped")
            elif test.failed in lines:
                endings[test.name] = ("failed", _why(lines, test.name))
            elif test.passed in lines:
                endings[test.name] = ("passed", "")
        if not endings:
            return TestEndings(problem=last_line(result.stderr) or "no test was run", result=result)
        return TestEndings(endings=endings, result=replace(result, stdout="", stderr=""))

    def _import_path(self) -> str:
        checkout = self.tree.workspace.folder
        top = module_folder(checkout, "" if self.folder == "." else self.folder)
        inside = os.path.relpath(self.folder, top or ".")
        return module_of(checkout / top) + ("" if inside == "." else f"/{inside}")


@contextmanager
def _laid(checkout: Path, files: dict[str, bytes | None]) -> Iterator[None]:
    new = {folder for path in files if not (folder := (checkout / path).parent).exists()}
    with swapped(checkout, files):
        yield
    for folder in new:
        with suppress(OSError):
            folder.rmdir()


def _test_files(checkout: Path) -> Iterator[str]:
    for place, folders, names in os.walk(checkout):
        folders[:] = [name for name in folders if name not in NOT_SOURCE]
        yield from (
            (Path(place) / name).relative_to(checkout).as_posix() for name in names if name.endswith("_test.go")
        )


def _why(lines: list[str], name: str) -> str:
    at = next((place for place, line in enumerate(lines) if line.startswith(f"--- FAIL: {name} ")), None)
    after = (line.strip() for line in lines[at + 1 :]) if at is not None else iter(())
    said = next((line for line in after if not line.startswith("--- ")), "")
    return re.sub(r"^\S+\.go:\d+: ", "", said)
