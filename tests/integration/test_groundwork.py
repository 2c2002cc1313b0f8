"""What the repository and the machine say about a plan, looked up for real."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from milepost.engine.planning.missing_programs import missing_programs, programs_of
from milepost.engine.planning.repository_facts import ground_at, ground_here
from milepost.plan.options import PLAIN, Planning
from milepost.plan.repository_facts import RepositoryFacts
from milepost.roadmap import read
from milepost.workspace.mileposts import Mileposts
from milepost.workspace.repository import Repository

TASKS = read(b"- [ ] 1.1 One\n  - Files: cli.py, .env\n- [ ] 1.2 Two\n  - Files: core.py\n").tasks


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    top.mkdir()
    for words in (("init", "--quiet"), ("config", "user.name", "U"), ("config", "user.email", "u@example.org")):
        subprocess.run(["git", *words], cwd=top, check=True)
    (top / ".gitignore").write_text(".env\n.venv\n")
    (top / ".env").write_text("A=1\n")
    (top / "core.py").write_text("")
    (top / "words.py").write_text("import core\n")
    (top / "cli.py").write_text("import words\n")
    (top / "out.py").symlink_to("/etc/hostname")
    subprocess.run(["git", "add", "--all"], cwd=top, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message", "start"], cwd=top, check=True)
    return top


def missing(repo: Path, line: str, *, task: str = "One", files: tuple[str, ...] = ()) -> tuple[str, ...]:
    tasks = read(f"- [ ] 1.1 {task}\n  - Verify: `{line}`\n".encode()).tasks
    return missing_programs(tasks, repo, files).get(line, ())


def test_files_are_those_that_git_would_have_and_those_that_are_named(repo: Path) -> None:
    (repo / "new.py").write_text("")
    found = ground_here(TASKS, repo / "ROADMAP.md", PLAIN)
    assert found.files == frozenset({".env", ".gitignore", "cli.py", "core.py", "new.py", "out.py", "words.py"})
    assert found.imports == {"cli.py": {"core.py": "words.py"}}


def test_a_file_that_a_task_names_and_that_judges_its_work_is_noted(repo: Path) -> None:
    (repo / "tests").mkdir()
    for name in ("tests/conftest.py", "Makefile", "tests/test_core.py"):
        (repo / name).write_text("")
    tasks = read(b"- [ ] 1.1 One\n  - Files: core.py, ./tests/conftest.py, tests/new.py, tests/\n").tasks
    told = "tests/conftest.py judges the work of a task that names it: a change there is shown to you before it lands"
    assert ground_here(tasks, repo / "ROADMAP.md", PLAIN).notes == (told,)
    tasks = read(b"- [ ] 1.1 One\n  - Files: core.py, Makefile, tests/test_core.py\n- [x] 1.2 Two\n").tasks
    (told,) = ground_here(tasks, repo / "ROADMAP.md", PLAIN).notes
    assert told.startswith("Makefile and tests/test_core.py judge the work of tasks that name them")


def test_a_folder_that_is_no_repository_says_nothing_of_files(tmp_path: Path) -> None:
    assert ground_here(TASKS, tmp_path / "ROADMAP.md", PLAIN) == RepositoryFacts()


def test_the_ground_of_a_run_is_that_of_its_commit(repo: Path, tmp_path: Path) -> None:
    (repo / "words.py").write_text("")
    repository = Repository.find(repo)
    mileposts = Mileposts(repository.git(tmp_path / "own"))
    commit = repository.position().commit
    assert ground_at(TASKS, mileposts, commit, PLAIN) == RepositoryFacts(imports={"cli.py": {"core.py": "words.py"}})
    assert ground_here(TASKS, repo / "ROADMAP.md", PLAIN).imports == {}
    assert ground_at(TASKS, mileposts, commit, Planning(imports=False)) == RepositoryFacts()
    assert ground_at(TASKS[:1], mileposts, commit, PLAIN) == RepositoryFacts()


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("pytest -q", ["pytest"]),
        ("cd web && npm test && ./run.sh", ["cd", "npm", "./run.sh"]),
        ("A=1 timeout 9 tool | grep x", ["timeout", "tool", "grep"]),
        ("for f in a b; do tool $f; done", ["tool"]),
        ("bash -c 'tool x'", ["bash", "tool"]),
        ("uv run tool", ["uv"]),
        ("python -m tool", ["python"]),
        ("$TOOL x", []),
        ("docker exec db psql", ["docker"]),
        ("", []),
        ("env " * 3000 + "tool", []),
        ("$(" * 3000, []),
    ],
)
def test_the_programs_of_a_line_are_those_that_it_starts(line: str, programs: list[str]) -> None:
    assert [name for name, _ in dict.fromkeys(programs_of(line)) if name != "/bin/sh"] == programs


@pytest.mark.parametrize(
    "line", ["grep -q x a", "! test -f a", "python3 -m pytest", "f() { true; }; f", "cd sub && ../there.sh", "$X y"]
)
def test_what_is_there_is_not_missing(repo: Path, line: str) -> None:
    assert missing(repo, line, files=("there.sh",)) == ()


def test_what_is_surely_not_there_is_missing(repo: Path) -> None:
    assert missing(repo, "no-such-tool --all && ./scripts/check.sh") == ("no-such-tool", "./scripts/check.sh")


def test_what_the_project_may_bring_along_is_not_missing(repo: Path) -> None:
    line = "no-such-tool x"
    assert missing(repo, line, files=("pyproject.toml",)) == (), "its packages are not installed here"
    (repo / ".venv/bin").mkdir(parents=True)
    (repo / "pyproject.toml").write_text("[project]\ndependencies = ['other']\n")
    assert missing(repo, line, files=("pyproject.toml",)) == ("no-such-tool",)
    (repo / "pyproject.toml").write_text("[project]\ndependencies = ['no-such-tool>=1']\n")
    assert missing(repo, line, files=("pyproject.toml",)) == ()
    (repo / "pyproject.toml").unlink()
    (repo / ".venv/bin/no-such-tool").write_text("")
    assert missing(repo, line) == ()
    assert missing(repo, ".venv/bin/another x") == ()


def test_what_a_task_is_to_install_or_make_is_not_missing(repo: Path) -> None:
    assert missing(repo, "no-such-tool x", task="Set up no-such-tool") == ()
    assert missing(repo, "./scripts/check.sh", task="Write `scripts/check.sh`") == ()


def test_a_program_of_the_system_is_missing_whatever_the_project_installs(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath if not Path("/usr/bin/zig").exists() else "/nowhere")
    assert missing(repo, "zig build", files=("package.json",)) == ("zig",)
