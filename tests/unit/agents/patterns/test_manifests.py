"""Patterns that change what a project says of itself: its dependencies, its version, its automation, its status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from milepost.agents.patterns.agent import execute
from milepost.agents.patterns.new_config.settings_statement import Setting, settings_in
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.registry import pattern_named
from milepost.agents.patterns.status.automations import automations
from milepost.agents.patterns.status.implementation_status import ImplementationStatus, verified_in
from milepost.core.commands import CommandResult
from milepost.core.errors import PatternInputsInvalid
from milepost.core.task import Roadmap, Task
from tests.unit.agents.patterns.test_patterns import contents, plant


class Committed:
    """Answers `git show` with files as they were committed, and `git log` with one text."""

    def __init__(self, files: Mapping[str, str] | None = None, log: str = "") -> None:
        self._files = files or {}
        self._log = log

    def ask(self, argv: tuple[str, ...]) -> CommandResult:
        text = self._log if argv[1] == "log" else self._files.get(argv[2].removeprefix("HEAD:./"))
        return CommandResult(
            termination="exited",
            exit_code=0 if text is not None else 128,
            stdout=text or "",
            stderr="",
            duration_ms=1,
            enforced=(),
        )

    def run(self, argv: tuple[str, ...], timeout_s: float | None) -> CommandResult:
        raise AssertionError("nothing is to be run")


def changed(folder: Path, name: str, inputs: Mapping[str, str], commands: Committed | None = None) -> PendingChanges:
    site = PendingChanges(folder, commands)
    execute(pattern_named(name), inputs, site)
    again = PendingChanges(folder, commands)
    execute(pattern_named(name), inputs, again)
    assert again.written == [], "the second time changes nothing"
    return site


@pytest.mark.parametrize(
    ("path", "before", "inputs", "after"),
    [
        (
            "pyproject.toml",
            '# ours\n[project]\nname = "x"\ndependencies = [\n    "a>=1", # why\n]\n\n[tool.x]\ny = 1\n',
            {"name": "httpx[http2]", "version": ">=0.27,<1"},
            '# ours\n[project]\nname = "x"\ndependencies = [\n    "a>=1", # why\n    "httpx[http2]>=0.27,<1",\n]\n\n'
            "[tool.x]\ny = 1\n",
        ),
        (
            "pyproject.toml",
            '[project]\nname = "x"\n\n[dependency-groups]\ndev = ["pytest>=8"]\n',
            {"name": "ruff", "group": "dev"},
            '[project]\nname = "x"\n\n[dependency-groups]\ndev = ["pytest>=8", "ruff"]\n',
        ),
        (
            "pyproject.toml",
            '[project]\nname = "x"\n\n[project.optional-dependencies]\nweb = []\n',
            {"name": "flask", "group": "web"},
            '[project]\nname = "x"\n\n[project.optional-dependencies]\nweb = ["flask"]\n',
        ),
        (
            "pyproject.toml",
            '[tool.poetry]\nname = "x"\n\n[tool.poetry.dependencies]\npython = "^3.11"\n',
            {"name": "httpx", "version": ">=0.27"},
            '[tool.poetry]\nname = "x"\n\n[tool.poetry.dependencies]\npython = "^3.11"\nhttpx = ">=0.27"\n',
        ),
        ("requirements.txt", "-r base.txt\nA_b>=1", {"name": "c"}, "-r base.txt\nA_b>=1\nc\n"),
        ("requirements.txt", "a-b >= 1\r\n", {"name": "A.B", "version": ">=1"}, "a-b >= 1\r\n"),
        (
            "requirements.txt",
            "a==1  # old\nb\n",
            {"name": "a", "version": "==2", "replace": "true"},
            "a==2\nb\n",
        ),
        (
            "package.json",
            '{\n    "dependencies": {\n        "a": "1",\n        "z": "2"\n    }\n}',
            {"name": "left-pad", "version": "^1.3.0"},
            '{\n    "dependencies": {\n        "a": "1",\n        "left-pad": "^1.3.0",\n        "z": "2"\n    }\n}',
        ),
        (
            "package.json",
            '{\n  "name": "x"\n}\n',
            {"name": "@types/node", "version": "~22", "group": "dev"},
            '{\n  "name": "x",\n  "devDependencies": {\n    "@types/node": "~22"\n  }\n}\n',
        ),
        (
            "Cargo.toml",
            '[package]\nname = "x"\n\n[dependencies]\nserde = { version = "1", features = ["derive"] } # keep\n',
            {"name": "serde", "version": "1.0.200", "replace": "true"},
            '[package]\nname = "x"\n\n[dependencies]\nserde = { version = "1.0.200", features = ["derive"] } # keep\n',
        ),
    ],
)
def test_a_dependency_is_added_and_the_rest_stays_as_it_is(
    path: str, before: str, inputs: dict[str, str], after: str, tmp_path: Path
) -> None:
    (tmp_path / path).write_bytes(before.encode())

    changed(tmp_path, "add_dependency", inputs)

    assert (tmp_path / path).read_bytes().decode() == after


@pytest.mark.parametrize(
    ("files", "inputs", "says"),
    [
        ({}, {"name": "a"}, "manifest is missing: there is none"),
        ({"package.json": "{}", "Cargo.toml": ""}, {"name": "a"}, "there are several: Cargo.toml, package.json"),
        ({"package.json": "{}"}, {"name": "a"}, "version is missing: this kind of manifest needs one"),
        ({"package.json": "{}"}, {"name": "A b", "version": "1"}, "name 'A b' is not a valid package name"),
        ({"package.json": "{"}, {"name": "a", "version": "1"}, "package.json: it cannot be read"),
        ({"requirements.txt": ""}, {"name": "a", "version": "^1"}, "version '^1' is not a version range"),
        ({"requirements.txt": "a<2\n"}, {"name": "a", "version": ">=2"}, "'a<2' is there already; give replace=true"),
        (
            {"requirements.txt": "a>=2; python_version<'3.9'\n"},
            {"name": "a", "version": ">=2", "replace": "true"},
            "has an environment marker",
        ),
        (
            {"pyproject.toml": "[project]\ndependencies = [\"a>=2 ; sys_platform == 'win32'\"]\n"},
            {"name": "a", "version": ">=2"},
            "has an environment marker",
        ),
        (
            {"requirements.txt": "a==1 \\\n    --hash=sha256:00\nb\n"},
            {"name": "a", "version": "==2", "replace": "true"},
            "goes on in the next line",
        ),
        ({"requirements.txt": ""}, {"name": "--index-url=x"}, "is not a valid package name"),
        ({"pyproject.toml": "[tool.x]\n"}, {"name": "a"}, "it has no [project]"),
        ({"pyproject.toml": '[project]\ndynamic=["dependencies"]\n'}, {"name": "a"}, "dependencies are dynamic"),
        ({"x.gradle": ""}, {"name": "a", "manifest": "x.gradle"}, "manifest 'x.gradle' is not of a known kind"),
    ],
)
def test_a_dependency_that_cannot_be_added_for_sure_is_refused(
    files: dict[str, str], inputs: dict[str, str], says: str, tmp_path: Path
) -> None:
    plant(tmp_path, files)

    with pytest.raises(PatternInputsInvalid) as refusal:
        changed(tmp_path, "add_dependency", inputs)

    assert says in refusal.value.message
    assert contents(tmp_path) == files


def test_a_lock_that_is_not_brought_up_to_date_is_told(tmp_path: Path) -> None:
    plant(tmp_path, {"pyproject.toml": '[project]\nname = "x"\n', "uv.lock": ""})

    assert "uv.lock is not updated" in changed(tmp_path, "add_dependency", {"name": "a"}).remarks[0]


VERSIONED = {
    "pyproject.toml": '[build-system]\nrequires = ["x==1.2.3"]\n\n[project]\nversion = "1.2.3" # here\nname = "x"\n',
    "package.json": '{\n  "name": "x",\n  "version": "1.2.3",\n  "dependencies": {"y": "1.2.3"}\n}\n',
    "package-lock.json": (
        '{\n  "version": "1.2.3",\n  "packages": {\n    "": {"version": "1.2.3"},\n'
        '    "node_modules/y": {"version": "1.2.3"}\n  }\n}\n'
    ),
    "Cargo.toml": '[package]\nname = "x"\nversion = "1.2.3"\n\n[dependencies]\ny = { version = "1.2.3" }\n',
    "src/x/__init__.py": "__version__: str = '1.2.3'\n",
    "src/x/other.py": "__version__ = '9.9.9'\n",
    "CHANGELOG.md": "# Changes\n\n## [Unreleased]\n\n- Faster.\n\n## [1.2.3] - 2026-01-01\n",
}


def test_a_version_changes_in_all_its_places_and_in_no_other(tmp_path: Path) -> None:
    plant(tmp_path, VERSIONED)

    site = changed(tmp_path, "bump_version", {"part": "minor", "date": "2026-11-16"}, Committed(VERSIONED))

    assert site.remarks == ["version 1.2.3 → 1.3.0"]
    found = contents(tmp_path)
    assert found["pyproject.toml"] == VERSIONED["pyproject.toml"].replace('"1.2.3" # here', '"1.3.0" # here')
    assert found["package.json"] == VERSIONED["package.json"].replace('"version": "1.2.3"', '"version": "1.3.0"')
    assert found["package-lock.json"] == VERSIONED["package-lock.json"].replace("1.2.3", "1.3.0", 2)
    assert found["Cargo.toml"] == VERSIONED["Cargo.toml"].replace("1.2.3", "1.3.0", 1)
    assert found["src/x/__init__.py"] == "__version__: str = '1.3.0'\n"
    assert found["src/x/other.py"] == VERSIONED["src/x/other.py"]
    assert found["CHANGELOG.md"] == (
        "# Changes\n\n## [Unreleased]\n\n## [1.3.0] - 2026-11-16\n\n- Faster.\n\n## [1.2.3] - 2026-01-01\n"
    )


@pytest.mark.parametrize(
    ("part", "version", "new"),
    [("major", "1.2.3", "2.0.0"), ("minor", "0.9.9", "0.10.0"), ("patch", "1.2.3rc1", "1.2.4")],
)
def test_what_is_behind_a_part_becomes_zero(part: str, version: str, new: str, tmp_path: Path) -> None:
    plant(tmp_path, {"x.py": f'__version__ = "{version}"\n'})

    changed(tmp_path, "bump_version", {"part": part}, Committed(contents(tmp_path)))

    assert contents(tmp_path) == {"x.py": f'__version__ = "{new}"\n'}


@pytest.mark.parametrize(
    ("files", "inputs", "says"),
    [
        ({"a.py": ""}, {"version": "1.0.0"}, "no file here states a version"),
        ({"a.py": '__version__ = "1.0.0"'}, {"part": "minor"}, "no version is committed; give version="),
        ({"a.py": '__version__ = "1.0.0"'}, {"part": "minor", "version": "2.0.0"}, "give either part or version"),
        ({"a.py": '__version__ = "1.0.0"'}, {"version": "two"}, "version must match"),
        (
            {"a.py": '__version__ = "1.0.0"', "package.json": '{"version": "1.1.0"}'},
            {"version": "2.0.0"},
            "do not agree on the version: a.py has 1.0.0, package.json has 1.1.0",
        ),
        ({"a.py": '__version__ = "1.0.0"', "package.json": "{"}, {"version": "2.0.0"}, "package.json cannot be read"),
        ({"pyproject.toml": 'project = {version = "1.0.0"}\n'}, {"version": "2.0.0"}, "not on a line of its own"),
    ],
)
def test_a_version_that_is_not_certain_is_refused(
    files: dict[str, str], inputs: dict[str, str], says: str, tmp_path: Path
) -> None:
    plant(tmp_path, files)

    with pytest.raises(PatternInputsInvalid) as refusal:
        changed(tmp_path, "bump_version", inputs, Committed())

    assert says in refusal.value.message
    assert contents(tmp_path) == files


AUTOMATED = {
    ".github/workflows/test.yml": "name: Tests\non:\n  push:\n    branches: [main]\n  pull_request:\njobs: {}\n",
    ".github/workflows/deploy.yaml": "on: workflow_dispatch\n",
    ".github/dependabot.yml": "updates:\n  - package-ecosystem: pip\n  - package-ecosystem: 'npm'\n",
    ".pre-commit-config.yaml": "repos:\n  - repo: x\n    hooks:\n      - id: ruff\n      - id: mypy\n",
    "pyproject.toml": "[tool.ruff]\nline-length = 99\n[tool.mypy]\n",
    "package.json": '{"prettier": {}}',
    "docs/renovate.json": "{}",
    "milepost.toml": 'agent = "tool"\n',
}


def test_the_automations_of_a_project_are_told_from_its_files() -> None:
    found = automations(tuple(AUTOMATED), AUTOMATED.__getitem__)

    on = {(each.name, each.state, each.where, each.detail) for each in found if each.state != "off"}
    assert on == {
        ("GitHub Actions", "on", ".github/workflows/test.yml", "Tests, on push pull_request"),
        ("GitHub Actions", "manual", ".github/workflows/deploy.yaml", "on workflow_dispatch"),
        ("Dependabot", "on", ".github/dependabot.yml", "pip, npm"),
        ("pre-commit", "on", ".pre-commit-config.yaml", "ruff, mypy"),
        ("ruff", "on", "pyproject.toml", "[tool.ruff]"),
        ("mypy", "on", "pyproject.toml", "[tool.mypy]"),
        ("prettier", "on", "package.json", "prettier"),
        ("Milepost", "on", "milepost.toml", "agent tool"),
    }
    assert {"GitLab CI", "black", "Renovate"} <= {each.name for each in found if each.state == "off"}


def test_the_status_of_automation_is_a_table_and_json(tmp_path: Path) -> None:
    plant(tmp_path, AUTOMATED)

    site = changed(tmp_path, "automation_enabled_status", {})

    assert site.written == ["docs/automation.md", "docs/automation.json"]
    told = json.loads((tmp_path / "docs/automation.json").read_text())["automations"]
    assert {
        "kind": "milepost",
        "name": "Milepost",
        "state": "on",
        "where": "milepost.toml",
        "detail": "agent tool",
    } in told
    page = (tmp_path / "docs/automation.md").read_text()
    assert "| updates | Dependabot | on | .github/dependabot.yml | pip, npm |" in page
    assert page.count("\n| ") == len(told) + 1


def test_a_milepost_that_was_taken_back_verifies_nothing() -> None:
    a, b, c, d = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)

    def record(commit: str, task: str = "", verdict: str = "", of: str = "", undo: str = "", body: str = "") -> str:
        return "\x1f".join((commit, task, verdict, of, undo, body))

    log = "\0".join(
        (
            record("e" * 40, undo=b),
            record("f" * 40, body=f"This reverts commit {c}.\n"),
            record(a, "1.1", "passed", "ROADMAP.md"),
            record(b, "1.2", "passed", "ROADMAP.md"),
            record(c, "1.3", "passed", "ROADMAP.md"),
            record(d, "1.4", "passed", "other/ROADMAP.md"),
        )
    )

    assert verified_in(log, "ROADMAP.md") == {"1.1": a}


def test_each_task_stands_where_the_evidence_says(tmp_path: Path) -> None:
    def task(number: str, *files: str, done: bool = False) -> Task:
        return Task(id=number, title=f"T{number}", status="done" if done else "open", line=1, files=files)

    roadmap = Roadmap(
        tasks=(task("1", "a.py"), task("2", "b.py"), task("3", "c.py"), task("4", "d.py"), task("5", done=True))
    )
    plant(tmp_path, {"ROADMAP.md": "", "b.py": "done", "c.py": "stub"})
    log = f"{'a' * 40}\x1f4\x1fpassed\x1fROADMAP.md\x1f\x1f"
    pattern = ImplementationStatus(
        read_roadmap=lambda _: roadmap,
        stubs_of=lambda path, text: [("f has an empty body", 1)] if text == "stub" else [],
    )
    site = PendingChanges(tmp_path, Committed(log=log))

    execute(pattern, {}, site)

    told = json.loads((tmp_path / "docs/status.json").read_text())
    assert [(each["id"], each["status"], each["evidence"]) for each in told["tasks"]] == [
        ("1", "planned", ""),
        ("2", "implemented", "b.py; no milepost"),
        ("3", "stubbed", "c.py: f has an empty body (line 1)"),
        ("4", "verified", "milepost aaaaaaaaaaaa"),
        ("5", "implemented", "its box is ticked; no milepost"),
    ]
    assert told["counts"] == {"planned": 1, "stubbed": 1, "implemented": 2, "verified": 1}
    assert "| 3 | T3 | stubbed | c.py: f has an empty body (line 1) |" in (tmp_path / "docs/status.md").read_text()
    assert site.remarks == ["1 planned, 1 stubbed, 2 implemented, 1 verified"]


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("port: integer (1..65535) = 8080", Setting(name="port", type="integer", default=8080, low=1, high=65535)),
        ("ratio: float (..1.5) = 0.5", Setting(name="ratio", type="number", default=0.5, high=1.5)),
        ("level: low|very-high = very-high",
         Setting(name="level", type="choice", default="very-high", choices=("low", "very-high"))),
        ("host: string = localhost", Setting(name="host", type="text", default="localhost")),
        ('host: str = "a; b"', Setting(name="host", type="text", default="a; b")),
        ("zip: string = 12345", Setting(name="zip", type="text", default="12345")),
        ("debug: bool = false", Setting(name="debug", type="boolean", default=False)),
        ("port: integer = many", "port: 'many' is not of that type"),
        ("port: integer (1..9) = 10", "port: 10 is out of its range"),
        ("port: integer (a..9) = 5", "port: a range is two numbers, such as (1..10)"),
        ("host: string (1..9) = x", "host: only numbers have a range"),
        ("level: low|high = middle", "level: 'middle' is not one of low, high"),
        ("class: integer = 1", "'class' is not a valid name of a setting"),
        ("port: path = 1", "port: there is no type 'path'; there are str, string, int, float, number, bool, boolean, "
         "integer, text, and choices as one|other"),
        ("port", "'port' cannot be read; write name: type (low..high) = value, or name: one|other = one"),
    ],
)  # fmt: skip
def test_a_setting_is_read_or_its_problem_is_told(text: str, setting: Setting | str) -> None:
    assert settings_in(text) == (setting,)
