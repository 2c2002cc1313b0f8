from __future__ import annotations

import json
from pathlib import Path

import pytest

from milepost.verify.environments.import_paths import believed, register
from milepost.verify.environments.node import install_command, without_lock
from milepost.verify.environments.node_needs import node_needs
from milepost.verify.environments.package_cache import Failed
from milepost.verify.environments.poetry import poetry_requirement
from milepost.verify.environments.pyproject import declared_in
from milepost.verify.environments.python_install import (
    InstallCommand,
    archive_steps,
    from_afar,
    install_steps,
    pytest_step,
    wheel_steps,
)
from milepost.verify.environments.python_needs import pins_in, pipfile_lines, python_needs
from milepost.verify.environments.python_project import Declared, is_requirement
from milepost.verify.environments.rust_and_go import crates_in, holds_crates, holds_modules, modules_in
from milepost.verify.environments.source_builds import builds_for, explained

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "My.App"
version = "1.2"
dependencies = ["requests>=2", "my-app"]

[project.scripts]
app = "my_app:main"

[project.optional-dependencies]
test = ["my_app[web]", "hypothesis"]
web = ["flask"]
docs = ["sphinx"]

[dependency-groups]
dev = [{include-group = "lint"}, "pytest"]
lint = ["ruff"]
docs = ["mkdocs"]
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_a_manifest_gives_what_running_and_testing_need_with_its_extras_and_groups_resolved(tmp_path: Path) -> None:
    write(tmp_path, **{"pyproject.toml": PYPROJECT, "src/my_app.py": ""})

    needs = python_needs(tmp_path)

    assert needs.declared == ("requests>=2", "hypothesis", "flask", "ruff", "pytest")
    assert [package.name for package in needs.packages] == ["My.App"]
    assert needs.packages[0].entry_points == {"console_scripts": {"app": "my_app:main"}}
    assert needs.imports == ("src",)


@pytest.mark.parametrize(
    ("files", "requirements"),
    [
        (
            {"setup.cfg": "[metadata]\nname = a\n[options]\ninstall_requires =\n  x\n  y>1\n"
             "[options.extras_require]\ntest = z\ndocs = w\n"},
            ("x", "y>1", "z"),
        ),
        ({"setup.py": "from setuptools import setup\nsetup(name='a', install_requires=['x'], ext=f())"}, ("x",)),
        (
            {"pyproject.toml": "[project]\nname='a'\ndynamic=['dependencies']\n"
             "[tool.setuptools.dynamic]\ndependencies={file=['reqs.txt']}\n", "reqs.txt": "x\n# y\n"},
            ("x",),
        ),
        (
            {"pyproject.toml": "[tool.poetry]\nname='a'\n[tool.poetry.dependencies]\npython='^3.11'\nx='^1.2'\n"
             "y={version='~2.0', extras=['e'], markers=\"os_name=='posix'\"}\nz={version='*', optional=true}\n"
             "[tool.poetry.group.dev.dependencies]\npytest='*'\n"},
            ("x>=1.2,<2", "y[e]>=2.0,<2.1; os_name=='posix'", "pytest"),
        ),
    ],
)  # fmt: skip
def test_dependencies_are_read_wherever_a_project_writes_them(
    tmp_path: Path, files: dict[str, str], requirements: tuple[str, ...]
) -> None:
    write(tmp_path, **files)

    assert declared_in(tmp_path).requirements == requirements


def test_what_only_running_a_project_would_tell_is_noted(tmp_path: Path) -> None:
    write(tmp_path, **{"setup.py": "from setuptools import setup\nsetup(name='a', install_requires=read('r.txt'))"})
    assert declared_in(tmp_path).notes == (
        "setup.py computes its install_requires, which is not known without running it",
    )
    write(tmp_path, **{"pyproject.toml": "[project]\nname='a'\n[build-system]\nbuild-backend='maturin'\n"})
    assert declared_in(tmp_path).notes == ("it is built by maturin: its compiled parts are missing",)
    write(tmp_path, **{"pyproject.toml": "[project"})
    assert declared_in(tmp_path).notes == ("pyproject.toml is not valid TOML",)


@pytest.mark.parametrize(
    ("constraint", "requirement"),
    [("^0.2.3", "x>=0.2.3,<0.3"), ("^0.0.3", "x>=0.0.3,<0.0.4"), ("^1", "x>=1,<2"), ("~1", "x>=1,<2"),
     (">=1,<3", "x>=1,<3"), ("1.5", "x==1.5"), ("*", "x"), ({"git": "https://h/x"}, None)],
)  # fmt: skip
def test_poetrys_versions_are_told_as_pip_knows_them(constraint: object, requirement: str | None) -> None:
    assert poetry_requirement("x", constraint) == requirement


def test_requirements_files_are_followed_and_what_is_the_projects_own_is_not_installed(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "requirements.txt": "-r requirements/base.txt\n-c pins.txt\n-e .[web]\n./libs/tool\n"
            "x \\\n  --hash=sha256:1\n",
            "requirements/base.txt": "y==1  # why\n--extra-index-url https://u:p@index.example/simple\n",
            "requirements-docs.txt": "sphinx\n",
            "dev-requirements.txt": "-r ../outside.txt\n./gone\n",
            "pins.txt": "z==3\n",
            "pyproject.toml": PYPROJECT,
            "libs/tool/setup.cfg": "[metadata]\nname = tool\n[options]\ninstall_requires = deep\n",
            "libs/tool/tool.py": "",
        },
    )

    needs = python_needs(tmp_path)

    assert needs.asked.lines == (
        "y==1",
        "--extra-index-url https://u:p@index.example/simple",
        "x    --hash=sha256:1",
    )
    assert needs.constraints == ("z==3",)
    assert needs.declared[-1] == "deep"
    assert needs.sources == {"index.example/simple"}
    assert "libs/tool" in needs.imports
    assert needs.asked.missing == ("../outside.txt", "./gone")
    assert "./gone is required but not in the checkout" in needs.notes
    assert needs.asked.hashed


def test_a_line_of_the_roadmap_that_calls_pytest_needs_it_whatever_the_tests_are_written_for(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import unittest\n\nclass TestA(unittest.TestCase):\n    def test_a(self): ...\n"
    )
    (tmp_path / "ROADMAP.md").write_text("- [ ] 1.1 Ask pytest\n  - Verify: python -m unittest\n")
    assert not python_needs(tmp_path).uses_pytest
    (tmp_path / "ROADMAP.md").write_text("- [ ] 1.1 Ask\n  - **Verify:** `python3 -m pytest tests`\n")
    assert python_needs(tmp_path).uses_pytest


def test_the_digest_follows_what_decides_the_packages_and_nothing_else(tmp_path: Path) -> None:
    def digest(**files: str) -> str:
        write(tmp_path, **files)
        return python_needs(tmp_path).digest

    first = digest(**{"pyproject.toml": PYPROJECT})
    assert digest(**{"pyproject.toml": f"{PYPROJECT}\n[tool.ruff]\nline-length = 1\n"}) == first
    assert digest(**{"pyproject.toml": PYPROJECT.replace("1.2", "1.3")}) == first
    assert digest(**{"pyproject.toml": PYPROJECT.replace("flask", "flask>3")}) != first
    assert digest(**{"pyproject.toml": PYPROJECT, "uv.lock": "version = 1"}) != first


@pytest.mark.parametrize("line", ["x\n--index-url http://h", "-e .", "./x", "x/y", "x @ {root}", "x --pre"])
def test_a_declared_dependency_cannot_be_an_option_or_a_path_or_two_lines(line: str, tmp_path: Path) -> None:
    assert not is_requirement(line)
    write(tmp_path, **{"pyproject.toml": f"[project]\nname = 'a'\ndependencies = [{json.dumps(line)}]\n"})
    assert python_needs(tmp_path).declared == ()


def test_a_plugin_of_the_test_runner_that_only_the_checkout_declares_is_not_made_known(tmp_path: Path) -> None:
    old = Declared(name="app", entry_points={"pytest11": {"mine": "app.plugin"}})
    new = Declared(
        name="app",
        version="1.0",
        entry_points={
            "pytest11": {"mine": "app.plugin", "sly": "app.sly"},
            "console_scripts": {"app": "app:main", "sly": "app:main();x", "../sly": "app:main"},
        },
    )

    registered = register(believed((new,), (old,)), Path("/v/bin/python"), tmp_path)

    assert registered is not None
    site, programs = registered
    assert "sly = app.sly" not in (site / "app-1.0.dist-info" / "entry_points.txt").read_text()
    assert "mine = app.plugin" in (site / "app-1.0.dist-info" / "entry_points.txt").read_text()
    assert [path.name for path in programs.iterdir()] == ["app"]
    assert [path.name for path in tmp_path.iterdir()] == [programs.parent.name]


def test_lock_files_give_versions_to_an_installer_that_cannot_read_them() -> None:
    lock = b"""
[[package]]
name = "one"
version = "1.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "forked"
version = "1.0"
[[package]]
name = "forked"
version = "2.0"
[[package]]
name = "own"
version = "0.1"
source = { editable = "." }
"""
    assert list(pins_in(lock)) == ["one==1.0"]
    pipfile = {"default": {"x": {"version": "==1", "markers": "os_name == 'posix'"}, "own": {"path": "."}}}
    assert list(pipfile_lines(json.dumps(pipfile).encode())) == ["x==1; os_name == 'posix'"]


def test_the_tool_of_a_lock_file_installs_into_the_entry_and_never_the_project_itself(tmp_path: Path) -> None:
    write(tmp_path, **{"pyproject.toml": PYPROJECT, "uv.lock": "version = 1\n"})
    needs, entry = python_needs(tmp_path), Path("/cache/entry")

    python = "/cache/entry/venv/bin/python"
    assert install_steps("uv", needs, "/usr/bin/python3", entry, wheels=("evil",)) == [
        InstallCommand(
            argv=("uv", "sync", "--frozen", "--no-install-workspace", "--python", "/usr/bin/python3",
                  "--extra", "test", "--group", "dev", "--no-build-package", "evil"),
            env={"UV_PROJECT_ENVIRONMENT": "/cache/entry/venv", "UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy"},
            tool="uv",
        ),
        InstallCommand(argv=(python, "-I", "-m", "compileall", "-q", "/cache/entry/venv/lib")),
    ]  # fmt: skip
    assert install_steps("poetry", needs, "/usr/bin/python3", entry) == [
        InstallCommand(argv=("/usr/bin/python3", "-I", "-m", "venv", "/cache/entry/venv")),
        InstallCommand(
            argv=("poetry", "install", "--no-root", "--no-interaction", "--no-ansi", "--extras", "test"),
            env={"VIRTUAL_ENV": "/cache/entry/venv", "POETRY_VIRTUALENVS_IN_PROJECT": "false"},
            tool="poetry",
        ),
    ]
    added = pytest_step("uv", "/v/bin/python", False, False)
    assert added == InstallCommand(argv=("uv", "pip", "install", "--python", "/v/bin/python", "pytest"), tool="uv")


def test_what_an_attempt_adds_is_fetched_as_wheels_before_any_of_it_is_installed_and_without_settings(
    tmp_path: Path,
) -> None:
    write(tmp_path / "repository", **{"requirements.txt": "old==1\nkept==1\n"})
    write(tmp_path / "checkout", **{"requirements.txt": "old==2\nkept==1\nevil==1\n"})
    theirs, needs = python_needs(tmp_path / "repository"), python_needs(tmp_path / "checkout")
    builds = builds_for(needs, theirs, None, ("Named_One",))

    assert builds.names == {"kept", "named-one"}
    assert builds_for(theirs, theirs, None, ()).everything and builds_for(needs, theirs, None, ("all",)).everything
    steps = wheel_steps(needs, "/usr/bin/python3", Path("/cache/entry"))
    assert [step.tool for step in steps] == ["", "pip", ""]
    assert "--only-binary" in steps[1].argv and "--no-index" in steps[2].argv
    refused = explained(Failed("pip exit 1: ERROR: No matching distribution found for evil==1"), builds)
    assert refused.reason.splitlines()[0] == (
        'evil, which the change adds, has no wheel: [verify] build = ["evil"] lets it be built from source'
    )


def test_archives_of_the_repository_are_installed_when_there_are_neither_settings_nor_a_network(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "./evil-1.tar.gz\n--find-links vendor\nplain==1\n",
        "evil-1.tar.gz": "",
        "setup.py": "",
    }
    write(tmp_path, **files)
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor/other-1.tar.gz").write_text("")
    needs = python_needs(tmp_path)
    assert [path for path, _ in needs.archives] == ["evil-1.tar.gz", "vendor/other-1.tar.gz"]
    assert from_afar(needs) == ("plain==1",)
    steps = archive_steps(needs, "/usr/bin/python3", Path("/cache/entry"))
    assert [step.tool for step in steps] == ["", "pip", "pip", ""]
    assert all(".asked.txt" not in step.argv for step in steps[:3])
    assert ".asked.txt" in steps[3].argv and "--no-index" in steps[3].argv
    assert builds_for(needs, needs, None, ("all",)).agreed and not builds_for(needs, needs, None, ()).agreed


def test_each_tool_of_node_installs_what_is_locked_and_runs_no_scripts_unless_told() -> None:
    quiet = ("--include=dev", "--no-audit", "--no-fund", "--loglevel=error")
    assert install_command("npm", "package-lock.json", runs_scripts=False) == ("npm", "ci", *quiet, "--ignore-scripts")
    assert install_command("npm", "", runs_scripts=True) == ("npm", "install", *quiet)
    assert install_command("pnpm", "pnpm-lock.yaml", runs_scripts=False) == (
        *("pnpm", "install", "--frozen-lockfile", "--prod=false", "--ignore-scripts"),
    )
    assert install_command("yarn", "yarn.lock", runs_scripts=False) == (
        *("yarn", "install", "--frozen-lockfile", "--non-interactive", "--ignore-scripts"),
    )


def test_a_lock_that_is_out_of_date_is_loosened_in_the_words_of_each_tool() -> None:
    npm = install_command("npm", "package-lock.json", runs_scripts=False)
    assert without_lock(npm) == ("npm", "install", *npm[2:])
    assert "--no-frozen-lockfile" in without_lock(install_command("pnpm", "pnpm-lock.yaml", runs_scripts=False))
    assert "--frozen-lockfile" not in without_lock(install_command("yarn", "yarn.lock", runs_scripts=False))


def test_packages_of_node_are_looked_for_at_the_top_in_its_workspace_and_beside_it(tmp_path: Path) -> None:
    def package(name: str, **more: object) -> str:
        return json.dumps({"name": name, "dependencies": {"x": "1"}, **more})

    write(
        tmp_path,
        **{
            "package.json": package("top", workspaces=["packages/*", "../out", "!packages/b"]),
            "packages/a/package.json": package("a"),
            "site/package.json": package("site"),
            "site/yarn.lock": 'x@1:\n  resolved "https://elsewhere.example/x.tgz"\n',
            "example/package.json": package("example"),
        },
    )

    top, site = node_needs(tmp_path)

    assert (top.folder, top.members, top.tool) == ("", ("packages/a",), "npm")
    assert (site.folder, site.tool, site.sources) == ("site", "yarn", frozenset({"elsewhere.example"}))


def test_crates_and_modules_that_are_there_already_are_known_by_their_files(tmp_path: Path) -> None:
    lock = b"""
[[package]]
name = "app"
version = "0.1.0"
[[package]]
name = "x"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""
    crates = tuple(crates_in(lock))
    assert [name for name, _, _ in crates] == ["x"]
    assert not holds_crates(tmp_path, crates)
    write(tmp_path, **{"registry/cache/index/x-1.0.0.crate": ""})
    assert holds_crates(tmp_path, crates)
    modules = tuple(modules_in("github.com/Some/X v1.0.0 h1:a=\ngithub.com/y v2.0.0/go.mod h1:b=\n"))
    assert modules == (("github.com/Some/X", "v1.0.0"),)
    assert not holds_modules(tmp_path, modules)
    write(tmp_path, **{"cache/download/github.com/!some/!x/@v/v1.0.0.zip": ""})
    assert holds_modules(tmp_path, modules)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", "x = " + "-" * 20_000 + "1\n"),
        ("setup.cfg", "[options]\ninstall_requires = a\n[options]\n"),
    ],
)
def test_a_setup_file_that_cannot_be_read_declares_nothing(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, **{name: text})
    assert python_needs(tmp_path).declared == ()


@pytest.mark.parametrize("workspaces", [3, "packages/*", {"packages": 3}, [3]])
def test_workspaces_that_are_no_list_of_patterns_have_no_members(tmp_path: Path, workspaces: object) -> None:
    write(tmp_path, **{"package.json": json.dumps({"workspaces": workspaces, "dependencies": {"x": "1"}})})
    write(tmp_path, **{"packages/a/package.json": json.dumps({"name": "a"})})
    assert [needs.members for needs in node_needs(tmp_path)] == [()]
