"""Families of projects as they lie in folders: who is found, and what a roadmap of one sees of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import milepost
from milepost import plans, projects
from milepost.core.errors import RoadmapMissing, SettingInvalid
from milepost.engine.planning.find_projects import family_of, find_family
from milepost.engine.project.project import Project
from milepost.engine.projects.start_order import plans_of
from tests.integration.test_together import git, repository

TASK = "- [ ] 1.1 A\n  - Verify: true\n"


def write(top: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top.resolve()


def package(name: str, **needs: str) -> str:
    return json.dumps({"name": name, "dependencies": needs})


def found(top: Path) -> dict[str, str]:
    return {one.name: one.folder for one in find_family(top).siblings}


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (
            {
                "package.json": '{"name": "root", "workspaces": ["packages/*", "!packages/old"]}',
                "packages/api/package.json": package("api"),
                "packages/old/package.json": package("old"),
                "packages/notes/README.md": "no package",
                "packages/api/node_modules/x/package.json": package("x"),
            },
            {"root": ".", "api": "packages/api"},
        ),
        (
            {
                "package.json": '{"private": true}',
                "pnpm-workspace.yaml": "packages: ['apps/**']\n",
                "apps/a/b/package.json": package("deep"),
                "apps/a/b/node_modules/x/package.json": package("x"),
            },
            {"deep": "apps/a/b"},
        ),
        (
            {
                "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/old"]\n',
                "crates/core/Cargo.toml": '[package]\nname = "core"\n',
                "crates/old/Cargo.toml": '[package]\nname = "old"\n',
            },
            {"core": "crates/core"},
        ),
        (
            {"go.work": "use (\n ./api\n ./gone\n)\n", "api/go.mod": "module example.com/acme/api\n"},
            {"example.com/acme/api": "api"},
        ),
        (
            {
                "pyproject.toml": '[project]\nname = "top"\n[tool.uv.workspace]\nmembers = ["libs/*"]\n',
                "libs/core/pyproject.toml": '[project]\nname = "core"\n',
                "ROADMAP.md": TASK,
            },
            {"top": ".", "core": "libs/core"},
        ),
        (
            {
                "milepost.toml": '[workspace]\nmembers = ["api", "we?", "plain"]\n',
                "api/package.json": '{"name": "api", "workspaces": ["inner"]}',
                "api/inner/package.json": package("inner"),
                "web/ROADMAP.md": TASK,
                "wet/README.md": "neither roadmap nor manifest",
                "plain/README.md": "named by hand",
                "other/package.json": package("other"),
            },
            {"api": "api", "web": "web", "plain": "plain", "inner": "api/inner"},
        ),
    ],
)
def test_projects_are_found_where_they_are_named(tmp_path: Path, files: dict[str, str], names: dict[str, str]) -> None:
    assert found(write(tmp_path, files)) == names


def test_what_is_named_and_not_there_is_told(tmp_path: Path) -> None:
    top = write(tmp_path, {"milepost.toml": '[workspace]\nmembers = ["gone", "api"]\n', "api/package.json": "{"})
    problems = find_family(top).problems
    assert problems[0] == "workspace.members names 'gone', but there is no such folder"
    assert problems[1].startswith("api: package.json cannot be read: ")
    with pytest.raises(RoadmapMissing, match="no project in"):
        projects.plan(top)
    (top / "milepost.toml").write_text('[workspace]\nmembers = "api"\n')
    with pytest.raises(SettingInvalid, match="is not a list of folders"):
        find_family(top)
    (top / "milepost.toml").write_text(f'[workspace]\nmembers = ["{"x" * 300}", "\\u0000", "*/../*"]\n')
    assert found(top) == {"api": "api"}


def test_links_that_lead_in_circles_are_walked_once(tmp_path: Path) -> None:
    files = {"milepost.toml": '[workspace]\nmembers = ["**"]\n', "a/package.json": package("a")}
    top = write(tmp_path, files)
    (top / "a" / "up").symlink_to(top)
    assert found(top) == {"a": "a"}


def test_a_roadmap_sees_the_widest_family_that_it_is_in(tmp_path: Path) -> None:
    top = write(
        tmp_path,
        {
            "milepost.toml": '[workspace]\nmembers = ["api", "web"]\n',
            "api/ROADMAP.md": TASK,
            "web/package.json": '{"name": "web", "workspaces": ["ui"]}',
            "web/ui/package.json": package("ui"),
            "web/ui/docs/ROADMAP.md": "- [ ] 1.1 B (depends: api:1.1)\n",
            "alone/ROADMAP.md": "- [ ] 1.1 C (depends: api:1.1)\n",
        },
    )
    inner = family_of(top / "web/ui/docs/ROADMAP.md")
    assert inner is not None and inner.folder == str(top)
    assert family_of(top / "alone/ROADMAP.md") is None
    assert not any(problem.fatal for problem in milepost.plan(top / "web/ui/docs/ROADMAP.md").problems)
    assert milepost.plan(top / "alone/ROADMAP.md").problems[0].fatal

    partly = projects.plan(top / "web")
    assert [one.name for one in partly.projects] == ["ui"]
    assert not any(one.problem.fatal for one in partly.problems), "what is beyond this folder is known all the same"


def test_a_reference_says_whether_it_is_met(tmp_path: Path) -> None:
    top = write(
        tmp_path,
        {
            "milepost.toml": '[workspace]\nmembers = ["*"]\n',
            "api/ROADMAP.md": "- [x] 1.1 A\n- [ ] 1.2 B\n",
            "web/ROADMAP.md": "- [ ] 1.1 C (depends: api:1.1)\n- [ ] 1.2 D (depends: api:1.2)\n"
            "- [ ] 1.3 E (depends: api:2)\n",
        },
    )
    made = milepost.plan(top / "web")
    told = [(problem.line, problem.fatal, problem.message) for problem in made.problems if "api" in problem.message]
    assert told == [
        (2, False, "1.2 waits for api:1.2, which is still open in that project: a run skips it"),
        (3, True, "1.3 depends on 'api:2', but api has no task 2"),
    ]
    assert [task["depends_elsewhere"] for task in plans.to_json(made)["tasks"]] == [
        ["api:1.1"],
        ["api:1.2"],
        ["api:2"],
    ]


def test_files_of_packages_are_told_apart_by_where_they_are(tmp_path: Path) -> None:
    files = {
        "milepost.toml": '[workspace]\nmembers = ["a", "b"]\n',
        "a/ROADMAP.md": "- [ ] 1.1 A\n  - Files: src/x.py\n- [ ] 1.2 B\n  - Files: shared.py\n",
        "b/ROADMAP.md": "- [ ] 1.1 C\n  - Files: src/x.py\n- [ ] 1.2 D\n  - Files: shared.py\n"
        "- [ ] 1.3 E\n  - Files: a/src\n",
        "shared.py": "",
        "a/src/x.py": "",
    }
    top = write(tmp_path, files)
    (top / ".git").mkdir()
    waves = projects.plan(top).waves
    assert waves[0] == (("a", "1.1"), ("a", "1.2"), ("b", "1.1"))
    assert waves[1] == (("b", "1.2"), ("b", "1.3"))


BOXLESS = "# Things\n\n## Next\n\n- 1.1 One\n- 1.2 Two\n"


def milepost_for(top: Path, roadmap: str) -> None:
    """The first task of a roadmap is done, as its history says."""
    text = f"1.1: A\n\nMilepost-Task: 1.1\nMilepost-Run: abcd\nMilepost-Attempt: 1\nMilepost-Roadmap: {roadmap}\n"
    git(top, "commit", "--quiet", "--allow-empty", "--message", text)


def test_what_has_no_box_is_known_from_its_milepost_in_a_family_too(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", "")
    files = {
        "milepost.toml": '[workspace]\nmembers = ["api", "web"]\n',
        "api/ROADMAP.md": BOXLESS,
        "web/ROADMAP.md": "- [ ] 1.1 C (depends: api:1.1)\n",
    }
    top = write(top, files)
    (top / "ROADMAP.md").unlink()
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "Roadmaps")
    assert projects.plan(top).waves == ((("api", "1.1"), ("api", "1.2")), (("web", "1.1"),))
    milepost_for(top, "api/ROADMAP.md")
    assert projects.plan(top).waves == ((("api", "1.2"), ("web", "1.1")),)
    assert not any("waits for" in one.message for one in milepost.plan(top / "web").problems)
    ahead = plans_of({"api": Project.find(top / "api"), "web": Project.find(top / "web")})
    assert [task.status for task in ahead["api"].tasks] == ["done", "open"]
    assert [one.done for one in ahead["web"].tasks[0].depends_elsewhere] == [True]


def test_the_newest_plan_of_a_folder_of_tasks_is_that_of_its_pages(tmp_path: Path) -> None:
    top = repository(tmp_path / "top")
    (top / "ROADMAP.md").unlink()
    write(top, {"backlog/tasks/back-1 - One.md": "---\nid: BACK-1\ntitle: One\nstatus: To Do\n---\n"})
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "Pages")
    assert plans_of({"top": Project.find(top)})["top"].waves == (("BACK-1",),)
