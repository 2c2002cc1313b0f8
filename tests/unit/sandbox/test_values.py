"""The sandbox's small decisions: environment, endings, Landlock versions."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from milepost.core.commands import Command
from milepost.core.errors import MachineFailed, StateUnwritable
from milepost.sandbox.environment import environment, prepare_scratch
from milepost.sandbox.launch import Surroundings, launch_of
from milepost.sandbox.level_report import HowItEnded, Report, how_it_ended
from milepost.sandbox.walls import confine


def test_the_environment_is_built_from_nothing() -> None:
    host = {"PATH": "/bin", "LC_TIME": "C", "TZ": "UTC", "API_KEY": "secret", "HOME": "/home/me", "LD_PRELOAD": "x"}
    assert environment(host=host, user="me", scratch=Path("/s"), given={"ASKED": "1"}, toolchains={"T": "/t"}) == {
        "PATH": "/bin",
        "LC_TIME": "C",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "USER": "me",
        "LOGNAME": "me",
        "HOME": "/s/home",
        "TMPDIR": "/s/tmp",
        "XDG_CACHE_HOME": "/s/home/.cache",
        "XDG_CONFIG_HOME": "/s/home/.config",
        "XDG_DATA_HOME": "/s/home/.local/share",
        "XDG_STATE_HOME": "/s/home/.local/state",
        "SHELL": "/bin/sh",
        "T": "/t",
        "ASKED": "1",
    }


def test_a_link_left_in_the_scratch_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "home").symlink_to(tmp_path / "elsewhere")
    prepare_scratch(tmp_path)
    assert (tmp_path / "home").is_dir() and not (tmp_path / "elsewhere").exists()


IDLE = HowItEnded("idle", "said nothing")


@pytest.mark.parametrize(
    ("facts", "ended_for", "expected"),
    [
        ({"ended": "guest", "exit_code": 3}, None, HowItEnded("exited")),
        ({"ended": "guest", "exit_code": 0}, IDLE, HowItEnded("exited")),
        ({"ended": "guest", "signal": 11}, None, HowItEnded("signalled", "ended by SIGSEGV")),
        ({"ended": "guest", "signal": 24}, None, HowItEnded("cpu", "used up its processor time")),
        (
            {"ended": "memory", "words": "used more than 9 MB", "signal": 9},
            None,
            HowItEnded("memory", "used more than 9 MB"),
        ),
        ({"ended": "timeout", "signal": 9}, IDLE, HowItEnded("timeout", "ran out of time")),
        ({"started": True, "ended": "host", "signal": 9}, IDLE, IDLE),
    ],
)
def test_how_a_guest_ended_is_the_relays_word(
    facts: dict[str, Any], ended_for: HowItEnded | None, expected: HowItEnded
) -> None:
    assert how_it_ended(Report.of(facts), ended_for) == expected


@pytest.mark.parametrize("facts", [{}, {"started": True}, {"started": True, "ended": "warden", "signal": 9}])
def test_a_guest_whose_keeper_was_lost_is_the_machines_failure_unless_the_host_ended_it(facts: dict[str, Any]) -> None:
    with pytest.raises(MachineFailed):
        how_it_ended(Report.of(facts), None)
    assert how_it_ended(Report.of(facts), IDLE) == IDLE


def failed_at(stage: str, number: int | None) -> Report:
    return Report(failure={"stage": stage, "errno": number, "text": "why"})


@pytest.mark.parametrize(
    "report",
    [
        failed_at("start", errno.EAGAIN),
        failed_at("start", errno.EPERM),
        failed_at("descriptors", errno.EMFILE),
        failed_at("confine", errno.EINVAL),
        failed_at("exec", errno.ENOMEM),
        failed_at("cwd", errno.EIO),
    ],
)
def test_a_guest_that_the_machine_could_not_start_is_not_the_works_failure(report: Report) -> None:
    with pytest.raises(MachineFailed, match="why"):
        how_it_ended(report, None)


@pytest.mark.parametrize("report", [failed_at("exec", errno.ENOENT), failed_at("cwd", errno.ENOTDIR)])
def test_a_program_or_folder_that_is_missing_is_the_works_failure(report: Report) -> None:
    assert how_it_ended(report, None).termination == "not_started"


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (errno.ENOSPC, StateUnwritable),
        (errno.EROFS, StateUnwritable),
        (errno.EDQUOT, StateUnwritable),
        (errno.EMFILE, MachineFailed),
    ],
)
def test_a_scratch_folder_that_the_machine_has_no_room_for_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[MachineFailed]
) -> None:
    def mkdir(*_: object, **__: object) -> None:
        raise OSError(number, "no room")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    command = Command(argv=("true",), cwd=tmp_path, scratch=tmp_path / "scratch")
    with pytest.raises(MachineFailed, match=r"scratch.*no room") as raised:
        launch_of(command, Surroundings(home=tmp_path))
    assert type(raised.value) is error and "milepost resume" in raised.value.advice


@pytest.mark.parametrize("abi", [1, 2, 3, 4, 5, 6, 7, 99])
def test_only_rights_that_this_landlock_knows_are_asked_for(abi: int) -> None:
    known = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    assert confine.handled_rights(abi) == 2**known - 1
    assert confine.WRITE & confine.handled_rights(abi) & confine.READ == confine.READ
