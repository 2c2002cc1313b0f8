"""What is said of a base whose tests fail before anybody has worked on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from milepost.core.loopback_services import refused_service, settings_for
from milepost.core.verdict import CheckResult, Evidence, TestOutcome
from milepost.verify.checks.files import listed

# Whether the user's tree has the file that git ignores at a path; None where it ignores none.
HasIgnored = Callable[[str], bool | None]

LONGEST_REASON = 160
_NO_FILE = re.compile(
    r"(?:No such file or directory|ENOENT)[^'\"\n]{0,80}['\"](?P<path>[^'\"\n]{1,200})['\"]"
    r"|(?P<other>[\w./\-]+): [Nn]o such file"
)


def red_base(
    tests: Mapping[str, TestOutcome] | None,
    why_unknown: str = "",
    messages: Iterable[str] = (),
    has_ignored: HasIgnored = lambda path: None,
) -> str:
    """One paragraph about a base that is red; empty where it is green.

    `messages` are those of the failed tests.
    """
    said = [*messages]
    hints = "".join(f"; {hint}" for hint in (files_hint(said, has_ignored), _service_hint(said)) if hint)
    if tests is None:
        return f"the tests cannot be run at the base, before any work: {why_unknown}{hints}" if why_unknown else ""
    red = tuple(name for name, outcome in tests.items() if outcome == "failed")
    if not red:
        return ""
    fail = "1 test fails" if len(red) == 1 else f"{len(red)} tests fail"
    first = next((line for message in said for line in message.splitlines() if line.strip()), "").strip()
    why = f": {first[:LONGEST_REASON]}" if first else ""
    return f"the base is red: {fail} of {len(tests)} before any work: {listed(red)}{why}{hints}"


def missing_files(messages: Iterable[str]) -> tuple[str, ...]:
    """The relative paths that messages say are not there."""
    found = (match["path"] or match["other"] for message in messages for match in _NO_FILE.finditer(message))
    return tuple(dict.fromkeys(found))


def files_hint(messages: Iterable[str], has_ignored: HasIgnored) -> str:
    """What brings files into checkouts that messages miss and git ignores; empty where there are none."""
    named = dict.fromkeys(_in_tree(path) for path in missing_files(messages))
    there = {path: found for path in named if path and (found := has_ignored(path)) is not None}
    if not there:
        return ""
    absent = tuple(path for path, is_there in there.items() if not is_there)
    first = f"write {listed(absent)}, which is not in your repository either; " if absent else ""
    quoted = ", ".join(f'"{path}"' for path in there)
    return f"git ignores {listed(tuple(there))}: {first}[workspace] copy = [{quoted}] copies it into checkouts"


def with_hints(evidence: Evidence, has_ignored: HasIgnored) -> Evidence:
    """The same, where failed checks say what brings the files into checkouts that they miss and git ignores."""

    def told(check: CheckResult) -> CheckResult:
        cases = (case for case in check.cases if case.outcome == "failed")
        said = (check.summary, *(f"{case.message}\n{case.traceback}" for case in cases))
        hint = files_hint(said, has_ignored) if check.outcome == "failed" else ""
        return replace(check, summary=f"{check.summary}; {hint}") if hint else check

    return replace(evidence, checks=tuple(map(told, evidence.checks)))


def _in_tree(path: str) -> str:
    """A path as the tree has it: what a test was told may begin with where its checkout lies."""
    return path.rpartition("/tree/")[2].removeprefix("./") if path.startswith(("/", "./")) else path


def _service_hint(messages: list[str]) -> str:
    service = refused_service("\n".join(messages))
    return "" if service is None else f"{service.name} cannot be reached: {settings_for(service)}"
