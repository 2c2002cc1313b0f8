"""The search path of checks: what is not taken from the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from milepost.verify.programs.tracked import judging_path


def test_a_folder_that_this_user_may_not_look_into_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stat, closed = Path.stat, str(tmp_path / "root/bin")

    def refusing(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if str(path).startswith(closed):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", refusing)
    path = f"/usr/bin{os.pathsep}{closed}{os.pathsep}bin{os.pathsep}{tmp_path / 'not-there'}"
    assert judging_path(path, tmp_path) == f"/usr/bin{os.pathsep}{tmp_path / 'not-there'}"
