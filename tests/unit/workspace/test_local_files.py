"""Files that git ignores and tests need."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.engine.project.settings.settings import Settings
from milepost.workspace.local_files import LocalFiles, values_in


def test_values_that_could_be_secret_are_known_and_plain_words_are_not() -> None:
    text = 'export API="s3cr3t-value"\nMODE=development\nPORT=5432\nURL=postgres://me:hunter22@localhost/app\n'
    assert set(values_in(text)) == {"s3cr3t-value", "hunter22", "postgres://me:hunter22@localhost/app"}
    assert "dee-p-value" in set(values_in('{"a": {"b": ["dee-p-value"]}}'))


def test_only_plain_files_inside_the_tree_are_read(tmp_path: Path) -> None:
    top = tmp_path / "repo"
    (top / "config").mkdir(parents=True)
    (top / ".env").write_text("A=1\n")
    (tmp_path / "outside").write_text("B=2\n")
    (top / ".git").mkdir()
    (top / ".git/config").write_text("C=3\n")
    (top / "link").symlink_to(tmp_path / "outside")
    (top / "git").symlink_to(".git/config")
    found = LocalFiles(
        top=top, names=(".env", "link", "git", "config", "../outside", "missing", ".git/config")
    ).contents()
    assert {name: content for name, (content, _) in found.items()} == {".env": b"A=1\n"}


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", ".git/config", ""])
def test_the_settings_name_nothing_outside(name: str) -> None:
    with pytest.raises(ValueError, match="not a file inside"):
        Settings.model_validate({"workspace": {"copy": [name]}})
    assert Settings.model_validate({"workspace": {"copy": [".env"]}}).workspace.copied == [".env"]
