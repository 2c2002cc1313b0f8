"""Packages of Milepost carry the page with its libraries and their licences, or are not built."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from milepost.web import libraries
from tests.web.packages import made_up

ROOT = Path(__file__).resolve().parents[2]
VENDOR = "milepost/web/static/vendor"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the page and little else, where the libraries were not fetched."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"):
        shutil.copyfile(ROOT / name, folder / name)
    shutil.copytree(libraries.HERE, folder / "src/milepost/web", ignore=shutil.ignore_patterns("vendor", "__pycache__"))
    for name in ("__init__.py", "__init__.pyi"):
        shutil.copyfile(ROOT / "src/milepost" / name, folder / "src/milepost" / name)
    return folder


def built(what: str, checkout: Path, into: Path) -> Path:
    """A package as pip has it built."""
    into.mkdir(exist_ok=True)
    ended = build(what, checkout, into)
    assert ended.returncode == 0, ended.stderr
    return into / ended.stdout.split()[-1]


def build(what: str, checkout: Path, into: Path) -> subprocess.CompletedProcess[str]:
    asked = f"import sys, hatchling.build; print(hatchling.build.build_{what}(sys.argv[1]))"
    return subprocess.run([sys.executable, "-c", asked, into], cwd=checkout, capture_output=True, text=True)


def test_a_wheel_and_one_made_of_the_sources_carry_the_page_its_libraries_and_their_licences(
    checkout: Path, tmp_path: Path
) -> None:
    files = libraries.laid_out(made_up(tmp_path / "npm"))
    libraries.keep(files, checkout / "src" / VENDOR)

    sources = built("sdist", checkout, tmp_path / "sources")
    with tarfile.open(sources) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    wheels = built("wheel", checkout, tmp_path / "wheel"), built("wheel", unpacked, tmp_path / "again")

    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            carried = {name: archive.read(name) for name in archive.namelist() if name.startswith(f"{VENDOR}/")}
            assert "milepost/web/static/libraries.js" in archive.namelist()
        assert carried.keys() == {f"{VENDOR}/{name}" for name in (*files, libraries.MANIFEST)}
        assert all(carried[f"{VENDOR}/{name}"] == content for name, content in files.items())
    assert _missing_where_it_is_installed(wheels[1], tmp_path / "installed") == ""


def test_a_package_without_the_libraries_is_not_built_and_one_line_says_why(checkout: Path, tmp_path: Path) -> None:
    for what in ("wheel", "sdist"):
        refused = build(what, checkout, tmp_path)
        assert refused.returncode == 1
        assert refused.stdout + refused.stderr == (
            "error: the libraries of the page are not there: run `make web` in the checkout of Milepost\n"
        )
    assert built("editable", checkout, tmp_path / "editable").is_file()


def _missing_where_it_is_installed(wheel: Path, folder: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    asked = (
        "import sys; sys.path.insert(0, sys.argv[1]); from milepost.web import libraries; print(libraries.missing())"
    )
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", asked, folder], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()
