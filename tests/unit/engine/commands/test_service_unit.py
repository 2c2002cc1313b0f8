"""The unit of systemd and what it is installed with, compared by equality."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from milepost.engine.commands.service_unit import (
    cron_line,
    disable_commands,
    enable_commands,
    quoted,
    unit_file,
    unit_text,
)

PROGRAM = ("/opt/my $tools/python", "-P", "-m", "milepost")
ENVIRON = {"PATH": "/home/ada/100%/bin:/usr/bin", "XDG_STATE_HOME": "", "ANTHROPIC_API_KEY": "sk-secret"}


def test_the_unit_runs_what_waits_with_the_paths_of_its_user_and_without_any_key() -> None:
    assert unit_text(PROGRAM, ENVIRON) == (
        "# Written by `milepost service install`; removed by `milepost service uninstall`.\n"
        "[Unit]\n"
        "Description=Milepost: continue runs that a restart of the machine interrupted\n"
        "\n"
        "[Service]\n"
        "Type=exec\n"
        "Environment=PATH=/home/ada/100%%/bin:/usr/bin\n"
        "EnvironmentFile=-%E/milepost/service.env\n"
        'ExecStart="/opt/my $$tools/python" -P -m milepost service run\n'
        "KillMode=mixed\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def test_what_installs_and_removes_it_speaks_to_the_users_own_systemd() -> None:
    assert enable_commands() == [
        ["systemctl", "--user", "daemon-reload"],
        ["systemctl", "--user", "enable", "milepost.service"],
    ]
    assert disable_commands() == (
        ["systemctl", "--user", "disable", "milepost.service"],
        ["systemctl", "--user", "daemon-reload"],
    )
    assert unit_file({"HOME": "/home/ada"}) == Path("/home/ada/.config/systemd/user/milepost.service")
    assert unit_file({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/c"}) == Path("/c/systemd/user/milepost.service")


def test_cron_starts_the_same() -> None:
    assert cron_line(PROGRAM, ENVIRON) == (
        "@reboot PATH=/home/ada/100\\%/bin:/usr/bin '/opt/my $tools/python' -P -m milepost service run"
    )


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("plain", "plain"),
        ("two words", '"two words"'),
        ("50%", "50%%"),
        ("$HOME", "$HOME"),
        ('a"b', '"a\\"b"'),
        ("a\\b", '"a\\\\b"'),
        ("a\nExecStop=evil", '"a\\nExecStop=evil"'),
        ("", '""'),
    ],
)
def test_a_word_cannot_become_another_line_or_another_word(word: str, written: str) -> None:
    assert quoted(word) == written


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "milepost.service"
    unit.write_text(unit_text(("/bin/sh",), {"PATH": "/usr/bin:/a b"}))
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
