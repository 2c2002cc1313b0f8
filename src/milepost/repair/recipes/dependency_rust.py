"""The recipe for a crate that is used and not declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from milepost.repair import declare
from milepost.repair.packages import Package, Unknown, crate
from milepost.repair.recipes.recipe import Answer, Mended, NeedsPerson, RecipeTools, RepairCase, joined
from milepost.repair.recipes.update_locks import renewed
from milepost.sources.manifests import rust

_MISSING = re.compile(
    r"(?:unresolved import|use of undeclared crate or module|use of unresolved module or unlinked crate"
    r"|can't find crate for|cannot find module or crate) `([A-Za-z_]\w*)(?:::[^`]*)?`"
)


class MissingCrate:
    """Adds a crate that cargo could not find to the Cargo.toml nearest to the code that uses it."""

    name = "missing dependency"

    def fits(self, case: RepairCase) -> bool:
        return bool(missing_crates(case))

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        declared = rust.declared(case.paths_at_base(), case.at_base)
        wanted = [name for name in missing_crates(case) if not is_own(case, name)]
        answers = [self._provide(case, tools, name, declared) for name in wanted]
        return joined([answer for answer in answers if answer is not None])

    def _provide(
        self, case: RepairCase, tools: RecipeTools, name: str, declared: Mapping[str, str]
    ) -> Mended | NeedsPerson | None:
        user = next(iter(users(case, name)), "")
        found = crate(name, declared=declared, approved=tools.approved)
        if not user or found is None:
            return None
        if isinstance(found, Unknown):
            return NeedsPerson(what=f"{user} uses {name}: {found.refusal}")
        return _declare(case, tools, found, user)


def missing_crates(case: RepairCase) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[1] for match in _MISSING.finditer(case.said)))


def is_own(case: RepairCase, name: str) -> bool:
    """Whether the project has, or had before the attempt, a module or a crate of this name: then the path is wrong."""
    for path in {*case.files.paths(), *case.paths_at_base()}:
        pure = PurePosixPath(path)
        if path.endswith((f"/{name}.rs", f"/{name}/mod.rs")):
            return True
        text = case.files.text(path) if pure.name == "Cargo.toml" else None
        if text and re.search(rf'^\s*name\s*=\s*"{re.escape(name).replace("_", "[-_]")}"', text, re.MULTILINE):
            return True
    return False


def users(case: RepairCase, name: str) -> tuple[str, ...]:
    """The Rust files whose text uses the crate, those that are no tests first."""
    using = re.compile(rf"(?:\buse\s+(?:::)?|\bextern crate\s+|(?<![\w:]))(?:r#)?{re.escape(name)}(?:::|\s*;)")
    found = [path for path in case.files.paths() if path.endswith(".rs") and using.search(case.files.text(path) or "")]
    return tuple(sorted(found, key=lambda path: (is_test(path), path)))


def is_test(path: str) -> bool:
    return bool({"tests", "benches", "examples"} & set(PurePosixPath(path).parts))


def _declare(case: RepairCase, tools: RecipeTools, package: Package, user: str) -> Mended | NeedsPerson | None:
    for folder in PurePosixPath(user).parents:
        path = str(folder / "Cargo.toml")
        before = case.files.text(path)
        if before is None or "[package]" not in before:
            continue
        after = declare.in_cargo(before, package.name, package.requirement, dev=is_test(user))
        if after is None:
            return None
        if not case.may_change(path):
            return NeedsPerson(what=f"{package.name} belongs in {path}, which the task may not change")
        return renewed(case, tools, path, after, f"added {package.name} to {path}: {user} uses it")
    return None
