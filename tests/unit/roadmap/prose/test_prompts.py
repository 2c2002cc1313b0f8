"""What models are told when they read prose or plan a roadmap: in golden/prompts; written anew with

MILEPOST_WRITE_GOLDEN=1 python -m pytest tests/unit/roadmap/prose/test_prompts.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from milepost.agents.prompts import filled, quoted
from milepost.engine.authoring.project_summary import Acquaintance, package_name
from milepost.roadmap.prose.normalise import numbered

PROJECT = Acquaintance(
    name="durations",
    languages=("Python",),
    suites=(". (pytest)",),
    files=("README.md", "durations/parse.py"),
    file_count=2,
    readme="# Durations",
)
PROMPTS = {
    "normalise": filled("normalise", document_name="'PRD.md'", document=quoted(numbered(["# A", "", "Do it."]))),
    "compose": filled("compose", style="Few tasks.", wish=quoted("A library."), facts=PROJECT.facts()),
}


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_what_models_are_told_reads_as_its_golden_file(name: str) -> None:
    path = Path(__file__).parents[2] / "golden" / "prompts" / f"{name}.txt"
    if os.environ.get("MILEPOST_WRITE_GOLDEN"):
        path.write_text(PROMPTS[name], encoding="utf-8")
    assert PROMPTS[name] == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "package"),
    [("web-shop", "web_shop"), ("Class", "class_"), ("7zip", "p7zip"), ("日本", "project"), ("a.b c", "a_b_c")],
)
def test_a_package_has_a_name_that_python_can_import(name: str, package: str) -> None:
    assert package_name(name) == package and package.isidentifier()
