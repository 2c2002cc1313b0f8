"""The benchmark from an agent's name to its report."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from milepost.bench import run_bench


def test_the_reference_agent_is_done_and_the_null_agent_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = run_bench("reference", ("06", "18"))
    assert [task.ending for task in done.tasks] == ["done"] * 2, [task.reason for task in done.tasks]
    idle = run_bench("null", ("06",))
    assert (idle.successes, idle.false_done) == (0, 0)


def test_work_that_only_looks_right_is_a_false_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task's own check accepts it, the hidden ones do not: that is what the figure counts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    agent = tmp_path / "agent.py"
    agent.write_text(
        "text = open('textkit.py').read()\n"
        'text += \'\\n\\ndef truncate(text, width, ending="…"):\\n    return text[: width - 1] + "…"\\n\'\n'
        "open('textkit.py', 'w').write(text)\n"
    )
    report = run_bench(f"command:{sys.executable} {agent}", ("02-add-function",))
    assert (report.successes, report.false_done) == (0, 1)
    assert "test_" in report.tasks[0].reason
