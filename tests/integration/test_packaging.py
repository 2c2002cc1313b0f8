"""Packages of Milepost carry the page with its libraries, or are built without; what is installed from them works."""

from __future__ import annotations

import os
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
    ended = build(what, checkout, into)
    assert ended.returncode == 0, ended.stderr
    return into / ended.stdout.split()[-1]


def build(what: str, checkout: Path, into: Path, path: str = os.devnull) -> subprocess.CompletedProcess[str]:
    """Where `path` does not say otherwise, nothing is found that could fetch anything."""
    into.mkdir(exist_ok=True)
    asked = f"import sys, hatchling.build; print(hatchling.build.build_{what}(sys.argv[1]))"
    return subprocess.run(
        [sys.executable, "-c", asked, into],
        cwd=checkout,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )


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


def test_without_npm_packages_are_built_and_what_they_lack_is_said_by_the_build_and_by_the_program(
    checkout: Path, tmp_path: Path
) -> None:
    for what in ("sdist", "wheel"):
        ended = build(what, checkout, tmp_path / what, path=str(tmp_path))
        assert ended.returncode == 0, ended.stderr
        assert "built without the libraries of the page: there is no npm on this machine" in ended.stderr
        assert "milepost web --fetch-libraries" in ended.stderr
    assert built("editable", checkout, tmp_path / "editable").is_file()
    (wheel,) = (tmp_path / "wheel").iterdir()
    assert _missing_where_it_is_installed(wheel, tmp_path / "installed") == (
        "this installation has no libraries for the page: milepost web --fetch-libraries (needs npm)"
    )


def test_where_npm_is_the_build_fetches_the_libraries_itself(checkout: Path, tmp_path: Path) -> None:
    _stand_in_for_npm(tmp_path / "bin", made_up(tmp_path / "npm"))

    ended = build("wheel", checkout, tmp_path, path=f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    assert ended.returncode == 0, ended.stderr
    assert _missing_where_it_is_installed(tmp_path / ended.stdout.split()[-1], tmp_path / "installed") == ""


def _stand_in_for_npm(folder: Path, packages: Path) -> None:
    """A program that installs what is there as npm would, whatever it is asked."""
    folder.mkdir()
    npm = folder / "npm"
    npm.write_text(f"#!/bin/sh\ncp -r {packages} node_modules\n")
    npm.chmod(0o755)


def _missing_where_it_is_installed(wheel: Path, folder: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    asked = (
        "import sys; sys.path.insert(0, sys.argv[1]); from milepost.web import libraries; print(libraries.missing())"
    )
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", asked, folder], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()
