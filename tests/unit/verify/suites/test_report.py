from __future__ import annotations

import os
from pathlib import Path

import pytest

from milepost.verify.suites import report_file


def test_only_a_plain_file_of_a_sane_size_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_file, "LARGEST_REPORT", 10)
    (tmp_path / "plain").write_bytes(b"<a/>\xff")
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")

    assert report_file.read(tmp_path / "plain") == "<a/>\ufffd"
    for name in ("large", "link", "folder", "pipe", "missing"):
        assert report_file.read(tmp_path / name) is None, name


@pytest.mark.parametrize("kind", ["nothing", "file", "folder", "link"])
def test_what_an_earlier_command_left_is_cleared_and_what_it_points_at_is_not(tmp_path: Path, kind: str) -> None:
    path, precious = tmp_path / "report.xml", tmp_path / "precious"
    precious.mkdir()
    match kind:
        case "file":
            path.touch()
        case "folder":
            (path / "deep").mkdir(parents=True)
        case "link":
            path.symlink_to(precious)

    report_file.clear(path)

    assert not os.path.lexists(path)
    assert precious.is_dir()
