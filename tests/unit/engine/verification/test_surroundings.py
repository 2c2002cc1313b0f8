"""What makes an answer about a tree another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.engine.project.settings.settings import Settings
from milepost.engine.verification.surroundings import lasts, services, surroundings_of
from milepost.verify.suites.python_project import ProjectPython


def settings(**sandbox: object) -> Settings:
    return Settings.model_validate({"sandbox": sandbox})


@pytest.fixture
def python(tmp_path: Path) -> ProjectPython:
    environment = tmp_path / "venv"
    (environment / "lib/python3.12/site-packages/six-1.16.0.dist-info").mkdir(parents=True)
    return ProjectPython(path=environment / "bin/python", environment=environment, version="3.12.1")


def test_packages_copied_files_and_settings_take_part(tmp_path: Path, python: ProjectPython) -> None:
    def told(given: Settings | None = None, copied: tuple[bytes, ...] = ()) -> str:
        return surroundings_of(given or Settings(), tmp_path, python, "/nowhere", copied).fingerprint

    first = told()
    assert told() == first
    assert told(copied=(b"A=1",)) != first
    assert told(settings(readable=["/data"])) != first
    (tmp_path / "venv/lib/python3.12/site-packages/attrs-25.1.0.dist-info").mkdir()
    assert told() != first


@pytest.mark.parametrize(
    ("network", "expected"),
    [("loopback", True), ("none", True), (["127.0.0.1:5432"], True), ("open", False), (["example.org"], False)],
)
def test_what_reaches_further_than_this_machine_does_not_last(network: object, expected: bool) -> None:
    assert lasts(settings(network=network)) is expected


def test_a_service_on_loopback_takes_part_by_being_there() -> None:
    given = settings(network=["127.0.0.1:5432", "example.org"])
    assert [*services(given, lambda host: True)] == ["127.0.0.1:5432 answers"]
    assert [*services(given, lambda host: False)] == ["127.0.0.1:5432 is not there"]
