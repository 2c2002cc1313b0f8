"""Tests of one file, run as a plain program in the sandbox."""

from __future__ import annotations

import ast
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, cast

from milepost.core.commands import CommandResult
from milepost.verify.at_home import home_in, login
from milepost.verify.command_runner import last_line
from milepost.verify.judging.paths import JAVASCRIPT, PYTHON, suffix
from milepost.verify.plain.hide import TOO_MANY, files_to_hide, given_by, out_of_sight
from milepost.verify.plain.javascript_file import PlainScript, plain_javascript
from milepost.verify.plain.memorised import Seen
from milepost.verify.plain.memorised import Word as Asked
from milepost.verify.plain.observing_javascript import observing_javascript
from milepost.verify.plain.observing_python import observing_python
from milepost.verify.plain.python_file import PlainFile, plain_python
from milepost.verify.suites.python_project import source_folder
from milepost.verify.suites.runners.sealed import fresh
from milepost.verify.trees import Tree
from milepost.verify.witness.runner import GUEST as WITNESS
from milepost.verify.witness.runner import NO_INTERPRETER
from milepost.verify.witness.stream import Hearing, Testimony
from milepost.verify.witness.swap import read_plainly

GUEST = Path(__file__).parent / "guest"
ENDED = "the program ended by itself"

Leaf = str | int | float | bytes
Word = Literal["passed", "failed", "broke", "unfit", "apart"]
Endings = Mapping[str, tuple[Word, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRun:
    """How the tests ended, by their places: `failed` by a comparison, `broke` by another failure that is the product's
    or the test's own, `unfit` where only a runner has what they need, `apart` where it may be the surroundings.

    `later` are those that passed and ended otherwise when they were run once more in the same process, backwards or
    for the tenth time. Where the file could not be run at all, `problem` says why.
    """

    endings: Endings = field(default_factory=dict)
    later: Endings = field(default_factory=dict)
    problem: str = ""
    result: CommandResult | None = None

    def and_passed_in(self, again: PlainRun) -> PlainRun:
        """The same, where what passed in another run has passed."""
        passed = {place: ending for place, ending in again.endings.items() if ending[0] == "passed"}
        return replace(self, endings={**self.endings, **passed})


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """How other values are drawn: by `seed`, with `words` of the product among them, in the place of `leaves`, or of
    whatever the tests are found to have. What is `compared` is said in words that another version can be held to, and
    much larger values are tried as well."""

    seed: str
    words: tuple[str | int, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    compared: bool = False

    def order(self) -> dict[str, Any]:
        """The same as plain values."""
        words, leaves = list(self.words), list(self.leaves)
        return {"seed": self.seed, "words": words, "leaves": leaves, "compared": self.compared}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What the product was asked, and the values of the tests that were replaced."""

    seen: tuple[Seen, ...] = ()
    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainProgram:
    """A test file of a tree. `folder` is its suite's, where the runner is started; `tests` are all files with tests."""

    tree: Tree
    path: str
    folder: str = ""
    tests: frozenset[str] = frozenset()

    @property
    def language(self) -> str:
        return "Python" if suffix(self.path) in PYTHON else "JavaScript" if suffix(self.path) in JAVASCRIPT else ""

    def run(self, places: tuple[str, ...], *, given: bool = False) -> PlainRun:
        """Run the tests at these places in the file; nothing of a runner is in the process, nor a test in sight.

        With `given` the files are in sight that the tests may hand to the product.
        """
        checkout = self.tree.workspace.folder
        source = read_plainly(checkout, self.path)
        hidden = self.hidden()
        if source is None or hidden is None:
            return PlainRun(problem=TOO_MANY if source is not None else f"there is no {self.path}")
        if given:
            known = given_by(source.decode("utf-8", "replace"), hidden) - self.tests
            hidden = tuple(path for path in hidden if path not in known)
        with self._room() as room:
            if self.language == "Python":
                return self._run_python(places, room, hidden)
            return self._run_javascript(source, places, room, hidden)

    def observe(self, places: tuple[str, ...], others: Others) -> Observed:
        """What the product answers the tests at these places with their own values and with others, in one process."""
        checkout = self.tree.workspace.folder
        source = read_plainly(checkout, self.path)
        hidden = self.hidden()
        if source is None or hidden is None:
            return Observed()
        with self._room() as room:
            if self.language == "Python":
                return self._observe_python(source, places, room, hidden, others)
            return self._observe_javascript(source, places, room, hidden, others)

    @contextmanager
    def _room(self) -> Iterator[Path]:
        """A folder with what runs the tests, under a name that says nothing."""
        room = self.tree.workspace.scratch / secrets.token_hex(4)
        shutil.copytree(GUEST, room, ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
        try:
            yield room
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def hidden(self) -> tuple[str, ...] | None:
        """The files that are out of sight while it runs; None where they are too many."""
        return files_to_hide(self.tree.workspace.folder, self.tests | {self.path})

    def plain(self) -> PlainFile:
        """The file as a plain Python module."""
        checkout = self.tree.workspace.folder
        for folder in PurePosixPath(self.path).parents:
            if b"autouse" in (read_plainly(checkout, str(folder / "conftest.py")) or b""):
                return PlainFile(problem=f"{folder / 'conftest.py'} has fixtures that its tests do not name")
        return plain_python(read_plainly(checkout, self.path) or b"", str(checkout / self.path))

    def _run_python(self, places: tuple[str, ...], room: Path, hidden: tuple[str, ...]) -> PlainRun:
        plain = self.plain()
        if self.tree.bench.interpreter is None or plain.problem:
            return PlainRun(problem=plain.problem or NO_INTERPRETER)
        names = {plain.names[place]: place for place in places if place in plain.names}
        result, said = self._python(plain, tuple(names), room, hidden)
        facts = [tuple(map(self.tree.bench.redact, fact)) for fact in said.facts]
        crash = next((fact[1] for fact in facts if fact[0] == "crash"), "")
        problem = crash or ("something else wrote where the results are told" if said.disturbed else "")
        results = [(fact[0], names[fact[1]], fact[2]) for fact in facts if len(fact) == 3]
        told = _told(results, problem, result, places=names.values(), began=bool(facts), ended=("end",) in facts)
        later = {names[fact[2]]: (cast(Word, fact[1]), fact[3]) for fact in facts if len(fact) == 4}
        return replace(told, later=later)

    def _observe_python(
        self, source: bytes, places: tuple[str, ...], room: Path, hidden: tuple[str, ...], others: Others
    ) -> Observed:
        plain = observing_python(source, str(self.tree.workspace.folder / self.path))
        if self.tree.bench.interpreter is None or plain.problem:
            return Observed()
        names = tuple(plain.names[place] for place in places if place in plain.names)
        _, said = self._python(plain, names, room, hidden, repr(others.order()))
        seen = (fact[1:] for fact in said.facts if fact[0] == "saw" and len(fact) == 7)
        leaves = next((fact[1] for fact in said.facts if fact[0] == "leaves"), "[]")
        if said.disturbed:
            return Observed()
        return Observed(seen=tuple(_seen(*words) for words in seen), leaves=tuple(ast.literal_eval(leaves)))

    def _python(
        self, plain: PlainFile, names: tuple[str, ...], room: Path, hidden: tuple[str, ...], order: str = ""
    ) -> tuple[CommandResult, Testimony]:
        """Run the steps of these names, and hear what is said of them."""
        interpreter = self.tree.bench.interpreter
        assert interpreter is not None
        (room / "steps.py").write_text(plain.source, encoding="utf-8")
        (room / "parts" / "__init__.py").touch()
        shutil.copy(WITNESS / "channel.py", room / "parts")
        key = secrets.token_hex(32)
        hearing = Hearing(bytes.fromhex(key))
        path = os.pathsep.join(self._import_path(interpreter.imports))
        plainly = replace(self.tree.bench, redact=str)  # signatures are over what was said, secrets and all
        with out_of_sight(self.tree.workspace.folder, hidden):
            result = plainly.run(
                (str(interpreter.path), "-I", "-B", str(room / "main.py")),
                self.tree.workspace,
                env={**self._at_home(room), "PYTHONDONTWRITEBYTECODE": "1", **({"PYTHONPATH": path} if path else {})},
                stdin=f"{key}\n{path}\n{' '.join(names)}\n{order}\n",
                cwd=self.folder,
                on_line=hearing.hear,
                lines_are_signed=True,
            )
        return result, hearing.testimony()

    def _run_javascript(self, source: bytes, places: tuple[str, ...], room: Path, hidden: tuple[str, ...]) -> PlainRun:
        checkout = self.tree.workspace.folder
        plain = plain_javascript(self.path, source, (checkout / self.path).parent, room / "kit.cjs")
        if plain.problem:
            return PlainRun(problem=plain.problem)
        result, report = self._node(plain, places, room, hidden)
        if isinstance(report, str):
            return PlainRun(problem=last_line(result.stderr) or result.error or report, result=result)
        redact = self.tree.bench.redact
        results = [(word, place, redact(text)) for word, place, text in report["results"]]
        told = _told(results, redact(report["crash"]), result, places=places, began=True, ended=report["ended"])
        later = {place: (cast(Word, word), redact(text)) for word, place, text in report["later"]}
        return replace(told, later=later)

    def _observe_javascript(
        self, source: bytes, places: tuple[str, ...], room: Path, hidden: tuple[str, ...], others: Others
    ) -> Observed:
        folder = (self.tree.workspace.folder / self.path).parent
        plain = observing_javascript(self.path, source, folder, room)
        if plain.problem:
            return Observed()
        _, report = self._node(plain, places, room, hidden, {"others": others.order()})
        if isinstance(report, str):
            return Observed()
        seen = tuple(_seen(*words) for words in report.get("seen", ()))
        return Observed(seen=seen, leaves=tuple(report.get("leaves", ())))

    def _node(
        self,
        plain: PlainScript,
        places: tuple[str, ...],
        room: Path,
        hidden: tuple[str, ...],
        more: Mapping[str, Any] | None = None,
    ) -> tuple[CommandResult, dict[str, Any] | str]:
        """Run the steps at these places, and read what is reported of them."""
        checkout = self.tree.workspace.folder
        folder = (checkout / self.path).parent
        steps = room / ("steps.mjs" if plain.is_module else "steps.cjs")
        steps.write_bytes(plain.source)
        above = (folder, *folder.parents)
        packages = next((one / "node_modules" for one in above if (one / "node_modules").is_dir()), None)
        if packages is not None and packages.is_relative_to(checkout):
            (room / "node_modules").symlink_to(packages)
        seal = fresh(room)
        order = {**json.loads(seal.stdin), "steps": steps.as_uri(), "names": places, **(more or {})}
        with out_of_sight(checkout, hidden):
            argv = ("node", str(room / "main.mjs"))
            home, said = self._at_home(room), json.dumps(order)
            if packages is None and b"NODE_ENV" not in plain.source:
                home["NODE_ENV"] = "production"  # packages may well do less there, and the product by itself may not
            result = self.tree.bench.run(argv, self.tree.workspace, env=home, stdin=said, cwd=self.folder)
        return result, seal.read()

    def _at_home(self, room: Path) -> dict[str, str]:
        return {**login(self.tree.workspace.folder / self.folder), **home_in(room)}

    def _import_path(self, imports: tuple[str, ...]) -> tuple[str, ...]:
        """What the witness has on the import path beside the current folder."""
        checkout = self.tree.workspace.folder
        sources = (source_folder(checkout / top) for top in dict.fromkeys(("", self.folder)))
        return tuple(dict.fromkeys([*(str(checkout / one) for one in imports), *(str(one) for one in sources if one)]))


def _seen(trial: str, place: str, name: str, given: str, word: str, told: str) -> Seen:
    return Seen(trial=int(trial), place=place, name=name, given=given, answer=(cast(Asked, word), told))


def _told(
    results: Iterable[tuple[str, str, str]],
    problem: str,
    result: CommandResult,
    *,
    places: Iterable[str],
    began: bool,
    ended: bool,
) -> PlainRun:
    """What was said of each test, the worst of it; one that a program left by itself has not passed."""
    endings: dict[str, tuple[Word, str]] = {}
    for word, place, text in results:
        if endings.get(place, ("passed", ""))[0] == "passed":
            endings[place] = (cast(Word, word), text)
    if problem:
        return PlainRun(problem=problem, result=result)
    if not ended:
        if result.termination != "exited" or not began:
            return PlainRun(problem=result.error or "it did not run to its end", result=result)
        endings |= {place: ("broke", ENDED) for place in places if place not in endings}
    return PlainRun(endings=endings, result=result)
