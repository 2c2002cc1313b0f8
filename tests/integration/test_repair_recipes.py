from __future__ import annotations

import ast
import errno
import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.commands import Command, CommandResult
from milepost.core.errors import StateUnwritable
from milepost.core.failures import Failure, FailureClass
from milepost.core.ports import Terminal
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, judge
from milepost.repair.recipes import RECIPES, mend
from milepost.repair.recipes.recipe import (
    Advice,
    Answer,
    Correction,
    Mended,
    NeedsPerson,
    Recipe,
    RecipeTools,
    RepairCase,
    VerifyAgain,
)
from milepost.repair.recipes.wrong_path import corrected
from milepost.sandbox import confined
from milepost.sandbox.terminal import WalledTerminal
from tests.tools import needs, works

TASK = Task(id="1.1", title="Read the numbers", status="open", line=1)
NO_YAML = "E   ModuleNotFoundError: No module named 'yaml'"


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield isolated


class Project:
    """A checkout as an attempt left it. What is written with `before` is what the attempt changed."""

    def __init__(self, home: Path, terminal: Terminal) -> None:
        self.folder = home / "tree"
        self.folder.mkdir()
        self._scratch = home / "scratch"
        self._scratch.mkdir()
        self._terminal = terminal
        self._changed: list[ChangedFile] = []

    def has(self, files: Mapping[str, str | bytes]) -> None:
        """What was there at the base, and still is."""
        for path, text in files.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def changed(self, path: str, after: str | bytes | None, before: str | None = None) -> None:
        """What the attempt wrote, or deleted."""
        if after is None:
            (self.folder / path).unlink(missing_ok=True)
        else:
            self.has({path: after})
        content = after.encode() if isinstance(after, str) else after
        file = ChangedFile(path=path, before=None if before is None else before.encode(), after=content)
        self._changed.append(file)

    def mend(
        self,
        log: str,
        *,
        task: Task = TASK,
        kind: FailureClass = FailureClass.UNKNOWN,
        check: str = "tests",
        argv: tuple[str, ...] = (),
        approved: frozenset[str] = frozenset(),
        recipes: tuple[Recipe, ...] = RECIPES,
    ) -> tuple[Answer, ...]:
        failed = CheckResult(name=check, outcome="failed", summary="it failed", log=log, argv=argv)
        case = RepairCase(
            task=task,
            failure=Failure(kind=kind, severity="medium", signature="s", summary="it failed"),
            evidence=judge("t", (failed,)),
            folder=self.folder,
            change=Change(files=tuple(self._changed)),
        )
        interpreter = Path(sys.executable)
        tools = RecipeTools(terminal=self._terminal, scratch=self._scratch, interpreter=interpreter, approved=approved)
        return mend(case, tools, recipes)

    def run(self, *argv: str) -> CommandResult:
        return self._terminal.run(
            Command(
                argv=argv, cwd=self.folder, scratch=self._scratch, env={"PYTHONDONTWRITEBYTECODE": "1"}, timeout_s=60
            )
        )

    def text(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()


@pytest.fixture
def project(tmp_path: Path, terminal: Terminal) -> Project:
    return Project(tmp_path, terminal)


def only(answers: tuple[Answer, ...]) -> Answer:
    assert len(answers) == 1, answers
    return answers[0]


def test_a_usual_package_is_added_to_requirements_and_to_nothing_else(project: Project) -> None:
    project.has({"requirements.txt": "flask  # web\n"})
    project.changed("app.py", "import yaml\n")

    answer = only(project.mend(NO_YAML))

    assert answer == Mended(
        what="added PyYAML to requirements.txt: import yaml was missing",
        paths=("requirements.txt",),
        recipe="missing dependency",
    )
    assert project.text("requirements.txt") == "flask  # web\nPyYAML\n"
    assert project.text("app.py") == "import yaml\n"


def test_the_manifest_nearest_to_the_import_gets_the_package_and_tests_have_their_group(project: Project) -> None:
    own = '[project]\nname = "part"\ndependencies = []\n[dependency-groups]\ntest = ["pytest"] # keep\n'
    project.has({"requirements.txt": "rich\n", "part/pyproject.toml": own, "part/src/part/a.py": "import cv2\n"})
    project.changed("part/tests/test_a.py", "from yaml import load\n")

    answer = only(project.mend(f"{NO_YAML}\nModuleNotFoundError: No module named 'cv2'"))

    assert isinstance(answer, Mended) and answer.paths == ("part/pyproject.toml",)
    table = tomllib.loads(project.text("part/pyproject.toml"))
    assert table["project"]["dependencies"] == ["opencv-python"]
    assert table["dependency-groups"]["test"] == ["pytest", "PyYAML"]
    assert project.text("requirements.txt") == "rich\n"


def test_a_name_that_packages_share_is_told_by_what_is_imported_below_it(project: Project) -> None:
    project.has({"requirements.txt": ""})
    project.changed(
        "app.py", "import os as o, google.cloud.storage\nfrom google import protobuf\nfrom google.odd import x\n"
    )

    project.mend("ModuleNotFoundError: No module named 'google'")

    assert project.text("requirements.txt") == "google-cloud-storage\nprotobuf\n"


def test_a_folder_of_tests_named_like_a_package_is_not_the_package(project: Project) -> None:
    project.has({"requirements.txt": "", "tests/yaml/test_a.py": ""})
    project.changed("app.py", "import yaml\n")

    assert isinstance(only(project.mend(NO_YAML)), Mended)


def test_a_name_that_only_the_attempt_vouches_for_is_refused(project: Project) -> None:
    project.has({"requirements.txt": "flask\n"})
    project.changed("app.py", "import reqeusts\n")
    project.changed("requirements-dev.txt", "reqeusts\n")

    answer = only(project.mend("ModuleNotFoundError: No module named 'reqeusts'"))

    assert isinstance(answer, NeedsPerson)
    assert "`reqeusts` is not a known package: approve it with [repair] packages = " in answer.what
    assert project.text("requirements.txt") == "flask\n"


def test_the_same_name_is_added_once_a_person_approved_it_or_the_project_had_it_before(project: Project) -> None:
    project.has({"requirements.txt": "flask\n", "constraints.txt": "housekit==2.1\n"})
    project.changed("app.py", "import reqeusts\nimport housekit\n")
    log = "ModuleNotFoundError: No module named 'reqeusts'\nModuleNotFoundError: No module named 'housekit'"

    project.mend(log, approved=frozenset({"reqeusts"}))

    assert project.text("requirements.txt") == "flask\nreqeusts\nhousekit==2.1\n"


@pytest.mark.parametrize(
    ("files", "deleted", "log"),
    [
        ({"lib/yaml/__init__.py": ""}, None, NO_YAML),
        ({"src/yaml.py": ""}, None, NO_YAML),
        ({}, "yaml.py", NO_YAML),
        ({}, None, "ModuleNotFoundError: No module named 'distutils'"),
        ({}, None, "ModuleNotFoundError: No module named 'yaml.x'; 'yaml' is not a package"),
        ({}, None, "the docs say: No module named yaml"),
        ({}, None, "ModuleNotFoundError: No module named 'numpy'"),
        (
            {"tests/test_a.py": "import numpy\n", "requirements-dev.txt": "numpy\n"},
            None,
            "ImportError: No module named numpy",
        ),
    ],
)
def test_a_module_of_the_projects_own_or_pythons_or_nobodys_is_no_package(
    project: Project, files: dict[str, str], deleted: str | None, log: str
) -> None:
    project.has({"requirements.txt": "flask\n", "app.py": "import yaml\nimport distutils\n", **files})
    if deleted:
        project.changed(deleted, None, before="x = 1\n")

    project.mend(log)

    assert project.text("requirements.txt") == "flask\n"


def test_a_declared_package_that_the_environment_lacks_is_not_declared_twice(project: Project) -> None:
    project.has({"requirements.txt": "pyyaml==6.0\n"})
    project.changed("app.py", "import yaml\n")

    assert project.mend(NO_YAML) == ()


def test_a_pyproject_that_lists_nothing_yet_begins_to_unless_another_file_does(project: Project) -> None:
    project.has({"pyproject.toml": '[project]\nname = "x"  # us\n\n[tool.ruff]\n'})
    project.changed("app.py", "import yaml\n")
    assert only(project.mend(NO_YAML)).what.startswith("added PyYAML to pyproject.toml")
    assert tomllib.loads(project.text("pyproject.toml"))["project"] == {"name": "x", "dependencies": ["PyYAML"]}

    project.has({"pyproject.toml": '[project]\nname = "x"\ndynamic = ["dependencies"]\n', "requirements.txt": ""})
    assert only(project.mend(NO_YAML)).what.startswith("added PyYAML to requirements.txt")

    project.has({"pyproject.toml": "[tool.ruff]\n"})
    (project.folder / "requirements.txt").unlink()
    assert isinstance(only(project.mend(NO_YAML)), NeedsPerson)


def test_a_compiled_manifest_and_a_task_that_may_not_touch_it_are_left_to_the_person(project: Project) -> None:
    project.has({"requirements.txt": "flask==3 --hash=sha256:00\n"})
    project.changed("app.py", "import yaml\n")
    assert isinstance(only(project.mend(NO_YAML)), NeedsPerson)

    project.has({"requirements.txt": "flask\n"})
    narrow = Task(id="1.1", title="x", status="open", line=1, files=("app.py",), only_its_files=True)
    assert "may not change" in only(project.mend(NO_YAML, task=narrow)).what
    assert project.text("requirements.txt") == "flask\n"


def test_a_manifest_that_is_a_link_out_of_the_checkout_is_not_written(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine\n")
    (project.folder / "requirements.txt").symlink_to(outside)
    project.changed("app.py", "import yaml\n")

    project.mend(NO_YAML)

    assert outside.read_text() == "mine\n"


def test_nothing_is_read_or_written_through_a_link_a_pipe_or_a_second_name(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret").write_text("mine\n")
    (inside / "away").symlink_to(outside)
    (inside / "direct").symlink_to(outside / "secret")
    os.mkfifo(inside / "pipe")
    os.link(outside / "secret", inside / "second")
    folder = confined.PlainFolder(inside)

    for path in ("away/secret", "direct", "pipe", "../outside/secret", "/etc/passwd", "a/../../x", ".git/config"):
        assert folder.read(path) is None
        with pytest.raises(confined.PathRefused):
            folder.write(path, b"theirs\n")
    with pytest.raises(confined.PathRefused):
        folder.write("second", b"theirs\n")
    folder.remove("away/secret")
    assert folder.paths() == ("pipe", "second")
    assert (outside / "secret").read_text() == "mine\n"


def test_a_lock_that_cannot_follow_leaves_the_manifest_as_it_was(project: Project) -> None:
    manifest = '[project]\nname = "x"\nversion = "1"\ndependencies = []\n'
    project.has({"pyproject.toml": manifest, "poetry.lock": "[[package]]\n"})
    project.changed("app.py", "import yaml\n")

    answer = only(project.mend(NO_YAML))

    assert isinstance(answer, NeedsPerson) and "by hand: poetry lock" in answer.what
    assert project.text("pyproject.toml") == manifest
    assert project.text("poetry.lock") == "[[package]]\n"


def test_a_missing_node_package_is_added_with_the_version_the_lock_knows(project: Project) -> None:
    lock = {"packages": {"node_modules/qs": {"version": "6.11.0"}}}
    project.has({"package.json": '{\n    "name": "x"\n}\n', "other/package-lock.json": json.dumps(lock)})
    project.changed("src/a.mjs", "import { parse } from 'qs/lib/x.js'\nimport './gone.js'\n")
    project.changed("src/a.test.js", "const z = require('zod')\n")
    log = (
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'qs' imported from /x/src/a.mjs\n"
        "Cannot find module 'zod'\nCannot find module './gone.js'\nCannot find module 'lodash'"
    )

    answer = only(project.mend(log))

    assert isinstance(answer, Mended) and answer.paths == ("package.json",)
    assert json.loads(project.text("package.json")) == {
        "name": "x",
        "dependencies": {"qs": "^6.11.0"},
        "devDependencies": {"zod": "*"},
    }


def test_an_unknown_node_package_and_one_of_the_workspace_are_not_added(project: Project) -> None:
    project.has({"package.json": "{}", "packages/mine/package.json": '{"name": "mine"}'})
    project.changed("a.js", "require('expres'); require('mine')\n")

    answer = only(project.mend("Cannot find module 'expres'\nCannot find module 'mine'"))

    assert isinstance(answer, NeedsPerson) and "`expres`" in answer.what and "mine" not in answer.what
    assert project.text("package.json") == "{}"


def test_a_missing_crate_is_added_to_cargo_toml(project: Project) -> None:
    manifest = '[package]\nname = "x"\nversion = "0.1.0"\n\n[dependencies]\n'
    project.has({"Cargo.toml": manifest, "src/helper.rs": ""})
    project.changed("src/main.rs", "use rand::Rng;\nuse helper::x;\n")
    log = "error[E0432]: unresolved import `rand`\nerror[E0432]: unresolved import `helper::x`"

    answer = only(project.mend(log))

    assert isinstance(answer, Mended)
    assert project.text("Cargo.toml") == manifest + 'rand = "0.8"\n'


def test_test_files_of_one_name_get_the_folders_that_tell_them_apart(project: Project) -> None:
    project.has({"pytest.ini": "[pytest]\n"})
    project.has({f"tests/{part}/test_x.py": f"def test_{part}():\n    assert True\n" for part in ("a", "b")})
    argv = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=prepend")
    first = project.run(*argv)
    assert first.exit_code == 2

    answer = only(project.mend(first.stdout))

    assert isinstance(answer, Mended)
    assert answer.paths == ("tests/a/__init__.py", "tests/b/__init__.py")
    assert project.run(*argv).succeeded


def test_a_relative_import_gets_the_package_it_is_relative_to(project: Project) -> None:
    project.has({"checks/test_x.py": "from .kit import one\n\ndef test_one():\n    assert one == 1\n"})
    project.has({"checks/kit.py": "one = 1\n", "pytest.ini": "[pytest]\n"})
    argv = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    first = project.run(*argv)
    assert "attempted relative import" in first.stdout

    answer = only(project.mend(first.stdout))

    assert isinstance(answer, Mended) and answer.paths == ("checks/__init__.py",)
    assert project.run(*argv).succeeded


def test_a_package_that_another_one_hides_becomes_a_package_of_its_own(project: Project) -> None:
    project.has({"src/tools/deep/a.py": "x = 1\n", "src/tools/b.py": ""})
    answer = only(project.mend("ModuleNotFoundError: No module named 'tools.deep.a'"))

    assert isinstance(answer, Mended)
    assert answer.paths == ("src/tools/__init__.py", "src/tools/deep/__init__.py")
    assert project.mend("ModuleNotFoundError: No module named 'tools.deep.a'") == ()


def test_a_folder_that_git_did_not_keep_is_kept(project: Project) -> None:
    project.changed("app.py", "open('out/data/x.txt', 'w')\n")

    log = "FileNotFoundError: [Errno 2] No such file or directory: 'out/data/x.txt'"
    answer = only(project.mend(log))

    assert isinstance(answer, Mended) and answer.paths == ("out/data/.gitkeep",)
    assert project.mend(log) == ()
    assert project.mend(log.replace("out/data", "../up")) == ()
    assert project.mend(log.replace("out/data", "never/named")) == ()


def test_ruff_mends_what_the_attempt_changed_and_nothing_else(project: Project) -> None:
    untidy = "import os\nimport sys\nx = [ 1,2 ]\nprint(sys.path)\n"
    project.has({"pyproject.toml": "[tool.ruff]\n", "old.py": untidy})
    project.changed("new.py", untidy)
    argv = ("ruff", "check", ".")

    answer = only(project.mend("new.py:1:8: F401 `os` imported but unused", check="lint", argv=argv))
    assert answer == Mended(what="ruff fixed new.py", paths=("new.py",), recipe="formatter and linter")
    assert "import os" not in project.text("new.py") and "[ 1,2 ]" in project.text("new.py")

    project.mend("Would reformat: new.py", check="verify", argv=("/bin/sh", "-c", "ruff format --check . && true"))
    assert project.text("new.py") == "import sys\n\nx = [1, 2]\nprint(sys.path)\n"
    assert project.text("old.py") == untidy


def test_a_project_without_ruff_is_not_given_it(project: Project) -> None:
    project.changed("new.py", "import os\n")

    assert project.mend("unused import", check="lint", argv=("flake8",)) == ()


def test_eslint_and_prettier_come_from_the_projects_own_modules(project: Project) -> None:
    program = "#!/bin/sh\nfor last; do :; done\necho '// by {}' >> \"$last\"\n"
    for name in ("eslint", "prettier"):
        project.has({f"node_modules/.bin/{name}": program.format(name)})
        (project.folder / f"node_modules/.bin/{name}").chmod(0o755)
    project.changed("a.js", "x\n")

    project.mend("Code style issues found", check="lint", argv=("npm", "run", "lint"))

    assert project.text("a.js") == "x\n// by eslint\n// by prettier\n"


def test_a_wrong_path_is_corrected_for_the_run_when_one_file_alone_can_be_meant(project: Project) -> None:
    task = Task(
        id="1.1",
        title="Make hours exact",
        status="open",
        line=1,
        files=("app/hours.py",),
        verify=("pytest tests/test_hours.py::test_exact -q", "cat xtests/test_hours.py"),
    )
    project.has({"src/app/hours.py": "", "tests/unit/test_hours.py": ""})
    project.changed("src/app/hours.py", "x = 1\n", before="")

    first = only(project.mend("not there afterwards: app/hours.py", task=task))
    assert isinstance(first, Correction)
    assert (first.path_named, first.path_found) == ("app/hours.py", "src/app/hours.py")
    task = corrected(task, first)
    second = only(project.mend("ERROR: file or directory not found: tests/test_hours.py::test_exact", task=task))
    assert isinstance(second, Correction)
    task = corrected(task, second)

    assert task.files == ("src/app/hours.py",)
    assert task.verify == ("pytest tests/unit/test_hours.py::test_exact -q", "cat xtests/test_hours.py")


@pytest.mark.parametrize(
    ("path", "title", "others", "changed"),
    [
        ("app/hours.py", "Make hours exact", {"a/hours.py": "", "b/hours.py": ""}, "a/hours.py"),
        ("app/hours.py", "Make hours exact", {"a/hours.py": ""}, ""),
        ("app/hours.py", "Create a module for hours", {"a/hours.py": ""}, "a/hours.py"),
        ("app/__init__.py", "Make hours exact", {"a/__init__.py": ""}, "a/__init__.py"),
        ("app/*.py", "Make hours exact", {"a/hours.py": ""}, "a/hours.py"),
        ("app/hours.py", "Make hours exact", {}, ""),
    ],
)
def test_other_work_is_never_taken_for_the_file_that_was_asked_for(
    project: Project, path: str, title: str, others: dict[str, str], changed: str
) -> None:
    project.has(others)
    if changed:
        project.changed(changed, "x = 1\n", before="")
    project.changed("new/hours.py", "x = 1\n")
    task = Task(id="1.1", title=title, status="open", line=1, files=(path,))

    answers = project.mend(f"not there afterwards: {path}", task=task)

    assert [answer for answer in answers if not isinstance(answer, Advice)] == []


@pytest.mark.parametrize(
    ("title", "verify", "found"),
    [
        ("Read the settings", "packages/a/tests/test_settings.py", "packages/b/tests/test_settings.py"),
        ("Add tests for the settings", "tests/test_settings.py", "tests/old/test_settings.py"),
    ],
)
def test_a_command_about_another_part_of_the_project_is_proposed_and_not_taken(
    project: Project, title: str, verify: str, found: str
) -> None:
    project.has({found: ""})
    task = Task(id="1.1", title=title, status="open", line=1, verify=(f"pytest {verify}",))

    answer = only(project.mend(f"file or directory not found: {verify}", task=task))

    assert isinstance(answer, Advice) and found in answer.what


def test_a_test_that_the_attempt_wrote_where_it_was_asked_to_is_not_traded_for_an_old_one(project: Project) -> None:
    project.has({"tests/old/test_hours.py": ""})
    project.changed("tests/test_hours.py", "def test_exact(): assert False\n")
    task = Task(id="1.1", title="x", status="open", line=1, verify=("pytest tests/test_hours.py",))

    assert project.mend("tests/test_hours.py::test_exact: assert False", task=task) == ()


def test_tests_that_the_attempt_itself_wrote_elsewhere_are_not_what_verify_means(project: Project) -> None:
    project.changed("mine/test_hours.py", "def test_nothing(): pass\n")
    task = Task(id="1.1", title="x", status="open", line=1, verify=("pytest tests/test_hours.py",))

    assert project.mend("file or directory not found: tests/test_hours.py", task=task) == ()


@needs("npm")
def test_a_stale_npm_lock_follows_its_manifest_again(project: Project) -> None:
    project.has({"kit/package.json": '{"name": "kit", "version": "1.0.0"}'})
    lock = {"name": "x", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "x", "version": "1.0.0"}}}
    project.has({"package-lock.json": json.dumps(lock)})
    manifest = {"name": "x", "version": "1.0.0", "dependencies": {"kit": "file:./kit"}}
    project.changed("package.json", json.dumps(manifest), before=json.dumps(manifest))
    log = "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync."

    answer = only(project.mend(log))

    assert isinstance(answer, Mended) and answer.paths == ("package-lock.json",)
    assert "node_modules/kit" in json.loads(project.text("package-lock.json"))["packages"]


@needs("cargo")
def test_a_stale_cargo_lock_follows_its_manifest_again(project: Project) -> None:
    manifest = '[package]\nname = "{}"\nversion = "0.1.0"\nedition = "2021"\n'
    project.has({"kit/Cargo.toml": manifest.format("kit"), "kit/src/lib.rs": "", "src/lib.rs": ""})
    project.has({"Cargo.toml": manifest.format("x") + '[dependencies]\nkit = { path = "kit" }\n'})
    project.has({"Cargo.lock": 'version = 3\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n'})
    log = project.run("cargo", "check", "--locked", "--offline").stderr

    answer = only(project.mend(log))

    assert isinstance(answer, Mended) and answer.paths == ("Cargo.lock",)
    assert 'name = "kit"' in project.text("Cargo.lock")


def test_a_lock_is_not_renewed_for_a_package_that_only_the_attempt_vouches_for(project: Project) -> None:
    project.has({"package-lock.json": "{}"})
    project.changed("package.json", '{"dependencies": {"expres": "1", "zod": "3"}}', before="{}")
    log = "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync."

    answer = only(project.mend(log))

    assert isinstance(answer, NeedsPerson) and "`expres`" in answer.what and "zod" not in answer.what
    assert project.text("package-lock.json") == "{}"


FINE = "x = '\u201d \u200b \\n'\n"
GOOD = 'def f(x):\n    return "a\\nb" + x\n'
SLIPS = {
    "a fence": f"```python\n{GOOD}```\n",
    "an open fence": f"```python\n{GOOD}",
    "literal line ends": GOOD.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"),
    "alike sides": f"<<<<<<< HEAD\n{GOOD}=======\n{GOOD.replace('    ', '  ')}>>>>>>> theirs\n",
    "one side changed": f"<<<<<<< HEAD\n{GOOD}||||||| base\nx\n=======\nx\n>>>>>>> theirs\n",
    "smart quotes": GOOD.replace('"', "\u201d"),
    "a mark in the middle": GOOD.replace("    return", "\ufeff    return"),
    "a hard space": GOOD.replace("    return", "\u00a0   return"),
    "tabs and spaces": "def f(x):\n    if x:\n\tx = x\n    return \"a\\nb\" + x\n",
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_of_writing_is_taken_back_when_the_file_parses_afterwards(project: Project, slip: str) -> None:
    project.has({"left/behind.py": SLIPS[slip], "fine.py": FINE})
    with pytest.raises(SyntaxError):
        ast.parse(SLIPS[slip])

    answer = only(project.mend('  File "left/behind.py", line 1\nSyntaxError: invalid syntax\n  fine.py'))

    assert isinstance(answer, Mended) and answer.paths == ("left/behind.py",)
    mended = ast.parse(project.text("left/behind.py"))
    if slip != "tabs and spaces":
        assert ast.dump(mended) == ast.dump(ast.parse(GOOD))
    assert project.text("fine.py") == FINE


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n    pass\n",
        "def f(x):\n        if x:\n\t    return 1\n    return 2\n",
        "if x:\n    if y:\n        a()\n\tb()\n",
    ],
)
def test_what_is_no_slip_or_could_mean_two_things_is_left_alone(project: Project, text: str) -> None:
    project.changed("a.py", text)

    assert project.mend("SyntaxError in a.py", kind=FailureClass.SYNTAX_ERROR) == ()
    assert project.text("a.py") == text


def test_two_sides_that_differ_are_for_somebody_to_decide(project: Project) -> None:
    text = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n"
    project.changed("a.py", text)

    answer = only(project.mend("SyntaxError in a.py"))

    assert isinstance(answer, Advice) and "a.py" in answer.what
    assert project.text("a.py") == text


def test_json_and_javascript_are_mended_by_their_own_rules(project: Project) -> None:
    project.changed("package.json", '```json\n{"name": "x"}\n```\n')
    project.changed("broken.json", "{,}")
    expected = ["package.json"]
    if works("node"):
        project.changed("a.mjs", "```js\nexport const a = 1;\n```\n")
        expected.append("a.mjs")

    answer = only(project.mend("SyntaxError: Unexpected token"))

    assert isinstance(answer, Mended) and list(answer.paths) == expected
    assert project.text("package.json") == '{"name": "x"}\n'
    assert project.text("broken.json") == "{,}"


def test_a_port_in_use_asks_for_another_look(project: Project) -> None:
    answer = only(project.mend("Error: listen EADDRINUSE: address already in use 127.0.0.1:8080"))

    assert answer == VerifyAgain(what="port 8080 was in use", recipe="port in use")


def test_a_circular_import_is_shown_with_its_way_round(project: Project) -> None:
    project.has(
        {
            "src/shop/__init__.py": "",
            "src/shop/cart.py": "import json\nfrom shop.price import total\nclass Cart: pass\n",
            "src/shop/price.py": "import typing\nfrom . import tax\nif typing.TYPE_CHECKING:\n    import shop.cart\n",
            "src/shop/tax.py": "\n\nfrom .cart import Cart\n\ndef later():\n    from shop.price import total\n",
        }
    )
    log = (
        "ImportError: cannot import name 'Cart' from partially initialized module 'shop.cart' "
        "(most likely due to a circular import) (src/shop/cart.py)"
    )

    answer = only(project.mend(log))

    assert isinstance(answer, Advice)
    assert answer.what.startswith(
        "circular import of Cart: src/shop/cart.py (line 2) imports src/shop/price.py, "
        "src/shop/price.py (line 2) imports src/shop/tax.py, src/shop/tax.py (line 3) imports src/shop/cart.py."
    )


def test_a_failed_assertion_is_nothing_for_a_recipe(project: Project) -> None:
    project.has({"requirements.txt": "flask\n", "tests/test_a.py": "import yaml\n"})
    project.changed("app.py", "import yaml\n")

    assert project.mend("E   AssertionError: assert 3 == 4\ntests/test_a.py:3: AssertionError") == ()


def test_the_recipes_are_tried_in_their_order() -> None:
    assert [recipe.name for recipe in RECIPES] == [
        "missing dependency",
        "missing dependency",
        "missing dependency",
        "missing __init__.py or folder",
        "formatter and linter",
        "wrong path in the roadmap",
        "stale lock file",
        "syntax slip",
        "port in use",
        "circular import",
    ]


class Breaks:
    """A recipe with a fault of its own, which shows when it has begun its work."""

    name = "breaks"

    def __init__(self, problem: Exception) -> None:
        self._problem = problem

    def fits(self, case: RepairCase) -> bool:
        return True

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        case.files.write("half.txt", b"done")
        raise self._problem


def test_a_recipe_that_breaks_ends_the_mending_without_a_result(project: Project) -> None:
    project.has({"requirements.txt": "flask\n"})
    project.changed("app.py", "import yaml\n")

    answer = only(project.mend(NO_YAML, recipes=(Breaks(RecursionError("too deep")), *RECIPES)))

    assert isinstance(answer, NeedsPerson) and "RecursionError: too deep" in answer.what
    with pytest.raises(StateUnwritable):
        project.mend(NO_YAML, recipes=(Breaks(OSError(errno.ENOSPC, "no space left")),))
