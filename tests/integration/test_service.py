"""The service is installed and removed with a systemctl that writes down what it is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from milepost import MilepostError, machines
from milepost.engine.project import open_runs

SYSTEMCTL = '#!/bin/sh\necho "$@" >> "$HOME/told"\n[ ! -e "$HOME/no-systemd" ]\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin/systemctl"
    program.parent.mkdir()
    program.write_text(SYSTEMCTL)
    program.chmod(0o755)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return tmp_path


def test_the_service_is_installed_enabled_and_removed_without_a_trace(home: Path) -> None:
    state = machines.install_service()
    assert (state.installed, state.enabled, state.interrupted) == (True, True, ())
    assert f"PATH={home}/bin" in state.unit.read_text()
    told = (home / "told").read_text().splitlines()
    assert told.index("--user daemon-reload") < told.index("--user enable milepost.service")
    assert machines.install_service().installed, "again, as after an update"
    assert machines.uninstall_service() and not state.unit.exists()
    assert not machines.uninstall_service()


def test_a_unit_of_the_users_own_is_neither_replaced_nor_removed(home: Path) -> None:
    unit = home / ".config/systemd/user/milepost.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    for change in (machines.install_service, machines.uninstall_service):
        with pytest.raises(MilepostError, match="was not written by milepost"):
            change()
    assert unit.read_text() == "[Service]\nExecStart=/bin/true\n"


def test_where_systemd_does_not_run_nothing_is_written_and_the_line_for_cron_is_told(home: Path) -> None:
    (home / "no-systemd").touch()
    with pytest.raises(MilepostError, match="systemd does not run") as refused:
        machines.install_service()
    assert "@reboot" in refused.value.advice and refused.value.advice.endswith("-m milepost service run")
    assert not (home / ".config").exists()


def test_notes_that_are_broken_or_of_roadmaps_that_are_gone_hold_nothing_up(home: Path) -> None:
    open_runs.note(home / "gone/ROADMAP.md", "abcd")
    (home / ".local/state/milepost/open-runs/broken.json").write_text('{"roadmap": 1')
    assert [one.run for one in open_runs.noted()] == ["abcd"]
    assert machines.continue_runs() == 0
    assert open_runs.noted() == ()
