"""What is said of a base whose tests fail before anybody has worked on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from milepost.core.loopback_services import refused_service, settings_for
from milepost.core.verdict import TestOutcome
from milepost.verify.checks.files import listed

_NO_FILE = re.compile(
    r"(?:No such file or directory|ENOENT)[^'\"\n]{0,80}['\"](?P<path>[^'\"\n]{1,200})['\"]"
    r"|(?P<other>[\w./\-]+): [Nn]o such file"
)


def red_base(
    tests: Mapping[str, TestOutcome] | None,
    why_unknown: str = "",
    messages: Iterable[str] = (),
    is_ignored: Callable[[str], bool] = lambda path: False,
) -> str:
    """One paragraph about a base that is red; empty where it is green.

    `messages` are those of the failed tests; `is_ignored` says whether the user's tree has a file that git ignores.
    """
    said = [*messages]
    hints = "".join(f"; {hint}" for hint in (_files_hint(said, is_ignored), _service_hint(said)) if hint)
    if tests is None:
        return f"the tests cannot be run at the base, before any work: {why_unknown}{hints}" if why_unknown else ""
    red = tuple(name for name, outcome in tests.items() if outcome == "failed")
    if not red:
        return ""
    fail = "1 test fails" if len(red) == 1 else f"{len(red)} tests fail"
    return f"the base is red: {fail} of {len(tests)} before any work: {listed(red)}{hints}"


def missing_files(messages: Iterable[str]) -> tuple[str, ...]:
    """The relative paths that messages say are not there."""
    found = (match["path"] or match["other"] for message in messages for match in _NO_FILE.finditer(message))
    return tuple(dict.fromkeys(found))


def _files_hint(messages: list[str], is_ignored: Callable[[str], bool]) -> str:
    named = (_in_tree(path) for path in missing_files(messages))
    ignored = tuple(dict.fromkeys(path for path in named if path and is_ignored(path)))
    quoted = ", ".join(f'"{path}"' for path in ignored)
    return f"git ignores {listed(ignored)}: [workspace] copy = [{quoted}] copies it into checkouts" if ignored else ""


def _in_tree(path: str) -> str:
    """A path as the tree has it: what a test was told may begin with where its checkout lies."""
    return path.rpartition("/tree/")[2].removeprefix("./") if path.startswith(("/", "./")) else path


def _service_hint(messages: list[str]) -> str:
    service = refused_service("\n".join(messages))
    return "" if service is None else f"{service.name} cannot be reached: {settings_for(service)}"
