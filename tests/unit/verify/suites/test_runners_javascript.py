from __future__ import annotations

import json
from pathlib import Path

import pytest

from milepost.verify.suites.runners.canary import Canary, loaded_by, named_like, source
from milepost.verify.suites.runners.flavours import REPORTERS, Installed, Selection, command
from milepost.verify.suites.runners.javascript_report import cases_of, errors_outside
from milepost.verify.suites.runners.others import only_looks
from milepost.verify.suites.runners.package_json import NpmTestScript, RunnerCall, script_of
from milepost.verify.suites.runners.sealed import NONE, fresh, seal_of


def script(**scripts: str) -> NpmTestScript:
    return script_of({"scripts": scripts})


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("vitest", RunnerCall(flavour="vitest")),
        ("vitest run --dir src", RunnerCall(flavour="vitest", words=("run", "--dir", "src"))),
        ("npx jest --ci", RunnerCall(flavour="jest", words=("--ci",))),
        ("cross-env TZ=UTC jest", RunnerCall(flavour="jest", env={"TZ": "UTC"})),
        ("TZ=UTC NODE_ENV=x vitest", RunnerCall(flavour="vitest", env={"TZ": "UTC", "NODE_ENV": "x"})),
        (
            "node --experimental-vm-modules node_modules/jest/bin/jest.js -i",
            RunnerCall(flavour="jest", words=("-i",), node_words=("--experimental-vm-modules",)),
        ),
        (
            "node --import tsx --test tests",
            RunnerCall(flavour="node", words=("tests",), node_words=("--import", "tsx")),
        ),
        ("tsx --test", RunnerCall(flavour="node", node_words=("--import", "tsx"))),
        ("c8 node --test", RunnerCall(flavour="node")),
    ],
)
def test_a_test_script_tells_its_runner(text: str, call: RunnerCall) -> None:
    assert script(test=text) == NpmTestScript(calls=(call,), text=text)


def test_other_commands_of_a_script_are_kept_and_other_scripts_are_followed() -> None:
    found = script(pretest="tsc", test="eslint . && npm run unit && echo done", unit="vitest run")

    assert found.calls == (RunnerCall(flavour="vitest", words=("run",)),)
    assert found.others == (("tsc", True), ("eslint .", True), ("echo done", False))


@pytest.mark.parametrize("text", ["mocha", "jest | tee log", "vitest || true", "node test.js", "npm run test"])
def test_a_script_that_only_a_shell_understands_or_of_no_known_runner_is_left_whole(text: str) -> None:
    assert script(test=text) == NpmTestScript(text=text)


def test_without_a_script_the_dependency_tells() -> None:
    placeholder = {"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}

    assert script_of({**placeholder, "devDependencies": {"vitest": "^3"}}).calls == (RunnerCall(flavour="vitest"),)
    assert script_of(placeholder) == NpmTestScript()


def test_runners_are_called_so_that_they_run_everything_and_report_to_us(tmp_path: Path) -> None:
    cache = Path("/scratch/cache")
    canary = Selection(canary="tests/z.test.js")

    def words(call: RunnerCall, installed: Installed, selection: Selection = canary) -> tuple[str, ...]:
        return command(call, installed, selection, cache, tmp_path)

    vitest = RunnerCall(
        flavour="vitest", words=("run", "--bail", "1", "--coverage", "--reporter=dot", "--config", "v.mjs")
    )
    assert words(vitest, Installed(entry="node_modules/vitest/vitest.mjs", version="3.2.4")) == (
        *("node", "node_modules/vitest/vitest.mjs", "run", f"--reporter={REPORTERS / 'vitest.mjs'}", "--bail=0"),
        *("--coverage.enabled=false", "--no-color", "--config", "v.mjs"),
    )
    jest = RunnerCall(flavour="jest", words=("--bail", "3", "-i", "--coverage", "src", "-t", "counts"))
    common = ("--bail=0", "--testFailureExitCode=1", "--coverage=false", "--watchman=false")
    start = ("node", "jest.js", "--ci", f"--reporters={REPORTERS / 'jest.cjs'}", *common, f"--cacheDirectory={cache}")
    newer = words(jest, Installed(entry="jest.js", version="30.1.0"))
    older = words(
        RunnerCall(flavour="jest"), Installed(entry="jest.js", version="27.0.0"), Selection(files=("a.test.js",))
    )
    assert newer == (*start, "--workerIdleMemoryLimit=1000GB", "--maxWorkers=1", "src", "tests/z.test.js")
    assert older == (*start, "--maxWorkers=2", "--runTestsByPath", "a.test.js")
    node = RunnerCall(flavour="node", words=("--test-reporter", "dot"), node_words=("--import", "tsx"))
    assert words(node, Installed()) == (
        *("node", "--import", "tsx", "--test", f"--test-reporter={REPORTERS / 'node.mjs'}"),
        "--test-reporter-destination=stdout",
    )


def test_signs_in_the_places_of_a_call_are_expanded_as_a_shell_would(tmp_path: Path) -> None:
    for name in ("a.test.js", "deep/b.test.js"):
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text("")
    call = RunnerCall(flavour="node", words=("src/**/*.test.js",))

    found = command(call, Installed(), Selection(canary="src/z.test.js"), tmp_path, tmp_path)

    assert found[-3:] == ("src/a.test.js", "src/deep/b.test.js", "src/z.test.js")


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("hours.test.ts", "z.test.ts"),
        ("hours.unit.spec.tsx", "z.unit.spec.tsx"),
        ("hours_test.js", "z_test.js"),
        ("hours-spec.mjs", "z-spec.mjs"),
        ("test-hours.js", "test-z.js"),
        ("test.js", "z.test.js"),
        ("hours.js", "z.js"),
    ],
)
def test_a_canary_is_named_like_its_neighbour(name: str, alike: str) -> None:
    assert named_like(name, "z") == alike


def test_a_canary_loads_what_the_tests_load_but_nothing_that_they_replace(tmp_path: Path) -> None:
    for name in ("hours.js", "days.ts", "database.js"):
        (tmp_path / name).write_text("")
    (tmp_path / "a.test.js").write_text(
        'import { a } from "./hours.js";\nimport x from "./days.js";\nimport "node:fs";\n'
    )
    (tmp_path / "b.test.js").write_text('jest.mock("./database.js");\nconst d = require("./database.js");\n')

    assert loaded_by([tmp_path / "a.test.js", tmp_path / "b.test.js"]) == (tmp_path / "hours.js", tmp_path / "days.ts")


def test_a_canary_speaks_the_module_system_of_its_neighbour() -> None:
    canary = Canary(path=Path("z.test.js"), titles=("a", "b", "c"))

    module = source("node", canary, 'import test from "node:test";', (Path("/x.js"),), modules=False)
    common = source("node", canary, 'const test = require("node:test");', (Path("/x.js"),), modules=True)

    assert 'import { test as plantedTest } from "node:test"' in module
    assert 'await import("/x.js")' in module
    assert 'const plantedTest = (...words) => require("node:test").test(...words);' in common
    assert 'try { require("/x.js"); }' in common


def test_only_a_sealed_report_is_read(tmp_path: Path) -> None:
    seal = fresh(tmp_path)
    assert seal.read() == NONE
    body = '{"files": []}'
    seal.path.write_text(f"{seal_of(seal.key, body)}\n{body}")
    assert seal.read() == {"files": []}
    seal.path.write_text(f"{seal_of('another key', body)}\n{body}")
    assert seal.read() == "the report is not the one that the runner wrote: something changed it"
    assert json.loads(seal.stdin) == {"key": seal.key, "report": str(seal.path), "marker": seal.marker}
    assert seal.key not in repr(seal)


def test_no_secret_of_a_report_is_kept(tmp_path: Path) -> None:
    secret = "correct-horse"
    problem = {"type": "Error", "message": f"{'x' * 290}{secret}", "stack": f"at {secret}"}
    test = {"titles": [secret], "outcome": "failed", "ms": 1, "problem": problem}
    report = {"files": [{"file": f"{tmp_path}/a.test.js", "ms": 0, "problem": problem, "tests": [test]}]}

    cases = cases_of(report, tmp_path, lambda text: text.replace(secret, "***"))

    assert [case.id for case in cases] == ["a.test.js", "a.test.js::***"]
    assert "correct" not in repr(cases)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eslint .", True),
        ("prettier -c src test", True),
        ("prettier -w src", False),
        ("eslint --fix .", False),
        ("biome format --write .", False),
        ("eslint . > report.txt", False),
        ("tsc", False),
        ("node make.js", False),
        ("", False),
    ],
)
def test_a_linter_that_mends_nothing_only_looks(text: str, expected: bool) -> None:
    assert only_looks(text) is expected


def test_a_cache_that_vitest_may_not_keep_beside_its_code_is_no_error_of_the_tests() -> None:
    refused = (
        "error TS5033: Could not write file '/p/node_modules/vitest/dist/tsconfig.tmp.tsbuildinfo': EROFS: read-only"
    )
    thrown = "TypeError: x is not a function"
    errors = [
        {"file": "", "message": refused},
        {"file": "/p/z1.test.js", "message": thrown},
        {"file": "", "message": thrown},
    ]

    assert errors_outside(errors, Path("/p/z1.test.js")) == [errors[2]]
    assert errors_outside(errors, None) == errors[1:]
