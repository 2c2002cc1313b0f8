"""What the live tests drive is what is pinned, and what was installed half is not there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.live.installed import COMPLETE, FOLDER, PINS, REQUIRED, Pin, found, needed, place
from tests.tools import need

INSTALL = Path(__file__).with_name("install")
FROM_NPM = [pin for pin in PINS.values() if pin.source == "npm"]


@pytest.mark.parametrize("pin", FROM_NPM, ids=lambda pin: pin.name)
def test_the_lock_of_a_program_holds_its_pinned_version_and_a_hash_of_every_package(pin: Pin) -> None:
    lock = json.loads((INSTALL.parent / "locks" / pin.name / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}

    beside = {f"{each[0]}{name}": version for each in pin.beside for name, _, version in [each[1:].partition("@")]}
    assert lock["packages"][""]["dependencies"] == {pin.package: pin.version, **beside}
    assert packages[f"node_modules/{pin.package}"]["version"] == pin.version
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert not any("resolved" in package for package in packages.values())


def test_a_program_that_was_installed_half_is_absent_and_a_required_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.delenv(REQUIRED, raising=False)
    program = place(PINS["goose"]) / PINS["goose"].program
    program.parent.mkdir(parents=True)
    program.touch()

    assert found("goose") is None
    with pytest.raises(pytest.skip.Exception, match=r"goose 1\.\S+ is not in .*: tests/live/install --only goose"):
        needed("goose")
    monkeypatch.setenv(REQUIRED, "claude, goose")
    with pytest.raises(pytest.fail.Exception, match="tests/live/install --only goose"):
        needed("goose")
    (place(PINS["goose"]) / COMPLETE).touch()
    assert needed("goose") == program


def test_a_registry_that_cannot_be_reached_is_said_in_a_line_and_leaves_nothing(tmp_path: Path) -> None:
    nowhere = {
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_fetch_retries": "0",
        "npm_config_cache": str(tmp_path / "cache"),
        FOLDER: str(tmp_path / "live"),
    }
    need("npm")

    ended = subprocess.run([INSTALL, "--only", "goose"], env=os.environ | nowhere, capture_output=True, text=True)

    assert ended.returncode == 1
    assert ended.stderr == "goose 1.52.0 is not installed: the registry of npm cannot be reached from here\n"
    assert not place(PINS["goose"], nowhere).exists()
