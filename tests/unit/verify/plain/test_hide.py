"""Tests out of sight, and the git folder with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.verify.plain.hide import out_of_sight


@pytest.mark.parametrize("target", ["outside", "nowhere", None])
def test_the_git_folder_is_back_whatever_was_put_in_its_place(tmp_path: Path, target: str | None) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (checkout / ".git/HEAD").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/mine").touch()
    with out_of_sight(checkout, ()):
        if target is None:
            (checkout / ".git").touch()
        else:
            (checkout / ".git").symlink_to(tmp_path / target)
    assert [one.name for one in (checkout / ".git").iterdir()] == ["HEAD"] and not (checkout / ".git").is_symlink()
    assert (tmp_path / "outside/mine").exists()
