"""What a `Verify:` line says by itself: the test runners that it calls, and whether it calls anything else."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, field
from pathlib import PurePath

from milepost.verify.programs.command_line import has_shell_signs, module_arguments
from milepost.verify.selection.selection import SelectedRunner, Selection
from milepost.verify.suites.runners.package_json import call_of

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_MODULES: dict[str, SelectedRunner] = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "doctest": "doctest",
}
_SHELLS = ("sh", "bash", "dash", "zsh")
_SAYS_NOTHING = ("true", ":", "set")

# Programs that start the one named after their options; the options that have a value as a word of its own.
_WRAPPERS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("uv", "run"): ("--with", "--python", "-p", "--extra", "--group", "--package", "--env-file", "--with-requirements"),
    **{(manager, "run"): () for manager in ("poetry", "pdm", "pipenv", "rye", "hatch")},
    **{(manager, "exec"): () for manager in ("npm", "pnpm", "yarn")},
    **{(program,): () for program in ("npx", "bunx", "pnpm", "yarn", "time", "exec", "command", "cross-env")},
    ("nice",): ("-n",),
    ("timeout",): ("-k", "-s"),
    ("coverage", "run"): ("--rcfile", "--source", "--include", "--omit", "--context", "--data-file"),
}
_ELSEWHERE = ("--directory", "--project", "-C", "--prefix", "--dir", "--cwd", "-w", "--workspace", "-F", "--filter")

# Words with which a runner runs no test, or chooses them by something that only it knows.
_NOT_FOR_US: dict[SelectedRunner, tuple[str, ...]] = {
    "pytest": ("--collect-only", "--co", "--version", "-V", "--help", "-h", "--fixtures", "--markers", "--setup-plan"),
    "unittest": ("-h", "--help"),
    "doctest": ("-h", "--help"),
    "node": ("--test-shard",),
    "jest": ("--findRelatedTests", "--onlyChanged", "-o", "--changedSince", "--lastCommit", "--shard", "--listTests"),
    "vitest": ("--changed", "--shard", "bench", "list", "typecheck", "related", "--help", "--version"),
    "go": ("-c", "-list", "-n", "-fuzz"),
    "cargo": ("--no-run", "--list", "--help", "-h"),
}


_Called = tuple[SelectedRunner, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReading:
    """`is_runner`: the line does nothing but call these runners, each after the one before has passed."""

    selections: tuple[Selection, ...] = ()
    is_runner: bool = False


@dataclass(slots=True)
class _Reading:
    folder: str = ""
    env: dict[str, str] = field(default_factory=dict)
    selections: list[Selection] = field(default_factory=list)
    is_runner: bool = True


def read_line(line: str) -> LineReading:
    """The runners that a line calls by itself; what make, npm or a script start is not to be read from it."""
    reading = _Reading()
    _read(line, reading)
    return LineReading(
        selections=tuple(dict.fromkeys(reading.selections)),
        is_runner=reading.is_runner and bool(reading.selections),
    )


def selection_of(argv: tuple[str, ...], folder: str = "", env: dict[str, str] | None = None) -> Selection | None:
    """The selection that one command is, None where it is no test runner."""
    variables = dict(env or {})
    rest = _unwrapped(list(argv), variables)
    found = _called(rest, variables) if rest else None
    if found is None:
        return None
    runner, words, node_words = found
    if any(word.partition("=")[0] in _NOT_FOR_US[runner] for word in words):
        return None
    return Selection(
        runner=runner, words=words, folder=folder, env=tuple(sorted(variables.items())), node_words=node_words
    )


def _read(line: str, reading: _Reading) -> None:
    commands = _commands(line)
    if commands is None:
        reading.is_runner = False
        return
    for words in commands:
        _read_command(words, reading)


def _commands(line: str) -> list[tuple[str, ...]] | None:
    """The commands of `a && b`, None for a line that only a shell understands."""
    if has_shell_signs(line.replace("&&", " ")):
        return None
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&")
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    commands: list[tuple[str, ...]] = [()]
    for word in tokens:
        if word == "&&":
            commands.append(())
        else:
            commands[-1] = (*commands[-1], word)
    return [words for words in commands if words]


def _read_command(words: tuple[str, ...], reading: _Reading) -> None:
    match words:
        case ("cd", place) if not place.startswith(("/", "-", "~")):
            reading.folder = posixpath.normpath(posixpath.join(reading.folder, place)).removeprefix(".")
            reading.is_runner &= not reading.folder.startswith(".")
        case (name, *_) if name in _SAYS_NOTHING:
            pass
        case ("source" | ".", script) if script.endswith("/bin/activate"):
            pass
        case ("export", *pairs) if pairs and all(_ASSIGNMENT.fullmatch(pair) for pair in pairs):
            reading.env |= dict(pair.split("=", 1) for pair in pairs)
        case (shell, option, script) if PurePath(shell).name in _SHELLS and option in ("-c", "-ec", "-lc"):
            inner = _Reading(folder=reading.folder, env=dict(reading.env))
            _read(script, inner)
            reading.selections += inner.selections
            reading.is_runner &= inner.is_runner and bool(inner.selections)
        case _:
            found = selection_of(words, reading.folder, reading.env)
            reading.is_runner &= found is not None
            reading.selections += [found] if found else []


def _unwrapped(words: list[str], env: dict[str, str]) -> list[str]:
    """The command behind assignments and programs that only start it; empty where one goes elsewhere."""
    while words:
        if assigned := _ASSIGNMENT.fullmatch(words[0]):
            env[assigned[1]] = assigned[2]
            words = words[1:]
        elif words[0] == "env" and words[1:2] != ["-"]:
            words = words[1:]
        elif wrapper := next((each for each in _WRAPPERS if _starts_with(words, each)), None):
            words = _after_options(words[len(wrapper) :], _WRAPPERS[wrapper])
            words = words[1:] if wrapper == ("timeout",) else words
            if wrapper == ("coverage", "run") and words[:1] == ["-m"]:
                return ["python", *words]
        elif (inner := module_arguments(tuple(words))) and inner[0] == "coverage":
            words = list(inner)
        else:
            return words
    return []


def _starts_with(words: list[str], wrapper: tuple[str, ...]) -> bool:
    return (PurePath(words[0]).name, *words[1 : len(wrapper)]) == wrapper


def _after_options(words: list[str], with_value: tuple[str, ...]) -> list[str]:
    while words and words[0].startswith("-") and words[0] != "-m":
        if words[0].partition("=")[0] in _ELSEWHERE:
            return []
        words = words[2:] if words[0] in with_value else words[1:]
    return words


def _called(words: list[str], env: dict[str, str]) -> _Called | None:
    program, rest = PurePath(words[0]).name, tuple(words[1:])
    if program in ("pytest", "py.test"):
        return "pytest", rest, ()
    if module := module_arguments(tuple(words)):
        known = _MODULES.get(module[0])
        return (known, module[1:], ()) if known else None
    if program == "go" and rest[:1] == ("test",):
        return "go", rest[1:], ()
    if program == "cargo":
        if rest and rest[0].startswith("+"):
            env["RUSTUP_TOOLCHAIN"] = rest[0][1:]
            rest = rest[1:]
        return ("cargo", rest[1:], ()) if rest[:1] in (("test",), ("t",)) else None
    call = call_of([program, *rest])
    if call is None:
        return None
    if call.flavour == "node":
        return "node", (*call.node_words, "--test", *call.words), ()
    return call.flavour, call.words, call.node_words
