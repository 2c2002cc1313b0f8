"""Shell lines and scripts that succeed whatever the tests say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from milepost.core.change import ChangedFile
from milepost.verify.guard.finding import GuardFinding
from milepost.verify.judging.paths import name_of, suffix

MAKEFILES = frozenset(
    {"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "tox.ini", "tox.toml"}
)

LONGEST_LINE = 2000

_GIVING_UP = re.compile(
    r"\|\|\s*(true|:|exit\s+0|echo\b|/bin/true|/usr/bin/true|(?:exit|return)\s*0)|;\s*(true|:|exit\s*0?)\s*$|\bexit\s+0\s*;?\s*$"
    r"|;\s*exit\s+0\b|\|\s*(cat|tee\b[^|]*)\s*$|^\s*(true|:|echo\b[^&|;]*|exit\s+0)\s*$|&\s*$|\btrap\b.*\bexit\s+0\b|set\s+\+e\b"
)
_TESTING = re.compile(
    r"\b(pytest|unittest|tox|nox|jest|vitest|mocha|npm|npx|yarn|pnpm|cargo|go\s+(test|vet)|ctest|mvn|gradle|make|node|python3?|test)\b"
)


def gives_up(line: str) -> bool:
    """Whether a command line ends well whatever became of its commands."""
    ends = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} {line[-LONGEST_LINE:]}"
    return bool(_GIVING_UP.search(ends))


def loosened(file: ChangedFile) -> tuple[GuardFinding, ...]:
    """The findings about a Makefile or a script: lines that run tests and succeed without them."""
    if file.after is None or not _is_script(file):
        return ()
    before = {line.strip() for line in file.text_before.splitlines()}
    lines = list(enumerate(file.text_after.splitlines(), start=1))
    fresh = [(number, line.strip()) for number, line in lines if line.strip() not in before]
    makes = name_of(file.path) in MAKEFILES
    what = tuple(_makefile(fresh) if makes else _script(file, fresh))
    return tuple(GuardFinding(path=file.path, line=line, what=words, forges=True) for words, line in what) + tuple(
        _lost(file)
    )


def _makefile(fresh: list[tuple[int, str]]) -> Iterator[tuple[str, int]]:
    ignoring = re.compile(r"\.IGNORE\s*:|MAKEFLAGS\s*[:+?]?=.*(-i|-k|--ignore-errors)|SHELL\s*[:?]?=.*true")
    for number, line in fresh:
        dashed = re.match(r"[@+]*-\s*\S|commands\s*=\s*-", line) is not None
        if ignoring.match(line) or (_TESTING.search(line) and (dashed or gives_up(line))):
            yield f"does not fail when its commands do: {line!r}", number


def _script(file: ChangedFile, fresh: list[tuple[int, str]]) -> Iterator[tuple[str, int]]:
    """In a script that was there; a new one that only ends well proves nothing, since no check relied on it."""
    if file.before is None and not _TESTING.search(file.text_after):
        return
    for number, line in fresh:
        tests = _TESTING.search(line) is not None
        ends = re.match(r"exit\s+0\b|set\s+\+e\b|trap\b.*\bexit\s+0", line) is not None
        if (tests and gives_up(line) and not line.startswith(("#", "echo"))) or (ends and file.before is not None):
            yield f"does not fail when its commands do: {line!r}", number


def _lost(file: ChangedFile) -> Iterator[GuardFinding]:
    """Lines that ran tests, in a Makefile's recipe or a script, and are gone."""
    runs = re.compile(
        r"\b(pytest|unittest|jest|vitest|mocha|cargo test|go test|ctest|npm (run )?test|node --test|tox|nox)\b"
    )
    before, after = runs.findall(file.text_before), runs.findall(file.text_after)
    lost = {found[0] for found in before} - {found[0] for found in after}
    for name in sorted(lost):
        yield GuardFinding(path=file.path, line=0, what=f"does not run {name} any more")


def _is_script(file: ChangedFile) -> bool:
    name = name_of(file.path)
    shebang = file.text_after[:80].partition("\n")[0]
    hook = PurePosixPath(file.path).parts[0] not in ("docs", "examples")
    return hook and (
        name in MAKEFILES or suffix(name) in (".sh", ".bash") or re.match(r"#!.*\b(ba|da|z)?sh\b", shebang) is not None
    )
