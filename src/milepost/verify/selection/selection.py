"""A selection of tests: the runner that a command starts, and the words that say which tests it is to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

SelectedRunner = Literal["pytest", "unittest", "doctest", "node", "jest", "vitest", "go", "cargo"]
RUNNERS: tuple[SelectedRunner, ...] = get_args(SelectedRunner)

NOT_THERE = "there is no such file, module or test"  # what is told of a name that a selection asks for
CHECKOUT, SCRATCH = "{checkout}", "{scratch}"  # stand in words and variables for folders that are others each time


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`words` are what the runner is called with in `folder` of the checkout; `env` are variables that come with it.

    For `node` they are all of its words, `--test` included; `node_words` go to node where it starts jest or vitest.
    """

    runner: SelectedRunner
    words: tuple[str, ...] = ()
    folder: str = ""
    env: tuple[tuple[str, str], ...] = ()
    node_words: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it selects all that the runner finds in the folder: no word of it chooses."""
        if self.env:
            return False
        rest = _without_harmless(self.words, _HARMLESS[self.runner])
        return rest in _ALL.get(self.runner, ((),))


# Options that neither choose tests nor change what they come to; True where a value follows as a word of its own.
_PYTEST = {
    **dict.fromkeys(("-q", "-qq", "-v", "-vv", "-vvv", "-x", "-s", "-l", "--quiet", "--verbose", "--exitfirst"), False),
    **dict.fromkeys(
        ("--no-header", "--no-summary", "--showlocals", "--capture", "--color", "-ra", "-rA", "-rf"), False
    ),
    **dict.fromkeys(("--tb", "--maxfail", "--durations", "-n", "--numprocesses"), True),
}
_JEST = dict.fromkeys(
    ("--ci", "--silent", "--verbose", "--no-color", "--colors", "--color", "-i", "--runInBand"), False
)
_HARMLESS: Mapping[SelectedRunner, Mapping[str, bool]] = {
    "pytest": _PYTEST,
    "unittest": dict.fromkeys(("-v", "-q", "-f", "-b", "-c", "--verbose", "--quiet", "--failfast", "--buffer"), False),
    "doctest": {},
    "node": {"--test": False, "--test-reporter": True, "--test-reporter-destination": True},
    "jest": _JEST,
    "vitest": {**_JEST, "run": False, "--run": False, "--reporter": True},
    "go": dict.fromkeys(("-v", "-json", "-failfast", "-count"), False),
    "cargo": {
        **dict.fromkeys(("-q", "--quiet", "-v", "--verbose", "--offline", "--locked", "--frozen", "--color"), False),
        **dict.fromkeys(("--no-fail-fast", "--workspace", "--all", "--", "--nocapture", "--show-output"), False),
    },
}
_ALL: Mapping[SelectedRunner, tuple[tuple[str, ...], ...]] = {
    "go": (("./...",),),
    "unittest": ((), ("discover",)),
    "doctest": (),
}


def _without_harmless(words: tuple[str, ...], harmless: Mapping[str, bool]) -> tuple[str, ...]:
    rest: list[str] = []
    todo = list(words)
    while todo:
        word = todo.pop(0)
        name, equals, _ = word.partition("=")
        if name == "-p" and todo[:1] == ["no:cacheprovider"]:
            todo.pop(0)
        elif name not in harmless:
            rest.append(word)
        elif harmless[name] and not equals and todo:
            todo.pop(0)
    return tuple(rest)
