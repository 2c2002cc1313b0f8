"""Building an artifact: the steps of a recipe in the sandbox, twice, and what came of it tried once.

The only module of packaging that starts commands. Whatever may run code of the project or of a package has no network,
and can write to one folder that nobody trusts afterwards.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from milepost.core.commands import Command, CommandResult, ending_in_words
from milepost.core.errors import PackageFailed
from milepost.core.machine_failure import machine_failure
from milepost.core.ports import Terminal
from milepost.core.shipping import ArtifactKind
from milepost.ship.guest_files import plain_files, sha256_of
from milepost.ship.recipe import Call, Component, Kind, Product, Source, Step, filled, in_places, is_requirement

STAYED_S = 10.0
_SAID_LINES = 12
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SAME = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "CI": "1"}


class Installers(Protocol):
    """Runs a command that may write to `entry` alone; with the settings and network of the installer `tool`."""

    def run(
        self,
        argv: tuple[str, ...],
        entry: Path,
        *,
        tool: str = "",
        env: Mapping[str, str] | None = None,
        readable: tuple[Path, ...] = (),
        cwd: Path | None = None,
    ) -> CommandResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """Where artifacts are built: a new folder, whoever runs installers there, whoever runs what was built.

    `kit` gives the folder of tools that was made of a text, or has it made in the empty folder that is handed on.
    `checkout` makes a clean one of a name, each time in another folder; `say` hears what takes its time.
    """

    work: Path
    kit: Callable[[str, Callable[[Path], None]], Path]
    installers: Installers
    terminal: Terminal
    checkout: Callable[[str], Path]
    python: Path
    readable: tuple[Path, ...]
    path: str
    has: Callable[[str], bool]
    timeout_s: float
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """An artifact that was built twice with one digest and has run; `argv` are the commands as the recipe has them."""

    product: Product
    argv: tuple[tuple[str, ...], ...]
    ran: str
    generated: Mapping[str, bytes]
    components: tuple[Component, ...]
    duration_ms: int


def build(kind: Kind, source: Source, workshop: Workshop, draft: Path) -> Built:
    """Build an artifact into `draft`, which is not the guests' to reach; raises where it is not the same twice."""
    try:
        return _Building(kind, source, workshop, draft).all()
    except OSError as error:
        if failure := machine_failure(error, "cannot build the package"):
            raise failure from error
        raise


@dataclass(kw_only=True)
class _Round:
    """One of the two builds."""

    entry: Path
    tree: Path
    product: Product | None = None


class _Building:
    def __init__(self, kind: Kind, source: Source, workshop: Workshop, draft: Path) -> None:
        self._kind, self._source, self._shop, self._draft = kind, source, workshop, draft
        self._recipe = kind.recipe(source)
        browser = next((name for name in _BROWSERS if workshop.has(name)), "")
        self._more = workshop.work / "more"
        self._places = {"python": str(workshop.python), "more": str(self._more), "browser": browser}
        self._given: dict[str, tuple[str, ...]] = {}
        self._ran: list[tuple[str, ...]] = []

    def all(self) -> Built:
        started = time.monotonic()
        self._require_programs()
        self._more.mkdir()
        self._kit = self._more
        if self._recipe.prepare:
            self._kit = self._shop.kit(f"{self._shop.python} {self._recipe.prepare}", self._prepare)
            for step in self._recipe.prepare:
                self._note(step.argv)
        self._places["kit"] = str(self._kit)
        first = self._built("first")
        second = self._built("second")
        product = self._require_same(first, second)
        trial, ran = self._tried(product)
        return Built(
            product=product,
            argv=tuple(self._ran),
            ran=ran,
            generated={**self._recipe.generated, **self._recipe.offered},
            components=self._kind.components(self._source, first.tree, trial),
            duration_ms=round((time.monotonic() - started) * 1000),
        )

    def _note(self, argv: tuple[str, ...]) -> None:
        """Write a command down, without the text of scripts."""
        self._ran.append(tuple("<script>" if "\n" in word else word for word in argv))

    def _prepare(self, kit: Path) -> None:
        self._shop.say("preparing the tools that build it")
        self._run(self._recipe.prepare, kit, {"kit": str(kit)}, note=False)

    def _require_programs(self) -> None:
        missing = [name for name in self._recipe.programs if not self._shop.has(name)]
        if missing:
            raise PackageFailed(f"{', '.join(missing)} is needed to build this, and not on PATH", "install it")

    def _built(self, name: str) -> _Round:
        self._shop.say(f"building it in a clean checkout ({name} of two)")
        tree = self._shop.checkout(name)
        made = _Round(entry=tree.parent, tree=tree)
        for path, content in self._recipe.generated.items():
            (tree / path).unlink(missing_ok=True)  # a commit may have a link there
            (tree / path).write_bytes(content)
        for file in (tree, *plain_files(tree, tree)):
            os.utime(file, (self._source.time, self._source.time))
        out = made.entry / "out"
        out.mkdir()
        places = {"tree": str(tree), "out": str(out)}
        if name == "first":
            self._run(self._recipe.ready, made.entry, places, fetching_into=self._more)
        self._run(self._recipe.build, made.entry, places, note=name == "first")
        folder = self._draft if name == "first" else self._shop.work / name
        folder.mkdir(exist_ok=True)
        made.product = self._kind.collect(self._source, tree, out, folder)
        return made

    def _require_same(self, first: _Round, second: _Round) -> Product:
        assert first.product is not None and second.product is not None
        if difference := _difference(first.product, second.product):
            raise PackageFailed(
                f"it was built twice from one tree and is not the same: {difference}",
                "let the build write no time, random name or path of its folder; SOURCE_DATE_EPOCH is set",
            )
        return first.product

    def _tried(self, product: Product) -> tuple[Path, str]:
        """Install it as whoever will use it does, and call it; raises where it does not run."""
        trial = self._shop.work / "trial"
        trial.mkdir()
        planned = self._kind.trial(self._source, product)
        self._shop.say("trying it")
        places = {"file": str(product.path), "trial": str(trial), "out": str(product.path.parent)}
        self._run(planned.install, trial, places)
        said = [self._call(call, trial, places) for call in planned.calls]
        return trial, planned.said or said[-1]

    def _call(self, call: Call, trial: Path, places: Mapping[str, str]) -> str:
        """The last line that a call prints; raises where it is not as it should be."""
        everywhere = {**self._places, **places}
        argv = tuple(in_places(word, everywhere) for word in call.argv)
        timeout_s = STAYED_S if call.may_stay else self._shop.timeout_s
        result = self._shop.terminal.run(
            Command(
                argv=argv,
                cwd=Path(in_places(call.cwd, everywhere)),
                scratch=trial / "scratch",
                env={"PATH": self._shop.path, **{k: in_places(v, everywhere) for k, v in call.env.items()}},
                timeout_s=timeout_s,
                readable=self._readable,
                writable=(trial,),
            )
        )
        self._note(call.argv)
        stayed = call.may_stay and result.termination == "timeout"
        if stayed or (result.termination == "exited" and result.exit_code in call.codes):
            return next(iter(reversed(result.stdout.strip().splitlines())), "")
        words = _words(result, call.argv[0].rpartition("/")[2], timeout_s)
        self._tell(result)
        advice = "" if self._recipe.kind is ArtifactKind.STATIC else "say what it is tried with: trial in [package]"
        raise PackageFailed(f"it was built, but does not run: {words}", advice)

    def _run(
        self,
        steps: tuple[Step, ...],
        entry: Path,
        places: Mapping[str, str] | None = None,
        *,
        fetching_into: Path | None = None,
        note: bool = True,
    ) -> None:
        everywhere = {**self._places, **(places or {})}
        for step in steps:
            ready = filled(step, everywhere, self._given)
            if ready is None:
                continue
            # What only fetches or installs tools writes to where they are; it gets no file of the project to run.
            own = entry if fetching_into is None or step.gives else fetching_into
            result = self._shop.installers.run(
                ready.argv,
                own,
                tool=ready.tool,
                env={**_SAME, "SOURCE_DATE_EPOCH": str(self._source.time), **ready.env},
                readable=(*self._readable, *((entry,) if own is not entry else ())),
                cwd=Path(ready.cwd) if ready.cwd else None,
            )
            if note:
                self._note(step.argv)
            if not result.succeeded:
                self._tell(result)
                raise PackageFailed(
                    f"the build failed: {_words(result, _program(step.argv), self._shop.timeout_s)}",
                    "the last lines of its output are above" if result.stdout or result.stderr else "",
                )
            if step.gives:
                self._given[step.gives] = _requirements(result.stdout)

    @property
    def _readable(self) -> tuple[Path, ...]:
        kit = Path(self._places.get("kit", self._more))
        return (*self._shop.readable, kit, self._more, self._draft)

    def _tell(self, result: CommandResult) -> None:
        lines = [line.rstrip() for line in f"{result.stdout}\n{result.stderr}".splitlines() if line.strip()]
        for line in lines[-_SAID_LINES:]:
            self._shop.say(f"  {line}")


def _requirements(printed: str) -> tuple[str, ...]:
    lines = tuple(line.strip() for line in printed.splitlines() if line.strip())
    for line in lines:
        if not is_requirement(line):
            raise PackageFailed(
                f"the build asks for {line[:100]!r}, which is not a package by its name", "let it name packages"
            )
    return lines


def _words(result: CommandResult, program: str, timeout_s: float) -> str:
    said = [line.strip() for line in (result.stderr.strip() or result.stdout.strip()).splitlines() if line.strip()]
    last = f": {said[-1][:300]}" if said else ""
    return f"{program} {ending_in_words(result, program=program, timeout_s=timeout_s)}{last}"


def _program(argv: tuple[str, ...]) -> str:
    return argv[argv.index("-m") + 1] if "-m" in argv else argv[0].rpartition("/")[2]


def _difference(first: Product, second: Product) -> str:
    """Where two builds differ, in a line; empty where they do not."""
    pairs = zip(first.others, second.others, strict=False)
    others = [one.name for one, other in pairs if sha256_of(one) != sha256_of(other)]
    if first.sha256 == second.sha256:
        return f"{', '.join(others)} differs" if others else ""
    if first.path.is_dir() and second.path.is_dir():
        ours = {file.relative_to(first.path): sha256_of(file) for file in plain_files(first.path, first.path)}
        theirs = {file.relative_to(second.path): sha256_of(file) for file in plain_files(second.path, second.path)}
        names = sorted(str(name) for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        return f"{', '.join(names[:3])} differ{'s' if len(names) == 1 else ''}"
    return f"{first.path.name}, sha256 {first.sha256[:12]} and {second.sha256[:12]}"
