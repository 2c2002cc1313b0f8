"""Whether a check failed for what the machine lacks, which no attempt can change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from milepost.core.loopback_services import refused_service, settings_for
from milepost.core.verdict import CheckResult

LONGEST_READ = 20_000
_CASES_READ = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFault:
    """What is wrong with the machine in a few words, and what a person can do about it."""

    what: str
    advice: str


# What may come and go: blamed on the machine whatever the base was like.
_PASSING: tuple[tuple[str, str, str], ...] = (
    (
        "the disk is full",
        r"No space left on device|ENOSPC|Disk quota exceeded|database or disk is full",
        "free some space",
    ),
    (
        "the package index cannot be reached",
        r"(?:Temporary failure in name resolution|Name or service not known|Could not resolve host|EAI_AGAIN|ENOTFOUND"
        r"|Failed to establish a new connection|Network is unreachable|dial tcp: lookup)[^\n]{0,300}"
        r"(?:pypi|index|simple/|registry|crates\.io|proxy\.golang|maven|npmjs|yarnpkg)"
        r"|(?:pypi|/simple/|registry\.|crates\.io|proxy\.golang|repo\.maven|npmjs|yarnpkg)[^\n]{0,300}"
        r"(?:Temporary failure in name resolution|Name or service not known|Could not resolve host|EAI_AGAIN|ENOTFOUND"
        r"|Failed to establish a new connection|Network is unreachable|dial tcp: lookup)",
        "connect the machine, or fill the package cache; [sandbox] install_network says what installers may reach",
    ),
)
# What is so until somebody changes it: blamed on the machine only where the base did not pass either.
_LASTING: tuple[tuple[str, str, str], ...] = (
    (
        "no toolchain is chosen",
        r"rustup could not choose a version of|no default (?:toolchain )?is configured"
        r"|toolchain '[^']+' is not installed"
        r"|pyenv: version `[^']+' is not installed|No version is set for command|mise ERROR[^\n]*not installed"
        r"|Volta error: [^\n]*not (?:found|installed)|No preset version installed for command",
        "install the toolchain that the project names",
    ),
    (
        "a shared library is missing",
        r"error while loading shared libraries: (?P<name>[^\s:]+)",
        "install the package that has it",
    ),
    (
        "the browser of the tests is missing",
        r"Executable doesn't exist at [^\n]*|Could not find (?:Chrome|Chromium|Firefox)[^\n]*|Looks like Playwright",
        "install it as the project's documentation says",
    ),
)
# Said of a failed check that misses a file which git ignores: `files_hint` in the verify room.
_IGNORED = re.compile(
    r"; git ignores (?P<paths>[^\n]+?): (?P<advice>(?:write [^\n]+?; )?\[workspace\] copy = \[[^\n]+)$"
)
_NOT_FOUND = re.compile(
    r"(?:^|[:\s])not found: (?P<name>[\w.+-]+)\s*$|(?P<name2>[\w.+-]+): (?:command )?not found\s*$", re.MULTILINE
)
# Programs that come with a machine or a toolchain: another one may be what the task is to make.
_TOOLCHAINS = frozenset(
    {"make", "cmake", "node", "npm", "npx", "yarn", "pnpm", "bun", "deno", "cargo", "rustc", "go", "java", "javac"}
    | {"mvn", "gradle", "dotnet", "ruby", "bundle", "php", "composer", "python", "python3", "uv", "poetry", "docker"}
    | {"gcc", "g++", "cc", "clang", "bash", "jq", "git", "just", "ninja", "swift", "elixir", "mix"}
    | {"pytest", "tox", "nox"}
)
_PROGRAM_NOT_FOUND = 127


def machine_fault(check: CheckResult) -> MachineFault | None:
    """What of the machine made a check fail; None where the work may be to blame."""
    text = _text_of(check)
    for what, sign, advice in _PASSING:
        if re.search(sign, text):
            return MachineFault(what=what, advice=advice)
    if _passed_before(check):
        return None
    if found := _IGNORED.search(check.summary):
        what = f"checkouts do not have {found['paths']}, which git ignores"
        return MachineFault(what=what, advice=found["advice"])
    if service := refused_service(text):
        what = f"{service.name} on port {service.port} cannot be reached from the sandbox"
        return MachineFault(what=what, advice=f"start it and let it through: {settings_for(service)}")
    for what, sign, advice in _LASTING:
        if found := re.search(sign, text):
            name = found.groupdict().get("name")
            return MachineFault(what=f"{what}: {name}" if name else what, advice=advice)
    return _missing_program(check, text)


def _missing_program(check: CheckResult, text: str) -> MachineFault | None:
    found = _NOT_FOUND.search(text) if check.exit_code in (None, _PROGRAM_NOT_FOUND) else None
    name = (found["name"] or found["name2"]) if found else ""
    if name not in _TOOLCHAINS:
        return None
    return MachineFault(what=f"{name!r} is not on this machine", advice="install it, or mend the line that names it")


def _text_of(check: CheckResult) -> str:
    failed = [case for case in check.cases if case.outcome == "failed"][:_CASES_READ]
    said = "\n".join(f"{case.message}\n{case.traceback}" for case in failed)
    return f"{check.log[-LONGEST_READ:]}\n{said}\n{check.summary}"


def _passed_before(check: CheckResult) -> bool:
    return check.before == "passed" or any(case.outcome == "failed" and case.before == "passed" for case in check.cases)
