"""Runs the tests of a Java project with Maven or Gradle and reads the JUnit XML that both leave."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult
from milepost.core.verdict import TestCase
from milepost.verify.command_runner import Bench, last_line
from milepost.verify.suites import junit, report_file
from milepost.verify.suites.runners import told
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.walk_checkout import files_below, folders_below, text_of

MOST_REPORTS = 5_000

_SOURCES = (".java", ".kt", ".groovy", ".scala")
_IS_TEST = re.compile(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b|extends\s+TestCase\b")
_DID_NOT_COMPILE = re.compile(r"COMPILATION ERROR|Compilation failed|compile\w*(?:Java|Kotlin|Groovy)\S* FAILED")
_COMPILER_SAYS = re.compile(r"^.*\.(?:java|kt|groovy|scala):(?:\[\d+,\d+\]|\d+:|\s).*$", re.MULTILINE)
_NOT_DOWNLOADED = re.compile(
    r"Could not create local repository"  # nobody used Maven on this machine before, and a check may not begin with it
    r"|has not been downloaded from it before|Could not resolve|could not be resolved|Non-resolvable|No cached version"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaRunner:
    """A build tool: its manifests, the folder it makes beside one with the reports, and what it remembers there."""

    name: str
    program: str
    manifests: tuple[str, ...]
    output: str
    reports: str
    memory: str = ""

    def finds(self, folder: Path) -> bool:
        return any((folder / manifest).is_file() for manifest in self.manifests)

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        """Nothing that a commit or an earlier run left in the output folders takes part."""
        top = workspace.folder / folder
        places = [place for place in folders_below(top) if self.finds(place)]
        for place in places:
            for name in filter(None, (self.output, self.memory)):
                report_file.clear(place / name)
        argv = command(self.name, names_of(told.of_suite(folder, only)))
        result = bench.run(argv, workspace, cwd=folder)
        texts = [text for place in places for text in self._reports(place / self.output)]
        return told.chosen(run_from(argv, result, texts, top, folder, bench), only)

    def _reports(self, output: Path) -> list[str]:
        if output.is_symlink():
            return []
        paths = sorted(output.glob(self.reports))[:MOST_REPORTS]
        return [
            text for path in paths if not _behind_a_link(path, output) and (text := report_file.read(path)) is not None
        ]


MAVEN = JavaRunner(
    name="maven", program="mvn", manifests=("pom.xml",), output="target", reports="surefire-reports/TEST-*.xml"
)
GRADLE = JavaRunner(
    name="gradle",
    program="gradle",
    manifests=("build.gradle", "build.gradle.kts"),
    output="build",
    reports="test-results/*/TEST-*.xml",
    memory=".gradle",
)


def command(tool: str, names: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All tests, whatever fails first, without the network; or those named `com.example.ClassTest#method`."""
    if tool == "maven":
        chosen = (f"-Dtest={','.join(names)}", "-Dsurefire.failIfNoSpecifiedTests=false") if names else ()
        return ("mvn", "--offline", "--batch-mode", "--fail-at-end", *chosen, "test")
    filters = tuple(word for name in names for word in ("--tests", name.replace("#", ".")))
    return ("gradle", "--offline", "--no-daemon", "--console=plain", "--continue", "test", *filters)


def names_of(ids: tuple[str, ...]) -> tuple[str, ...]:
    """The names both tools take, of ids like `src/test/java/com/example/HoursTest.java::adds()`."""
    names: list[str] = []
    for each in ids:
        file, _, rest = each.partition("::")
        path = re.sub(r"^.*?src/\w+/(?:java|kotlin|groovy|scala)/", "", file)
        name = re.sub(r"\.\w+$", "", path).replace("/", ".") if file.endswith(_SOURCES) else file
        *nested, method = rest.split("::")
        plain = re.split(r"[(\[{ ]", method)[0]
        names.append("$".join((name, *nested)) + (f"#{plain}" if plain else ""))
    return tuple(dict.fromkeys(names))


def cases_of(texts: list[str], top: Path, folder: str, bench: Bench) -> tuple[TestCase, ...]:
    """The cases of all reports, by the file of their class where that is found."""
    sources = {_class_path(path): path for path in files_below(top) if path.suffix in _SOURCES}
    found: dict[str, TestCase] = {}
    for text in texts:
        for case in junit.parse(text, bench.redact):
            renamed = replace(case, id=_by_file(case.id, sources, top, folder))
            found[renamed.id] = renamed
    return tuple(found.values())


def run_from(
    argv: tuple[str, ...], result: CommandResult, texts: list[str], top: Path, folder: str, bench: Bench
) -> SuiteRun:
    said = f"{result.stdout}\n{result.stderr}"
    if result.termination != "exited":
        problem = "" if told.missing(result, argv[0]) else told.unfinished(argv, result, bench)
        return told.run_of(argv, result, problem=problem)
    try:
        cases = cases_of(texts, top, folder, bench)
    except junit.JUnitInvalid as invalid:
        return told.run_of(argv, result, problem=str(invalid))
    if result.exit_code and _DID_NOT_COMPILE.search(said):
        cases = (*cases, *_uncompiled(cases, said, top, folder))
    if result.exit_code and not cases and _NOT_DOWNLOADED.search(said):
        run = told.run_of(argv, result)
        return replace(run, missing=f"dependencies of {argv[0]} are not installed: {_complaint(said)}")
    problem = told.contradiction(result.exit_code, cases)
    return told.run_of(argv, result, cases=cases, problem=problem and f"{problem}: {_complaint(said)}")


def _uncompiled(cases: tuple[TestCase, ...], said: str, top: Path, folder: str) -> tuple[TestCase, ...]:
    """A failed case for each test file of which nothing was heard."""
    heard = {case.id.partition("::")[0] for case in cases}
    told_by_compiler = _COMPILER_SAYS.search(said)
    message = told_by_compiler[0] if told_by_compiler else "it did not compile"
    files = (path for path in files_below(top) if path.suffix in _SOURCES and _IS_TEST.search(text_of(path)))
    names = (told.within(folder, path.relative_to(top).as_posix()) for path in files)
    return tuple(
        told.case(name, "failed", message=message.replace(f"{top}/", ""), kind="collection")
        for name in names
        if name not in heard
    )


def _by_file(ident: str, sources: dict[str, Path], top: Path, folder: str) -> str:
    classname, _, name = ident.partition("::")
    outer, *nested = classname.split("$")
    path = sources.get(outer.replace(".", "/"))
    if path is None:
        return told.within(folder, ident) if folder else ident
    return "::".join((told.within(folder, path.relative_to(top).as_posix()), *nested, name))


def _class_path(path: Path) -> str:
    """`com/example/Hours` of `src/test/java/com/example/Hours.java`."""
    return re.sub(r"^.*/src/\w+/(?:java|kotlin|groovy|scala)/", "", path.with_suffix("").as_posix())


def _behind_a_link(path: Path, output: Path) -> bool:
    return any(part.is_symlink() for part in (path, *path.parents) if part.is_relative_to(output))


def _complaint(said: str) -> str:
    errors = [line for line in said.splitlines() if "ERROR" in line or "went wrong" in line or line.startswith("> ")]
    return (errors[0] if errors else last_line(said)).replace("[ERROR]", "").strip()[: junit.LONGEST_MESSAGE]
