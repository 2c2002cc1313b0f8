"""Copying an artifact, whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from milepost.core.errors import StateUnwritable

_WHY = re.compile(r"\[Errno (\d+)\]")


def copy_into(source: Path, target: Path, *, but: str = "") -> None:
    """Copy a file, or a folder with its links as they are and without `but` at its top; half a copy is removed."""
    try:
        if source.is_dir():
            left_out = lambda folder, names: {but} & set(names) if Path(folder) == source else set()  # noqa: E731
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=left_out)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    except OSError as error:  # shutil.Error, with a text for every file, is one
        found = _WHY.search(str(error))
        why = os.strerror(int(found[1])) if found else str(error)[:200]
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)
        raise StateUnwritable(
            f"{source.name!r} cannot be copied to {str(target)!r}: {why}", "free some space"
        ) from error
