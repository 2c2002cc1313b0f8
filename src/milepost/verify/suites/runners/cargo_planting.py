"""The planted tests of Rust programs: at the end of the file that each test program is made from.

A program of their own would be no neighbour: what lies about one program leaves the others alone.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.core.attempt import Workspace
from milepost.verify.command_runner import Bench
from milepost.verify.suites.runners.libtest import ProgramOutput
from milepost.verify.suites.runners.lines import Lines
from milepost.verify.suites.runners.must_fail import NOT_FAILED, MustFail, drawn, word
from milepost.verify.walk_checkout import text_of
from milepost.verify.witness.swap import read_plainly

_METADATA = ("cargo", "metadata", "--no-deps", "--format-version=1", "--offline", "--color=never")
_TEST = (
    "\n{ignored}#[test]\nfn {name}() {{\n    let got: u64 = {left} * {right};\n"
    '    if got != {wrong} {{\n        panic!("got {{}}", got);\n    }}\n}}\n'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CargoPlanting:
    """The files with planted tests at their end, and those tests by file, relative to the checkout."""

    files: Mapping[str, bytes]
    tests: Mapping[str, tuple[MustFail, ...]]

    @property
    def all(self) -> tuple[MustFail, ...]:
        return tuple(test for tests in self.tests.values() for test in tests)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(test.name for test in self.all)

    def doubt(self, section: ProgramOutput, source: str, lines: list[str]) -> str:
        """Why the program made from `source` is not believed; `lines` are all that was printed."""
        outcomes = {_own_name(name): outcome for name, outcome, _ in section.tests}
        wanted = self.tests.get(source, ())
        if not section.finished or not outcomes.keys() - set(self.names):
            return ""
        for test in wanted:
            said = any(f"got {test.token}" in line for line in lines)
            if outcomes.get(test.name) != "failed" or not said:
                return f"{NOT_FAILED}it was among the tests of {source}"
        return ""

    def take_out(self, section: ProgramOutput) -> bool:
        """Leave the real tests alone in what a program told; whether a planted one had failed."""
        planted = [each for each in section.tests if _own_name(each[0]) in self.names]
        section.tests = [each for each in section.tests if each not in planted]
        return any(outcome == "failed" for _, outcome, _ in planted)


NOTHING_PLANTED = CargoPlanting(files={}, tests={})


def planting(
    folder: str, workspace: Workspace, bench: Bench, env: Mapping[str, str], *, ignored: bool = False
) -> CargoPlanting:
    """Tests for every test program of the workspace that has Rust's own harness; `ignored` for a run of such tests."""
    gathered = Lines()
    bench.run(_METADATA, workspace, cwd=folder, env=env, on_line=gathered)
    files: dict[str, bytes] = {}
    tests: dict[str, tuple[MustFail, ...]] = {}
    for source in _sources("\n".join(gathered.lines), workspace.folder):
        content = read_plainly(workspace.folder, source)
        if content is None or source in files:
            continue
        planted = tuple(drawn(f"{first}{word()}_{word()}") for first in ("a", "z"))
        mark = "#[ignore]\n" if ignored else ""
        text = "".join(
            _TEST.format(ignored=mark, name=each.name, left=each.left, right=each.right, wrong=each.wrong)
            for each in planted
        )
        files[source] = content + b"\n" + text.encode()
        tests[source] = planted
    return CargoPlanting(files=files, tests=tests)


def is_without_harness(manifest: Path, kind: str, name: str) -> bool:
    """Whether the manifest says that a target brings a `main` of its own; cargo's messages do not tell."""
    try:
        declared = tomllib.loads(text_of(manifest)).get(kind, [])
    except (ValueError, RecursionError):
        return False
    entries = declared if isinstance(declared, list) else [declared]
    return any(entry.get("name", name) == name and entry.get("harness") is False for entry in entries)


def _sources(text: str, checkout: Path) -> list[str]:
    """The files of the checkout that test programs are made from."""
    try:
        packages: list[dict[str, Any]] = json.loads(text)["packages"]
    except (ValueError, KeyError, TypeError):
        return []  # the build, which comes next, tells what is wrong
    top = os.path.realpath(checkout)
    found = [
        os.path.relpath(os.path.realpath(target["src_path"]), top)
        for package in packages
        for target in package["targets"]
        if target["test"] and not is_without_harness(Path(package["manifest_path"]), target["kind"][0], target["name"])
    ]
    return [source for source in found if not source.startswith("../")]


def _own_name(name: str) -> str:
    return name.rpartition("::")[2]
