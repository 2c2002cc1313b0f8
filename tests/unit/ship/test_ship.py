from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path

import pytest

from milepost.core.errors import Misuse
from milepost.core.shipping import Artifact, Health
from milepost.ship.archive import TreeArchive
from milepost.ship.in_memory import InMemoryTarget


def make_project(folder: Path) -> Path:
    for name in (
        "b.txt",
        "a/run.sh",
        ".git/config",
        ".milepost/db",
        "a/__pycache__/x.pyc",
        ".venv/x",
        "node_modules/x",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "a/run.sh").chmod(0o744)
    (folder / "link").symlink_to("b.txt")
    os.mkfifo(folder / "pipe")
    return folder


def snapshot(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in (folder, *folder.rglob("*"))}


def test_the_archive_holds_the_project_and_nothing_of_the_tools_around_it(tmp_path: Path) -> None:
    project = make_project(tmp_path / "app")
    before = snapshot(project)

    artifact = TreeArchive(tmp_path / "out").build(project)

    assert snapshot(project) == before
    assert artifact.sha256 == hashlib.sha256(artifact.path.read_bytes()).hexdigest()
    assert artifact.path == tmp_path / "out" / artifact.name
    assert artifact.name == f"app-{artifact.sha256[:12]}.tar.gz"
    assert list((tmp_path / "out").iterdir()) == [artifact.path]
    with tarfile.open(artifact.path) as archive:
        assert [(entry.name, entry.mode) for entry in archive] == [
            ("a", 0o755),
            ("a/run.sh", 0o755),
            ("b.txt", 0o644),
            ("link", 0o777),
        ]
        content = archive.extractfile("b.txt")
        assert content is not None
        assert content.read() == b"b.txt"


def test_the_same_content_makes_the_same_bytes_whenever_it_was_written(tmp_path: Path) -> None:
    one, other = make_project(tmp_path / "1" / "app"), make_project(tmp_path / "2" / "app")
    os.utime(other / "b.txt", (1, 1))

    first, second = TreeArchive(tmp_path / "out").build(one), TreeArchive(tmp_path / "out").build(other)

    assert first == second
    (other / "b.txt").write_text("changed")
    assert TreeArchive(tmp_path / "out").build(other).sha256 != first.sha256


def test_a_build_does_not_write_into_its_project(tmp_path: Path) -> None:
    project = make_project(tmp_path / "app")

    with pytest.raises(Misuse, match="lies in the project"):
        TreeArchive(project / "dist").build(project)
    with pytest.raises(Misuse, match="no project folder"):
        TreeArchive(tmp_path / "out").build(tmp_path / "nowhere")

    assert not (project / "dist").exists()
    assert TreeArchive(project / ".milepost" / "artifacts").build(project).path.exists()


def artifact(name: str) -> Artifact:
    return Artifact(name=name, path=Path(name), sha256="0" * 64)


def test_a_rollback_brings_back_the_release_before_and_its_number_is_never_used_again() -> None:
    target = InMemoryTarget()
    first, second = target.deploy(artifact("a")), target.deploy(artifact("b"))
    assert (first.number, second.number) == (1, 2)

    assert target.rollback() == first
    assert target.health() == Health(healthy=True, release=1, copies=1)
    assert target.deploy(artifact("c")).number == 3
    assert target.rollback() == first


def test_what_a_target_cannot_do_it_refuses() -> None:
    target = InMemoryTarget()
    assert target.health() == Health(healthy=False, release=None, copies=0, detail="nothing is deployed")
    for impossible in (target.rollback, target.restart, lambda: target.scale(2)):
        with pytest.raises(Misuse):
            impossible()

    target.deploy(artifact("a"))
    with pytest.raises(Misuse, match="no release to go back to"):
        target.rollback()
    with pytest.raises(Misuse, match="-1"):
        target.scale(-1)
    assert target.health() == Health(healthy=True, release=1, copies=1)


def test_health_tells_copies_and_illness_and_a_restart_heals() -> None:
    target = InMemoryTarget()
    target.deploy(artifact("a"))

    target.scale(3)
    target.fail("answers 500")
    assert target.health() == Health(healthy=False, release=1, copies=3, detail="answers 500")
    target.restart()
    assert target.health() == Health(healthy=True, release=1, copies=3)
    target.scale(0)
    assert not target.health().healthy
