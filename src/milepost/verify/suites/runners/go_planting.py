"""The planted tests of Go packages: files beside their test files that `go test` compiles into the same program.

One is run before the tests of its package, one after them, and one among those that wait for each other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.verify.suites.runners.must_fail import MustFail, drawn, word
from milepost.verify.walk_checkout import text_of

_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//\s*(?:go:build|\+build)\s.*$", re.MULTILINE)
_SYSTEMS = "aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows"
_MACHINES = "386|amd64|arm|arm64|loong64|mips|mips64|mips64le|mipsle|ppc64|ppc64le|riscv64|s390x|wasm"
_NAMED_FOR = re.compile(rf"(?:_(?:{_SYSTEMS}))?(?:_(?:{_MACHINES}))?_test\.go$")
_FILE = '{constraint}package {package}\n\nimport (\n\t"testing"\n{imports})\n'
_TEST = (
    "\nfunc {name}(t *testing.T) {{\n{first}"
    '\tif got := int64({left} * {right}); got != {wrong} {{\n\t\tt.Errorf("got %d", got)\n\t}}\n}}\n'
)
_WAITS = "\tt.Parallel()\n\ttime.Sleep(50 * time.Millisecond)\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoTest:
    """A planted test in a folder. One that is not `sure` is there only for some systems or tags; one that is not
    `first` is not reached where the tests before it end the program."""

    test: MustFail
    folder: str
    sure: bool
    first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPlanting:
    """What is laid into a checkout; `pattern` matches the names of the tests.

    `own_ends` are the folders whose tests have a `TestMain`: what that does when all tests have passed is not seen
    while one of them fails.
    """

    files: Mapping[str, bytes]
    tests: tuple[GoTest, ...]
    own_ends: frozenset[str]
    pattern: str

    @property
    def names(self) -> dict[str, GoTest]:
        return {each.test.name: each for each in self.tests}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Test files of one folder that are compiled for one package under the same conditions."""

    package: str
    constraint: str
    named_for: str

    @property
    def is_sure(self) -> bool:
        return not self.constraint and self.named_for == "_test.go"


def planting(checkout: Path, top: str, only: frozenset[str] = frozenset()) -> GoPlanting:
    """Tests for every package below `top` that has some, or for those in these folders, relative to the checkout."""
    files: dict[str, bytes] = {}
    tests: list[GoTest] = []
    own_ends: set[str] = set()
    begin = f"Test{word().title()}"
    for folder, names in _test_folders(checkout, top):
        if only and folder not in only:
            continue
        texts = {name: text_of(checkout / folder / name) for name in names}
        if any("func TestMain(" in text for text in texts.values()):
            own_ends.add(folder)
        for group, waits in _groups(texts):
            for file, text, test in _planted(group, folder, sorted(texts), begin, waits=waits):
                files[os.path.normpath(f"{folder}/{file}")] = text.encode()
                tests.extend(test)
    return GoPlanting(
        files=files, tests=tuple(tests), own_ends=frozenset(own_ends), pattern=f"^{begin}" if tests else ""
    )


def _test_folders(checkout: Path, top: str) -> Iterator[tuple[str, list[str]]]:
    """The folders with test files that `./...` takes in, and those files."""
    for place, folders, names in os.walk(checkout / top):
        folders[:] = [each for each in folders if each not in ("testdata", "vendor") and each[0] not in "._"]
        if found := [name for name in names if name.endswith("_test.go") and name[0] not in "._"]:
            yield os.path.relpath(place, checkout), found


def _groups(texts: Mapping[str, str]) -> list[tuple[_Group, bool]]:
    """The groups to plant in: where some files of a package are always compiled, those alone."""
    found: dict[_Group, bool] = {}
    for name, text in texts.items():
        clause = _PACKAGE.search(text)
        suffix = _NAMED_FOR.search(name)
        if clause is None or suffix is None:
            continue
        constraint = "".join(f"{line}\n" for line in _CONSTRAINT.findall(text[: clause.start()]))
        group = _Group(package=clause[1], constraint=constraint, named_for=suffix[0])
        found[group] = found.get(group, False) or ".Parallel()" in text
    sure = {group.package for group in found if group.is_sure}
    return [(group, waits) for group, waits in found.items() if group.is_sure or group.package not in sure]


def _planted(
    group: _Group, folder: str, names: list[str], begin: str, *, waits: bool
) -> Iterator[tuple[str, str, tuple[GoTest, ...]]]:
    """A file that comes before the others by its name, and one that comes after them."""
    after = "z" * (1 + len(names[-1]) - len(names[-1].lstrip("z")))
    for stem, first in ((f"0{word()}", True), (f"{after}{word()}", False)):
        several = (False, True) if waits and not first else (False,)
        planted = [(drawn(f"{begin}{word().title()}"), waiting) for waiting in several]
        text = _FILE.format(
            constraint=f"{group.constraint}\n" if group.constraint else "",
            package=group.package,
            imports='\t"time"\n' if True in several else "",
        )
        text += "".join(
            _TEST.format(
                name=test.name, first=_WAITS if waiting else "", left=test.left, right=test.right, wrong=test.wrong
            )
            for test, waiting in planted
        )
        tests = tuple(GoTest(test=test, folder=folder, sure=group.is_sure, first=first) for test, _ in planted)
        yield f"{stem}{group.named_for}", text, tests
