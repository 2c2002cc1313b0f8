from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.ports import Terminal
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.checks.coverage import CoverageCheck
from milepost.verify.checks.imports import ImportsCheck, broken_modules
from milepost.verify.checks.lint import LintCheck
from milepost.verify.checks.runtime import RuntimeCheck, broken_builds
from milepost.verify.checks.syntax import SyntaxCheck
from milepost.verify.checks.types import TypesCheck, type_errors
from milepost.verify.command_runner import Bench
from milepost.verify.environments.equipment import Equipment, Link
from milepost.verify.suites.python_project import find_interpreter
from tests.tools import need, needs


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield isolated


@pytest.fixture(scope="module")
def bench(terminal: Terminal) -> Bench:
    interpreter = find_interpreter(Path("/nowhere"), os.environ, sys.executable)
    return Bench(terminal=terminal, interpreter=interpreter, timeout_s=120)


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return node_modules(tmp_path_factory.mktemp("typescript"), "typescript")


@pytest.fixture(scope="session")
def eslint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return node_modules(tmp_path_factory.mktemp("eslint"), "eslint")


@pytest.fixture(scope="module")
def with_coverage(terminal: Terminal, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("coverage")
    venv.create(folder / ".venv", with_pip=True)
    got = subprocess.run([folder / ".venv/bin/pip", "install", "-q", "coverage", "pytest"], capture_output=True)
    if got.returncode:
        pytest.skip("coverage and pytest could not be installed: no registry")
    return Bench(terminal=terminal, interpreter=find_interpreter(folder, {}), timeout_s=120)


@pytest.fixture
def places(tmp_path: Path) -> Callable[[str], Workspace]:
    def make(name: str) -> Workspace:
        (tmp_path / name / "checkout").mkdir(parents=True)
        (tmp_path / name / "scratch").mkdir()
        return Workspace(folder=tmp_path / name / "checkout", scratch=tmp_path / name / "scratch", base="0" * 40)

    return make


Attempt = tuple[Change, Workspace, Workspace]
Make = Callable[..., Attempt]


@pytest.fixture
def attempt(places: Callable[[str], Workspace]) -> Make:
    """A base, an attempt on it, and what differs: files as text, None for one that is gone."""

    def make(base: dict[str, str], change: dict[str, str | None]) -> Attempt:
        old, new = places("base"), places("candidate")
        after = {path: text for path, text in {**base, **change}.items() if text is not None}
        for workspace, files in ((old, base), (new, after)):
            for path, text in files.items():
                (workspace.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (workspace.folder / path).write_text(text)
        changed = tuple(
            ChangedFile(
                path=path,
                before=base[path].encode() if path in base else None,
                after=None if text is None else text.encode(),
            )
            for path, text in change.items()
        )
        return Change(files=changed), new, old

    return make


def node_modules(folder: Path, package: str) -> Path:
    need("npm")
    argv = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", package]
    if subprocess.run(argv, cwd=folder, capture_output=True).returncode:
        pytest.skip(f"{package} could not be installed: no registry")
    return folder / "node_modules"


def with_packages(bench: Bench, packages: Path) -> Bench:
    link = Link(path="node_modules", target=packages, top=packages.parent)
    return bench.equipped(Equipment(interpreter=bench.interpreter, links=(link,), readable=(packages,)))


# syntax


@needs("node")
@needs("bash")
def test_a_file_of_each_language_that_does_not_parse_is_named_with_its_line(bench: Bench, attempt: Make) -> None:
    broken = {
        "a.py": "x = 1\ndef f(:\n    pass\n",
        "a.json": '{"a": 1,\n "b": }\n',
        "a.toml": "a = 1\nb = \n",
        "a.yaml": "a:\n  - b\n - c\n",
        "a.xml": "<a>\n<b></a>\n",
        "a.mjs": "const a = 1;\nexport const b = ;\n",
        "a.cjs": "const a = 1;\nexport const b = 1;\n",
        "a.js": "const a = 1;\n\nfunction (\n",
        "a.sh": "if true; then\n  echo yes\n",
        "deploy": "#!/usr/bin/env bash\nfor x in; do\n",
    }
    change, workspace, _ = attempt({}, {**broken, "fine.py": "x = 1\n"})

    result = SyntaxCheck(change=change, bench=bench).run(workspace)

    assert result.outcome == "failed"
    lines = [line for line in result.log.splitlines() if line.count(":") > 1]
    assert {line.partition(":")[0] for line in lines} == set(broken)
    assert "a.py:2: invalid syntax" in result.log
    assert "a.mjs:2: Unexpected token ';'" in result.log
    assert "a.cjs:2: Unexpected token 'export'" in result.log
    assert "a.json:2: Expecting value" in result.log
    assert list(workspace.scratch.glob("before-*")) == []


@needs("node")
@needs("bash")
def test_what_parses_in_its_own_way_is_no_mistake(bench: Bench, attempt: Make) -> None:
    change, workspace, _ = attempt(
        {"package.json": '{"type": "module"}'},
        {
            "module.js": "import a from './a.js';\nawait a();\n",
            "old/package.json": "{}",
            "old/script.js": "#!/usr/bin/env node\nif (require.main === module) return;\n",
            "old/either.js": "export const a = 1;\n",
            "old/page.js": "export const a = () => <p>it isn't</p>;\n",
            "tsconfig.json": '{\n  // as tsc reads it: "//"\n  "a": ["x,]",],\n}\n',
            "biome.json": "{ // its own\n}\n",
            ".mocharc.json": "{ /* its own */ }\n",
            "chart/templates/a.yaml": "a: {{ .Values.a }}\n{{- if .b }}\n",
            "deploy.yaml": "{% for x in y %}\n- a: !Ref b\n{% endfor %}\n",
            "tests/fixtures/broken.py": "def (:\n",
            "zsh.sh": "#!/bin/zsh\nfor x (a b) echo $x\n",
            "tags.yaml": "a: !Ref b\n---\nb: *c\n".replace("*c", "c"),
        },
    )

    result = SyntaxCheck(change=change, bench=bench).run(workspace)

    assert result.outcome == "passed", result.summary
    assert "not counted: " in result.summary
    assert "tests/fixtures/broken.py:1" in result.summary


def test_a_file_that_did_not_parse_before_fails_only_the_task_that_is_about_it(bench: Bench, attempt: Make) -> None:
    change, workspace, _ = attempt({"old.py": "def f(:\n"}, {"old.py": "x = 1\ndef f(:\n"})

    assert SyntaxCheck(change=change, bench=bench).run(workspace).outcome == "passed"
    about = SyntaxCheck(change=change, bench=bench, expected=("old.py",)).run(workspace)
    assert (about.outcome, about.summary) == ("failed", "old.py:2: invalid syntax")


def test_hostile_names_and_links_and_thousands_of_files_are_parsed(bench: Bench, attempt: Make) -> None:
    many = {f"many/m{number}.py": "x = 1\n" for number in range(2500)}
    odd = {"-c.py": "x = (\n", "a b\nc.py": "x = (\n", "d\te.sh": "if\n", "$(touch pwned).sh": "if\n"}
    change, workspace, _ = attempt({}, {**many, **odd})
    (workspace.folder / "link.py").symlink_to("/etc/passwd")
    link = ChangedFile(path="link.py", before=None, after=b"/etc/passwd", mode="120000")
    gone = ChangedFile(path="gone.py", before=b"def (", after=None)

    result = SyntaxCheck(change=Change(files=(*change.files, link, gone)), bench=bench).run(workspace)

    assert result.outcome == "failed"
    assert [line.partition(": ")[0] for line in result.log.splitlines()] == [
        "-c.py:1",
        "a b\\nc.py:1",
        "d\\te.sh:2",
        "$(touch pwned).sh:2",
    ]
    assert not (workspace.folder / "pwned").exists()


def test_a_file_that_brings_the_parser_down_fails(bench: Bench, attempt: Make) -> None:
    change, workspace, _ = attempt({}, {"deep.py": "x = " + "(" * 100_000 + ")" * 100_000 + "\n"})

    assert SyntaxCheck(change=change, bench=bench).run(workspace).outcome == "failed"


def test_typescript_is_parsed_by_the_projects_own_compiler(bench: Bench, attempt: Make, typescript: Path) -> None:
    change, workspace, _ = attempt(
        {},
        {
            "src/a b.ts": "const a: number = ;\n",
            "src/b.tsx": "export const b = <div>;\n",
            "src/fine.ts": "import x = require('y');\n@deco class A { @p b = 1 }\nexport const c = await x.d;\n",
        },
    )
    assert SyntaxCheck(change=change, bench=bench).run(workspace).outcome == "absent"

    result = SyntaxCheck(change=change, bench=with_packages(bench, typescript)).run(workspace)

    assert result.outcome == "failed"
    assert sorted(line.partition(":")[0] for line in result.log.splitlines()) == ["src/a b.ts", "src/b.tsx"]


def test_a_conflict_that_a_merge_left_fails_in_any_language(bench: Bench, attempt: Make) -> None:
    text = "int a;\n<<<<<<< ours\nint b;\n=======\nint c;\n>>>>>>> theirs\n"
    change, workspace, _ = attempt({"old.c": text}, {"a.c": text, "old.c": text + "\n", "a.md": text, "b.js": text})

    result = SyntaxCheck(change=change, bench=bench).run(workspace)

    assert (result.outcome, result.log.splitlines()) == (
        "failed",
        ["a.c:2: it contains merge conflict markers", "b.js:2: it contains merge conflict markers"],
    )


# imports


def check_imports(bench: Bench, made: Attempt, timeout_s: float = 60.0) -> ImportsCheck:
    change, _, old = made
    return ImportsCheck(
        change=change, bench=bench, before=lambda names: broken_modules(names, old, bench), timeout_s=timeout_s
    )


def test_an_import_that_is_newly_broken_names_what_is_missing(bench: Bench, attempt: Make) -> None:
    made = attempt(
        {"src/pkg/__init__.py": "", "src/pkg/old.py": "import no_such_before\n", "src/pkg/a.py": "A = 1\n"},
        {
            "src/pkg/a.py": "A = 1\nfrom pkg.b import missing\n",
            "src/pkg/b.py": "import no_such_thing\n",
            "src/pkg/old.py": "import no_such_before\n\nX = 1\n",
            "src/pkg/new.py": "import no_such_before\n",
        },
    )

    result = check_imports(bench, made).run(made[1])

    assert result.outcome == "failed"
    broken, _, named = result.summary.partition("; not counted: ")
    assert "src/pkg/b.py:1: pkg.b cannot be imported: ModuleNotFoundError: No module named 'no_such_thing'" in broken
    assert "pkg.a cannot be imported" in broken
    assert "pkg.old" not in broken and "pkg.old" in named
    assert "pkg.new" not in broken and "pkg.new" in named


def test_a_circular_import_is_told_with_its_way(bench: Bench, attempt: Make) -> None:
    made = attempt(
        {"pkg/__init__.py": "", "pkg/a.py": "A = 1\n", "pkg/c.py": "from pkg.a import A\nC = A\n"},
        {"pkg/a.py": "from pkg.b import B\nA = 1\n", "pkg/b.py": "from pkg.c import C\nB = C\n"},
    )

    result = check_imports(bench, made).run(made[1])

    assert result.outcome == "failed"
    assert "circular import: pkg.a → pkg.b → pkg.c → pkg.a" in result.summary


def test_those_that_import_what_was_changed_or_deleted_are_imported_too(bench: Bench, attempt: Make) -> None:
    made = attempt(
        {
            "pkg/__init__.py": "",
            "pkg/names.py": "def old(): ...\n",
            "pkg/gone.py": "X = 1\n",
            "pkg/uses_name.py": "from .names import old\n",
            "pkg/uses_gone.py": "import pkg.gone\n",
            "unrelated.py": "raise RuntimeError\n",
        },
        {"pkg/names.py": "def new(): ...\n", "pkg/gone.py": None},
    )

    result = check_imports(bench, made).run(made[1])

    assert result.outcome == "failed"
    assert "pkg.uses_name cannot be imported: ImportError: cannot import name 'old'" in result.summary
    assert "pkg.uses_gone cannot be imported: ModuleNotFoundError: No module named 'pkg.gone'" in result.summary
    assert "unrelated" not in result.summary


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import os\nos._exit(0)\n", "importing it ends the process (exit 0)"),
        ("import os, signal\nos.kill(os.getpid(), 9)\n", "importing it ends the process (signal 9)"),
        ("import threading\nthreading.Event().wait()\n", "its import did not finish within 8 s"),
        ("import os, signal\nos.kill(os.getppid(), 9)\nos._exit(0)\n", "importing it crashed the process"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E\n", "pkg.a cannot be imported: E"),
        ("def f(): f()\nf()\n", "RecursionError"),
    ],
)
def test_a_module_that_does_not_come_to_the_end_of_its_import_fails(
    bench: Bench, attempt: Make, text: str, told: str
) -> None:
    made = attempt({"pkg/__init__.py": "", "pkg/a.py": "A = 1\n"}, {"pkg/a.py": text})

    result = check_imports(bench, made, timeout_s=8).run(made[1])

    assert result.outcome == "failed"
    assert told in result.summary


def test_what_a_module_prints_leaves_behind_or_starts_does_not_matter(bench: Bench, attempt: Make) -> None:
    loud = (
        "import sys, threading, time, atexit, os\n"
        "for _ in range(200): print('x' * 1_000_000, file=sys.stderr); print('{\"ok\": false}' * 1000)\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "atexit.register(os._exit, 3)\nsys.stdout.close()\n"
    )
    made = attempt({}, {"pkg/__init__.py": "", "pkg/loud.py": loud, "pkg/__main__.py": "1 / 0\n"})

    result = check_imports(bench, made).run(made[1])

    assert (result.outcome, result.summary) == ("passed", "2 modules imported")


def test_scripts_tests_and_what_wants_other_surroundings_are_not_held_against_an_attempt(
    bench: Bench, attempt: Make
) -> None:
    made = attempt(
        {},
        {
            "scripts/run.py": "import shutil\nshutil.rmtree('pkg')\n1 / 0\n",
            "tests/test_a.py": "1 / 0\n",
            "pkg/__init__.py": "",
            "pkg/settings.py": "import os\nKEY = os.environ['NO_SUCH_KEY']\n",
            "pkg/reads.py": "TEXT = open('/no/such/file').read()\n",
            "pkg/windows.py": "import winreg\n",
            "pkg/elsewhere.py": "raise ImportError('only where the moon shines')\n",
            "pkg/extra.py": "import no_such_extra\n",
            "pyproject.toml": "[project.optional-dependencies]\nmore = ['No-Such.Extra>=1']\n",
            "my-script.py": "1 / 0\n",
        },
    )

    result = check_imports(bench, made).run(made[1])

    assert result.outcome == "passed", result.summary
    assert result.summary.startswith("1 module imported; not counted: ")
    assert (made[1].folder / "pkg").is_dir()


def test_a_module_that_wants_surroundings_and_did_not_before_fails(bench: Bench, attempt: Make) -> None:
    made = attempt({"a.py": "KEY = 1\n"}, {"a.py": "import os\nKEY = os.environ['NO_SUCH_KEY']\n"})

    assert check_imports(bench, made).run(made[1]).outcome == "failed"


def test_hundreds_of_modules_are_each_imported_afresh(bench: Bench, attempt: Make) -> None:
    text = "import sys\nassert not hasattr(sys, 'seen')\nsys.seen = True\n"
    made = attempt({}, {"pkg/__init__.py": "", **{f"pkg/m{number}.py": text for number in range(400)}})

    result = check_imports(bench, made).run(made[1])

    assert (result.outcome, result.summary) == ("passed", "401 modules imported")


def test_javascript_that_imports_what_is_not_there_fails(bench: Bench, attempt: Make) -> None:
    made = attempt(
        {
            "src/kept.js": "import { a } from './gone.js';\n",
            "src/gone.js": "export const a = 1;\n",
            "src/old.js": "import './never-was.js';\n",
            ".gitignore": "/out/\n",
        },
        {
            "src/gone.js": None,
            "src/old.js": "import './never-was.js';\nexport {};\n",
            "src/a.ts": (
                "// import './comment.js'\nimport b, { type T, c as d } from './b.js';\n"
                "const t = `import './template.js' ${`${1}`} import './nested.js'`;\n"
                "import data from './data.json' with { type: 'json' };\nimport '../out/made.js';\n"
                "import x from './lib';\nconst e = require('./missing');\n"
            ),
            "src/b.ts": "export default 1;\nexport const e = 1;\nexport type T = number;\n",
            "src/data.json": "{}",
            "src/lib/index.tsx": "export default 1;\n",
        },
    )

    result = check_imports(bench, made).run(made[1])

    assert result.outcome == "failed"
    assert sorted(result.summary.split("; ")) == [
        "src/a.ts:2: src/b.ts does not export 'c'",
        "src/a.ts:7: './missing' does not exist",
        "src/kept.js:1: './gone.js' does not exist",
    ]


# runtime


def test_console_scripts_must_lead_to_something_that_can_be_called(bench: Bench, attempt: Make) -> None:
    scripts = (
        '[project.scripts]\nfine = "pkg.cli:main"\nlost = "pkg.cli:lost"\nold = "pkg.none:x"\nvalue = "pkg.cli:V"\n'
    )
    change, workspace, old = attempt(
        {"pyproject.toml": scripts, "src/pkg/__init__.py": "", "src/pkg/cli.py": "def main(): ...\ndef lost(): ...\n"},
        {"src/pkg/cli.py": "V = 1\ndef main(): ...\n"},
    )

    result = RuntimeCheck(change=change, bench=bench, before=lambda names: broken_builds(names, old, bench)).run(
        workspace
    )

    assert result.outcome == "failed"
    assert result.summary.startswith("script lost: AttributeError")
    assert "already broken before the attempt: script old, script value" in result.summary


@needs("cargo")
def test_rust_that_does_not_compile_fails_and_did_before_does_not(bench: Bench, attempt: Make) -> None:
    base = {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn a() {}\n",
    }
    change, workspace, old = attempt(base, {"src/lib.rs": "pub fn a() -> u8 { b() }\n"})

    result = RuntimeCheck(change=change, bench=bench, before=lambda names: broken_builds(names, old, bench)).run(
        workspace
    )
    same = RuntimeCheck(change=change, bench=bench, before=frozenset).run(workspace)

    assert result.outcome == "failed"
    assert result.summary.startswith("cargo check: src/lib.rs:1:20: error[E0425]")
    assert (same.outcome, same.summary) == ("absent", "already broken before the attempt: cargo check")


@needs("cargo")
def test_a_crate_that_is_not_on_this_machine_is_no_failure(bench: Bench, attempt: Make) -> None:
    manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nno-such-crate-x = "1"\n'
    change, workspace, _ = attempt({}, {"Cargo.toml": manifest, "src/lib.rs": ""})

    assert RuntimeCheck(change=change, bench=bench).run(workspace).outcome == "absent"


@needs("cmake")
@needs("cc")
def test_c_that_does_not_build_fails(bench: Bench, attempt: Make) -> None:
    base = {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(a C)\nadd_executable(a a.c)\n", "a.c": ""}
    change, workspace, _ = attempt(base, {"a.c": "int main(void) { return b; }\n"})

    result = RuntimeCheck(change=change, bench=bench).run(workspace)

    assert result.outcome == "failed"
    assert "error" in result.summary and "a.c:1" in result.summary
    (workspace.folder / "a.c").write_text("int main(void) { return 0; }\n")
    assert RuntimeCheck(change=change, bench=bench).run(workspace).summary == "works: cmake"


def test_the_entry_of_a_package_must_be_there(bench: Bench, attempt: Make) -> None:
    manifest = '{"main": "lib/a.js", "bin": {"x": "./bin/x.js", "y": "dist/y.js"}}'
    change, workspace, _ = attempt({"package.json": manifest, "lib/a.js": "", "bin/x.js": ""}, {"lib/a.js": None})

    result = RuntimeCheck(change=change, bench=bench).run(workspace)

    assert (result.outcome, result.summary) == ("failed", "lib/a.js of package.json: does not exist")


# types


def test_only_new_errors_of_mypy_fail_wherever_they_are(bench: Bench, attempt: Make) -> None:
    change, workspace, old = attempt(
        {
            "pyproject.toml": "[tool.mypy]\nstrict = true\n",
            "a.py": "def f(x: int) -> int:\n    return x\n",
            "caller.py": "from a import f\n\nf(1)\n",
            "old.py": "x: int = 'a'\n",
        },
        {
            "a.py": "\n\ndef f(x: str) -> str:\n    return x\n",
            "old.py": "\n\n\nx: int = 'a'\n",
            "mypy.py": "print('Success')\nraise SystemExit(0)\n",
        },
    )
    before = type_errors(old, bench)

    result = TypesCheck(change=change, bench=bench, before=lambda: before).run(workspace)

    assert before is not None and len(before) == 2
    assert result.outcome == "failed"
    assert result.summary.startswith('caller.py:3: Argument 1 to "f" has incompatible type "int"')
    assert "old.py" not in result.summary


def test_old_errors_of_mypy_and_an_unknown_base_fail_nothing(bench: Bench, attempt: Make) -> None:
    change, workspace, old = attempt(
        {"mypy.ini": "[mypy]\n", "old.py": "x: int = 'a'\n"}, {"new.py": "x: int = 'a'\n", "old.py": None}
    )

    moved = TypesCheck(change=change, bench=bench, before=lambda: type_errors(old, bench)).run(workspace)
    unknown = TypesCheck(change=change, bench=bench, before=lambda: None).run(workspace)

    assert (moved.outcome, moved.summary) == ("passed", "mypy found nothing new")
    assert unknown.outcome == "absent"


def test_settings_that_keep_mypy_from_answering_fail(bench: Bench, attempt: Make) -> None:
    change, workspace, old = attempt(
        {"mypy.ini": "[mypy]\n", "a.py": "x: int = 1\n"},
        {"mypy.ini": "[mypy]\nplugins = no_such_plugin\n", "a.py": "x: int = 'a'\n"},
    )

    result = TypesCheck(change=change, bench=bench, before=lambda: type_errors(old, bench)).run(workspace)

    assert result.outcome == "failed"


def test_new_errors_of_tsc_fail(bench: Bench, attempt: Make, typescript: Path) -> None:
    change, workspace, old = attempt(
        {
            "web/tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "web/tsconfig.app.json": '{"compilerOptions": {"strict": true, "types": []}, "include": ["src"]}',
            "web/src/old.ts": "const a: number = 'a';\n",
        },
        {"web/src/new.ts": "export const b: string = 1;\n"},
    )
    bench = with_packages(bench, typescript)

    result = TypesCheck(change=change, bench=bench, before=lambda: type_errors(old, bench)).run(workspace)

    assert result.outcome == "failed"
    assert result.summary == "web/src/new.ts:1: Type 'number' is not assignable to type 'string'. [TS2322]"


# lint


def test_only_new_findings_of_ruff_in_changed_files_fail(bench: Bench, attempt: Make) -> None:
    settings = {"pyproject.toml": "[tool.ruff.lint]\nselect = ['F']\n", "other.py": "import os\n"}
    change, workspace, _ = attempt(
        {**settings, "old.py": "import os\n", "moved.py": "import json\n"},
        {
            "old.py": "x = 1\nimport os\n",
            "new name.py": "x = 1\n",
            "-dash.py": "import sys\n",
            "moved.py": None,
            "there.py": "import json\n",
        },
    )

    result = LintCheck(change=change, bench=bench).run(workspace)

    assert (result.outcome, result.summary) == ("failed", "-dash.py:1: `sys` imported but unused [F401]")
    (workspace.folder / "-dash.py").write_text("")
    assert LintCheck(change=change, bench=bench).run(workspace).summary == "ruff found nothing new"


def test_new_errors_of_eslint_fail(bench: Bench, attempt: Make, eslint: Path) -> None:
    settings = "export default [{ rules: { 'no-unused-vars': 'error', 'no-empty': 'warn' } }];\n"
    change, workspace, _ = attempt(
        {"eslint.config.mjs": settings, "old.mjs": "const a = 1;\n"},
        {"old.mjs": "\nconst a = 1;\n", "new.mjs": "const b = 1;\nif (true) {}\n"},
    )

    result = LintCheck(change=change, bench=with_packages(bench, eslint)).run(workspace)

    assert result.outcome == "failed"
    assert result.summary == "new.mjs:1: 'b' is assigned a value but never used. [no-unused-vars]"


# coverage


HOURS = "def seconds(hours):\n    return hours * 3600\n"
MORE = HOURS + "\n\ndef minutes(hours):\n    if hours < 0:\n        raise ValueError\n    return hours * 60\n"
TESTS = "from hours import minutes, seconds\n\ndef test_all():\n    assert seconds(1) == 60 * minutes(1)\n"


@pytest.mark.parametrize("layout", ["", "src/"])
def test_changed_lines_that_no_test_runs_are_named(with_coverage: Bench, attempt: Make, layout: str) -> None:
    change, workspace, _ = attempt(
        {
            f"{layout}hours.py": HOURS,
            "tests/test_hours.py": "",
            "pyproject.toml": "[tool.coverage.report]\nfail_under = 99\n",
        },
        {
            f"{layout}hours.py": MORE,
            "tests/test_hours.py": TESTS,
            "coverage.py": "raise SystemExit(0)\n",
            "pyproject.toml": "[tool.coverage.run]\nomit = ['*']\n",
        },
    )
    change = Change(files=tuple(file for file in change.files if file.path != "coverage.py"))

    strict = CoverageCheck(change=change, bench=with_coverage, threshold=0.9).run(workspace)
    loose = CoverageCheck(change=change, bench=with_coverage, threshold=0.75).run(workspace)

    assert strict.outcome == "failed", strict.log
    assert strict.summary == f"75 % of 4 changed lines, 90 % are required; no test runs {layout}hours.py: 7"
    assert (loose.outcome, loose.summary) == ("passed", "75 % of 4 changed lines")


def test_without_a_threshold_or_without_coverage_nothing_is_asked(bench: Bench, attempt: Make) -> None:
    change, workspace, _ = attempt({}, {"hours.py": HOURS})

    assert CoverageCheck(change=change, bench=bench).run(workspace).outcome == "absent"
    without = CoverageCheck(change=change, bench=bench, threshold=0.5).run(workspace)
    assert (without.outcome, without.summary) == ("absent", "coverage is not installed in the project's environment")
