"""Folders for guests to write to, and how they are removed, whatever was left in them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

_NAME = re.compile(r"milepost-(\d+)-\w+")


def new_folder() -> Path:
    """A folder of this process; those that killed processes of this user left are removed first, once."""
    _remove_leftovers()
    return Path(tempfile.mkdtemp(prefix=f"milepost-{os.getpid()}-"))


@cache
def _remove_leftovers() -> None:
    for folder in Path(tempfile.gettempdir()).glob("milepost-*-*"):
        with contextlib.suppress(OSError):
            maker = _NAME.fullmatch(folder.name)
            if maker and folder.stat().st_uid == os.getuid() and not Path("/proc", maker[1]).exists():
                remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder and all that is in it: also folders too deep for Python, and those that nobody may open.

    Of a link nothing but itself is removed.
    """
    if folder.is_symlink():
        folder.unlink()
        return
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # Neither follows a link below the folder it is given; `chmod` follows one that it is given itself.
        for argv in (["chmod", "-R", "u+rwX", "--", str(folder)], ["rm", "-rf", "--", str(folder)]):
            subprocess.run(argv, capture_output=True, check=False)
