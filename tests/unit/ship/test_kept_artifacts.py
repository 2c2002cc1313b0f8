from __future__ import annotations

import errno
from pathlib import Path

import pytest

from milepost.core.errors import StateUnwritable
from milepost.core.shipping import Artifact, ArtifactKind
from milepost.ship.guest_files import sha256_of
from milepost.ship.kept_artifacts import KeptArtifacts


def keep(artifacts: KeptArtifacts, key: str, content: bytes) -> Artifact:
    with artifacts.draft() as draft:
        file = draft / "a.whl"
        file.write_bytes(content)
        made = Artifact(
            kind=ArtifactKind.WHEEL,
            name="a",
            version="1",
            path=file,
            sha256=sha256_of(file),
            size=len(content),
            tree="t",
            commit="c",
            start=("a", "--now"),
        )
        return artifacts.keep(key, draft, made, {"ran": "yes"}).artifact


def test_what_is_kept_is_found_as_it_was(tmp_path: Path) -> None:
    artifacts = KeptArtifacts(tmp_path)
    made = keep(artifacts, "k", b"one")
    found = artifacts.find("k")
    assert found is not None and found.artifact == made and found.told == {"ran": "yes"}
    assert made.path == tmp_path / "k/a.whl"


def test_whoever_is_second_gets_what_the_first_kept(tmp_path: Path) -> None:
    artifacts = KeptArtifacts(tmp_path)
    first, second = keep(artifacts, "k", b"one"), keep(artifacts, "k", b"two")
    assert second == first and second.path.read_bytes() == b"one"
    assert [folder.name for folder in tmp_path.iterdir()] == ["k"]


def test_what_is_not_whole_is_not_found_and_is_replaced(tmp_path: Path) -> None:
    artifacts = KeptArtifacts(tmp_path)
    keep(artifacts, "k", b"one").path.write_bytes(b"changed")
    assert artifacts.find("k") is None
    assert keep(artifacts, "k", b"two").path.read_bytes() == b"two"


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StateUnwritable, match="No space left"), KeptArtifacts(tmp_path).draft() as draft:
        (draft / "half").write_text("")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not list(tmp_path.iterdir())
