"""How each JavaScript runner is called so that it runs all tests, and reports them to us."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.verify.suites.runners.package_json import Flavour, RunnerCall

REPORTERS = Path(__file__).with_name("reporters")

# Words of a test script that would choose, stop, watch, rewrite or report; True where a value follows.
_DROPPED: Mapping[Flavour, Mapping[str, bool]] = {
    "vitest": {
        **dict.fromkeys(("run", "watch", "dev", "-w", "--watch", "--run", "-u", "--update", "--silent", "--ui"), False),
        **dict.fromkeys(
            ("--passWithNoTests", "--coverage", "--open", "--changed", "--standalone", "--no-color"), False
        ),
        **dict.fromkeys(
            ("--bail", "--reporter", "--outputFile", "--shard", "-t", "--testNamePattern", "--retry"), True
        ),
    },
    "jest": {
        **dict.fromkeys(("-b", "--bail", "--watch", "--watchAll", "--coverage", "--collectCoverage", "--json"), False),
        **dict.fromkeys(("--silent", "--verbose", "--passWithNoTests", "-o", "--onlyChanged", "--ci"), False),
        **dict.fromkeys(("--detectOpenHandles", "-u", "--updateSnapshot", "--notify", "-f"), False),
        **dict.fromkeys(("--onlyFailures", "--lastCommit", "--findRelatedTests", "--logHeapUsage"), False),
        **dict.fromkeys(("--reporters", "--outputFile", "--changedSince", "--shard", "-t", "--testNamePattern"), True),
        **dict.fromkeys(("--testFailureExitCode", "--coverageReporters", "--workerIdleMemoryLimit"), True),
    },
    "node": {
        **dict.fromkeys(("--watch", "--test-only", "--experimental-test-coverage", "--test-update-snapshots"), False),
        **dict.fromkeys(("--test-reporter", "--test-reporter-destination", "--test-name-pattern"), True),
        **dict.fromkeys(
            ("--test-shard", "--test-skip-pattern", "--test-isolation", "--experimental-test-isolation"), True
        ),
    },
}
_DROPPED_PREFIXES = (
    "--coverage.",
    "--coverage-",
    "--coverage",
    "--outputFile.",
    "--test-coverage",
    "--collectCoverage",
)
JEST_WITH_MEMORY_LIMIT = 29
_ONE_PROCESS = ("-i", "--runInBand")
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a call is to run: the files a rerun is about, none for all; the canary comes with either."""

    files: tuple[str, ...] = ()
    canary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A runner's own script, relative to the folder it is called in, and its version; both empty for node's own."""

    entry: str = ""
    version: str = ""

    @property
    def major(self) -> int:
        found = re.match(r"\d+", self.version)
        return int(found[0]) if found else 0


def command(call: RunnerCall, installed: Installed, selection: Selection, cache: Path, folder: Path) -> tuple[str, ...]:
    """The argv of a call in `folder`; `cache` is a folder that is new."""
    kept = kept_words(call, folder)
    if call.flavour == "node":
        return _node(call, kept, selection)
    runner = ("node", *call.node_words, installed.entry)
    if call.flavour == "vitest":
        return (*runner, *_vitest(kept, selection))
    return (*runner, *_jest(kept, selection, installed, cache))


def kept_words(call: RunnerCall, folder: Path) -> tuple[str, ...]:
    """The words of a call that say where its tests are and how they are run."""
    kept: list[str] = []
    words = list(call.words)
    while words:
        word = words.pop(0)
        name, equals, _ = word.partition("=")
        if name in _DROPPED[call.flavour]:
            has_value = _DROPPED[call.flavour][name] or (name in ("-b", "--bail") and words[:1] and words[0].isdigit())
            if has_value and not equals and words:
                words.pop(0)
        elif not name.startswith(_DROPPED_PREFIXES):
            kept.extend(_expanded(word, folder))
    return tuple(kept)


def is_restricted(call: RunnerCall) -> bool:
    """Whether the call names places to look for tests."""
    return any(not word.startswith("-") for word in kept_words(call, Path("/nowhere")))


def _vitest(kept: tuple[str, ...], selection: Selection) -> tuple[str, ...]:
    options, places = _split(kept)
    return (
        *("run", f"--reporter={REPORTERS / 'vitest.mjs'}", "--bail=0", "--coverage.enabled=false", "--no-color"),
        *options,
        *_places(places, selection),
    )


def _jest(kept: tuple[str, ...], selection: Selection, installed: Installed, cache: Path) -> tuple[str, ...]:
    options, places = _split(kept)
    by_path = ("--runTestsByPath",) if selection.files and "--runTestsByPath" not in options else ()
    return (
        *("--ci", f"--reporters={REPORTERS / 'jest.cjs'}", "--bail=0", "--testFailureExitCode=1", "--coverage=false"),
        *("--watchman=false", f"--cacheDirectory={cache}"),
        *_in_workers(options, installed),
        *by_path,
        *_places(places, selection),
    )


def _in_workers(options: tuple[str, ...], installed: Installed) -> tuple[str, ...]:
    """The options so that no test is run in the process that reports: a limit of memory takes a worker.

    Older ones know no limit. They use workers for two files whose times are not known, which the canary and the
    new cache see to, unless the project asks for one process.
    """
    others = tuple(option for option in options if option not in _ONE_PROCESS)
    if installed.major >= JEST_WITH_MEMORY_LIMIT:
        return ("--workerIdleMemoryLimit=1000GB", *(("--maxWorkers=1",) if others != options else ()), *others)
    return options if others != options else ("--maxWorkers=2", *others)


def _node(call: RunnerCall, kept: tuple[str, ...], selection: Selection) -> tuple[str, ...]:
    options, places = _split(kept)
    return (
        *("node", *call.node_words, "--test", f"--test-reporter={REPORTERS / 'node.mjs'}"),
        "--test-reporter-destination=stdout",
        *options,
        *_places(places, selection),
    )


def _places(places: tuple[str, ...], selection: Selection) -> tuple[str, ...]:
    """Where no place is named the runner looks everywhere, and finds the canary by itself."""
    wanted = selection.files or places
    return (*wanted, selection.canary) if wanted and selection.canary else wanted


def _split(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Options with their values, and the places; `--config x` is told from a place by the file that x is."""
    options: list[str] = []
    places: list[str] = []
    value_follows = False
    for word in words:
        if word.startswith("-") or value_follows:
            options.append(word)
            value_follows = word in _WITH_VALUE
        else:
            places.append(word)
    return tuple(options), tuple(places)


_WITH_VALUE = frozenset(
    {
        *("-c", "--config", "-r", "--root", "--dir", "--project", "--environment", "--pool", "--mode", "--globals"),
        *("--rootDir", "--selectProjects", "--env", "--testEnvironment", "--setupFiles", "--testMatch", "--testRegex"),
        *("--testPathIgnorePatterns", "--testTimeout", "--preset", "--roots", "--projects", "--exclude"),
        *("--import", "--require", "--loader", "--experimental-loader", "--test-concurrency", "--test-timeout"),
        *("--testPathPattern", "--testPathPatterns", "--maxConcurrency", "--minWorkers", "--maxWorkers", "-w"),
    }
)


def _expanded(word: str, folder: Path) -> tuple[str, ...]:
    """A place with signs as the shell, or a newer node, would expand it."""
    if word.startswith(("-", "/")) or not _GLOB.search(word) or ".." in word.split("/"):
        return (word,)
    try:
        found = sorted(path.relative_to(folder).as_posix() for path in folder.glob(word.removeprefix("./")))
    except (ValueError, NotImplementedError, OSError):
        return (word,)
    return tuple(found) or (word,)
