"""A manifest changed together with its lock file, or not at all."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from milepost.core.commands import ending_in_words
from milepost.core.lock_files import LOCKS, Lock
from milepost.repair.recipes.recipe import Mended, NeedsPerson, RecipeTools, RepairCase
from milepost.sandbox import confined


def renewed(case: RepairCase, tools: RecipeTools, path: str, text: str, what: str) -> Mended | NeedsPerson:
    """Write a manifest and bring the lock that follows it up to date; where that fails, both are as they were."""
    found = next(locks_of(case, path), None)
    before = case.files.read(path)
    try:
        case.files.write(path, text.encode())
    except confined.PathRefused as closed:
        return NeedsPerson(what=f"not {what}: {closed}")
    if found is None:
        return Mended(what=what, paths=(path,))
    lock_path, lock = found
    if problem := renew(case, tools, lock_path, lock):
        _put_back(case, path, before)
        return NeedsPerson(what=f"not {what}: {problem}")
    return Mended(what=f"{what}; updated {lock_path}", paths=(path, lock_path))


def renew(case: RepairCase, tools: RecipeTools, path: str, lock: Lock) -> str:
    """Bring a lock file up to date in its folder; gives why that failed, the lock then as it was, or nothing."""
    before = case.files.read(path)
    by_hand = f"by hand: {lock.by_hand}"
    if before is None or not case.may_change(path):
        return f"{path} may not be changed; {by_hand}"
    if not lock.argv:
        return f"{path} cannot be updated without a network; {by_hand}"
    result = tools.run(lock.argv, case.folder, cwd=str(PurePosixPath(path).parent))
    if result.succeeded and case.files.read(path) is not None:
        return ""
    _put_back(case, path, before)
    ending = ending_in_words(result, program=lock.argv[0], timeout_s=tools.timeout_s)
    return f"{path} could not be updated: `{shlex.join(lock.argv)}` {ending}; {by_hand}"


def locks_of(case: RepairCase, path: str) -> Iterator[tuple[str, Lock]]:
    """The lock files that follow a manifest: beside it, or beside that of the workspace it is a part of."""
    manifest = PurePosixPath(path).name
    for folder in PurePosixPath(path).parents:
        for lock in LOCKS:
            if lock.manifest == manifest and case.files.is_file(str(folder / lock.name)):
                yield str(folder / lock.name), lock


def _put_back(case: RepairCase, path: str, before: bytes | None) -> None:
    """After a program of somebody else's ran here: what it left in the way of a file goes."""
    if before is None:
        case.files.remove(path)
    elif case.files.read(path) != before:
        if not case.files.is_file(path):
            case.files.remove(path)
        case.files.write(path, before)
