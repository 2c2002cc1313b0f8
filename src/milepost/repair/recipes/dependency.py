"""The recipe for a Python package that is imported and not declared: one more line in the manifest, no more."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from milepost.repair import declare
from milepost.repair.packages import Package, Unknown, is_namespace, is_standard, python_package
from milepost.repair.recipes.recipe import Answer, Mended, NeedsPerson, RecipeTools, RepairCase, joined
from milepost.repair.recipes.update_locks import renewed
from milepost.sources.manifests import python
from milepost.sources.manifests.python import normalised

TEST_GROUPS = ("test", "tests", "testing", "dev", "develop", "development")
MOST_MODULES = 10

_MISSING = re.compile(
    r"(?:ModuleNotFoundError|ImportError): No module named '?([A-Za-z_][\w.]*)'?(?! *; *'[\w.]+' is not)"
)
_UNSTUBBED = re.compile(r'Cannot find implementation or library stub for module named "([A-Za-z_][\w.]*)"')
_INSTALLED = """
import json, sys
from importlib.metadata import packages_distributions
json.dump({name: sorted(set(found)) for name, found in packages_distributions().items()}, sys.stdout)
"""


class MissingPythonPackage:
    """Adds the package of a module that could not be imported to the manifest nearest to the code that wants it."""

    name = "missing dependency"

    def fits(self, case: RepairCase) -> bool:
        return bool(missing_modules(case))

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        paths = case.paths_at_base()
        declared = python.declared(paths, case.at_base)
        missing = [module for module in missing_modules(case) if not is_own(case, module)]
        wanted = list(dict.fromkeys(whole for module in missing for whole in whole_names(case, module)))
        installed = _installed(case, tools) if wanted else {}
        answers = [
            self._provide(
                case,
                tools,
                module,
                python_package(module, declared=declared, approved=tools.approved, installed=installed),
                declared,
            )
            for module in wanted
        ]
        return joined([answer for answer in answers if answer is not None])

    def _provide(
        self,
        case: RepairCase,
        tools: RecipeTools,
        module: str,
        found: Package | Unknown | None,
        declared: Mapping[str, str],
    ) -> Mended | NeedsPerson | None:
        """Nothing is done for a module that no file imports, unless the project knew its package before."""
        importer = next(iter(importers(case, module)), "")
        if isinstance(found, Unknown) and importer:
            return NeedsPerson(what=f"import {module} fails: {found.refusal}")
        if isinstance(found, Package) and (importer or normalised(found.name) in declared):
            return _declare(case, tools, found, module, importer)
        return None


def missing_modules(case: RepairCase) -> tuple[str, ...]:
    """The modules that the checks could not import, Python's own left out."""
    found = [match[1].rstrip(".") for pattern in (_MISSING, _UNSTUBBED) for match in pattern.finditer(case.said)]
    return tuple(module for module in dict.fromkeys(found) if not is_standard(module))[:MOST_MODULES]


def is_own(case: RepairCase, module: str) -> bool:
    """Whether the project has, or had before the attempt, a module of this name: then the path is wrong."""
    top = module.partition(".")[0]
    paths = [path for path in {*case.files.paths(), *case.paths_at_base()} if path.endswith((".py", ".pyi", ".pyx"))]
    packages = {str(PurePosixPath(path).parent) for path in paths if PurePosixPath(path).name == "__init__.py"}
    for path in map(PurePosixPath, paths):
        folders = [folder for folder in path.parents[:-1] if not is_test(str(path)) or str(folder) in packages]
        places = (*folders, path.with_suffix(""))
        if any(place.name == top and str(place.parent) not in packages for place in places):
            return True
    return False


def whole_names(case: RepairCase, module: str) -> tuple[str, ...]:
    """The module itself, or what is imported from below it when its name alone does not tell the package."""
    if not is_namespace(module):
        return (module,)
    below = re.compile(rf"(?<![\w.])({module}(?:\.\w+)+)|\bfrom[ \t]+{module}[ \t]+import[ \t]+(\w+)")
    texts = (case.files.text(path) or "" for path in importers(case, module))
    lines = (line for text in texts for line in text.splitlines() if line.lstrip().startswith(("import ", "from ")))
    found = [match[1] or f"{module}.{match[2]}" for line in lines for match in below.finditer(line)]
    return tuple(dict.fromkeys(found))


def importers(case: RepairCase, module: str) -> tuple[str, ...]:
    """The Python files whose text imports the module, those that are no tests first."""
    top = re.escape(module.partition(".")[0])
    others = r"(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*)*"
    importing = re.compile(rf"^[ \t]*(?:import[ \t]+{others}|from[ \t]+){top}\b", re.MULTILINE)
    found = [
        path
        for path in case.files.paths()
        if path.endswith((".py", ".pyi")) and importing.search(case.files.text(path) or "")
    ]
    return tuple(sorted(found, key=lambda path: (is_test(path), path)))


def is_test(path: str) -> bool:
    pure = PurePosixPath(path)
    named = pure.name.startswith("test_") or pure.stem.endswith("_test") or pure.name == "conftest.py"
    return named or bool({"test", "tests", "testing"} & set(pure.parts[:-1]))


def _declare(
    case: RepairCase, tools: RecipeTools, package: Package, module: str, importer: str
) -> Mended | NeedsPerson | None:
    """Add the package to the nearest manifest; say why not when there is none. What is declared is left alone."""
    why, for_tests = f"import {module} was missing", is_test(importer)
    for folder in PurePosixPath(importer or "top").parents:
        at = "" if str(folder) == "." else f"{folder}/"
        paths = _manifests(case, at, for_tests=for_tests)
        if any(_declares(case, path, package, for_tests=for_tests) for path in paths):
            return None
        if paths:
            return _added(case, tools, paths[0], package, why, for_tests=for_tests)
    return NeedsPerson(
        what=f"{why}: {package.name} would fix it, but there is no pyproject.toml or requirements.txt to add it to"
    )


def _added(
    case: RepairCase, tools: RecipeTools, path: str, package: Package, why: str, *, for_tests: bool
) -> Mended | NeedsPerson:
    before = case.files.text(path) or ""
    if not case.may_change(path):
        return NeedsPerson(what=f"{why}: {package.name} belongs in {path}, which the task may not change")
    if not path.endswith(".toml") and declare.is_compiled(before):
        return NeedsPerson(what=f"{why}: {path} is compiled; add {package.name} to its source and compile it again")
    after = _with(path, before, package.requirement, for_tests=for_tests)
    if after is None:
        return NeedsPerson(what=f"{why}: {package.name} could not be added to {path}")
    return renewed(case, tools, path, after, f"added {package.name} to {path}: {why}")


def _declares(case: RepairCase, path: str, package: Package, *, for_tests: bool) -> bool:
    """Whether the manifest asks for the package already, for whom it is needed."""
    if path.endswith(".toml"):
        found = declare.names_in_pyproject(case.files.text(path) or "", TEST_GROUPS if for_tests else ())
    else:
        found = python.requirements_of(path, case.files.read)
    return normalised(package.name) in {normalised(python.requirement_name(entry)) for entry in found}


def _manifests(case: RepairCase, at: str, *, for_tests: bool) -> list[str]:
    """The manifests of one folder in the order of preference."""
    names = ("requirements.txt", "requirements/base.txt", "requirements/main.txt", "requirements/requirements.txt")
    tests = tuple(
        pattern.format(word)
        for word in ("test", "tests", "dev")
        for pattern in ("requirements-{}.txt", "{}-requirements.txt", "requirements_{}.txt", "requirements/{}.txt")
    )
    listed = [f"{at}{name}" for name in ((*tests, *names) if for_tests else names)]
    others = [path for path in listed if case.files.text(path) is not None]
    pyproject = case.files.text(f"{at}pyproject.toml")
    if pyproject is None or not declare.could_list_dependencies(pyproject):
        return others
    own = [f"{at}pyproject.toml"]
    return [*own, *others] if declare.lists_dependencies(pyproject) else [*others, *own]


def _with(path: str, before: str, requirement: str, *, for_tests: bool) -> str | None:
    if path.endswith(".toml"):
        return declare.in_pyproject(before, requirement, groups=TEST_GROUPS if for_tests else ())
    return declare.in_requirements(before, requirement)


def _installed(case: RepairCase, tools: RecipeTools) -> dict[str, tuple[str, ...]]:
    """Which packages the interpreter's own environment says its modules are of."""
    if tools.interpreter is None:
        return {}
    result = tools.run((str(tools.interpreter), "-I", "-c", _INSTALLED), case.folder)
    try:
        answer = json.loads(result.stdout) if result.succeeded else {}
    except ValueError:
        return {}
    return {name: tuple(map(str, found)) for name, found in answer.items()} if isinstance(answer, dict) else {}
