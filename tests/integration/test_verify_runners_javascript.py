from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.ports import Terminal
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.suites.runners.canary import NOT_FAILED
from milepost.verify.suites.runners.javascript import JavaScriptRunner
from milepost.verify.suites.runners.package_json import Flavour
from tests.integration.suites import case_of, names_in, outcomes_of, workspace_in, write
from tests.tools import need, needs

pytestmark = needs("node")

# One project, told in the words of each runner.
HEADS: dict[Flavour, str] = {
    "vitest": 'import { describe, expect, test } from "vitest";\nimport { seconds } from "../src/hours.js";\n',
    "jest": 'const { seconds } = require("../src/hours.js");\n',
    "node": 'const { describe, test } = require("node:test");\nconst assert = require("node:assert");\n'
    'const { seconds } = require("../src/hours.js");\n'
    "const expect = (found) => ({ toBe: (wanted) => assert.strictEqual(found, wanted) });\n",
}
TESTS = """
describe("hours", () => {
  test("counts", () => { expect(seconds(2)).toBe(7200); });
  test("of nothing", () => { expect(seconds(0)).toBe(0); });
  test.skip("later", () => {});
  test("throws", () => { null.x; });
});
"""
SCRIPTS: dict[Flavour, str] = {"vitest": "vitest --bail 1", "jest": "jest --bail -i", "node": "node --test"}
FLAVOURS: tuple[Flavour, ...] = ("node", "jest", "vitest")


def hours(flavour: Flavour, factor: int) -> str:
    body = f"(hours) => hours * {factor};\n"
    return f"export const seconds = {body}" if flavour == "vitest" else f"exports.seconds = {body}"


def project(flavour: Flavour, *, factor: int = 3600) -> dict[str, str]:
    return {
        "package.json": json.dumps({"name": "hours", "scripts": {"test": SCRIPTS[flavour]}}),
        "src/hours.js": hours(flavour, factor),
        "tests/hours.test.js": HEADS[flavour] + TESTS,
    }


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `node_modules` with vitest and jest."""
    need("npm")
    folder = tmp_path_factory.mktemp("packages")
    (folder / "package.json").write_text("{}")
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "vitest", "jest"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        pytest.skip(f"the npm registry cannot be reached: {done.stderr.strip().splitlines()[-1:]}")
    return folder / "node_modules"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with WalledTerminal(extra_readable=(tmp_path_factory.getbasetemp(),)) as isolated:
        yield isolated


@pytest.fixture
def bench(terminal: Terminal) -> Bench:
    return Bench(terminal=terminal, timeout_s=60)


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> Flavour:
    found: Flavour = request.param
    return found


@pytest.fixture
def workspace(flavour: Flavour, tmp_path: Path, request: pytest.FixtureRequest) -> Workspace:
    made = workspace_in(tmp_path, project(flavour))
    if flavour != "node":
        (made.folder / "node_modules").symlink_to(request.getfixturevalue("packages"))
    return made


def test_every_test_is_reported_with_its_outcome_and_nothing_stays_behind(
    flavour: Flavour, workspace: Workspace, bench: Bench
) -> None:
    write(workspace, {"tests/lost.test.js": HEADS[flavour].replace("hours.js", "nowhere.js") + TESTS})
    write(workspace, {"src/hours.js": hours(flavour, 60)})
    before = names_in(workspace.folder)

    run = JavaScriptRunner(flavour).run("", workspace, bench)

    assert run.problem == ""
    assert outcomes_of(run) == {
        "tests/hours.test.js::hours > counts": "failed",
        "tests/hours.test.js::hours > of nothing": "passed",
        "tests/hours.test.js::hours > later": "skipped",
        "tests/hours.test.js::hours > throws": "failed",
        "tests/lost.test.js": "failed",
    }
    wrong, thrown = (case_of(run, f"tests/hours.test.js::hours > {name}") for name in ("counts", "throws"))
    assert (wrong.kind, thrown.kind) == ("assertion", "type")
    assert "7200" in wrong.message
    assert "hours.test.js" in wrong.traceback
    lost = case_of(run, "tests/lost.test.js")
    assert lost.kind == "import"
    assert "nowhere.js" in lost.message
    assert str(workspace.folder) not in lost.message
    assert run.environment.startswith("node v")
    assert names_in(workspace.folder) == before


def test_only_the_tests_that_are_asked_for_are_run_again(flavour: Flavour, workspace: Workspace, bench: Bench) -> None:
    write(workspace, {"tests/other.test.js": HEADS[flavour] + TESTS})

    run = JavaScriptRunner(flavour).run("", workspace, bench, only=("tests/other.test.js::hours > counts",))

    assert (run.problem, outcomes_of(run)) == ("", {"tests/other.test.js::hours > counts": "passed"})


# What code under test can do from inside the process that runs it.
HOLDS = "() => ({ pass: true, message: () => '' })"
PATCHES: dict[Flavour, str] = {
    "vitest": 'import { expect } from "vitest";\n' + f"expect.extend({{ toBe: {HOLDS}, toEqual: {HOLDS} }});\n",
    "jest": "globalThis.expect = new Proxy(() => globalThis.expect, { get: () => () => {} });\n",
    "node": 'const a = require("node:assert");\nfor (const name of Object.keys(a)) a[name] = () => {};\n',
}


def test_code_that_patches_the_assertions_is_found_out(flavour: Flavour, workspace: Workspace, bench: Bench) -> None:
    write(workspace, {"src/hours.js": PATCHES[flavour] + hours(flavour, 60)})

    assert JavaScriptRunner(flavour).run("", workspace, bench).problem == NOT_FAILED


def test_code_that_empties_the_tests_is_found_out(tmp_path: Path, bench: Bench) -> None:
    empty = 'const t = require("node:test");\nconst { test } = t;\nt.test = (name) => test(name, () => {});\n'
    head = HEADS["node"].replace("const { describe, test }", "const t")
    tests = 't.test("counts", () => assert.strictEqual(seconds(2), 7200));\n'
    files = project("node") | {"src/hours.js": empty + hours("node", 60), "tests/hours.test.js": head + tests}

    run = JavaScriptRunner("node").run("", workspace_in(tmp_path, files), bench)

    assert run.problem == NOT_FAILED


def test_a_report_that_code_under_test_writes_is_not_believed(
    flavour: Flavour, workspace: Workspace, bench: Bench
) -> None:
    forge = """
        const { spawn } = {load}("node:child_process");
        const { existsSync } = {load}("node:fs");
        const told = JSON.stringify({ node: "v1", interrupted: false, files: [], errors: [] });
        const program = `
          const fs = require("node:fs");
          fs.writeFileSync(FOLDER + "/ready", "");
          setInterval(() => fs.readdirSync(FOLDER).filter((name) => name.endsWith(".report")).forEach((name) =>
            fs.writeFileSync(FOLDER + "/" + name, "0 " + ${JSON.stringify(told)})), 1)`;
        spawn(process.execPath, ["-e", program], { detached: true, stdio: "ignore" }).unref();
        while (!existsSync(FOLDER + "/ready"));
    """
    load = "await import" if flavour == "vitest" else "require"
    text = forge.replace("{load}", load).replace("FOLDER", json.dumps(str(workspace.scratch)))
    write(workspace, {"src/hours.js": text + hours(flavour, 60)})

    run = JavaScriptRunner(flavour).run("", workspace, bench)

    assert run.problem == "the report is not the one that the runner wrote: something changed it"


def test_code_that_ends_the_process_fails_its_tests(flavour: Flavour, workspace: Workspace, bench: Bench) -> None:
    write(workspace, {"src/hours.js": "process.exit(0);\n" + hours(flavour, 60)})

    run = JavaScriptRunner(flavour).run("", workspace, bench)

    assert run.problem or "passed" not in outcomes_of(run).values()


def test_a_file_that_node_ends_before_its_tests_has_not_passed(tmp_path: Path, bench: Bench) -> None:
    files = project("node") | {
        "src/hours.js": "exports.seconds = 1;\nif (!process.argv[1].includes('/z')) process.exit(0);\n"
    }
    workspace = workspace_in(tmp_path, files)

    run = JavaScriptRunner("node").run("", workspace, bench)

    assert (run.problem, outcomes_of(run)) == ("", {"tests/hours.test.js": "skipped"})


def test_a_suite_is_run_where_its_settings_look_for_tests(tmp_path: Path, bench: Bench, packages: Path) -> None:
    files = project("vitest") | {
        "vitest.config.mjs": 'export default { test: { include: ["checks/**/*.check.js"], bail: 1 } };\n',
        "checks/hours.check.js": HEADS["vitest"] + TESTS,
    }
    workspace = workspace_in(tmp_path, {f"packages/web/{name}": text for name, text in files.items()})
    (workspace.folder / "node_modules").symlink_to(packages)

    run = JavaScriptRunner("vitest").run("packages/web", workspace, bench)

    assert run.problem == ""
    assert outcomes_of(run)["packages/web/checks/hours.check.js::hours > counts"] == "passed"
    assert {case.id.partition("::")[0] for case in run.cases} == {"packages/web/checks/hours.check.js"}


def test_other_commands_of_the_test_script_are_cases_of_their_own(tmp_path: Path, bench: Bench) -> None:
    package = {"scripts": {"pretest": "node make.js", "test": "node check.js && npm run unit", "unit": "node --test"}}
    files = project("node") | {
        "package.json": json.dumps(package),
        "make.js": 'require("fs").writeFileSync("made.txt", "");',
        "check.js": "process.exit(3);",
    }
    workspace = workspace_in(tmp_path, files)

    run = JavaScriptRunner("node").run("", workspace, bench)

    assert run.problem == ""
    assert outcomes_of(run)["package.json::node make.js"] == "passed"
    assert outcomes_of(run)["package.json::node check.js"] == "failed"
    assert outcomes_of(run)["tests/hours.test.js::hours > counts"] == "passed"
    assert (workspace.folder / "made.txt").exists()


def test_a_linter_of_the_test_script_is_not_asked_again_for_chosen_tests(tmp_path: Path, bench: Bench) -> None:
    package = {"scripts": {"test": "eslint . && node make.js && node --test"}}
    files = project("node") | {
        "package.json": json.dumps(package),
        "make.js": 'require("fs").writeFileSync("made", "");',
    }
    workspace = workspace_in(tmp_path, files)
    linter = workspace.folder / "node_modules/.bin/eslint"
    linter.parent.mkdir(parents=True)
    linter.write_text("#!/bin/sh\ntouch looked\n")
    linter.chmod(0o755)

    run = JavaScriptRunner("node").run("", workspace, bench, ("tests/hours.test.js::hours > counts",))
    assert outcomes_of(run) == {"tests/hours.test.js::hours > counts": "passed"}
    assert (workspace.folder / "made").exists() and not (workspace.folder / "looked").exists()

    run = JavaScriptRunner("node").run("", workspace, bench, ("package.json::eslint .",))
    assert outcomes_of(run) == {"package.json::eslint .": "passed"}


def test_a_runner_that_is_not_installed_is_missing_and_no_test_failed(tmp_path: Path, bench: Bench) -> None:
    run = JavaScriptRunner("jest").run("", workspace_in(tmp_path, project("jest")), bench)

    assert (run.missing, run.problem, run.cases) == ("jest is not installed", "", ())


def test_settings_that_break_the_runner_are_a_problem(tmp_path: Path, bench: Bench, packages: Path) -> None:
    workspace = workspace_in(tmp_path, project("vitest") | {"vitest.config.mjs": "throw new Error('no settings');\n"})
    (workspace.folder / "node_modules").symlink_to(packages)

    run = JavaScriptRunner("vitest").run("", workspace, bench)

    assert run.problem.startswith("the tests did not run to their end: exit 1")


def test_tests_in_typescript_and_modules_get_a_canary_of_their_kind(
    tmp_path: Path, bench: Bench, packages: Path
) -> None:
    files = project("vitest") | {
        "src/days.ts": "export const days = (n: number): number => n * 86400;\n",
        "tests/days.spec.ts": 'import { expect, it } from "vitest";\nimport { days } from "../src/days.js";\n'
        'it("counts", () => { expect(days(1)).toBe(86400); });\n',
    }
    workspace = workspace_in(tmp_path, files)
    (workspace.folder / "tests/hours.test.js").unlink()
    (workspace.folder / "node_modules").symlink_to(packages)

    run = JavaScriptRunner("vitest").run("", workspace, bench)

    assert (run.problem, outcomes_of(run)) == ("", {"tests/days.spec.ts::counts": "passed"})


def test_where_settings_name_each_test_file_the_canary_is_in_one_of_them(
    flavour: Flavour, workspace: Workspace, bench: Bench
) -> None:
    settings = {
        "vitest": {"vitest.config.mjs": 'export default { test: { include: ["tests/hours.test.js"] } };\n'},
        "jest": {"jest.config.js": 'module.exports = { testMatch: ["**/tests/hours.test.js"] };\n'},
        "node": {"package.json": '{"scripts": {"test": "node --test"}}', "tests/.keep": ""},
    }
    write(workspace, settings[flavour])
    test = workspace.folder / "tests/hours.test.js"
    before = test.read_bytes()

    honest = JavaScriptRunner(flavour).run("", workspace, bench)
    write(workspace, {"src/hours.js": PATCHES[flavour] + hours(flavour, 60)})
    patched = JavaScriptRunner(flavour).run("", workspace, bench)

    assert honest.problem == ""
    assert outcomes_of(honest) == {
        "tests/hours.test.js::hours > counts": "passed",
        "tests/hours.test.js::hours > of nothing": "passed",
        "tests/hours.test.js::hours > later": "skipped",
        "tests/hours.test.js::hours > throws": "failed",
    }
    assert patched.problem == NOT_FAILED
    assert test.read_bytes() == before


def test_nothing_is_planted_outside_of_the_checkout(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, project("node") | {"package.json": '{"scripts": {"test": "node --test out"}}'})
    (tmp_path / "elsewhere").mkdir()
    (workspace.folder / "tests").rename(tmp_path / "elsewhere/out")
    (workspace.folder / "out").symlink_to(tmp_path / "elsewhere/out")
    before = names_in(tmp_path / "elsewhere")

    run = JavaScriptRunner("node").run("", workspace, bench)

    assert run.problem
    assert names_in(tmp_path / "elsewhere") == before
