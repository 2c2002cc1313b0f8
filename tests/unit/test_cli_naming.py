"""Commands that are proposed to people take the roadmap that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.cli.naming import argument, option


def test_a_roadmap_is_named_where_a_command_would_take_another_one_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "my plan.md").write_text("- [ ] One\n")
    monkeypatch.chdir(tmp_path)
    other = Path("my plan.md")
    assert (argument(other), option(other)) == (" 'my plan.md'", " --roadmap 'my plan.md'")
    (tmp_path / "ROADMAP.md").write_text("- [ ] Two\n")
    assert argument(other) == " 'my plan.md'"
    assert argument(Path("ROADMAP.md")) == argument(None) == option(Path("no.md")) == ""
