"""What is done to build an artifact and to try it, as data: steps of commands, with names in the place of folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from milepost.core.shipping import ArtifactKind

# `{python}` the project's interpreter, `{kit}` tools made once for all, `{more}` for this one alone, `{tree}` a clean
# checkout, `{out}` what is built, `{file}` the artifact, `{trial}` a new folder in which it is tried, `{browser}` a
# browser if there is one.
_PLACE = re.compile(r"\{(python|kit|more|tree|out|file|trial|browser)\}")
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*\s*(\[[\w.,\s-]*\])?\s*\(?([<>=!~][^@;/\\]*)?\)?\s*(;[^@]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command. `tool` names the installer whose settings and network it gets; without one it gets neither.

    With `gives`, each line that it prints is a requirement, and later steps have them in the place of `{gives}`: one
    that would get none is left out.
    """

    argv: tuple[str, ...]
    tool: str = ""
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    gives: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A command that shows that an artifact runs. One that `may_stay`, as a server does, need not come to an end."""

    argv: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    may_stay: bool = False
    cwd: str = "{trial}"
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one artifact is built. `programs` must be on PATH. `generated` are files that the project lacks; `offered`
    are others that it could have, and that the build does without.

    `prepare` makes the kit, without any file of the project; `ready` is run with the first checkout, `build` in each.
    """

    kind: ArtifactKind
    programs: tuple[str, ...] = ()
    generated: Mapping[str, bytes] = field(default_factory=dict)
    offered: Mapping[str, bytes] = field(default_factory=dict)
    prepare: tuple[Step, ...] = ()
    ready: tuple[Step, ...] = ()
    build: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A package that an artifact contains or needs; `digest` as `sha256:…` or `sha512:…`."""

    purl: str
    name: str
    version: str
    licence: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What was built: the artifact itself, and what belongs to it, all in one folder."""

    path: Path
    name: str
    version: str
    sha256: str
    size: int
    start: tuple[str, ...] = ()
    others: tuple[Path, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How an artifact is shown to run: it is installed, as by whoever will use it, and then called.

    `said` is what that shows, in words; empty where the last call prints it.
    """

    install: tuple[Step, ...] = ()
    calls: tuple[Call, ...]
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the settings say: how an artifact is started, the words that it is tried with, what an image stands on."""

    command: tuple[str, ...] = ()
    trial: tuple[str, ...] = ()
    base: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The tree that is packaged: its files, the time of its commit, which programs are at hand."""

    name: str
    files: tuple[str, ...]
    read: Callable[[str], bytes | None]
    time: int
    has: Callable[[str], bool]
    options: Options = Options()


class Kind(Protocol):
    """Knows how artifacts of one kind are built. `version` changes with the way that they are."""

    @property
    def kind(self) -> ArtifactKind: ...
    @property
    def version(self) -> str: ...
    def recipe(self, source: Source) -> Recipe: ...

    def collect(self, source: Source, tree: Path, out: Path, draft: Path) -> Product:
        """Take over into `draft`, which no guest can reach, what the steps built."""
        ...

    def trial(self, source: Source, product: Product) -> Trial: ...

    def components(self, source: Source, tree: Path, trial: Path) -> tuple[Component, ...]:
        """What the artifact contains or needs, by lock files and by what its installation brought."""
        ...


def filled(step: Step, places: Mapping[str, str], given: Mapping[str, tuple[str, ...]]) -> Step | None:
    """A step with folders and requirements in the place of their names; None where it would have nothing to do."""
    argv: list[str] = []
    for word in step.argv:
        if word[:1] + word[-1:] == "{}" and word[1:-1] in given:
            if not given[word[1:-1]]:
                return None
            argv.extend(given[word[1:-1]])
        else:
            argv.append(in_places(word, places))
    env = {name: in_places(value, places) for name, value in step.env.items()}
    return replace(step, argv=tuple(argv), cwd=in_places(step.cwd, places), env=env)


def in_places(text: str, places: Mapping[str, str]) -> str:
    """The text with folders in the place of their names."""
    return _PLACE.sub(lambda found: places.get(found[1], found[0]), text)


def is_requirement(line: str) -> bool:
    """Whether a line asks for a package by its name: no option of an installer, no address, no path."""
    return _REQUIREMENT.fullmatch(line.strip()) is not None


def trial_call(argv: tuple[str, ...], options: Options) -> Call:
    """The call of a program with what the settings say, or else for its help.

    A program that knows no `--help` may say how it is used and end with 2, or go on as a server does.
    """
    if options.trial:
        return Call(argv=(argv[0], *options.trial), may_stay=True)
    return Call(argv=(*argv, "--help"), codes=(0, 2, 64), may_stay=True)
