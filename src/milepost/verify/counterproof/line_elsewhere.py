"""The counter-proof of a line that decides by its exit code alone: it must hold where nobody looks away, and at home.

*Nobody looks away*: without the comments that the change added and that tell a tool to be quiet. *At home*: at a
terminal, in a home that is lived in, with the variables of a login. *Without the history*, which has what the line
expects, where the change asks git. What it held by nothing else is a question.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult, Question
from milepost.verify.at_home import login, settle_in
from milepost.verify.command_runner import Bench, allowed_s
from milepost.verify.counterproof.check import ABOUT, NAME
from milepost.verify.plain.hide import without_history
from milepost.verify.witness.swap import swapped

TIMES = 2
_WAITS = ("timeout", "idle")  # such as vitest, which watches the files where it has a terminal
_TERMINAL = ("script", "-qec")
_GIT = re.compile(rb"\bgit\b")

_QUIET = re.compile(
    rb"""[ \t]* (?:
      \# \s* (?: type: \s* ignore | noqa | (?:ruff|flake8|isort|mypy|pyright|pylint|rubocop) \s* : | nosec
             | pragma: \s* no | shellcheck \s+ disable | pyre-(?:ignore|fixme) ) [^\n]*
    | \{? /[/*] \s* (?: eslint-disable | @ts-(?:ignore|expect-error|nocheck) | biome-ignore | oxlint-disable
                      | prettier-ignore | nolint | NOLINT | NOSONAR | lint:ignore | noinspection
                      | (?:c8|v8|istanbul) \s+ ignore ) [^\n]*
    | \#!?\[ (?:allow|expect) \( [^\]\n]* \]
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineElsewhere:
    """A line that passed; `took_s` is how long that took."""

    argv: tuple[str, ...]
    bench: Bench
    change: Change
    product: tuple[str, ...]
    took_s: float

    def run(self, workspace: Workspace) -> CheckResult | None:
        """What is to be asked of a person; None where it passes everywhere."""
        line = f"`{' '.join(self.argv)}`"
        aloud = {path: found for path, found in without_comments(self.change) if path in self.product}
        if aloud and not self._passes(workspace, {path: text for path, (text, _) in aloud.items()}):
            places = ", ".join(f"{path}:{number}" for path, (_, number) in list(aloud.items())[:3])
            return _held(f"{line} passes only with comments that keep it quiet: {places}", next(iter(aloud)))
        if not self._passes(workspace, {}, at_home=True):
            return _held(f"{line} passes here, and fails at a terminal with the home and the variables of a login")
        if asking := self._asks_git():
            with without_history(workspace.folder):
                if not self._passes(workspace, {}):
                    return _held(f"{line} passes only with the history of the repository, which {asking} asks", asking)
        return None

    def _asks_git(self) -> str:
        """A changed file of the product that speaks of git."""
        files = (file for file in self.change.files if file.path in self.product)
        return next((file.path for file in files if _GIT.search(file.after or b"")), "")

    def _passes(self, workspace: Workspace, files: Mapping[str, bytes | None], *, at_home: bool = False) -> bool:
        """Whether it passes once: what fails now and then says nothing, nor does what waits for a key or a change."""
        limit_s = min(self.bench.timeout_s, allowed_s(self.took_s))
        bench = replace(self.bench, about=ABOUT, timeout_s=limit_s)
        around: dict[str, str] = {}
        argv = self.argv
        if at_home:
            settle_in(workspace.scratch / "home")
            around = login(workspace.folder)
            at_terminal = (*_TERMINAL, shlex.join(argv), "/dev/null")
            if bench.run(at_terminal, workspace, env=around).succeeded:
                return True
            if bench.run((*_TERMINAL, "true", "/dev/null"), workspace).succeeded:
                argv = at_terminal
        with swapped(workspace.folder, files):
            ended = (bench.run(argv, workspace, env=around) for _ in range(TIMES))
            return any(result.succeeded or result.termination in _WAITS for result in ended)


def without_comments(change: Change) -> Iterator[tuple[str, tuple[bytes, int]]]:
    """The changed files that tell a tool to be quiet in more words than before, without these; and the first line."""
    for file in change.files:
        if file.after is None or file.is_link or file.unread:
            continue
        lines = file.after.split(b"\n")
        added = [at for at in _added(file, lines) if _QUIET.search(lines[at])]
        if added:
            changed = [_QUIET.sub(b"", line) if at in set(added) else line for at, line in enumerate(lines)]
            yield file.path, (b"\n".join(changed), added[0] + 1)


def _added(file: ChangedFile, lines: list[bytes]) -> list[int]:
    """The lines that say something which none said before; moved and indented lines are the same."""
    known = {line.strip() for line in (file.before or b"").split(b"\n")}
    return [at for at, line in enumerate(lines) if line.strip() not in known]


def _held(said: str, path: str = "") -> CheckResult:
    question = Question(kind="counter-proof", text=f"{said}. Is that meant?", path=path)
    return CheckResult(name=NAME, outcome="held", summary=said, questions=(question,))
