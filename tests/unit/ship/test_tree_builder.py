from __future__ import annotations

from pathlib import Path

import pytest

from milepost.ship.tree_builder import is_served_as_it_is


@pytest.mark.parametrize(
    ("files", "command", "as_it_is"),
    [
        (("app.py",), ("python3", "app.py"), True),
        (("index.html", "style.css"), (), True),
        (("index.html", "package.json"), (), False),
        (("pyproject.toml",), (), False),
        (("Cargo.toml",), ("./run",), True),
        ((), (), False),
    ],
)
def test_only_a_command_or_a_page_without_a_project_needs_no_packaging(
    tmp_path: Path, files: tuple[str, ...], command: tuple[str, ...], as_it_is: bool
) -> None:
    for name in files:
        (tmp_path / name).touch()
    assert is_served_as_it_is(tmp_path, command) is as_it_is
