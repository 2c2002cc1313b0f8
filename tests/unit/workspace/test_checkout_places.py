"""Where checkouts go: without a dot folder and behind no link, where that can be had."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from milepost.workspace import checkout_places
from milepost.workspace.checkout_places import checkouts_folder, earlier_folders, has_dot_folder


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setattr(checkout_places, "SHARED", folder)
    return folder


def test_a_cache_with_a_dot_folder_gives_way_to_a_folder_of_ours_that_has_none(tmp_path: Path, shared: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "home/.cache")}
    state = tmp_path / "project/.milepost"
    found = checkouts_folder(state, environ=environ)
    assert found.parent == shared / f"milepost-{os.geteuid()}" and not has_dot_folder(found)
    assert found.name.startswith("project-") and found.parent.stat().st_mode & 0o777 == 0o700
    assert earlier_folders(state, environ=environ) == (tmp_path / "home/.cache/milepost" / found.name,)


def test_a_cache_without_a_dot_folder_is_used(tmp_path: Path, shared: Path) -> None:
    found = checkouts_folder(tmp_path / "project/.milepost", environ={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert found.parent == tmp_path / "cache/milepost" and not any(shared.iterdir())


@pytest.mark.parametrize("trap", ["link", "file", "open to others"])
def test_what_somebody_else_put_in_our_place_is_not_used(tmp_path: Path, shared: Path, trap: str) -> None:
    place = shared / f"milepost-{os.geteuid()}"
    if trap == "link":
        place.symlink_to(tmp_path)
    elif trap == "file":
        place.touch()
    else:
        place.mkdir()
        place.chmod(0o777)
    environ = {"XDG_CACHE_HOME": str(tmp_path / ".cache")}
    state = tmp_path / "project/.milepost"
    assert checkouts_folder(state, environ=environ).parent == tmp_path / ".cache/milepost"
    assert earlier_folders(state, environ=environ) == ()


def test_the_settings_name_another_folder_beside_the_roadmap_or_anywhere(tmp_path: Path, shared: Path) -> None:
    state = tmp_path / "project/.milepost"
    assert checkouts_folder(state, "../work").parent == tmp_path / "work"
    assert checkouts_folder(state, str(tmp_path / "there")).parent == tmp_path / "there"
    assert len(earlier_folders(state, "../work")) == 1 and not any(shared.iterdir())


@pytest.mark.parametrize("named", ["", "linked/work"])
def test_links_are_resolved_where_the_path_enters(tmp_path: Path, named: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "real/project/.milepost").mkdir(parents=True)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "linked/cache")}
    name = str(tmp_path / named) if named else ""
    found = checkouts_folder(tmp_path / "linked/project/.milepost", name, environ=environ)
    assert found == checkouts_folder(tmp_path / "real/project/.milepost", name, environ=environ)
    assert found.is_relative_to(tmp_path / "real")


def test_a_checkout_does_not_say_by_its_path_that_tests_are_run_in_it(tmp_path: Path, shared: Path) -> None:
    found = checkouts_folder(tmp_path / "pytest-helpers/.milepost", environ={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert found.name.startswith("project-")
