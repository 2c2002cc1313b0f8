"""Patterns: what they are given, how they change a folder, and the modules they start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.agent import PatternAgent, execute
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.new_module.module import Module
from milepost.agents.patterns.new_module.python_module import source_files
from milepost.agents.patterns.pending_changes import PathRefused, PendingChanges
from milepost.agents.patterns.registry import pattern_named
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.commands import Command, CommandResult
from milepost.core.errors import PatternInputsInvalid
from milepost.core.ports import Tools

MODULE = pattern_named("module_creation")
FUNCTIONS = {
    "functions": "area(width: float, height: float) -> float = width * height",
    "examples": "area(2, 3) == 6",
}


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def plant(folder: Path, files: Mapping[str, str]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)


def written(folder: Path, inputs: Mapping[str, str]) -> list[str]:
    site = PendingChanges(folder)
    execute(MODULE, inputs, site)
    return site.written


@pytest.mark.parametrize("language", ["python", "javascript", "typescript"])
@pytest.mark.parametrize("kind", ["library", "cli", "api", "utility"])
def test_a_module_is_written_once_and_the_second_time_changes_nothing(language: str, kind: str, tmp_path: Path) -> None:
    inputs = {"name": "plane", "language": language, "kind": kind, "license": "Apache-2.0", **FUNCTIONS}

    first = written(tmp_path, inputs)

    before = contents(tmp_path)
    assert sorted(first) == sorted(before)
    assert any("test" in path for path in first) and any("example" in path for path in first)
    assert {"README.md", "LICENSE", "pyproject.toml" if language == "python" else "package.json"} <= set(first)
    assert written(tmp_path, inputs) == []
    assert contents(tmp_path) == before


def test_a_missing_file_is_written_again_beside_the_others(tmp_path: Path) -> None:
    written(tmp_path, {"name": "durations"})
    (tmp_path / "tests" / "test_durations.py").unlink()
    (tmp_path / "tests" / "__init__.py").write_text('"""Our tests."""\n')

    assert written(tmp_path, {"name": "durations"}) == ["tests/test_durations.py"]
    assert (tmp_path / "tests" / "__init__.py").read_text() == '"""Our tests."""\n'


def test_files_with_other_content_stay_and_every_one_is_named(tmp_path: Path) -> None:
    theirs = {"durations/__init__.py": "mine = 1\n", "tests/test_durations.py": "", "durations.py": ""}
    plant(tmp_path, theirs)

    with pytest.raises(PatternInputsInvalid) as refusal:
        written(tmp_path, {"name": "durations", "kind": "cli"})

    assert refusal.value.message.split("; ") == [
        "durations/__init__.py is there already, with other content",
        "tests/test_durations.py is there already, with other content",
        "durations.py is there already and would be imported by the same name",
    ]
    assert contents(tmp_path) == theirs


def test_a_project_of_its_own_is_extended_and_not_overwritten(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "pyproject.toml": '# ours\n[project]\nname = "ours"\n\n[project.scripts]\nours = "ours:main" # keep\n\n'
            '[tool.hatch.build.targets.wheel]\npackages = ["src/ours"]\n',
            "src/ours/__init__.py": "",
            "tests/test_ours.py": "",
            "README.md": "# Ours\n",
        },
    )

    made = written(tmp_path, {"name": "plane", "kind": "cli"})

    assert {"src/plane/__init__.py", "src/plane/__main__.py", "docs/plane.md", "pyproject.toml"} <= set(made)
    assert "tests/__init__.py" not in made, "tests that lie in no package are found in another way"
    assert (tmp_path / "README.md").read_text() == "# Ours\n"
    assert (tmp_path / "pyproject.toml").read_text() == (
        '# ours\n[project]\nname = "ours"\n\n[project.scripts]\nours = "ours:main" # keep\n'
        'plane = "plane.__main__:main"\n\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["src/ours", "src/plane"]\n'
    )


def test_a_first_program_gets_a_table_of_its_own(tmp_path: Path) -> None:
    plant(tmp_path, {"pyproject.toml": '[project]\nname = "ours"\n\n[tool.x]\ny = 1\n'})

    written(tmp_path, {"name": "plane", "kind": "api"})

    assert (tmp_path / "pyproject.toml").read_text() == (
        '[project]\nname = "ours"\n\n[project.scripts]\nplane = "plane.server:main"\n\n[tool.x]\ny = 1\n'
    )


def test_a_package_of_its_own_is_extended_and_not_overwritten(tmp_path: Path) -> None:
    manifest = '{\n\t"name": "@us/ours",\n\t"main": "x.js",\n\t"exports": "./x.js",\n\t"bin": "./b.js"\n}'
    plant(tmp_path, {"package.json": manifest})

    made = written(tmp_path, {"name": "plane", "kind": "cli", "language": "javascript"})

    assert "src/plane.mjs" in made, "without a type of its own, a package takes .js for something else"
    assert (tmp_path / "package.json").read_text() == (
        '{\n\t"name": "@us/ours",\n\t"main": "x.js",\n\t"exports": {\n\t\t".": "./x.js",\n'
        '\t\t"./plane": "./src/plane.mjs"\n\t},\n\t"bin": {\n\t\t"ours": "./b.js",\n'
        '\t\t"plane": "./bin/plane.mjs"\n\t},\n\t"scripts": {\n\t\t"test": "node --test"\n\t}\n}'
    )


@pytest.mark.parametrize(
    ("path", "content", "inputs", "says"),
    [
        ("pyproject.toml", "[project", {}, "pyproject.toml cannot be read"),
        ("pyproject.toml", '[project]\nscripts = {x = "y:z"}\n', {"kind": "cli"}, "has a script 'x' already"),
        ("pyproject.toml", '[project]\ndynamic = ["scripts"]\n', {"kind": "cli"}, "scripts are dynamic"),
        ("package.json", "[]", {"language": "javascript"}, "holds no object"),
        ("package.json", '{"scripts": {"test": "jest"}}', {"language": "javascript"}, "runs its tests by 'jest'"),
        ("package.json", '{"scripts": {"test": "node --test lib/"}}', {"language": "javascript"}, "would not run"),
        ("package.json", '{"bin": {"x": "y"}}', {"language": "javascript", "kind": "cli"}, "a program 'x' already"),
        ("tsconfig.json", "{} // none", {"language": "typescript"}, "rewriteRelativeImportExtensions"),
        ("LICENSE", "Ours.", {"license": "Apache-2.0"}, "LICENSE is there already"),
    ],
)
def test_a_manifest_that_cannot_be_extended_for_sure_is_refused(
    path: str, content: str, inputs: dict[str, str], says: str, tmp_path: Path
) -> None:
    plant(tmp_path, {path: content})

    with pytest.raises(PatternInputsInvalid, match=says):
        written(tmp_path, {"name": "x", **inputs})

    assert contents(tmp_path) == {path: content}


def test_every_problem_is_told_at_once() -> None:
    inputs = {
        "name": "Bad-Name",
        "language": "cobol",
        "kind": "poem",
        "description": "two\nlines",
        "functions": "parse; f(a: str) -> str = a; f(a: str) -> str = a; g(a: file) -> str = a",
        "examples": 'f(1) == "x"; h() == 1; f("a") == "a"',
        "license": "MIT",
        "colour": "red",
    }

    assert MODULE.validate_inputs(inputs) == (
        "colour is not known; known are name, language, kind, description, functions, examples, license, holder, year",
        "name must match ^[a-z][a-z0-9_-]*\\Z, not 'Bad-Name'",
        "language must be one of python, javascript, typescript, not 'cobol'",
        "kind must be one of library, cli, api, utility, not 'poem'",
        "description must be one line of printable text",
        "holder is missing: MIT names one",
        "year is missing: MIT names one",
        "functions: 'parse' cannot be read; write name(argument: type) -> type = expression",
        "functions: g: the types are str, string, int, float, number, bool, boolean, and each argument has one",
        "functions: 'f' is given 2 times",
        "examples: f: a cannot be 1",
        "examples: there is no function 'h'",
    )


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({}, "name is missing"),
        ({"name": "x\n"}, "name must match"),
        ({"name": "class"}, "is a Python keyword"),
        ({"name": "json"}, "would hide a module"),
        ({"name": "tests"}, "would hide a module"),
        ({"name": "a-b"}, "cannot be imported by Python"),
        ({"name": "conftest"}, "means something else to Python tools"),
        ({"name": "x-test", "language": "javascript"}, "would be taken for a test by node"),
        ({"name": "x", "functions": "f() -> float = 1.0", "examples": "f() == NaN"}, "'f() == NaN' cannot be read"),
        ({"name": "x", "functions": "f() -> float = 1.0", "examples": "f() == 1e999"}, "cannot be read"),
        ({"name": "x", "functions": "f() -> str = ''", "examples": 'f() == "\\ud800"'}, "cannot be read"),
        ({"name": "x", "description": " "}, "one line of printable text"),
        ({"name": "x", "description": ""}, "description must not be empty"),
        ({"name": "x", "description": "x" * 101}, "at most 100 characters, not 101"),
        ({"name": "x", "functions": "f() -> int = 1"}, "'f' has none; write f"),
        ({"name": "x", "functions": "str() -> int = 1", "examples": "str() == 1"}, "'str' cannot name"),
        ({"name": "x", "functions": "f() -> int = 1 +", "examples": "f() == 1"}, "is not a Python expression"),
        ({"name": "x", "functions": "f() -> int = os.getpid()", "examples": "f() == 1"}, "'os' is neither"),
        ({"name": "x", "functions": "f(a: int) -> int = 1", "examples": "f(1) == 1"}, "'a' is not used"),
        (
            {"name": "x", "language": "javascript", "functions": "f() -> int = 1; 2", "examples": "f() == 1"},
            "'2' cannot be read",
        ),
        (
            {"name": "x", "language": "javascript", "functions": "f() -> int = 1) + (2", "examples": "f() == 1"},
            "is not a JavaScript expression",
        ),
        (
            {"name": "x", "language": "typescript", "functions": "f() -> int = process.pid", "examples": "f() == 1"},
            "'process' is neither",
        ),
    ],
)
def test_inputs_that_cannot_be_used_write_nothing(inputs: dict[str, str], says: str, tmp_path: Path) -> None:
    assert any(says in problem for problem in MODULE.validate_inputs(inputs)), MODULE.validate_inputs(inputs)
    with pytest.raises(PatternInputsInvalid):
        written(tmp_path, inputs)
    assert list(tmp_path.iterdir()) == []


@given(st.text(st.sampled_from("\"'\\{x}n% "), min_size=1))
def test_any_description_stands_in_the_module_as_it_was_given(description: str) -> None:
    files = source_files(Module(name="durations", kind="utility", description=description))
    module = ModuleType("durations")

    exec(files["durations.py"], module.__dict__)

    assert (module.__doc__ or "").strip() == description.strip()  # Python 3.13 takes the spaces off itself
    compile(files["tests/test_durations.py"], "test_durations.py", "exec")


def test_texts_become_the_values_that_a_schema_speaks_of() -> None:
    schema = inputs_schema(
        "",
        {
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "ratio": {"type": "number", "maximum": 1},
            "loud": {"type": "boolean", "default": False},
            "names": {"type": "array"},
            "level": {"type": "integer", "enum": [1, 2], "default": 1},
        },
    )

    assert values_in(schema, {"count": "3", "ratio": "0.5", "names": "a, b"}) == {
        "count": 3, "ratio": 0.5, "loud": False, "names": ["a", "b"], "level": 1,
    }  # fmt: skip
    assert problems_in(schema, {"count": "10", "ratio": "nan", "loud": "maybe", "level": "3"}) == (
        "count must be at most 9, not 10",
        "ratio must be a number, not 'nan'",
        "loud must be true or false, not 'maybe'",
        "level must be one of 1, 2, not '3'",
    )


def test_nothing_is_written_before_the_end_and_a_dry_site_shows_it_as_a_diff(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": "one\ntwo", "gone.txt": "x\n"})
    site = PendingChanges(tmp_path, dry=True)

    site.write("a.txt", "one\nthree\n")
    site.write("new/b.bin", b"\xff")
    site.delete("gone.txt")
    site.write("same.txt", "x")
    site.delete("same.txt")

    assert contents(tmp_path) == {"a.txt": "one\ntwo", "gone.txt": "x\n"}
    assert (site.text("a.txt"), site.holds("gone.txt"), site.paths()) == ("one\nthree\n", False, ("a.txt", "new/b.bin"))
    assert site.diff() == (
        "diff --git a/a.txt b/a.txt\n"
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+three\n"
        "diff --git a/new/b.bin b/new/b.bin\nnew file mode 100644\nBinary files /dev/null and b/new/b.bin differ\n"
        "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )


@pytest.mark.parametrize("paths", [("a", "a/b/c"), ("a/b/c", "a"), ("new", "file/b"), ("new", "link/b")])
def test_nothing_is_written_where_a_file_would_have_to_be_a_folder(paths: tuple[str, ...], tmp_path: Path) -> None:
    plant(tmp_path, {"file": "x"})
    (tmp_path / "link").symlink_to("file")
    site = PendingChanges(tmp_path)
    for path in paths:
        site.write(path, "y")

    with pytest.raises(PathRefused, match="is a file, and"):
        site.write_out()

    assert contents(tmp_path) == {"file": "x", "link": "x"} and site.written == []


def test_a_file_may_make_room_for_a_folder(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "x"})
    site = PendingChanges(tmp_path)
    site.write("a/b", "y")
    site.delete("a")

    site.write_out()

    assert contents(tmp_path) == {"a/b": "y"}


@pytest.mark.parametrize("path", ["../x", "/etc/x", ".git/hooks/x", "link/x", "a/../../x"])
def test_a_site_ends_at_its_folder(path: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "outside")

    with pytest.raises(PathRefused):
        PendingChanges(folder).write(path, "x")


class Own:
    """A user's pattern, which does what its inputs say."""

    name = "own"

    @property
    def schema(self) -> Schema:
        return inputs_schema("", {"do": {"type": "string"}})

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        if inputs.get("do") == "validate":
            raise KeyError("schema")
        return ()

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        site.write("half.txt", "half")
        if inputs["do"] == "break":
            raise ZeroDivisionError("division by zero")
        if inputs["do"] == "escape":
            site.write("../out.txt", "out")


class Nowhere:
    def run(self, command: Command, on_line: Any = None) -> CommandResult:
        raise AssertionError("nothing is to be run")


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("break", "the pattern own failed: ZeroDivisionError: division by zero"),
        ("validate", "the pattern own failed: KeyError: 'schema'"),
        ("escape", "'../out.txt' is refused: give a path below the workspace, without a leading / and without .."),
    ],
)
def test_a_pattern_that_breaks_gives_up_and_writes_nothing(do: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    heard: list[str] = []
    tools = Tools(terminal=Nowhere(), say=heard.append, timeout_s=9)
    assignment = Assignment(run="r", task="1", title="", text="", attempt=1, inputs=(("do", do),))
    workspace = Workspace(folder=folder, scratch=tmp_path / "scratch", base="")

    outcome = PatternAgent(Own()).act(assignment, workspace, tools)

    assert outcome == Outcome(status="gave_up", said=said)
    assert heard == [said]
    assert [path.name for path in tmp_path.rglob("*")] == ["workspace"]
