"""A name from a row is one part of a path, or is refused."""

from __future__ import annotations

import pytest

from milepost.core.errors import RowRefused
from milepost.core.plain_names import path_inside, plain_name


@pytest.mark.parametrize("text", ["7f3a", "1.2", "T1", "a-b_c.d"])
def test_the_names_that_milepost_gives_pass(text: str) -> None:
    assert plain_name(text, "a run") == text


@pytest.mark.parametrize("text", ["", ".", "..", "../../x", "a/b", "/etc", ".git", "a\n", "a\0", "-x", "a" * 201])
def test_what_leads_elsewhere_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(RowRefused, match="is no name of a run"):
        plain_name(text, "a run")


@pytest.mark.parametrize("text", ["ROADMAP.md", "docs/Road map.md", ".taskmaster/tasks/tasks.json", "ß/é.md"])
def test_paths_in_a_repository_pass(text: str) -> None:
    assert path_inside(text, "a roadmap") == text


@pytest.mark.parametrize("text", ["", "/etc/passwd", "../x", "a/../x", "./x", "a//b", ".git/config", "a/.GIT/x", "a\0"])
def test_paths_that_lead_out_or_into_git_are_refused(text: str) -> None:
    with pytest.raises(RowRefused, match="is no path of a roadmap"):
        path_inside(text, "a roadmap")
