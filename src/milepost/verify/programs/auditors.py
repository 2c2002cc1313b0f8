"""Programs that know vulnerable packages: pip-audit and npm audit, how they are asked, and what they write. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

_REQUIREMENTS = re.compile(
    r"(?:^|/)[\w.-]*requirements[\w.-]*\.(?:txt|lock)$|(?:^|/)requirements/[\w.-]+\.(?:txt|lock)$"
)
_LOCK = "package-lock.json"
_LONGEST = 200


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Vulnerability:
    """A known vulnerability of a package that a manifest names."""

    package: str
    name: str
    fixed_in: str = ""

    def __str__(self) -> str:
        fix = f", fixed in {self.fixed_in}" if self.fixed_in else ""
        return f"{self.package}: {self.name}{fix}"[:_LONGEST]


@dataclass(frozen=True, slots=True, kw_only=True)
class Auditor:
    """What is asked about a manifest; neither program runs code of a package, and neither installs one."""

    tool: Literal["pip-audit", "npm"]

    def on_folder(self, program: Path, folder: Path) -> tuple[str, ...]:
        """The command that prints what is known about the manifest in a folder, by the names of `file_names`."""
        if self.tool == "npm":
            return (str(program), "audit", "--json", "--package-lock-only", "--prefix", str(folder))
        options = ("--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json")
        return (str(program), *options, "--requirement", str(folder / "requirements.txt"))

    def read(self, text: str) -> frozenset[Vulnerability] | None:
        """The vulnerabilities in what it printed; None where that is no answer."""
        try:
            told = json.loads(text)
            return _of_npm(told) if self.tool == "npm" else _of_pip_audit(told)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


def auditor_of(path: str) -> Auditor | None:
    """Who knows about a manifest; None where nobody does."""
    if path.rpartition("/")[2] == _LOCK:
        return Auditor(tool="npm")
    return Auditor(tool="pip-audit") if _REQUIREMENTS.search(path) else None


def _of_pip_audit(told: Any) -> frozenset[Vulnerability]:
    return frozenset(
        Vulnerability(
            package=str(one["name"]), name=str(known["id"]), fixed_in=", ".join(map(str, known["fix_versions"]))
        )
        for one in told["dependencies"]
        for known in one.get("vulns", [])
    )


def _of_npm(told: Any) -> frozenset[Vulnerability]:
    return frozenset(
        Vulnerability(package=str(name), name=str(cause["url"]))
        for name, one in told["vulnerabilities"].items()
        for cause in one["via"]
        if isinstance(cause, dict)
    )


def _listed(versions: list[Any]) -> str:
    return ", ".join(map(str, versions))
