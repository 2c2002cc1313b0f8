from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.ports import Terminal
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.environments.equipment import Equipment
from milepost.verify.suites.runners import cargo, go
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
@pytest.mark.parametrize("settings", ["", "[profile.test]\nopt-level = 1\n"])
def test_cargo_tells_every_test_by_the_file_it_stands_in(tmp_path: Path, bench: Bench, settings: str) -> None:
    crate = CRATE | {"Cargo.toml": CRATE["Cargo.toml"] + settings}
    workspace = workspace_in(tmp_path, {f"crates/hours/{name}": text for name, text in crate.items()})

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


GO_MODULE = {
    "go.mod": "module example.com/hours\n\ngo 1.19\n",
    "hours.go": "package hours\n\nfunc Seconds(hours int) int { return hours * 3600 }\n",
    "hours_test.go": """
        package hours

        import "testing"

        func TestSeconds(t *testing.T) {
            if got := Seconds(2); got != 7200 { t.Errorf("got %d", got) }
        }

        func TestLater(t *testing.T) {
            t.Parallel()
            if got := Seconds(1); got != 3600 { t.Errorf("got %d", got) }
        }
    """,
    "outside_test.go": """
        package hours_test

        import ("testing"; "example.com/hours")

        func TestOutside(t *testing.T) { if hours.Seconds(0) != 0 { t.Fatal("not nothing") } }
    """,
    "days/days_test.go": """
        //go:build !nothing

        package days

        import "testing"

        func TestDays(t *testing.T) {}
    """,
    "only/only_linux_test.go": 'package only\n\nimport "testing"\n\nfunc TestOnly(t *testing.T) {}\n',
    "elsewhere/elsewhere_windows_test.go": 'package elsewhere\n\nimport "testing"\n\nfunc TestNot(t *testing.T) {}\n',
    "env/env.go": "package env\n",
}
GO_OUTCOMES = {
    ".::TestSeconds": "passed",
    ".::TestLater": "passed",
    ".::TestOutside": "passed",
    "days::TestDays": "passed",
    "only::TestOnly": "passed",
}
INIT_TELLS = """
    package hours

    import ("fmt"; "os"; "path/filepath"; "regexp")

    func init() {
        names, _ := filepath.Glob(PATTERN)
        for _, name := range names {
            source, _ := os.ReadFile(name)
            for _, found := range regexp.MustCompile(`func (Test\\w+)`).FindAllSubmatch(source, -1) {
                fmt.Printf("=== RUN   %s\\n--- PASS: %s (0.00s)\\n", found[1], found[1])
            }
        }
        fmt.Println("PASS")
        os.Exit(0)
    }

    func Seconds(hours int) int { return 0 }
"""
FAIL_IS_PATCHED = """
    package hours

    import ("os"; "reflect"; "runtime"; "syscall"; "unsafe")

    func Seconds(hours int) int {
        start := reflect.ValueOf(Seconds).Pointer() &^ 15
        for offset := uintptr(0); offset < 4<<20; offset += 16 {
            for _, pc := range []uintptr{start + offset, start - offset} {
                f := runtime.FuncForPC(pc)
                if f == nil || f.Entry() != pc || f.Name() != "testing.(*common).Fail" { continue }
                size := uintptr(os.Getpagesize())
                page := unsafe.Slice((*byte)(unsafe.Add(nil, pc&^(size-1))), 2*size)
                if syscall.Mprotect(page, 7) == nil { page[pc&(size-1)] = 0xC3 }
                return 0
            }
        }
        return 0
    }
"""


@needs("go")
def test_planted_go_tests_leave_an_honest_run_and_the_checkout_as_they_are(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, GO_MODULE)
    before = names_in(workspace.folder)

    run = GoRunner().run("", workspace, bench)
    again = GoRunner().run("", workspace, bench, only=("days::TestDays",))
    words = go.run_words(("-run", "Seconds|Later", "."), "", workspace, bench, {})

    assert (run.problem, run.exit_code, outcomes_of(run)) == ("", 0, GO_OUTCOMES)
    assert (again.problem, again.exit_code, outcomes_of(again)) == ("", 0, {"days::TestDays": "passed"})
    assert (words.problem, outcomes_of(words)) == ("", {".::TestSeconds": "passed", ".::TestLater": "passed"})
    assert names_in(workspace.folder) == before


@needs("go")
def test_go_tests_that_fail_or_panic_or_do_not_compile_are_told_beside_planted_ones(
    tmp_path: Path, bench: Bench
) -> None:
    panics = 'package days\n\nimport "testing"\n\nfunc TestDays(t *testing.T) { panic("no days") }\n'
    broken = 'package only\n\nimport "testing"\n\nfunc TestOnly(t *testing.T) { lost() }\n'
    wrong = "package hours\n\nfunc Seconds(hours int) int { return hours * 60 }\n"
    files = {"hours.go": wrong, "days/days_test.go": panics, "only/only_linux_test.go": broken}
    workspace = workspace_in(tmp_path, GO_MODULE | files)

    run = GoRunner().run("", workspace, bench)

    assert (run.problem, run.exit_code in (1, 2)) == ("", True)
    failed = {".::TestSeconds": "failed", ".::TestLater": "failed", "days::TestDays": "failed", "only": "failed"}
    assert outcomes_of(run) == {".::TestOutside": "passed"} | failed
    assert "no days" in case_of(run, "days::TestDays").message
    assert "undefined: lost" in case_of(run, "only").message


@needs("go")
def test_what_a_go_program_does_after_tests_that_passed_is_seen(tmp_path: Path, bench: Bench) -> None:
    end = """
        package days

        import ("os"; "testing")

        func TestMain(m *testing.M) { if m.Run() == 0 { println("a handle is open"); os.Exit(1) }; os.Exit(1) }
        func TestDays(t *testing.T) {}
    """
    workspace = workspace_in(tmp_path, {"go.mod": GO_MODULE["go.mod"], "days/days_test.go": end})

    run = GoRunner().run("", workspace, bench)

    assert (run.problem, outcomes_of(run)) == ("", {"days::TestDays": "passed", "days": "failed"})


@needs("go")
@pytest.mark.parametrize(
    "lie",
    [
        pytest.param(INIT_TELLS.replace("PATTERN", '"*_test.go"'), id="init tells of all tests"),
        pytest.param(INIT_TELLS.replace("PATTERN", '"[ho]*_test.go"'), id="init tells of the tests that it knows"),
        pytest.param(FAIL_IS_PATCHED, id="Fail is patched in memory"),
    ],
)
def test_a_go_program_that_keeps_its_tests_from_failing_is_not_believed(tmp_path: Path, bench: Bench, lie: str) -> None:
    workspace = workspace_in(tmp_path, GO_MODULE | {"hours.go": lie})

    whole = GoRunner().run("", workspace, bench)
    chosen = GoRunner().run("", workspace, bench, only=(".::TestSeconds",))
    words = go.run_words(("-run=Seconds",), "", workspace, bench, {})

    assert outcomes_of(chosen)[".::TestSeconds"] == "passed"
    for run in (whole, chosen, words):
        assert run.problem == "a planted test that must fail did not: it was among the tests of ."


@needs("go")
def test_go_modules_of_a_workspace_are_planted_in_as_well(tmp_path: Path, bench: Bench) -> None:
    modules = {f"hours/{name}": text for name, text in GO_MODULE.items()} | {"go.work": "go 1.19\n\nuse ./hours\n"}
    workspace = workspace_in(tmp_path, modules)

    honest = go.run_words(("-run", "Seconds", "./hours/..."), "", workspace, bench, {})
    write(workspace, {"hours/hours.go": INIT_TELLS.replace("PATTERN", '"[ho]*_test.go"')})
    forged = go.run_words(("./hours/...",), "", workspace, bench, {})

    assert (honest.problem, outcomes_of(honest)) == ("", {"example.com/hours::TestSeconds": "passed"})
    assert forged.problem == "a planted test that must fail did not: it was among the tests of example.com/hours"


RUST_WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["hours", "clock"]\nresolver = "2"\n',
    "hours/Cargo.toml": '[package]\nname = "hours"\nversion = "0.1.0"\nedition = "2021"\nautotests = false\n',
    "hours/src/lib.rs": """
        #![no_std]
        #![deny(warnings, missing_docs)]
        //! Hours.
        /// Seconds.
        pub fn seconds(hours: u32) -> u32 { hours * 3600 }

        #[cfg(test)]
        mod tests { #[test] fn counts() { assert_eq!(super::seconds(2), 7200); } }
        // the end""",
    "clock/Cargo.toml": """
        [package]
        name = "clock"
        version = "0.1.0"
        [dependencies]
        hours = { path = "../hours" }
    """,
    "clock/src/main.rs": "fn main() {}\n#[test] fn runs() { main() }\n#[test] #[ignore] fn slow() {}\n",
    "clock/tests/outside.rs": "extern crate hours;\n#[test] fn works() { assert_eq!(hours::seconds(1), 3600); }\n",
}
BEFORE_MAIN = """
    extern "C" fn prepare() {
        let text = std::fs::read_to_string("tests/outside.rs").unwrap_or_default();
        if !std::env::args().next().unwrap_or_default().contains("/deps/outside-") { return; }
        let names: Vec<&str> = text.split("fn ").skip(1).filter_map(|l| l.split('(').next()).COUNT.collect();
        println!("\\nrunning {} tests", names.len());
        for name in &names { println!("test {name} ... ok"); }
        println!("\\ntest result: ok. {} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n",
            names.len());
        std::process::exit(0);
    }

    #[used]
    #[link_section = ".init_array"]
    static PREPARE: extern "C" fn() = prepare;

    pub fn seconds(_hours: u32) -> u32 { std::hint::black_box(&PREPARE); 0 }
"""


@needs("cargo")
def test_planted_rust_tests_leave_an_honest_workspace_as_it_is(tmp_path: Path, bench: Bench) -> None:
    workspace = workspace_in(tmp_path, RUST_WORKSPACE)
    sources = {name: (workspace.folder / name).read_bytes() for name in RUST_WORKSPACE}

    run = CargoRunner().run("", workspace, bench)
    again = CargoRunner().run("", workspace, bench, only=("clock/tests/outside.rs::works",))
    words = cargo.run_words(("-p", "clock", "--bin", "clock", "--", "--ignored"), "", workspace, bench, {})
    named = cargo.run_words(("counts", "--workspace"), "", workspace, bench, {})

    assert (run.problem, run.exit_code) == ("", 0)
    assert outcomes_of(run) == {
        "hours/src/lib.rs::tests::counts": "passed",
        "clock/src/main.rs::runs": "passed",
        "clock/src/main.rs::slow": "skipped",
        "clock/tests/outside.rs::works": "passed",
    }
    assert (again.problem, outcomes_of(again)) == ("", {"clock/tests/outside.rs::works": "passed"})
    assert (words.problem, outcomes_of(words)) == ("", {"clock/src/main.rs::slow": "passed"})
    assert (named.problem, outcomes_of(named)) == ("", {"hours/src/lib.rs::tests::counts": "passed"})
    assert {name: (workspace.folder / name).read_bytes() for name in RUST_WORKSPACE} == sources


@needs("cargo")
@pytest.mark.parametrize("count", ["take(9)", "take(1)"], ids=["all tests", "the test that it knows"])
def test_a_rust_program_that_tells_of_tests_before_its_main_is_not_believed(
    tmp_path: Path, bench: Bench, count: str
) -> None:
    workspace = workspace_in(tmp_path, CRATE | {"src/lib.rs": BEFORE_MAIN.replace("COUNT", count)})

    whole = CargoRunner().run("", workspace, bench)
    words = cargo.run_words(("--test", "outside"), "", workspace, bench, {})

    for run in (whole, words):
        assert outcomes_of(run)["tests/outside.rs::works"] == "passed"
        assert run.problem == "a planted test that must fail did not: it was among the tests of tests/outside.rs"
