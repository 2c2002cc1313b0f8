"""The check that the changed modules can be imported, and that what they import from their neighbours is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult
from milepost.sources.parse_documents import table, toml_of
from milepost.sources.python_modules import Module, imported_names, module_at
from milepost.verify.checks.javascript_imports import missing_neighbours
from milepost.verify.checks.tool_findings import told
from milepost.verify.command_runner import Bench
from milepost.verify.programs.import_modules import MODULE_TIMEOUT_S, Imported, exists_in, import_modules
from milepost.verify.programs.project_tools import answer, plain_files, text_of
from milepost.verify.programs.python_modules import does_work, import_roots, python_files

NAME = "imports"
MOST_IMPORTERS = 200

_ELSEWHERE = frozenset({"winreg", "msvcrt", "winsound", "_winapi"})  # on Windows alone


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportsCheck:
    """Imports what was changed, and what imports that, each module in a fresh process.

    `before` answers which of these modules could not be imported at the base. Not imported are tests (running them
    does), `__main__`, and scripts: files of no package that do their work at the top level. A new module that wants
    surroundings which are not here, or a package that the project lacked before, is named, not judged.
    """

    change: Change
    bench: Bench
    before: Callable[[tuple[str, ...]], frozenset[str]] | None = None
    timeout_s: float = MODULE_TIMEOUT_S

    def run(self, workspace: Workspace) -> CheckResult:
        modules = asked_modules(self.change, self.bench, workspace.folder)
        found = import_modules(modules, self.bench, workspace, timeout_s=self.timeout_s)
        neighbours = missing_neighbours(self.change, workspace.folder)
        if not found.answers and not neighbours.files:
            why = found.not_asked or "no changed file is a module that can be imported"
            return answer(NAME, "absent", why, bench=self.bench, argv=found.argv, results=found.results)
        new = self._to_blame(found.broken, workspace.folder)
        old = tuple(one for one in found.broken if one not in new)
        wrong = (*(one.finding for one in new), *neighbours.missing)
        notes = [f"not counted: {told(one.finding for one in old)}"] if old else []
        notes += [found.not_asked] if found.not_asked else []
        log = "\n\n".join(one.traceback or str(one.finding) for one in (*new, *old))
        if wrong:
            return answer(
                NAME,
                "failed",
                "; ".join([told(wrong), *notes]),
                bench=self.bench,
                argv=found.argv,
                results=found.results,
                log=log,
            )
        good = len(found.answers) - len(found.broken)
        counts = [f"{good} module{'s' * (good != 1)} imported"] if found.answers else []
        counts += [f"the imports of {neighbours.files} JavaScript files exist"] if neighbours.files else []
        return answer(
            NAME,
            "passed",
            "; ".join([*counts, *notes]),
            bench=self.bench,
            argv=found.argv,
            results=found.results,
            log=log,
        )

    def _to_blame(self, broken: tuple[Imported, ...], checkout: Path) -> tuple[Imported, ...]:
        """Those whose failure is the attempt's."""
        if not broken:
            return ()
        files = {file.path: file for file in self.change.files}
        old = self.before(tuple(one.module.name for one in broken)) if self.before is not None else frozenset()
        lacked = lacked_before({one.missing for one in broken if one.missing}, self.change, checkout)
        return tuple(
            one
            for one in broken
            if one.module.name not in old and not self._is_excused(one, files.get(one.module.path), lacked)
        )

    def _is_excused(self, one: Imported, file: ChangedFile | None, lacked: frozenset[str]) -> bool:
        is_new = file is not None and file.is_new
        if self.before is not None and not is_new:
            return False  # it could be imported before
        works = file is not None and does_work(file.text_after)
        return one.of_surroundings or (one.timed_out and works) or one.missing in _ELSEWHERE | lacked


def broken_modules(modules: tuple[str, ...], workspace: Workspace, bench: Bench) -> frozenset[str]:
    """Those of the modules with these names that are in a checkout and cannot be imported there."""
    if bench.interpreter is None or not modules:
        return frozenset()
    roots = import_roots(workspace.folder, bench.interpreter.imports)
    here = (module_at(path, roots, exists_in(workspace.folder)) for path in python_files(workspace.folder))
    asked = tuple(module for module in here if module is not None and module.name in modules)
    return frozenset(one.module.name for one in import_modules(asked, bench, workspace).broken)


def asked_modules(change: Change, bench: Bench, checkout: Path) -> tuple[Module, ...]:
    """The modules to import: the changed ones, and those that import what was changed or is gone."""
    if bench.interpreter is None or not any(path.endswith(".py") for path in change.paths):
        return ()
    roots, exists = import_roots(checkout, bench.interpreter.imports), exists_in(checkout)
    here = {path: module_at(path, roots, exists) for path in python_files(checkout)}
    changed = [
        module
        for file in plain_files(change)
        if (module := here.get(file.path)) is not None and not is_script(module, file)
    ]
    gone = [module_at(file.path, roots, exists) for file in change.files if file.is_gone]
    names = {module.name for module in (*changed, *gone) if module is not None}
    paths = set(change.paths)
    others = (module for path, module in here.items() if module is not None and path not in paths)
    return (*changed, *_importers(names, others, checkout))


def is_script(module: Module, file: ChangedFile) -> bool:
    """Whether a file is run rather than imported: in no package, and at work at the top level; before, too."""
    if module.in_package or not does_work(file.text_after):
        return False
    return file.is_new or does_work(file.text_before)


def lacked_before(missing: Iterable[str], change: Change, checkout: Path) -> frozenset[str]:
    """Those of the missing packages that the project imported before or declares as optional, none of its own."""
    wanted = {name for name in missing if name and "." not in name}
    wanted -= _own_names(change, checkout) if wanted else set()
    if not wanted:
        return frozenset()
    optional = wanted & optional_packages(text_of(checkout, "pyproject.toml") or "")
    paths = set(change.paths)
    texts = [file.text_before for file in change.files if file.path.endswith(".py")]
    texts += [text_of(checkout, path) or "" for path in python_files(checkout) if path not in paths]
    found = set(optional)
    for text in texts:
        if any(name in text for name in wanted - found):
            found |= wanted & {name.partition(".")[0] for name in imported_names(text, "")}
    return frozenset(found)


def optional_packages(manifest: str) -> frozenset[str]:
    """The packages that a pyproject.toml declares for some uses only, as modules are mostly called after them."""
    document = toml_of(manifest)
    extras = table(document, "project", "optional-dependencies")
    named = [entry for group in extras.values() if isinstance(group, list) for entry in group]
    poetry = table(document, "tool", "poetry", "dependencies")
    named += [name for name, facts in poetry.items() if isinstance(facts, dict) and facts.get("optional")]
    hits = (re.match(r"\s*([A-Za-z0-9._-]+)", entry) for entry in named if isinstance(entry, str))
    return frozenset(re.sub(r"[-.]", "_", hit[1]).lower() for hit in hits if hit)


def _own_names(change: Change, checkout: Path) -> set[str]:
    """What modules and packages are called that are, or were before the attempt, in the checkout."""
    paths = (*change.paths, *python_files(checkout))
    return {part for path in paths for part in path.removesuffix(".py").split("/")}


def _importers(names: set[str], others: Iterable[Module], checkout: Path) -> Iterator[Module]:
    """The modules that import one of these names, up to a bound; what is at work when imported is left alone."""
    last_parts = {name.rpartition(".")[2] for name in names}
    count = 0
    for module in others:
        text = text_of(checkout, module.path) or ""
        if count >= MOST_IMPORTERS or not any(part in text for part in last_parts):
            continue
        is_package = module.path.endswith("__init__.py")
        package = module.name if is_package else module.name.rpartition(".")[0]
        if names & imported_names(text, package) and not does_work(text):
            count += 1
            yield module
