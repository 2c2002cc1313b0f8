"""The digest of a folder: of every file's path, content, whether it may be run, and where links lead."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from milepost.ship.guest_files import sha256_of


def folder_digest(folder: Path) -> tuple[str, int]:
    """The digest of all that lies in a folder, and its size; the same wherever and whenever it was written."""
    total = 0
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        if path.is_symlink():
            told = f"link {os.readlink(path)}"  # noqa: PTH115 (as it is written, unresolved)
        elif path.is_file():
            total += path.stat().st_size
            told = f"{'run' if path.stat().st_mode & 0o100 else 'file'} {sha256_of(path)}"
        else:
            continue
        whole.update(f"{path.relative_to(folder).as_posix()}\0{told}\0".encode("utf-8", "surrogateescape"))
    return whole.hexdigest(), total
