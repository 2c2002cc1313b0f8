"""Whether the answer of a run repeats what its progress has shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from milepost.cli import run_live


@pytest.mark.parametrize(("errors", "is_shown"), [("both", True), ("errors", False)])
def test_results_are_not_repeated_in_a_file_that_has_the_progress(
    errors: str, is_shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "both").open("w") as answers, (tmp_path / errors).open("a") as progress:
        monkeypatch.setattr(sys, "stdout", answers)
        monkeypatch.setattr(sys, "stderr", progress)
        assert run_live._stdout_is_shown_with_progress() is is_shown
