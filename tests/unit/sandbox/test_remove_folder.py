"""How folders of guests are removed."""

from __future__ import annotations

import stat
from pathlib import Path

from milepost.sandbox.remove_folder import remove


def test_of_a_link_only_itself_is_removed_and_the_rights_of_what_it_leads_to_stay(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/mine").touch()
    (tmp_path / "outside/mine").chmod(0o400)
    (tmp_path / "link").symlink_to("outside")
    remove(tmp_path / "link")
    assert not (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "outside/mine").stat().st_mode) == 0o400
