"""What a package.json says about its tests: which runners its test script calls, and how."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from milepost.sandbox.read_plain import read_plain

Flavour = Literal["vitest", "jest", "node"]

DEEPEST_SCRIPT = 5
LARGEST_FILE = 1_000_000

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_PLACEHOLDER = "no test specified"
_NEEDS_A_SHELL = re.compile(r"\|\||[|;<>`$()]|(?<!&)&(?!&)")
_WRAPPERS = ("cross-env", "env", "npx", "c8", "nyc", "--", "exec", "dotenv")
_MANAGERS = ("npm", "pnpm", "yarn")
_ENTRY = re.compile(r"(?:.*/)?node_modules/(?:\.bin/)?(vitest|jest)(?:/.*)?$")
_WORKSPACE_RUN = re.compile(
    r"--workspaces|\bworkspaces? (?:run|foreach)\b|\s-r\b|--recursive|\b(?:turbo|nx|lerna|wireit|--filter)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerCall:
    """One call of a test runner: the runner, what goes before it to node, its own words, and variables."""

    flavour: Flavour
    words: tuple[str, ...] = ()
    node_words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NpmTestScript:
    """A test script taken apart. `others` are its commands that are no runner, as (command, comes before the tests)."""

    calls: tuple[RunnerCall, ...] = ()
    others: tuple[tuple[str, bool], ...] = ()
    text: str = ""

    @property
    def runs_workspaces(self) -> bool:
        return bool(_WORKSPACE_RUN.search(self.text))


def read(folder: Path) -> dict[str, Any] | None:
    """The package.json of a folder, None where there is none that can be read."""
    path = folder / "package.json"
    return None if path.is_symlink() else _read(path)


def read_installed(folder: Path) -> dict[str, Any] | None:
    """The package.json of an installed package, which may lie behind links."""
    return _read(folder / "package.json")


def entry_of(package: Mapping[str, Any], name: str) -> str:
    """The script that an installed package offers as the command `name`."""
    offered = package.get("bin")
    return offered if isinstance(offered, str) else _texts(offered).get(name, "")


def script_of(package: Mapping[str, Any]) -> NpmTestScript:
    """The test script taken apart; without one, the runner that the package depends on."""
    scripts = _texts(package.get("scripts"))
    text = scripts.get("test", "")
    if not text or _PLACEHOLDER in text:
        return NpmTestScript(calls=tuple(RunnerCall(flavour=name) for name in _dependencies(package)))
    parts: list[RunnerCall | str] = []
    for name in ("pretest", "test", "posttest"):
        if scripts.get(name):
            parts.extend(_parts(scripts[name], scripts, DEEPEST_SCRIPT))
    places = [at for at, part in enumerate(parts) if isinstance(part, RunnerCall)]
    if not places:
        return NpmTestScript(text=text)
    return NpmTestScript(
        calls=tuple(part for part in parts if isinstance(part, RunnerCall)),
        others=tuple((part, at < places[-1]) for at, part in enumerate(parts) if isinstance(part, str)),
        text=text,
    )


def depends_on(package: Mapping[str, Any], name: str) -> bool:
    return any(name in _texts(package.get(kind)) for kind in ("devDependencies", "dependencies"))


def _dependencies(package: Mapping[str, Any]) -> tuple[Flavour, ...]:
    names: tuple[Flavour, ...] = ("vitest", "jest")
    return tuple(name for name in names if depends_on(package, name))[:1]


def _parts(script: str, scripts: Mapping[str, str], depth: int) -> list[RunnerCall | str]:
    """The commands of a script in order: calls of runners, and the text of the others."""
    if _NEEDS_A_SHELL.search(script):
        return [script]
    found: list[RunnerCall | str] = []
    for command in script.split("&&"):
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            return [script]
        other = _other_script(words, scripts)
        if other and depth:
            found.extend(_parts(scripts[other], scripts, depth - 1))
        elif words:
            found.append(call_of(words) or command.strip())
    return found


def _other_script(words: list[str], scripts: Mapping[str, str]) -> str:
    """The script that `npm run x` names, when nothing is added to it."""
    if not words or words[0] not in _MANAGERS:
        return ""
    rest = [word for word in words[1:] if word not in ("run", "run-script", "-s", "--silent")]
    return rest[0] if len(rest) == 1 and rest[0] in scripts else ""


def call_of(words: list[str]) -> RunnerCall | None:
    """The call of a runner that these words are, None for any other command."""
    env: dict[str, str] = {}
    while words:
        if assigned := _ASSIGNMENT.fullmatch(words[0]):
            env[assigned[1]] = assigned[2]
        elif words[0] not in (*_WRAPPERS, *_MANAGERS):
            break
        words = words[1:]
    if not words:
        return None
    program, rest = words[0], words[1:]
    if program in ("vitest", "jest"):
        return RunnerCall(flavour="vitest" if program == "vitest" else "jest", words=tuple(rest), env=env)
    if program == "tsx" and "--test" in rest:
        return _node_call(("--import", "tsx"), rest, env)
    if program != "node":
        return None
    for at, word in enumerate(rest):
        if entry := _ENTRY.match(word):
            flavour: Flavour = "vitest" if entry[1] == "vitest" else "jest"
            return RunnerCall(flavour=flavour, words=tuple(rest[at + 1 :]), node_words=tuple(rest[:at]), env=env)
    return _node_call((), rest, env) if "--test" in rest else None


def _node_call(before: tuple[str, ...], rest: list[str], env: dict[str, str]) -> RunnerCall:
    at = rest.index("--test")
    return RunnerCall(flavour="node", words=tuple(rest[at + 1 :]), node_words=(*before, *rest[:at]), env=env)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(read_plain(path, LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _texts(value: Any) -> dict[str, str]:
    return {key: text for key, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}
