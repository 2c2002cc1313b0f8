"""Milepost as it is installed from its package: not from this checkout, and with an empty home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from milepost.web import libraries
from tests import lean

ROOT = Path(__file__).parents[2]
SOURCES = ("src", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an empty environment with the wheel of the sdist in it; it borrows our dependencies."""
    pytest.importorskip("pip", reason="pip is not in this environment: it installs the wheel")
    folder = tmp_path_factory.mktemp("installed")
    wheel = wheel_of_the_sources(folder)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    # A folder in a .pth file is searched, its own .pth files are not read: the editable Milepost there stays unseen.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "venv/bin/python",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    return folder / "venv/bin"


def wheel_of_the_sources(folder: Path) -> Path:
    """A wheel built from the sdist of this checkout, on a machine without npm."""
    checkout = folder / "checkout"
    checkout.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, checkout / name)
    shutil.rmtree(checkout / "src/milepost/web/static/vendor", ignore_errors=True)
    for what, place in (("sdist", checkout), ("wheel", folder / "unpacked")):
        asked = f"import sys, hatchling.build; hatchling.build.build_{what}(sys.argv[1])"
        nothing = os.environ | {"PATH": os.devnull}
        subprocess.run([sys.executable, "-c", asked, folder], cwd=place, env=nothing, check=True, capture_output=True)
        if what == "sdist":
            shutil.unpack_archive(next(folder.glob("*.tar.gz")), folder / "archive", filter="data")
            next((folder / "archive").iterdir()).rename(folder / "unpacked")
    return next(folder.glob("*.whl"))


def milepost(programs: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{lean.python().parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(home), "COLUMNS": "100"}
    return subprocess.run(
        [programs / "milepost", *words], cwd=home, env=env, capture_output=True, text=True, timeout=600
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_the_installed_program_tells_its_version_and_runs_the_demonstration(installed: Path, home: Path) -> None:
    told = milepost(installed, home, "--version")
    done = milepost(installed, home, "demo", str(home / "demo"))

    assert told.stdout.startswith("milepost ") and "\nextras: " in told.stdout, told.stderr
    assert done.returncode == 0, done.stderr
    assert "a box is ticked only with proof" in done.stdout


def test_the_installed_program_is_its_own_and_its_bytecode_is_compiled(installed: Path, home: Path) -> None:
    asked = "import milepost.cli.main as main; print(main.__file__, main.__cached__)"
    said = subprocess.run(
        [installed / "python", "-I", "-c", asked], cwd=home, capture_output=True, text=True, check=True
    )
    source, compiled = (Path(word) for word in said.stdout.split())
    assert source.is_relative_to(installed.parent)
    package = source.parents[1]
    for module in (package / "__init__.py", package / "web/libraries.py", source):
        assert list((module.parent / "__pycache__").glob(f"{module.stem}.*.pyc")), module
    assert compiled.is_file()


def test_without_the_libraries_the_page_ends_at_once_with_the_command_that_gets_them(
    installed: Path, home: Path
) -> None:
    refused = milepost(installed, home, "web", "--port", "0")

    assert (refused.returncode in (1, 2), refused.stdout) == (True, "")
    assert refused.stderr == (f"error: this installation has no libraries for the page\n  {libraries.COMMAND}\n")
