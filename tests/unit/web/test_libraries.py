"""The libraries of the page: locked without addresses, laid out for a browser, and missed when they are not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.web import libraries
from tests.web.packages import made_up

LOCK = json.loads((libraries.HERE / "package-lock.json").read_text())
PACKAGES = {name: package for name, package in LOCK["packages"].items() if name}


def test_every_library_is_locked_by_a_hash_and_without_an_address() -> None:
    assert LOCK["packages"][""]["dependencies"] == libraries.versions()
    assert json.loads((libraries.HERE / "package.json").read_text())["dependencies"] == libraries.versions()
    assert all(package["integrity"].startswith("sha512-") for package in PACKAGES.values())
    assert "://" not in json.dumps(LOCK)


def test_modules_name_each_other_by_address_and_carry_their_licences(tmp_path: Path) -> None:
    files = {name: content.decode() for name, content in libraries.laid_out(made_up(tmp_path)).items()}

    assert 'from"./preact.js"' in files["hooks.js"]
    assert 'from"./signals-core.js"' in files["signals.js"]
    assert not any("sourceMappingURL" in content or '"preact' in content for content in files.values())
    assert files["signals.js"].startswith("/* @preact/signals, of @preact/signals 2.")
    assert files["hooks.js"].startswith(f"/* preact/hooks, of preact {libraries.versions()['preact']}: see LICENSES/")
    assert files["LICENSES/preact-signals-core.txt"] == "licence of @preact/signals-core"


def test_an_import_of_a_library_that_is_not_carried_is_refused() -> None:
    with pytest.raises(libraries.NotFetched, match=r"htm imports 'left-pad', which is none of preact, "):
        libraries.for_browsers("htm", 'import x from "left-pad"')


@pytest.mark.parametrize(
    "harm",
    [
        lambda vendor: (vendor / "manifest.json").unlink(),
        lambda vendor: (vendor / "manifest.json").write_text("[1, 2"),
        lambda vendor: (vendor / "manifest.json").write_text("[]"),
        lambda vendor: (vendor / "manifest.json").write_text('{"libraries": {}, "files": {}}'),
        lambda vendor: (vendor / "htm.js").unlink(),
        lambda vendor: (vendor / "htm.js").write_text("cut sho"),
        lambda vendor: (vendor / "LICENSES" / "htm.txt").write_text(""),
    ],
    ids=["no manifest", "half a manifest", "not a manifest", "other libraries", "no file", "half a file", "no licence"],
)
def test_whatever_is_missing_is_said_in_a_line_with_the_command(tmp_path: Path, harm: object) -> None:
    vendor = tmp_path / "vendor"
    libraries.keep(libraries.laid_out(made_up(tmp_path / "npm")), vendor)
    assert libraries.missing(vendor) == ""

    assert callable(harm)
    harm(vendor)

    assert libraries.missing(vendor).endswith(f": {libraries.COMMAND}")
    assert "\n" not in libraries.missing(vendor)


def test_what_an_earlier_version_left_is_gone_when_newer_libraries_are_kept(tmp_path: Path) -> None:
    stale = [tmp_path / "LICENSES" / "old.txt", tmp_path / "old.js"]
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text("old")

    libraries.keep(libraries.laid_out(made_up(tmp_path.parent / "npm")), tmp_path)

    assert libraries.missing(tmp_path) == ""
    assert not any(path.exists() for path in stale)


def test_without_npm_one_line_says_so_and_nothing_is_left(tmp_path: Path) -> None:
    program = tmp_path / "web" / "libraries.py"
    program.parent.mkdir()
    for name in ("libraries.py", "package.json", "package-lock.json"):
        (program.parent / name).write_bytes((libraries.HERE / name).read_bytes())

    ended = subprocess.run(
        [sys.executable, "-P", program], env=os.environ | {"PATH": str(tmp_path)}, capture_output=True, text=True
    )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "the libraries of the page are not fetched: there is no npm on this machine; on Debian: apt-get install npm\n"
    )
    assert not (program.parent / "static").exists()
