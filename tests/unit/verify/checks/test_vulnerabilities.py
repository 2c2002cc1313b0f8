"""Known vulnerabilities: what a change brings fails it, what was there does not, and no answer is no claim."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import Command, CommandResult, Line
from milepost.verify.checks.vulnerabilities import VulnerabilitiesCheck
from milepost.verify.command_runner import Bench
from milepost.verify.programs.auditors import auditor_of

KNOWN = {"requests==2.5.0": ("CVE-2018-18074", "2.20.0"), "jinja2==2.4": ("CVE-2019-10906", "2.10.1")}


@dataclass
class Auditors:
    """Prints what the programs would about a manifest; `away` is what they say without a network."""

    away: str = ""
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.asked.append(command.argv)
        said = self.away or (self._npm if command.argv[1] == "audit" else self._pip)(Path(command.argv[-1]))
        code = 1 if self.away or "CVE" in said else 0
        return CommandResult(
            termination="exited", exit_code=code, stdout="" if self.away else said, stderr=self.away, duration_ms=1,
            enforced=(),
        )  # fmt: skip

    def _pip(self, file: Path) -> str:
        told = []
        for line in file.read_text().split():
            vulns = [{"id": KNOWN[line][0], "fix_versions": [KNOWN[line][1]]}] if line in KNOWN else []
            told.append({"name": line.partition("==")[0], "version": line.partition("==")[2], "vulns": vulns})
        return json.dumps({"dependencies": told, "fixes": []})

    def _npm(self, folder: Path) -> str:
        packages = json.loads((folder / "package-lock.json").read_text())["packages"]
        assert json.loads((folder / "package.json").read_text())["name"] == "shop"
        via = [{"url": "https://github.com/advisories/GHSA-1"}, "other"]
        return json.dumps({"vulnerabilities": {name: {"via": via} for name in packages if name == "minimist"}})


def check(tmp_path: Path, auditors: Auditors, *files: ChangedFile, installed: bool = True) -> tuple[str, str]:
    tools, checkout, scratch = tmp_path / "bin", tmp_path / "checkout", tmp_path / "scratch"
    for folder in (tools, checkout, scratch):
        folder.mkdir(exist_ok=True)
    for name in ("pip-audit", "npm") if installed else ():
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    (checkout / "package.json").write_text('{"name": "shop"}')
    bench = Bench(terminal=auditors, path=str(tools))
    workspace = Workspace(folder=checkout, scratch=scratch, base="0" * 40)
    result = VulnerabilitiesCheck(change=Change(files=files), bench=bench).run(workspace)
    return result.outcome, result.summary


def requirements(before: str | None, after: str) -> ChangedFile:
    return ChangedFile(
        path="requirements.txt", before=None if before is None else before.encode(), after=after.encode()
    )


def test_a_vulnerable_package_that_a_change_brings_fails_it(tmp_path: Path) -> None:
    file = requirements("jinja2==2.4\n", "jinja2==2.4\nrequests==2.5.0\n")
    assert check(tmp_path, Auditors(), file) == (
        "failed",
        "brings known vulnerabilities: requests: CVE-2018-18074, fixed in 2.20.0",
    )


def test_one_that_was_there_before_is_nobodys_fault_now(tmp_path: Path) -> None:
    file = requirements("jinja2==2.4\n", "jinja2==2.4\nflask==3.0\n")
    assert check(tmp_path, Auditors(), file) == ("passed", "pip-audit knows of nothing new")


def test_a_new_manifest_and_a_lock_file_of_npm_are_audited(tmp_path: Path) -> None:
    assert check(tmp_path, Auditors(), requirements(None, "requests==2.5.0\n"))[0] == "failed"
    lock = ChangedFile(path="package-lock.json", before=b'{"packages": {}}', after=b'{"packages": {"minimist": {}}}')
    assert check(tmp_path, Auditors(), lock) == (
        "failed",
        "brings known vulnerabilities: minimist: https://github.com/advisories/GHSA-1",
    )


def test_without_a_network_or_a_program_nothing_is_claimed(tmp_path: Path) -> None:
    file = requirements(None, "requests==2.5.0\n")
    offline = check(tmp_path, Auditors(away="ConnectionError: no route to pypi.org"), file)
    assert offline[0] == "absent" and "requirements.txt was not audited: exit 1: ConnectionError" in offline[1]
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    assert check(nowhere, Auditors(), file, installed=False) == (
        "absent",
        "pip-audit is not installed: requirements.txt was not audited",
    )


def test_a_change_of_no_manifest_asks_nobody(tmp_path: Path) -> None:
    auditors = Auditors()
    assert check(tmp_path, auditors, ChangedFile(path="a.py", before=None, after=b""))[0] == "absent"
    assert auditors.asked == []


@pytest.mark.parametrize(
    ("path", "tool"),
    [
        ("requirements.txt", "pip-audit"),
        ("api/dev-requirements.txt", "pip-audit"),
        ("requirements/run.lock", "pip-audit"),
        ("web/package-lock.json", "npm"),
        ("docs/requirements.md", None),
        ("package.json", None),
    ],
)
def test_each_manifest_has_its_auditor(path: str, tool: str | None) -> None:
    found = auditor_of(path)
    assert (found.tool if found is not None else None) == tool
