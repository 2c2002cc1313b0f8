from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.ports import Terminal
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.environments.equipment import Equipment
from milepost.verify.suites.runners.cargo import CargoRunner
from milepost.verify.suites.runners.ctest import CtestRunner
from milepost.verify.suites.runners.exit_code import MakeRunner, NpmRunner
from milepost.verify.suites.runners.go import GoRunner
from milepost.verify.suites.runners.java import GRADLE, MAVEN
from tests.integration.suites import case_of, names_in, outcomes_of, workspace_in, write
from tests.tools import needs

CRATE = {
    "Cargo.toml": '[package]\nname = "hours"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """
        /// ```
        /// assert_eq!(hours::seconds(1), 3600);
        /// ```
        pub fn seconds(hours: u32) -> u32 { hours * 3600 }

        #[cfg(test)]
        mod tests {
            #[test] fn counts() { assert_eq!(super::seconds(2), 7200); }
            #[test] fn wrong() { assert_eq!(super::seconds(2), 1, "hours are wrong"); }
            #[test] #[ignore = "later"] fn ignored() {}
            #[test] #[should_panic] fn panics() { panic!("as it should"); }
        }
    """,
    "tests/outside.rs": "#[test] fn works() { assert_eq!(hours::seconds(1), 3600); }\n",
}
PROJECT = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.16)
        project(hours C)
        enable_testing()
        add_executable(check check.c)
        add_test(NAME good COMMAND check 0)
        add_test(NAME bad COMMAND check 1)
        add_test(NAME crash COMMAND check 2)
        add_test(NAME off COMMAND check 0)
        set_tests_properties(off PROPERTIES DISABLED TRUE)
        add_test(NAME lost COMMAND no-such-program)
    """,
    "check.c": """
        #include <stdio.h>
        #include <stdlib.h>
        int main(int count, char **words) {
            puts("hours are wrong"); fflush(stdout);
            if (atoi(words[1]) == 2) abort();
            return atoi(words[1]);
        }
    """,
}


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield isolated


@pytest.fixture
def bench(terminal: Terminal) -> Bench:
    return Bench(terminal=terminal, timeout_s=120)


@needs("cargo")
def test_cargo_tells_every_test_by_the_file_it_stands_in(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, {f"crates/hours/{name}": text for name, text in CRATE.items()})

    run = CargoRunner().run("crates/hours", workspace, bench)

    library = "crates/hours/src/lib.rs"
    assert run.problem == ""
    assert outcomes_of(run) == {
        f"{library}::tests::counts": "passed",
        f"{library}::tests::wrong": "failed",
        f"{library}::tests::ignored": "skipped",
        f"{library}::tests::panics": "passed",
        f"{library}::documentation seconds": "passed",
        "crates/hours/tests/outside.rs::works": "passed",
    }
    wrong = case_of(run, f"{library}::tests::wrong")
    assert wrong.message == "assertion `left == right` failed: hours are wrong left: 7200 right: 1"
    assert (wrong.kind, run.exit_code) == ("assertion", 101)
    again = CargoRunner().run("crates/hours", workspace, bench, only=(f"{library}::tests::wrong",))
    assert (again.problem, outcomes_of(again)) == ("", {f"{library}::tests::wrong": "failed"})


@needs("cargo")
def test_a_rust_test_that_does_not_compile_fails_and_the_others_are_run(tmp_path: Path, bench: Bench) -> None:
    broken = {"tests/days.rs": "#[test] fn counts() { assert_eq!(hours::days(1), 86400); }\n"}
    workspace = workspace_in(tmp_path, CRATE | broken)

    run = CargoRunner().run("", workspace, bench)

    assert run.problem == ""
    assert (case_of(run, "tests/days.rs").kind, case_of(run, "tests/days.rs").outcome) == ("collection", "failed")
    assert "cannot find function `days`" in case_of(run, "tests/days.rs").message
    assert outcomes_of(run)["tests/outside.rs::works"] == "passed"
    assert outcomes_of(run)["src/lib.rs::documentation seconds"] == "passed"


@needs("cargo")
@pytest.mark.parametrize(
    "trick",
    [
        pytest.param("std::process::exit(0)", id="leaves early"),
        pytest.param(
            'println!("test works ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; '
            '0 filtered out; finished in 0.00s"); std::process::exit(0)',
            id="prints an end of its own and one test too many",
        ),
    ],
)
def test_a_rust_program_that_ends_before_its_tests_is_not_believed(tmp_path: Path, bench: Bench, trick: str) -> None:
    two = "#[test] fn works() { TRICK }\n#[test] fn other() { std::thread::park() }\n".replace("TRICK", trick)
    manifest = CRATE["Cargo.toml"] + "[lib]\ntest = false\ndoctest = false\n"
    workspace = workspace_in(tmp_path, CRATE | {"Cargo.toml": manifest, "tests/outside.rs": two})

    run = CargoRunner().run("", workspace, bench)

    assert run.problem == "exit 0, though 1 of the tests failed"
    assert case_of(run, "tests/outside.rs").message == "the test program ended before its tests did"


@needs("cargo")
def test_a_rust_test_with_a_main_of_its_own_is_one_case_by_its_exit_code(tmp_path: Path, bench: Bench) -> None:
    own = "".join(f'[[test]]\nname = "{name}"\nharness = false\n' for name in ("good", "bad"))
    files = {"tests/good.rs": 'fn main() { println!("fine"); }\n', "tests/bad.rs": "fn main() { panic!(); }\n"}
    workspace = workspace_in(tmp_path, CRATE | files | {"Cargo.toml": CRATE["Cargo.toml"] + own})

    run = CargoRunner().run("", workspace, bench)

    assert run.problem == ""
    assert (outcomes_of(run)["tests/good.rs"], outcomes_of(run)["tests/bad.rs"]) == ("passed", "failed")
    assert outcomes_of(run)["tests/outside.rs::works"] == "passed"


@needs("ctest")
@needs("cmake")
def test_ctest_tells_how_each_test_ended_and_builds_outside_of_the_checkout(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, PROJECT)
    before = names_in(workspace.folder)

    run = CtestRunner().run("", workspace, bench)

    assert run.problem == ""
    assert {case.id.removeprefix("CMakeLists.txt::"): (case.outcome, case.kind) for case in run.cases} == {
        "good": ("passed", None),
        "bad": ("failed", "assertion"),
        "crash": ("failed", "runtime"),
        "off": ("skipped", None),
        "lost": ("failed", "collection"),
    }
    assert case_of(run, "CMakeLists.txt::bad").message == "hours are wrong"
    assert names_in(workspace.folder) == before
    again = CtestRunner().run("", workspace, bench, only=("CMakeLists.txt::bad",))
    assert outcomes_of(again) == {"CMakeLists.txt::bad": "failed"}


@needs("cmake")
def test_a_c_project_that_does_not_build_is_one_failed_case(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, PROJECT | {"check.c": "int main(void) { return nothing; }\n"})

    run = CtestRunner().run("", workspace, bench)

    assert (run.problem, outcomes_of(run)) == ("", {"CMakeLists.txt": "failed"})
    assert "nothing" in case_of(run, "CMakeLists.txt").message


@needs("make")
def test_make_test_is_one_case_by_its_exit_code(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, {"lib/Makefile": "test:\n\t@echo hours are wrong >&2; exit 3\n"})
    assert MakeRunner().finds(workspace.folder / "lib")

    failed = MakeRunner().run("lib", workspace, bench)
    write(workspace, {"lib/Makefile": "test:\n\t@true\n"})
    passed = MakeRunner().run("lib", workspace, bench)
    write(workspace, {"lib/Makefile": "test:\n\t@sleep 600\n"})
    slow = MakeRunner().run("lib", workspace, replace(bench, timeout_s=0.5))

    assert (outcomes_of(failed), failed.exit_code) == ({"lib/make test": "failed"}, 2)
    assert "hours are wrong" in failed.cases[0].traceback
    assert outcomes_of(passed) == {"lib/make test": "passed"}
    assert (slow.problem, slow.cases) == ("the tests did not run to their end: timed out after 0.5 s", ())


@needs("npm")
def test_a_test_script_of_no_known_runner_is_one_case(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, {"package.json": '{"scripts": {"test": "node check.js"}}', "check.js": ""})
    assert NpmRunner().finds(workspace.folder)

    passed = NpmRunner().run("", workspace, bench)
    write(workspace, {"check.js": 'throw new TypeError("hours are wrong");\n'})
    failed = NpmRunner().run("", workspace, bench)
    write(workspace, {"package.json": '{"scripts": {"test": "no-such-runner"}}'})
    lost = NpmRunner().run("", workspace, bench)

    assert outcomes_of(passed) == {"npm test": "passed"}
    assert (outcomes_of(failed), failed.cases[0].kind) == ({"npm test": "failed"}, "type")
    assert (lost.cases, lost.problem) == ((), "")
    assert "no-such-runner" in lost.missing


POM = """
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>com.example</groupId><artifactId>hours</artifactId><version>1</version>
    </project>
"""


@needs("mvn")
def test_maven_without_its_plugins_is_missing_and_a_committed_report_is_no_evidence(
    tmp_path: Path, bench: Bench
) -> None:
    report = '<testsuite><testcase classname="com.example.HoursTest" name="counts"/></testsuite>'
    workspace = workspace_in(tmp_path, {"pom.xml": POM, "target/surefire-reports/TEST-forged.xml": report})

    run = MAVEN.run("", workspace, bench)

    assert (run.cases, run.problem) == ((), "")
    assert run.missing.startswith("dependencies of mvn are not installed: ")


def test_a_program_that_is_not_on_this_machine_is_missing(tmp_path: Path, bench: Bench) -> None:
    files = {"Cargo.toml": "", "go.mod": "module hours", "build.gradle": "", "CMakeLists.txt": "add_test()"}
    workspace = workspace_in(tmp_path, files | {"Makefile": "test:\n"})
    lost = replace(bench, equipment=Equipment(variables={"PATH": "/nowhere"}))

    found = {
        runner.name: runner.run("", workspace, lost).missing
        for runner in (CargoRunner(), GoRunner(), GRADLE, CtestRunner(), MakeRunner())
    }

    assert found == {
        "cargo test": "cargo is not installed",
        "go test": "go is not installed",
        "gradle": "gradle is not installed",
        "ctest": "cmake is not installed",
        "make test": "make is not installed",
    }


@needs("go")
def test_go_tells_every_test_by_the_folder_of_its_package(tmp_path: Path, bench: Bench) -> None:
    test = 'package hours\nimport "testing"\nfunc TestCounts(t *testing.T) { t.Run("two", func(t *testing.T) {}) }\n'
    workspace = workspace_in(tmp_path, {"go.mod": "module example.com/hours\n", "hours/hours_test.go": test})

    run = GoRunner().run("", workspace, bench)

    assert outcomes_of(run) == {"hours::TestCounts": "passed", "hours::TestCounts/two": "passed"}
