"""What in a checkout could make its tests be about something else: bytecode, links that lead out, tests that change."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from milepost.core.folders import NOT_SOURCE
from milepost.verify.judging.paths import is_test_path, is_test_setting

_SOURCES = (".py", ".pyi", ".ini", ".toml", ".cfg", ".pth")
_OTHERS_OWN = NOT_SOURCE - {"__pycache__", "site-packages"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """`strays` are links, relative to the checkout, through which Python code or settings from outside take part.

    `tests` tells of each test file and setting which file it is and when that was last touched: a time
    that, unlike that of its last change, no program can set.
    """

    has_bytecode: bool = False
    strays: tuple[str, ...] = ()
    tests: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def changed(self, later: Survey) -> tuple[str, ...]:
        """The tests and settings that are not what they were, or that began to decide how tests are run."""
        touched = [path for path, state in self.tests.items() if later.tests.get(path) != state]
        begun = [path for path in later.tests if path not in self.tests and is_test_setting(path)]
        return tuple(sorted(touched + begun))


def survey(checkout: Path) -> Survey:
    """Look at every name of the checkout once; links are not followed."""
    real = os.path.realpath(checkout)
    has_bytecode, strays, tests = False, [], {}
    todo, above = [str(checkout)], len(str(checkout)) + 1
    while todo:
        with suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.name in _OTHERS_OWN:
                    continue
                path = entry.path[above:]
                if entry.is_symlink():
                    if _leads_out(Path(entry.path), real):
                        strays.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                elif is_test_setting(path) or (path.endswith(".py") and is_test_path(path)):
                    facts = entry.stat(follow_symlinks=False)
                    tests[path] = (facts.st_ino, facts.st_ctime_ns)
                has_bytecode = has_bytecode or entry.name.endswith((".pyc", ".pyo"))
    return Survey(has_bytecode=has_bytecode, strays=tuple(sorted(strays)), tests=tests)


def _leads_out(link: Path, checkout: str) -> bool:
    target = Path(os.path.realpath(link))
    if target.is_relative_to(checkout):
        return False
    if target.is_dir():
        with suppress(OSError):
            return any(name.endswith(_SOURCES) for name in os.listdir(target))  # noqa: PTH208 -- names are enough
        return False
    return target.is_file() and link.name.endswith(_SOURCES)
