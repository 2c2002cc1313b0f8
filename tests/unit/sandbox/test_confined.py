"""Files that agents wrote, read and written without leaving their folder: what each of the two folders refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from milepost.sandbox.confined import ConfinedFolder, PathRefused, PlainFolder, is_inside

# Names that some file system reads as `.git`.
NAMES_OF_GIT = (".git", ".GIT", ".Git", ".git.", ".git ", "GIT~1", "git~1", ".git::$INDEX_ALLOCATION", ".g\u200cit")
TRAPS = ("away/secret", "direct", "pipe", "../outside/secret", "/etc/passwd", "a/../../x", "", "nul\0", "\ud800")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    (outside / "secret").write_text("mine\n")
    (inside / "src").mkdir(parents=True)
    (inside / "src" / "a.py").write_text("a = 1\n")
    (inside / "alias").symlink_to("src/a.py")
    (inside / "away").symlink_to(outside)
    (inside / "direct").symlink_to(outside / "secret")
    os.mkfifo(inside / "pipe")
    os.link(outside / "secret", inside / "second")
    return inside


@pytest.mark.parametrize("path", [*TRAPS, *NAMES_OF_GIT, *(f"src/{name}/config" for name in NAMES_OF_GIT)])
def test_neither_folder_reads_or_writes_what_leads_out_or_is_git(folder: Path, path: str) -> None:
    confined, plain = ConfinedFolder(folder), PlainFolder(folder)
    before = sorted(folder.iterdir())

    with pytest.raises(PathRefused):
        confined.read(path)
    with pytest.raises(PathRefused):
        confined.write(path, b"theirs\n")
    assert plain.read(path) is None
    assert plain.text(path) is None
    with pytest.raises(PathRefused):
        plain.write(path, b"theirs\n")

    assert sorted(folder.iterdir()) == before
    assert (folder.parent / "outside" / "secret").read_text() == "mine\n"


@pytest.mark.parametrize("path", [".gitignore", ".github/x", "git", "src/.gitkeep", "a.git", "git~2"])
def test_a_name_that_only_looks_like_git_is_written_and_read(folder: Path, path: str) -> None:
    ConfinedFolder(folder).write(path, b"x")

    assert PlainFolder(folder).read(path) == ConfinedFolder(folder).read(path) == b"x"
    assert is_inside(path)


def test_a_second_name_of_a_file_is_read_and_never_written(folder: Path) -> None:
    assert ConfinedFolder(folder).read("second") == PlainFolder(folder).read("second") == b"mine\n"
    with pytest.raises(PathRefused, match="second"):
        ConfinedFolder(folder).write("second", b"theirs\n")
    with pytest.raises(PathRefused, match="second"):
        PlainFolder(folder).write("second", b"theirs\n")


def test_a_link_that_stays_inside_is_followed_by_the_one_and_is_no_file_to_the_other(folder: Path) -> None:
    ConfinedFolder(folder).write("alias", b"a = 2\n")

    assert (folder / "src" / "a.py").read_text() == "a = 2\n"
    assert ConfinedFolder(folder).name_of("alias") == "src/a.py"
    assert PlainFolder(folder).read("alias") is None
    assert PlainFolder(folder).target("alias") == "src/a.py"
    assert not PlainFolder(folder).is_file("alias")


def test_each_folder_has_its_own_largest_file(folder: Path) -> None:
    (folder / "large").write_bytes(b"x" * 4_000_001)
    (folder / "huge").write_bytes(b"x" * 10_000_001)

    assert PlainFolder(folder).read("large") is None
    assert len(ConfinedFolder(folder).read("large")) == 4_000_001
    with pytest.raises(PathRefused, match="too large"):
        ConfinedFolder(folder).read("huge")


def test_each_folder_lists_what_its_callers_may_see(folder: Path) -> None:
    for name in (".git", ".venv", "node_modules", "venv", ".milepost", "git~1"):
        (folder / name).mkdir()
        (folder / name / "x").touch()

    assert ConfinedFolder(folder).listing("", at_most=99) == (
        *("alias", "direct", "pipe", "second", ".venv/", "node_modules/"),
        *(".milepost/x", "src/a.py", "venv/x"),
    )
    assert PlainFolder(folder).paths() == ("pipe", "second", "src/a.py")


def test_what_is_removed_takes_the_folders_that_it_leaves_empty_along(folder: Path) -> None:
    plain = PlainFolder(folder)
    plain.write("deep/er/x", b"x")
    plain.remove("deep/er/x")
    plain.remove("away/secret")

    assert not (folder / "deep").exists()
    assert (folder.parent / "outside" / "secret").exists()
    with pytest.raises(PathRefused):
        plain.remove(".git/config")
    with pytest.raises(PathRefused):
        ConfinedFolder(folder).delete("away/secret")


def test_a_link_is_made_in_place_of_a_file_and_rights_are_given(folder: Path) -> None:
    plain = PlainFolder(folder)
    plain.set_mode("src/a.py", 0o755)
    plain.link("src/b.py", "a.py")
    plain.link("src/a.py", "elsewhere")

    assert plain.target("src/b.py") == "a.py"
    assert plain.target("src/a.py") == "elsewhere"
    assert plain.is_folder("src")
    with pytest.raises(PathRefused):
        plain.set_mode("direct", 0o777)
