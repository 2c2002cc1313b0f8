"""What `milepost logs` says where there is nothing to print."""

from __future__ import annotations

import pytest

from milepost import releases
from milepost.cli.deploy import logs


def test_that_nothing_was_printed_is_said_beside_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(releases, "logs", lambda *_, **__: "")

    logs("local", number=None, lines=100)

    answer = capsys.readouterr()
    assert answer.out == ""
    assert answer.err == "nothing was printed, or nothing of it was started\n"
