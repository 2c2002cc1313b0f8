"""The recipe for a lock file that no longer follows its manifest."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from milepost.core.lock_files import LOCKS, Lock
from milepost.repair.packages import passes
from milepost.repair.recipes.recipe import Answer, Mended, NeedsPerson, RecipeTools, RepairCase
from milepost.repair.recipes.update_locks import renew
from milepost.sources.manifests import javascript, python, rust
from milepost.sources.manifests.project import Read

_SIGNS = {
    "npm": r"`npm ci` can only install packages when your package\.json|npm \S+ (?:Missing|Invalid): .* lock file",
    "pnpm": r"ERR_PNPM_OUTDATED_LOCKFILE|Cannot install with \"frozen-lockfile\"",
    "yarn": r"The lockfile would have been modified by this install|Your lockfile needs to be updated",
    "uv": r"The lockfile at `uv\.lock` needs to be updated",
    "poetry": r"pyproject\.toml changed significantly since poetry\.lock|poetry\.lock is not up to date with",
    "pdm": r"Lock file hash doesn't match pyproject\.toml|The lock file is outdated",
    "cargo": r"lock file .*needs to be updated but --(?:locked|frozen) was passed|cannot update the lock file",
}
_STALE = re.compile("|".join(f"(?:{sign})" for sign in _SIGNS.values()))
_TOOL_OF = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Cargo.lock": "cargo",
}
_LANGUAGE_OF = {"package.json": "node", "pyproject.toml": "python", "Cargo.toml": "rust"}


class StaleLock:
    """Makes a lock file follow its manifest again, when every package that this brings in may be trusted."""

    name = "stale lock file"

    def fits(self, case: RepairCase) -> bool:
        return _STALE.search(case.said) is not None

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        said = case.said
        kinds = {lock.name: lock for lock in LOCKS if re.search(_SIGNS[_TOOL_OF[lock.name]], said)}
        answers = [
            self._renewed(case, tools, path, kinds[_name(path)]) for path in case.files.paths() if _name(path) in kinds
        ]
        return next((answer for answer in answers if answer is not None), None)

    def _renewed(self, case: RepairCase, tools: RecipeTools, path: str, lock: Lock) -> Mended | NeedsPerson | None:
        if strangers := _strangers(case, path, lock, tools.approved):
            named = ", ".join(f"`{name}`" for name in strangers)
            quoted = ", ".join(f'"{name}"' for name in strangers)
            return NeedsPerson(
                what=f"{path} is stale, and the attempt adds packages that are not known: {named}; "
                f"approve them with [repair] packages = [{quoted}]"
            )
        before = case.files.read(path)
        if problem := renew(case, tools, path, lock):
            return NeedsPerson(what=problem)
        if case.files.read(path) == before:
            return None
        return Mended(what=f"updated {path}: it was out of date with {lock.manifest}", paths=(path,))


def _strangers(case: RepairCase, lock_path: str, lock: Lock, approved: frozenset[str]) -> tuple[str, ...]:
    """The packages that the attempt itself wrote into manifests below the lock, and nobody vouches for."""
    language = _LANGUAGE_OF[lock.manifest]
    below = f"{PurePosixPath(lock_path).parent}/".removeprefix("./")
    paths = case.files.paths()
    manifests_now = tuple(path for path in paths if _name(path) == lock.manifest and path.startswith(below))
    had = _declared(language, case.paths_at_base(), case.at_base)
    asked = _declared(language, manifests_now, case.files.read)
    return tuple(name for name in asked if name not in had and not passes(name, approved=approved, language=language))


def _declared(language: str, paths: tuple[str, ...], read: Read) -> dict[str, str]:
    match language:
        case "node":
            return javascript.declared(paths, read)
        case "rust":
            return rust.declared(paths, read)
        case _:
            return python.declared(paths, read)


def _name(path: str) -> str:
    return PurePosixPath(path).name
