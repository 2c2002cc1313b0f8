"""The tests of Rust crates under other names: built by cargo, run elsewhere and without it, their sources hidden."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from milepost.core.folders import NOT_SOURCE
from milepost.verify.at_home import home_in, login
from milepost.verify.command_runner import last_line
from milepost.verify.compiled.drawn import DrawnTest
from milepost.verify.compiled.program import ProgramOutcome, TestEndings, both, is_odd, outcome
from milepost.verify.compiled.rust_source import RustFile, rewritten, unrenamed, without_tests
from milepost.verify.judging.paths import is_test_path
from milepost.verify.plain.hide import out_of_sight
from milepost.verify.plain.outcome import Unit
from milepost.verify.plain.run import Word
from milepost.verify.suites.runners import libtest
from milepost.verify.suites.runners.cargo import CargoTarget, built_from
from milepost.verify.suites.runners.lines import Lines
from milepost.verify.suites.runners.must_fail import word
from milepost.verify.trees import Tree
from milepost.verify.walk_checkout import text_of
from milepost.verify.witness.swap import swapped

MOST_FILES = 2_000
# Tests that are about the program they are in, its name or its sources, or that cargo has to be around for.
_NEEDS_ITS_RUNNER = re.compile(
    r"current_exe|cargo_bin|env::args|module_path!|\bfile!\(|\binsta::|assert_snapshot|trybuild|ui_test|"
    r"thread::current\(\)|env::var(?:_os)?\(\s*\"CARGO|Command::new\(\s*\"(?:cargo|rustc)"
)
_ASSERTS = re.compile(r"\bdebug_assert(?:_eq|_ne)?!")
_MUST_PANIC = re.compile(r"\bshould_panic\b|\bcatch_unwind\b")
FEW_PACKAGES = 8
_PROFILES = ("DEV", "TEST")
_AS_RELEASED = {
    **{f"CARGO_PROFILE_{name}_DEBUG_ASSERTIONS": "false" for name in _PROFILES},
    **{f"CARGO_PROFILE_{name}_OVERFLOW_CHECKS": "true" for name in _PROFILES},
}
_TYPE = re.compile(r"\b(?:struct|enum|union|type)\s+(\w+)")
_DECLARED = re.compile(r"^\s*(?:\[\[test\]\]|autotests\b|test\s*=)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RustProgram:
    """The test program that is made from `source`, of a tree; `folder` is where cargo is started."""

    tree: Tree
    source: str
    folder: str = ""

    def run(self, units: tuple[Unit, ...]) -> ProgramOutcome:
        checkout = self.tree.workspace.folder
        package = _package(checkout, self.source)
        texts = {path: text_of(checkout / path) for path in _rust_files(checkout, package)}
        if len(texts) > MOST_FILES:
            return ProgramOutcome(place=self.source, problem="there are too many files")
        deciding = frozenset(unit.place.rpartition("::")[2] for unit in units if unit.decides)
        controls = frozenset(unit.place.rpartition("::")[2] for unit in units if not unit.decides)
        own_types = (_TYPE.findall(without_tests(text)) for path, text in texts.items() if not is_test_path(path))
        types = frozenset(name for found in own_types for name in found)
        files = {path: each for path, text in texts.items() if (each := rewritten(text, deciding, controls, types))}
        own = {path: each for path, each in files.items() if _belongs(path, self.source)}
        if not any(test.kind == "test" and test.of in deciding for each in own.values() for test in each.tests):
            return ProgramOutcome(place=self.source, problem="its deciding tests are not of the usual form")
        if odd := next((found[0] for path in own if (found := _NEEDS_ITS_RUNNER.search(texts[path]))), ""):
            return ProgramOutcome(place=self.source, problem=f"its tests need cargo: {odd}")
        hidden = tuple(path for path, text in texts.items() if "/tests/" in f"/{path}" or "#[test]" in text)
        return self._built_and_run(own, units, hidden, package)

    def _built_and_run(
        self, files: Mapping[str, RustFile], units: tuple[Unit, ...], hidden: tuple[str, ...], package: str
    ) -> ProgramOutcome:
        checkout, scratch = self.tree.workspace.folder, self.tree.workspace.scratch
        laid: dict[str, bytes | None] = {path: each.text.encode() for path, each in files.items()}
        source = self._moved(laid, package)
        with swapped(checkout, laid):
            target, problem = self._build(source)
        if target is None:
            return ProgramOutcome(place=self.source, problem=f"they cannot be built under other names: {problem}")
        room = scratch / secrets.token_hex(4)
        room.mkdir()
        tests = {test.name: test for each in files.values() for test in each.tests}
        try:
            copy = str(shutil.copy(target.program, room / word()))
            with out_of_sight(checkout, hidden):
                first = self._run(copy, tests, package)
                again = self._run(copy, tests, package) if is_odd(first.told, first.tests) else Listed()
        finally:
            shutil.rmtree(room, ignore_errors=True)
        return outcome(self.source, units, first.tests, first.told, again.told)

    def _moved(self, laid: dict[str, bytes | None], package: str) -> str:
        """Lay the file of an integration test at another place, and nothing at its own, for what is built with it."""
        path = PurePosixPath(self.source)
        at_top = path.parent == PurePosixPath(package) / "tests"
        if not at_top or _DECLARED.search(text_of(self.tree.workspace.folder / package / "Cargo.toml")):
            return self.source
        moved = str(path.with_name(f"{word()}.rs"))
        laid[moved] = laid[self.source]
        laid[self.source] = b""
        return moved

    def _build(self, source: str) -> tuple[CargoTarget | None, str]:
        gathered = Lines()
        workspace = self.tree.workspace
        result = self.tree.bench.run(
            ("cargo", "test", "--no-run", "--workspace", "--tests", "--message-format=json", "--offline"),
            workspace,
            cwd=self.folder,
            env={
                "CARGO_TARGET_DIR": str(workspace.scratch / "cargo-target"),
                "CARGO_TERM_COLOR": "never",
                **(_AS_RELEASED if self._is_plain() else {}),
            },
            on_line=gathered,
        )
        built = built_from(gathered.lines, workspace.folder)
        target = next((each for each in built.targets if each.source == source and each.harness), None)
        problem = next((last_line(text.split("\n", 1)[0]) for _, text in built.broken), "") or last_line(result.stderr)
        return (target, problem) if result.succeeded else (None, problem)

    def _is_plain(self) -> bool:
        """Whether debug assertions can be left out: few packages are built, and no test waits for one."""
        checkout = self.tree.workspace.folder
        above = (checkout / self.folder, *(checkout / self.folder).parents)
        lock = next((each / "Cargo.lock" for each in above if (each / "Cargo.lock").is_file()), None)
        if lock is None or text_of(lock).count("[[package]]") > FEW_PACKAGES:
            return False
        texts = [text_of(checkout / path) for path in _rust_files(checkout, self.folder)]
        return not (any(map(_ASSERTS.search, texts)) and any(map(_MUST_PANIC.search, texts)))

    def _run(self, copy: str, tests: Mapping[str, DrawnTest], package: str) -> Listed:
        """Run the tests of the program; their names are those with their modules."""
        bench, workspace = self.tree.bench, self.tree.workspace
        listed = bench.run((copy, "--list"), workspace, cwd=package)
        names = [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]
        chosen = {name: tests[name.rpartition("::")[2]] for name in names if name.rpartition("::")[2] in tests}
        known = tuple(
            replace(test, name=name, of=unrenamed(name, tests) if test.of else "") for name, test in chosen.items()
        )
        if not known:
            return Listed(told=TestEndings(problem=last_line(listed.stderr) or "it lists none of them", result=listed))
        others = tuple(test for test in known if test.kind in ("otherwise", "built"))
        told = self._told(copy, tuple(test for test in known if test not in others), package)
        copies = self._told(copy, others, package) if others and not told.problem else TestEndings()
        return Listed(tests=known, told=both(told, copies))

    def _told(self, copy: str, tests: tuple[DrawnTest, ...], package: str) -> TestEndings:
        argv = (copy, "--exact", "--test-threads=1", *(test.name for test in tests))
        workspace = self.tree.workspace
        around = {**login(workspace.folder / package), **home_in(Path(copy).parent)}
        result = self.tree.bench.run(argv, workspace, env=around, cwd=package)
        if result.termination != "exited":
            return TestEndings(problem=result.error or "it did not run to its end", result=result)
        (section,) = libtest.read([f"     Running tests ({Path(copy).name})", *result.stdout.splitlines()])
        endings: dict[str, tuple[Word, str]] = {}
        for name, end, _ in section.tests:
            text = section.failure(name)
            endings[name] = (_word(end, text), " ".join(text.split("\n")[1:3]))
        return TestEndings(endings=endings, result=result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The tests that a program listed, by their names with modules, and what it told of them."""

    tests: tuple[DrawnTest, ...] = ()
    told: TestEndings = field(default_factory=TestEndings)


def _word(end: str, text: str) -> Word:
    if end == "passed":
        return "passed"
    if end == "skipped":
        return "unfit"
    return "failed" if "assertion" in text else "broke"


def _package(checkout: Path, source: str) -> str:
    """The folder of the crate that a file is of."""
    above = PurePosixPath(source).parents
    found = next((folder for folder in above if (checkout / folder / "Cargo.toml").is_file()), PurePosixPath("."))
    return "" if str(found) == "." else str(found)


def _belongs(path: str, source: str) -> bool:
    """Whether a file may be part of the program made from `source`: below the folder that it is in."""
    return path == source or PurePosixPath(path).is_relative_to(PurePosixPath(source).parent)


def _rust_files(checkout: Path, package: str) -> Iterator[str]:
    for place, folders, names in os.walk(checkout / package):
        folders[:] = [name for name in folders if name not in NOT_SOURCE and name != "target"]
        yield from ((Path(place) / name).relative_to(checkout).as_posix() for name in names if name.endswith(".rs"))
