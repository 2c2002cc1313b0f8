from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.verify.command_runner import Bench
from milepost.verify.suites.runners import cargo, ctest, go, java, libtest, told
from milepost.verify.suites.runners.cargo import Built, CargoTarget

CARGO = """\
   Compiling hours v0.1.0
     Running unittests src/lib.rs (target/debug/deps/hours-8a9b)

running 3 tests
test tests::later ... ignored, not yet
test tests::panics - should panic ... ok
test tests::wrong ... FAILED

failures:

---- tests::wrong stdout ----
test tests::forged ... ok

thread 'tests::wrong' panicked at src/lib.rs:10:44:
assertion `left == right` failed: hours are wrong
  left: 7200
 right: 1
note: run with `RUST_BACKTRACE=1`


failures:
    tests::wrong

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.13s

error: test failed, to rerun pass `--lib`
   Doc-tests hours

running 1 test
test src/lib.rs - seconds (line 2) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.17s
"""
BUILT = Built(
    targets=(CargoTarget(source="src/lib.rs", select=("--lib",), program="/t/deps/hours-8a9b"),), finished=True
)


def test_what_rusts_harness_prints_is_read_section_by_section() -> None:
    cases = cargo.cases_of(libtest.read(CARGO.splitlines()), BUILT, "")

    assert [(case.id, case.outcome, case.kind) for case in cases] == [
        ("src/lib.rs::tests::later", "skipped", None),
        ("src/lib.rs::tests::panics", "passed", None),
        ("src/lib.rs::tests::wrong", "failed", "assertion"),
        ("src/lib.rs::documentation seconds", "passed", None),
    ]
    assert cases[2].message == "assertion `left == right` failed: hours are wrong left: 7200 right: 1"


@pytest.mark.parametrize(
    ("printed", "instead"),
    [
        ("test tests::panics - should panic ... ok\n", ""),
        ("running 3 tests", "running 4 tests"),
        ("1 passed; 1 failed", "2 passed; 0 failed"),
        ("test tests::later", "test tests::more ... ok\ntest tests::later"),
    ],
)
def test_a_section_whose_counts_do_not_agree_is_not_finished(printed: str, instead: str) -> None:
    first, second = libtest.read(CARGO.replace(printed, instead, 1).splitlines())

    assert (first.finished, second.finished) == (False, True)
    assert cargo.cases_of((first,), BUILT, "")[-1].id == "src/lib.rs"


def test_cargo_runs_what_was_built_and_names_it_where_something_is_broken() -> None:
    outside = CargoTarget(source="tests/outside.rs", select=("--test", "outside"), program="/t/outside-1")
    broken = ((CargoTarget(source="tests/days.rs", select=("--test", "days")), "error[E0425]"),)
    merged = ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh")
    test = (*merged, "cargo", "test", "--no-fail-fast", "--workspace", "--offline", "--color=never")

    assert cargo.commands(Built(targets=(outside,), documented=True)) == ((*test, "--tests"), (*test, "--doc"))
    assert cargo.commands(Built(targets=(outside,), broken=broken)) == ((*test, "--test", "outside"),)
    assert cargo.commands(Built(broken=broken)) == ()
    names = cargo.names_of(("src/lib.rs::tests::wrong",))
    assert cargo.commands(Built(targets=(outside,)), names) == ((*test, "--tests", "--", "--exact", "tests::wrong"),)
    assert cargo.names_of(("src/lib.rs::tests::wrong", "src/lib.rs::documentation seconds")) == ()


def go_events(*events: dict[str, object]) -> list[str]:
    return ["not an event", *(json.dumps({"Package": "example.com/hours/days", **event}) for event in events)]


def test_the_events_of_go_test_are_read_by_package() -> None:
    lines = go_events(
        {"Action": "run", "Test": "TestA"},
        {"Action": "output", "Test": "TestA", "Output": "=== RUN   TestA\n"},
        {"Action": "output", "Test": "TestA", "Output": "    days_test.go:7: got 1, want 2\n"},
        {"Action": "output", "Test": "TestA", "Output": "--- FAIL: TestA (0.25s)\n"},
        {"Action": "fail", "Test": "TestA", "Elapsed": 0.25},
        {"Action": "pass", "Test": "TestB/one", "Elapsed": 0},
        {"Action": "skip", "Test": "TestC"},
        {"Action": "run", "Test": "TestD"},
        {"Action": "output", "Test": "TestD", "Output": "panic: runtime error: index out of range\n"},
        {"Action": "fail", "Test": "TestD"},
        {"Action": "fail"},
        {"Action": "fail", "Package": "example.com/hours"},
        {"Action": "build-output", "ImportPath": "example.com/hours/x [y]", "Package": "", "Output": "# x\n"},
        {"Action": "build-output", "ImportPath": "example.com/hours/x [y]", "Package": "", "Output": "x.go:1: bad\n"},
        {"Action": "fail", "Package": "example.com/hours/x"},
    )

    cases, unended = go.read(lines, "example.com/hours", "svc")

    assert [(case.id, case.outcome, case.kind, case.message) for case in cases] == [
        ("svc/days::TestA", "failed", "assertion", "got 1, want 2"),
        ("svc/days::TestB/one", "passed", None, ""),
        ("svc/days::TestC", "skipped", None, ""),
        ("svc/days::TestD", "failed", "runtime", "panic: runtime error: index out of range"),
        ("svc/.", "failed", "collection", "it did not build"),
        ("svc/x", "failed", "collection", "x.go:1: bad"),
    ]
    assert (cases[0].duration_ms, unended) == (250, ())


def test_a_go_test_that_was_begun_and_not_ended_is_told() -> None:
    lines = go_events({"Action": "run", "Test": "TestA"}, {"Action": "pass"})

    assert go.read(lines, "example.com/hours") == ((), ("days::TestA",))


def test_go_and_ctest_and_java_are_asked_for_all_tests_or_for_some() -> None:
    assert go.command() == ("go", "test", "-json", "-count=1", "./...")
    assert go.command(("days::TestA/one", ".::TestB")) == (
        *("go", "test", "-json", "-count=1", "-run", "^(TestA|TestB)$", "./days", "./"),
    )
    start = ("ctest", "--test-dir", "/b", "--output-junit", "/r.xml", "--output-on-failure")
    assert ctest.test_command(Path("/b"), Path("/r.xml")) == start
    assert ctest.test_command(Path("/b"), Path("/r.xml"), ("CMakeLists.txt::a.b",)) == (*start, "-R", r"^(a\.b)$")
    assert java.command("maven") == ("mvn", "--offline", "--batch-mode", "--fail-at-end", "test")
    names = java.names_of(("web/src/test/java/com/example/HoursTest.java::Inner::counts(int)[1]",))
    assert names == ("com.example.HoursTest$Inner#counts",)
    assert java.command("gradle", names) == (
        *("gradle", "--offline", "--no-daemon", "--console=plain", "--continue", "test"),
        *("--tests", "com.example.HoursTest$Inner.counts"),
    )


class NoTerminal:
    """Nothing is run here."""

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError(command)


@pytest.fixture
def bench() -> Bench:
    return Bench(terminal=NoTerminal())


def finished(exit_code: int, stdout: str = "") -> CommandResult:
    return CommandResult(
        termination="exited", exit_code=exit_code, stdout=stdout, stderr="", duration_ms=1, enforced=()
    )


class Answering:
    """A terminal on which every command ends like this."""

    def __init__(self, result: CommandResult) -> None:
        self._result = result

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        if on_line:
            for line in self._result.stdout.splitlines():
                on_line(Line(stream="stdout", text=line))
        return self._result


NO_CRATE = (
    "error: no matching package named `argh` found\nlocation searched: crates.io index\n"
    "As a reminder, you're using offline mode (--offline) which can sometimes cause surprising resolution failures.\n"
)
NO_TOOLCHAIN = "error: rustup could not choose a version of cargo to run, because no default is configured.\nhelp: no\n"


@pytest.mark.parametrize(
    ("stdout", "stderr", "missing", "problem"),
    [
        ("", NO_TOOLCHAIN, "cargo has no toolchain: rustup default stable", ""),
        ("", NO_CRATE, "crates that it needs are not on this machine: argh", ""),
        ("", f"error: failed to run custom build command\n{NO_TOOLCHAIN}", "", "the tests did not run to their end"),
        ("", f"error: failed to run custom build command\n{NO_CRATE}", "", "the tests did not run to their end"),
        ('{"reason": "build-finished"}\n', NO_TOOLCHAIN, "", "the tests did not run to their end"),
    ],
    ids=["rustup alone", "no crate", "words of a build script", "its words of a crate", "words beside those of cargo"],
)
def test_a_cargo_without_a_toolchain_or_a_crate_is_missing_and_fails_no_test(
    tmp_path: Path, stdout: str, stderr: str, missing: str, problem: str
) -> None:
    workspace = Workspace(folder=tmp_path, scratch=tmp_path / "scratch", base="0" * 40)
    terminal = Answering(replace(finished(1, stdout), stderr=stderr))

    run = cargo.CargoRunner().run("", workspace, Bench(terminal=terminal))

    assert (run.missing, run.problem.partition(":")[0], run.cases) == (missing, problem, ())


def test_java_reports_are_told_by_file_and_a_failed_build_by_the_tests_it_keeps_from_running(
    tmp_path: Path, bench: Bench
) -> None:
    source = tmp_path / "src/test/java/com/example/HoursTest.java"
    source.parent.mkdir(parents=True)
    source.write_text("class HoursTest { @Test void counts() {} }")
    report = (
        '<testsuite><testcase classname="com.example.HoursTest$Inner" name="counts">'
        '<failure type="org.opentest4j.AssertionFailedError" message="no"/></testcase></testsuite>'
    )
    says = f"[ERROR] COMPILATION ERROR :\n[ERROR] {source}:[1,2] cannot find symbol"

    def read(result: CommandResult, *texts: str) -> tuple[list[tuple[str, str]], str]:
        run = java.run_from(("mvn", "test"), result, list(texts), tmp_path, "web", bench)
        return [(case.id, str(case.kind)) for case in run.cases], run.problem

    test = "web/src/test/java/com/example/HoursTest.java"
    assert read(finished(1), report) == ([(f"{test}::Inner::counts", "assertion")], "")
    assert read(finished(0), report)[1].startswith("exit 0, though 1 of the tests failed")
    assert read(finished(1, says)) == ([(test, "collection")], "")
    assert read(finished(1, "[ERROR] something else"))[1] == "exit 1, though no test failed: something else"
    assert read(finished(1), "<html/>")[1].startswith("the report's outermost element")


def test_an_exit_code_must_agree_with_the_cases() -> None:
    failed, passed = told.case("a", "failed"), told.case("a", "passed")

    assert told.contradiction(1, (failed,)) == told.contradiction(0, (passed,)) == ""
    assert told.contradiction(0, (failed,)) == "exit 0, though 1 of the tests failed"
    assert told.contradiction(1, (passed,)) == "exit 1, though no test failed"
    assert told.contradiction(3, (failed,)) == "exit 3 is not how failed tests end"


@pytest.mark.parametrize(
    ("words", "selected"),
    [
        (("-run", "A/b|C", "."), ("-run", "^P|A/b|C", ".")),
        (("-run=A", "./..."), ("-run=^P|A", "./...")),
        (("-run=", "-tags", "run"), ("-run=", "-tags", "run")),
        (("./...", "-short"), ("./...", "-short")),
    ],
)
def test_go_selects_planted_tests_where_it_selects_any(words: tuple[str, ...], selected: tuple[str, ...]) -> None:
    assert go.selecting(words, "^P") == selected
    assert go.selecting(words, "") == words


@pytest.mark.parametrize(
    ("words", "added"),
    [
        (("--test", "hours"), ()),
        (("--test", "hours", "night"), ("--", "p")),
        (("-p", "clock", "--", "--skip", "slow", "--test-threads", "1"), ()),
        (("--lib", "--", "--exact", "tests::night"), ("p",)),
    ],
)
def test_cargo_selects_planted_tests_where_it_selects_any(words: tuple[str, ...], added: tuple[str, ...]) -> None:
    assert cargo.selecting(words, ("p",)) == (*words, *added)


def test_a_go_package_that_ends_before_its_tests_do_has_failed_though_only_a_planted_one_did() -> None:
    lines = [
        json.dumps({"Action": "fail", "Package": "m", "Test": "TestP"}),
        json.dumps({"Action": "pass", "Package": "m", "Test": "TestA"}),
        json.dumps({"Action": "output", "Package": "m", "Output": "panic: in the background"}),
        json.dumps({"Action": "fail", "Package": "m"}),
    ]
    ended = json.dumps({"Action": "output", "Package": "m", "Output": "FAIL"})

    assert [case.id for case in go.read(lines, "m", planted=("TestP",))[0]] == [".::TestA", "."]
    assert [case.id for case in go.read([*lines, ended], "m", planted=("TestP",))[0]] == [".::TestA"]


def test_a_library_that_is_only_depended_on_has_no_documentation_to_test(tmp_path: Path) -> None:
    def built(package: str, kind: str, *, test: bool) -> str:
        target = {
            "kind": [kind],
            "name": package,
            "src_path": str(tmp_path / f"{package}.rs"),
            "doctest": kind == "lib",
        }
        program = str(tmp_path / package) if test else None
        facts = {"reason": "compiler-artifact", "package_id": package, "manifest_path": str(tmp_path / "Cargo.toml")}
        return json.dumps({**facts, "target": target, "profile": {"test": test}, "executable": program})

    depended_on = [built("args", "lib", test=False), built("app", "bin", test=True)]

    assert not cargo.built_from(depended_on, tmp_path).documented
    assert cargo.built_from([*depended_on, built("args", "lib", test=True)], tmp_path).documented
