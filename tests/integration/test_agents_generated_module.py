"""What module_creation and config_setup write is good from the first moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.agents.patterns.agent import execute
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.registry import pattern_named
from tests.tools import needs, works

KINDS = ("library", "cli", "api", "utility")
HARD = r'Reads "1h30m" \d {x} */ """so"""'
EXAMPLES = 'area(2, 3.5) == 7.0; greet("A \\"d\\" {a}", true) == "Hi; A \\"D\\" {A}"; nth(-3) == -2; ready() == true'
PYTHON = (
    "area(width: float, height: float) -> float = width * height; "
    'greet(name: str, loud: bool) -> str = "Hi; " + (name.upper() if loud else name); '
    "nth(count: int) -> int = count + 1; ready() -> bool = True"
)
SCRIPT = (
    "area(width: number, height: number) -> number = width * height; "
    'greet(name: string, loud: boolean) -> string = "Hi; " + (loud ? name.toUpperCase() : name); '
    "nth(count: int) -> int = count + 1; ready() -> boolean = true"
)
SETTINGS = (
    "port: integer (1..65535) = 8080; ratio: float (0..1) = 0.5; level: debug|very-loud = debug; "
    'host: string = "a; \\"b\\" #c"; verbose: boolean = false; count: int = 3'
)
DENO = Path(sys.executable).parent / "deno"
NODE_TESTS = 42  # one of the version in each of 8 modules, and those of kinds and functions


def modules(folder: Path, language: str, functions: str) -> Path:
    """One folder that holds every kind, with and without functions."""
    for kind in KINDS:
        for full in (False, True):
            inputs = {"name": f"my_{kind}_{'full' if full else 'bare'}", "kind": kind, "description": HARD}
            stated = {"functions": functions, "examples": EXAMPLES} if full else {}
            execute(
                pattern_named("module_creation"), {**inputs, "language": language, **stated}, PendingChanges(folder)
            )
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of module, and configurations in every format."""
    folder = modules(tmp_path_factory.mktemp("python"), "python", PYTHON)
    for form in ("toml", "json", "yaml"):
        inputs = {"name": f"in_{form}", "format": form, "settings": SETTINGS}
        execute(pattern_named("config_setup"), inputs, PendingChanges(folder))
        one = {"name": f"only_{form}", "format": form, "settings": "host: string = x"}
        execute(pattern_named("config_setup"), one, PendingChanges(folder))
    return folder


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return modules(tmp_path_factory.mktemp("javascript"), "javascript", SCRIPT)


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return modules(tmp_path_factory.mktemp("typescript"), "typescript", SCRIPT)


def run(folder: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    plain = {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", **env}
    return subprocess.run(argv, cwd=folder, env={**os.environ, **plain}, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "words",
    [
        ("unittest",),
        ("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "error"),
        ("ruff", "check", "--isolated", "--no-cache", "."),
        ("mypy", "--strict", "--cache-dir", os.devnull, "."),
    ],
    ids=" ".join,
)
def test_what_is_generated_in_python_passes(words: tuple[str, ...], python: Path) -> None:
    done = run(python, sys.executable, "-m", *words)

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_generated_test_fails_when_what_it_tests_breaks(tmp_path: Path) -> None:
    inputs = {"name": "plane", "functions": PYTHON, "examples": EXAMPLES}
    execute(pattern_named("module_creation"), inputs, PendingChanges(tmp_path))
    assert "Ran 6 tests" in run(tmp_path, sys.executable, "-m", "unittest").stderr

    module = tmp_path / "plane" / "__init__.py"
    module.write_text(module.read_text().replace("width * height", "width + height"))

    assert "FAILED (failures=1)" in run(tmp_path, sys.executable, "-m", "unittest").stderr


def test_generated_programs_of_python_do_what_they_say(python: Path) -> None:
    def program(*words: str) -> tuple[int, str]:
        done = run(python, sys.executable, "-m", *words)
        return done.returncode, done.stdout

    assert program("my_cli_full", "area", "2", "4") == (0, "8.0\n")
    assert program("my_cli_full", "greet", "Ada", "true") == (0, "Hi; ADA\n")
    assert program("my_cli_full", "area", "2", "wide")[0] == 2
    assert program("my_cli_full", "fly")[0] == 2
    assert "usage: my_cli_bare" in program("my_cli_bare")[1]
    for example in sorted((python / "examples").iterdir()):
        done = run(python, sys.executable, str(example), PYTHONPATH=".")
        assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr


def test_a_generated_configuration_says_all_that_is_wrong_at_once(python: Path) -> None:
    code = (
        "from in_yaml_config import load, from_values, ConfigInvalid\n"
        "try: from_values({'port': 0, 'level': 'x', 'hots': 1, 'verbose': 1})\n"
        "except ConfigInvalid as problem: print(problem)\n"
        "open('x.yaml', 'w').write('port: 90 # ours\\nhost: \"x: #y\"\\nlevel: very-loud\\n')\n"
        "c = load('x.yaml'); print(c.port, c.host, c.level, c.ratio)\n"
        "open('x.yaml', 'w').write('port: 90\\nport: 91\\n')\n"
        "try: load('x.yaml')\n"
        "except ConfigInvalid as problem: print(problem)\n"
    )
    done = run(python, sys.executable, "-c", code)
    (python / "x.yaml").unlink()

    assert done.stdout.splitlines() == [
        "hots is not a setting; port must be at least 1, not 0; level must be one of debug, very-loud, not 'x'; "
        "verbose must be true or false, not 1",
        "90 x: #y very-loud 0.5",
        "x.yaml: line 2: it must be `name: value`, each name once",
    ], done.stderr


@needs("node")
def test_what_is_generated_in_javascript_passes(javascript: Path) -> None:
    for path in sorted((javascript / "bin").iterdir()):
        assert run(javascript, "node", "--check", str(path)).returncode == 0, path

    done = run(javascript, "node", "--test", "--test-reporter=tap")

    assert done.returncode == 0, done.stdout
    assert f"# pass {NODE_TESTS}\n" in done.stdout
    assert run(javascript, "node", "bin/my_cli_full.js", "area", "2", "4").stdout == "8\n"
    assert run(javascript, "node", "bin/my_cli_full.js", "area", "2", "wide").returncode == 2
    for example in sorted((javascript / "examples").iterdir()):
        assert run(javascript, "node", str(example)).stdout


@pytest.mark.skipif(not DENO.exists(), reason="Deno is not installed")
def test_what_is_generated_in_typescript_passes(typescript: Path, tmp_path: Path) -> None:
    env = {"DENO_DIR": str(tmp_path / "deno"), "DENO_NO_PACKAGE_JSON": "1"}

    checked = run(typescript, str(DENO), "check", "--no-config", "--no-remote", ".", **env)
    tested = run(typescript, str(DENO), "test", "--no-check", "--no-config", "--no-remote", "--allow-all", **env)

    assert checked.returncode == 0, checked.stderr
    assert (tested.returncode, f"{NODE_TESTS} passed | 0 failed" in tested.stdout) == (0, True), tested.stdout
    wrong = typescript / "wrong.ts"
    wrong.write_text('import { area } from "./src/my_cli_full.ts";\narea("wide", 2);\n')
    done = run(typescript, str(DENO), "check", "--no-config", "--no-remote", "wrong.ts", **env)
    wrong.unlink()
    assert "TS2345" in done.stderr, "the types are really looked at"


def runs_typescript() -> bool:
    """Whether this node runs TypeScript as it is."""
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout if works("node") else ""
    parts = [int(part) for part in version.strip().lstrip("v").split(".")[:2] if part.isdigit()]
    return parts >= [22, 18]


@pytest.mark.skipif(not runs_typescript(), reason="this node does not run TypeScript: 22.18 is needed")
def test_what_is_generated_in_typescript_passes_under_node(typescript: Path) -> None:
    done = run(typescript, "node", "--test", "--test-reporter=tap")

    assert (done.returncode, f"# pass {NODE_TESTS}\n" in done.stdout) == (0, True), done.stdout
