"""The recipe for a JavaScript package that is imported and not declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from milepost.repair.declare import in_package_json
from milepost.repair.packages import Package, Unknown, node_name, node_package
from milepost.repair.recipes.recipe import Answer, Mended, NeedsPerson, RecipeTools, RepairCase, joined
from milepost.repair.recipes.update_locks import renewed
from milepost.sources.manifests import javascript
from milepost.sources.manifests.project import ANY_VERSION

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")

_MISSING = (
    re.compile(r"Cannot find (?:module|package) '([^'\n]+)'"),
    re.compile(r"Cannot find module \"([^\"\n]+)\""),
    re.compile(r"Can't resolve '([^'\n]+)'"),
    re.compile(r"Failed to resolve import \"([^\"\n]+)\""),
    re.compile(r"Could not resolve \"([^\"\n]+)\""),
)


class MissingNodePackage:
    """Adds the package of a module that Node could not find to the package.json nearest to the code that wants it."""

    name = "missing dependency"

    def fits(self, case: RepairCase) -> bool:
        return bool(missing_packages(case))

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        paths = case.paths_at_base()
        declared = javascript.declared(paths, case.at_base)
        own = javascript.own_names((*case.files.paths(), *paths), case.files.read)
        wanted = [name for name in missing_packages(case) if name not in own]
        answers = [self._provide(case, tools, name, declared) for name in wanted]
        return joined([answer for answer in answers if answer is not None])

    def _provide(
        self, case: RepairCase, tools: RecipeTools, name: str, declared: Mapping[str, str]
    ) -> Mended | NeedsPerson | None:
        importer = next(iter(importers(case, name)), "")
        found = node_package(name, declared=declared, approved=tools.approved)
        if not importer or found is None:
            return None
        if isinstance(found, Unknown):
            return NeedsPerson(what=f"{importer} imports {name}: {found.refusal}")
        return _declare(case, tools, found, importer)


def missing_packages(case: RepairCase) -> tuple[str, ...]:
    """The packages that Node, a bundler or the type checker could not find."""
    said = case.said
    names = (node_name(match[1]) for pattern in _MISSING for match in pattern.finditer(said))
    return tuple(dict.fromkeys(name for name in names if name))


def importers(case: RepairCase, name: str) -> tuple[str, ...]:
    """The files whose text imports the package, those that are no tests first."""
    quoted = rf"""(["'`]){re.escape(name)}(?:/[^"'`\n]*)?\1"""
    importing = re.compile(rf"""(?:\bfrom\s*|\bimport\s*(?:\(\s*)?|\brequire(?:\.resolve)?\s*\(\s*){quoted}""")
    found = [
        path for path in case.files.paths() if path.endswith(SUFFIXES) and importing.search(case.files.text(path) or "")
    ]
    return tuple(sorted(found, key=lambda path: (is_test(path), path)))


def is_test(path: str) -> bool:
    pure = PurePosixPath(path)
    return re.search(r"\.(?:test|spec)\.", pure.name) is not None or bool(
        {"test", "tests", "__tests__"} & {*pure.parts}
    )


def _declare(case: RepairCase, tools: RecipeTools, package: Package, importer: str) -> Mended | NeedsPerson | None:
    for folder in PurePosixPath(importer).parents:
        path = str(folder / "package.json")
        before = case.files.text(path)
        if before is None:
            continue
        after = in_package_json(before, package.name, package.requirement, dev=is_test(importer))
        if after is None:
            return None  # it is declared, and the environment lacks it all the same
        if not case.may_change(path):
            return NeedsPerson(what=f"{package.name} belongs in {path}, which the task may not change")
        pinned = " (any version: pin one)" if package.requirement == ANY_VERSION else ""
        what = f"added {package.name} to {path}{pinned}: {importer} imports it"
        return renewed(case, tools, path, after, what)
    return NeedsPerson(what=f"{importer} imports {package.name}, and there is no package.json to add it to")
