"""Tasks beside one that failed: who makes what it lacks, and whether parts of it could be proven."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from milepost.core.task import Task
from milepost.core.task_parts import files_of, verify_of

_CODE = (".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts", ".rs", ".go", ".java", "")


def provable(parts: Iterable[Task]) -> bool:
    """Whether every part says how it is proven: one that does not could only end unverified."""
    return all(verify_of(part) for part in parts)


def maker_of(missing: str, task: Task, others: Iterable[Task]) -> Task | None:
    """The other task that makes a missing file or module, where `task` does not make it itself.

    One that waits for `task`, through however many others, cannot be waited for.
    """
    others = tuple(others)
    if not missing or any(_makes(file, missing) for file in files_of(task)):
        return None
    behind = _waiting_for(task.id, others)
    return next(
        (
            other
            for other in others
            if other.id not in behind and any(_makes(file, missing) for file in files_of(other))
        ),
        None,
    )


def _waiting_for(task_id: str, others: tuple[Task, ...]) -> set[str]:
    """The tasks that wait for this one, directly or through others."""
    behind: set[str] = {task_id}
    while more := {other.id for other in others if behind & set(other.depends_on)} - behind:
        behind |= more
    return behind


def _makes(file: str, missing: str) -> bool:
    """Whether a named file is what is missing: the same path, or the module that it holds."""
    file, wanted = _plain(file), _plain(missing)
    if not file or not wanted:
        return False
    if _ends_with(wanted, file) or _ends_with(file, wanted):
        return True
    path = PurePosixPath(file)
    if path.suffix not in _CODE:
        return False
    bare = path.parent if path.stem in ("__init__", "mod", "index") else path.with_suffix("")
    module = wanted if "/" in missing else re.sub(r"::|\.", "/", missing).strip("/")
    return _ends_with(str(bare), module) or f"/{module}/" in f"/{bare}/"


def _plain(path: str) -> str:
    parts = [part for part in path.strip().split("/") if part not in ("", ".", "..")]
    return "/".join(parts)


def _ends_with(path: str, ending: str) -> bool:
    return path == ending or path.endswith(f"/{ending}")
