"""What the docs show works: their blocks are run, and the generated pages are up to date."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.core.own_files import SETTINGS_FILE
from milepost.demo import make_sample
from milepost.engine.project.settings.load import load
from milepost.sandbox.levels import ladder
from tests import lean

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def environment(tmp_path: Path) -> dict[str, str]:
    path = f"{lean.python().parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(tmp_path), "COLUMNS": "100"}


def run_python_blocks(page: str, folder: Path, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks(page, "python"))],
        cwd=folder,
        env=environment(home),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_library_page_runs(tmp_path: Path) -> None:
    make_sample(tmp_path / "sample")
    run_python_blocks("docs/library.md", tmp_path / "sample", tmp_path)


def test_the_page_about_mcp_runs_and_names_every_tool(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the package mcp is not installed: pip install 'milepost[mcp]'")
    from milepost.mcp.profiles import tools_of
    from milepost.mcp.project_folder import ServerProject

    make_sample(tmp_path / "sample")
    run_python_blocks("docs/mcp.md", tmp_path / "sample", tmp_path)
    rows = "\n".join(re.findall(r"^\| (`.*?) \|", (ROOT / "docs/mcp.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert re.findall(r"`(\w+)`", rows) == [tool.name for tool in tools_of("full", ServerProject(folder=tmp_path))]


def test_the_page_about_writing_roadmaps_runs(tmp_path: Path) -> None:
    run_python_blocks("docs/writing-roadmaps.md", tmp_path, tmp_path)


@pytest.mark.skipif(not ladder()[-1].ok, reason="the page shows trust level 'sandboxed', which cannot be held here")
def test_the_sandbox_page_runs(tmp_path: Path) -> None:
    run_python_blocks("docs/sandbox.md", tmp_path, tmp_path)


PAGES = (
    "agents",
    "budget",
    "memory",
    "models",
    "package",
    "patterns",
    "programs",
    "projects",
    "sandbox",
    "writing-roadmaps",
)


@pytest.mark.parametrize("page", PAGES)
def test_settings_that_a_page_shows_can_be_read(page: str, tmp_path: Path) -> None:
    for block in blocks(f"docs/{page}.md", "toml"):
        (tmp_path / SETTINGS_FILE).write_text(block, encoding="utf-8")
        load(tmp_path)


def test_the_page_about_memory_runs(tmp_path: Path) -> None:
    script = "\n".join(["set -e", *blocks("docs/memory.md", "sh")])
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "as claimed by its agent" in done.stdout and "Mend the parser" in done.stdout
    assert "added nothing · 1 was forgotten here" in done.stdout
    run_python_blocks("docs/memory.md", tmp_path / "work", tmp_path)


@pytest.mark.skipif(not ladder()[1].ok, reason="the sandbox cannot be held here")
def test_the_page_about_packages_runs(tmp_path: Path) -> None:
    script = "\n".join(["set -e", *blocks("docs/package.md", "sh")])
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("static site 0 · index.html is a page\n")
    assert (tmp_path / "site/dist/site-0.sbom.cdx.json").is_file()


def test_the_tutorial_runs(tmp_path: Path) -> None:
    script = "\n".join(["set -e", *blocks("docs/tutorial.md", "sh")])
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("- [x] 1.1") == 2
    assert "1.2: Say how to use it" in done.stdout
    assert "held, attempt 1 of 1, no milepost" in done.stdout
    assert "accepted by Ada, not verified" in done.stdout
    assert "- [ ] 1.2 Say how to use it\n  - Files: README.md" in done.stdout.rpartition("accepted by Ada")[2]


@pytest.mark.parametrize("page", ["commands.md", "settings.md"])
def test_generated_pages_are_up_to_date(page: str) -> None:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs/reference.py")
    assert spec is not None and spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == reference.PAGES[page](), "run: make docs"


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_test_that_the_page_about_security_names_is_there() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:unit|integration|e2e|web|mcp)/(?:\w+/)*test_\w+\.py)(?:::(\w+))?`", page)
    assert len(named) > 15 and "TODO" not in page
    for file, test in named:
        assert f"def {test}" in (ROOT / "tests" / file).read_text(encoding="utf-8"), f"{file}::{test}"
    doors = re.findall(r"`((?:engine|roadmap|sandbox|workspace|core|serving|web|mcp)/[\w/]+(?:\.py|/))`", page)
    assert [door for door in doors if not (ROOT / "src/milepost" / door).exists()] == []
