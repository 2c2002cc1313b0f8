"""Which test suites a checkout has, read from its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import SettingInvalid
from milepost.sandbox.read_plain import plain_text
from milepost.verify.programs.pytest_options import has_settings
from milepost.verify.suites.python_project import find_test_files
from milepost.verify.suites.runners import package_json
from milepost.verify.suites.runners.cargo import CargoRunner
from milepost.verify.suites.runners.ctest import CtestRunner
from milepost.verify.suites.runners.exit_code import MakeRunner, NpmRunner
from milepost.verify.suites.runners.flavours import is_restricted
from milepost.verify.suites.runners.go import GoRunner
from milepost.verify.suites.runners.java import GRADLE, MAVEN
from milepost.verify.suites.runners.javascript import JavaScriptRunner
from milepost.verify.suites.runners.python import PythonRunner
from milepost.verify.suites.suite import Runner
from milepost.verify.walk_checkout import folders_below
from milepost.verify.witness.runner import PytestRunner, UnittestRunner

MOST_SUITES = 50

JAVASCRIPT: tuple[JavaScriptRunner, ...] = (
    JavaScriptRunner("vitest"),
    JavaScriptRunner("jest"),
    JavaScriptRunner("node"),
)
NPM, CARGO, GO, CTEST, MAKE = NpmRunner(), CargoRunner(), GoRunner(), CtestRunner(), MakeRunner()
PYTHON: tuple[Runner, ...] = (PythonRunner(), PytestRunner(), UnittestRunner())
NAMES = (
    *(runner.name for runner in (*PYTHON, *JAVASCRIPT)),
    *(runner.name for runner in (NPM, CARGO, GO, MAVEN, GRADLE, CTEST, MAKE)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSuite:
    """A suite: who runs it, and the folder it lives in, relative to the checkout."""

    runner: Runner
    folder: str

    @property
    def label(self) -> str:
        return f"{self.folder or '.'} ({self.runner.name})"


def suites(folder: Path, only: tuple[str, ...] = ()) -> tuple[FoundSuite, ...]:
    """The suites of a checkout, those at its top first; `only` names the runners to look for."""
    _refuse_unknown(only)
    places = tuple(folders_below(folder))
    found = (
        *_python(folder, places, only),
        *_javascript(folder, places),
        *_not_below(CARGO, places, lambda above: _mentions(above / "Cargo.toml", r"^\s*\[workspace[\].]")),
        *((GO, place) for place in places if GO.finds(place)),
        *_not_below(MAVEN, places, lambda above: _mentions(above / "pom.xml", r"<module>")),
        *_not_below(GRADLE, places, lambda above: True),
        *_not_below(CTEST, places, lambda above: True),
    )
    wanted = [(runner, place) for runner, place in found if not only or _is_named(runner, only)]
    if (not wanted and not only) or _is_named(MAKE, only):
        wanted += _not_below(MAKE, places, lambda above: True)
    return tuple(FoundSuite(runner=runner, folder=_relative(place, folder)) for runner, place in wanted[:MOST_SUITES])


Found = tuple[Runner, Path]


def _python(top: Path, places: tuple[Path, ...], only: tuple[str, ...]) -> Iterator[Found]:
    """One suite at the top; projects below it are suites of their own where nothing but them has tests."""
    runner = next((runner for runner in PYTHON[1:] if _is_named(runner, only)), PYTHON[0])
    if not runner.finds(top):
        return
    projects = [place for place in places if place != top and _is_python_project(place)]
    projects = [place for place in projects if not any(other in place.parents for other in projects)]
    files = [top / name for name in find_test_files(top)]
    outside = [file for file in files if not any(project in file.parents for project in projects)]
    if outside or has_settings(top) or not projects:
        yield runner, top
    else:
        yield from ((runner, project) for project in projects if runner.finds(project))


def _is_python_project(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("pyproject.toml", "setup.py")) and has_settings(folder)


def _javascript(top: Path, places: tuple[Path, ...]) -> Iterator[Found]:
    """Every package with tests, unless a package above it runs them, and none that only calls those below."""
    found: list[Found] = [(runner, place) for place in places for runner in JAVASCRIPT if runner.finds(place)]
    plain: list[Found] = [(NPM, place) for place in places if NPM.finds(place)]
    for runner, place in found:
        above = [other for each, other in found if each == runner and other in place.parents]
        if not any(_looks_below(runner, other) for other in above):
            yield runner, place
    for runner, place in plain:
        has_more_below = any(place in other.parents for _, other in (*found, *plain))
        if not (has_more_below and package_json.script_of(package_json.read(place) or {}).runs_workspaces):
            yield runner, place


def _looks_below(runner: Runner, place: Path) -> bool:
    """Whether a runner called in `place` looks for tests in all folders below it."""
    script = package_json.script_of(package_json.read(place) or {})
    calls = [call for call in script.calls if isinstance(runner, JavaScriptRunner) and call.flavour == runner.flavour]
    return not any(is_restricted(call) for call in calls)


def _not_below(runner: Runner, places: tuple[Path, ...], covers: Callable[[Path], bool]) -> list[Found]:
    """The places of a suite, without those that a suite of the same kind above covers."""
    found = [place for place in places if runner.finds(place)]
    covering = [place for place in found if covers(place)]
    return [(runner, place) for place in found if not any(other in place.parents for other in covering)]


def _is_named(runner: Runner, names: tuple[str, ...]) -> bool:
    """A runner's name, or its first word: `cargo` is `cargo test`. `python` stands for both of its runners."""
    return any(name in (runner.name, runner.name.partition(" ")[0]) for name in names)


def _refuse_unknown(names: tuple[str, ...]) -> None:
    """A name that means nothing would find no test, and so hide that none was asked for."""
    known = {word for name in NAMES for word in (name, name.partition(" ")[0])}
    if unknown := [name for name in names if name not in known]:
        raise SettingInvalid(f"there is no test runner {unknown[0]!r}", f"the runners are {', '.join(NAMES)}")


def _mentions(path: Path, pattern: str) -> bool:
    try:
        return bool(re.search(pattern, plain_text(path), re.MULTILINE))
    except OSError:
        return False


def _relative(place: Path, top: Path) -> str:
    return "" if place == top else place.relative_to(top).as_posix()
