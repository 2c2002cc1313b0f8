"""Files that a project's build wrote into its packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.workspace.built_files import built_files
from milepost.workspace.local_files import LocalFiles


def write(top: Path, *paths: str) -> None:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("A=1\n")


@pytest.mark.parametrize(
    "manifest",
    [
        'build.hooks.vcs.version-file = "src/shop/_version.py"\n',
        '[tool.setuptools_scm]\nversion_file = "src/shop/_version.py"\n',
        '[tool.setuptools_scm]\nwrite_to = "src/shop/_version.py"\n',
        '[tool.pdm.version]\nwrite_to = "shop/_version.py"\n',
    ],
)
def test_the_version_that_a_build_wrote_is_found_by_what_the_manifest_says(tmp_path: Path, manifest: str) -> None:
    write(tmp_path, "src/shop/_version.py", "src/shop/version_of_others.py")
    (tmp_path / "pyproject.toml").write_text(f"[tool.hatch]\n{manifest}")

    assert built_files(tmp_path) == ("src/shop/_version.py",)


def test_the_version_is_found_by_what_an_older_manifest_says(tmp_path: Path) -> None:
    write(tmp_path, "shop/version.py")
    (tmp_path / "setup.py").write_text('setup(use_scm_version={"write_to": "shop/version.py"})\n')

    assert built_files(tmp_path) == ("shop/version.py",)


def test_a_manifest_brings_no_other_file_than_a_version(tmp_path: Path) -> None:
    write(tmp_path, ".env", "secrets.py")
    for path in (".env", "secrets.py", "../_version.py", "missing/_version.py"):
        (tmp_path / "pyproject.toml").write_text(f'[tool.setuptools_scm]\nversion_file = "{path}"\n')
        assert LocalFiles(top=tmp_path, built=built_files(tmp_path)).contents() == {}


def test_compiled_modules_are_found_in_the_packages_alone(tmp_path: Path) -> None:
    write(
        tmp_path,
        "src/shop/__init__.py",
        "src/shop/fast/_sums.abi3.so",
        "src/shop/_speed.cpython-311-x86_64-linux-gnu.so",
    )
    write(tmp_path, "build/lib/shop/_speed.cpython-311-x86_64-linux-gnu.so", "src/shop/plain.so", "_top.abi3.so")

    assert set(built_files(tmp_path)) == {
        "_top.abi3.so",
        "src/shop/_speed.cpython-311-x86_64-linux-gnu.so",
        "src/shop/fast/_sums.abi3.so",
    }


def test_what_a_build_wrote_is_copied_and_no_secret(tmp_path: Path) -> None:
    write(tmp_path, ".env", "_version.py")
    (tmp_path / ".env").write_text("KEY=s3cr3t-value\n")
    (tmp_path / "_version.py").write_text("commit_id = 'g1a2b3c4'\n")

    local = LocalFiles(top=tmp_path, names=(".env",), built=("_version.py",))

    assert set(local.contents()) == {".env", "_version.py"}
    assert local.secrets() == {"s3cr3t-value"}
