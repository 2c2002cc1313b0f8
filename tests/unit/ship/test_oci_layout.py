from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from milepost.core.errors import PackageFailed
from milepost.ship.oci_layout import (
    BaseImage,
    add_base,
    add_layer,
    begin_layout,
    config_of,
    digest_of_layout,
    finish_layout,
)

SETTINGS = {"Entrypoint": ["/bin/app"]}


def layout(folder: Path, files: Mapping[str, Path | str], base: Path | None = None) -> str:
    begin_layout(folder)
    parts = (add_base(folder, base) if base else BaseImage(), add_layer(folder, files, 1_700_000_000))
    return finish_layout(folder, parts, SETTINGS, tag="1.0", time=1_700_000_000)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "app"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_an_image_is_the_same_wherever_and_whenever_it_is_written(tmp_path: Path, program: Path) -> None:
    one = layout(tmp_path / "one", {"bin/app": program, "bin/b": "app"})
    other = layout(tmp_path / "other", {"bin/b": "app", "bin/app": program})
    assert one == other == digest_of_layout(tmp_path / "one")


def test_a_layer_has_its_folders_and_modes_and_nobody_of_this_machine(tmp_path: Path, program: Path) -> None:
    layout(tmp_path / "image", {"usr/bin/app": program})
    (layer,) = [blob for blob in (tmp_path / "image/blobs/sha256").iterdir() if blob.read_bytes()[:2] == b"\x1f\x8b"]
    with tarfile.open(layer) as archive:
        found = [(one.name, one.mode, one.uid, one.uname, one.mtime) for one in archive]
    assert found == [
        ("usr", 0o755, 0, "", 1_700_000_000),
        ("usr/bin", 0o755, 0, "", 1_700_000_000),
        ("usr/bin/app", 0o755, 0, "", 1_700_000_000),
    ]


@pytest.mark.parametrize("way", ["layout", "archive of a layout", "tar of files"])
def test_an_image_stands_on_its_base(way: str, tmp_path: Path, program: Path) -> None:
    base = tmp_path / "base"
    if way == "tar of files":
        base = tmp_path / "base.tar"
        with tarfile.open(base, "w:xz") as archive:
            archive.add(program, "bin/app")
    else:
        layout(base, {"etc/os": program})
        if way == "archive of a layout":
            with tarfile.open(tmp_path / "base.tar", "w") as archive:
                archive.add(base, ".")
            base = tmp_path / "base.tar"
    digest = layout(tmp_path / "image", {"bin/b": program}, base)
    assert digest == digest_of_layout(tmp_path / "image")
    config = config_of(tmp_path / "image")
    assert len(config["rootfs"]["diff_ids"]) == 2
    assert config["config"] == SETTINGS
    assert not list((tmp_path / "image").glob(".*")), "nothing is left of how it was made"


def test_a_layout_of_which_a_part_was_changed_has_no_digest(tmp_path: Path, program: Path) -> None:
    layout(tmp_path / "image", {"bin/app": program})
    for blob in (tmp_path / "image/blobs/sha256").iterdir():
        whole = blob.read_bytes()
        blob.write_bytes(whole + b"x")
        with pytest.raises(ValueError, match="another content"):
            digest_of_layout(tmp_path / "image")
        blob.write_bytes(whole)


def test_a_base_that_leads_out_of_its_folder_or_is_of_another_machine_is_refused(tmp_path: Path, program: Path) -> None:
    base = tmp_path / "base"
    layout(base, {"bin/app": program})
    index = json.loads((base / "index.json").read_text())
    for change in ({"digest": "sha256:../../../../etc/passwd"}, {"platform": {"os": "plan9", "architecture": "vax"}}):
        (base / "index.json").write_text(json.dumps({"manifests": [index["manifests"][0] | change]}))
        begin_layout(folder := tmp_path / f"image-{next(iter(change))}")
        with pytest.raises(PackageFailed, match="neither an OCI layout nor a tar"):
            add_base(folder, base)


def test_an_archive_with_a_link_out_of_it_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "base.tar", "w") as archive:
        for name, target in (("oci-layout", ""), ("index.json", "../../secret")):
            member = tarfile.TarInfo(name)
            if target:
                member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member, io.BytesIO(b""))
    begin_layout(tmp_path / "image")
    with pytest.raises(PackageFailed, match="neither an OCI layout nor a tar"):
        add_base(tmp_path / "image", tmp_path / "base.tar")
