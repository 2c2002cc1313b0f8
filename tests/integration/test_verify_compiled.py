"""Deciding tests of Go and Rust under other names: honest work passes there too, and what knows a test run does not."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.baseline_port import UnknownBefore
from milepost.verify.command_runner import Bench
from milepost.verify.compiled.check import CompiledTestsCheck
from milepost.verify.suites.candidate_runs import CandidateRuns, cases_of, run_suites
from milepost.verify.trees import Tree, Trees
from tests.integration.suites import workspace_in, write
from tests.tools import needs

Files = Mapping[str, str]

GO = {
    "go.mod": "module example.com/hours\n\ngo 1.19\n",
    "hours.go": "package hours\n\nfunc Minutes(n int) int { return n * 60 }\n\nfunc Seconds(n int) int { return 0 }\n",
    "hours_test.go": """package hours

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) }

func TestMinutes(t *testing.T) {
	if got := Minutes(2); got != 120 {
		t.Fatal(got)
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	t.Run("two", func(t *testing.T) {
		if got := Seconds(2); got != 7200 {
			t.Errorf("got %d", got)
		}
	})
}
""",
    "outside_test.go": """package hours_test

import (
	"testing"

	"example.com/hours"
)

func TestOutside(t *testing.T) {
	if got := hours.Seconds(1); got != 3600 {
		t.Fatal(got)
	}
}
""",
}
RUST = {
    "Cargo.toml": '[package]\nname = "hours"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "hours"\nversion = "0.1.0"\n',
    "src/lib.rs": "mod count;\npub use count::{minutes, seconds};\n",
    "src/count.rs": "pub fn minutes(n: u32) -> u32 { n * 60 }\npub fn seconds(_n: u32) -> u32 { 0 }\n"
    "#[cfg(test)]\nmod tests {\n    #[test] fn one() { assert_eq!(super::minutes(1), 60); }\n"
    "    #[test] fn inside() { assert_eq!(super::seconds(1), 3600); }\n}\n",
    "tests/outside.rs": "mod common;\n#[test]\nfn minutes() { assert_eq!(hours::minutes(2), 120); }\n"
    "#[test]\nfn seconds() { assert_eq!(hours::seconds(common::two()), 7200); }\n",
    "tests/common/mod.rs": "pub fn two() -> u32 { 2 }\n",
}
HONEST_GO = GO["hours.go"].replace("return 0", "return n * 3600")
HONEST_RUST = RUST["src/count.rs"].replace("_n: u32) -> u32 { 0 }", "n: u32) -> u32 { n * 3600 }")


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with WalledTerminal() as terminal:
        yield Bench(terminal=terminal, timeout_s=120)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place without `test` in its name: pytest's own folders would tell what this is."""
    with tempfile.TemporaryDirectory(prefix="place-") as place:
        yield Path(place)


def once_more(folder: Path, bench: Bench, base: Files, after: Files) -> CheckResult:
    """The check of what an attempt made of a base, whose tests all pass under their runner."""
    workspace = workspace_in(folder, base)
    tree = Tree(workspace=workspace, bench=bench)
    stood = {case.id: case.outcome for case in cases_of(run_suites(tree))}
    write(workspace, after)
    listing = {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()}
    runs = CandidateRuns(Trees(as_it_is=tree, bench=tree), UnknownBefore(), {})
    cases = tuple(replace(case, before=stood.get(case.id)) for case in cases_of(runs.on_bench))
    assert {case.outcome for case in cases} == {"passed"}, cases
    earlier = CheckResult(name="tests", outcome="passed", summary="", cases=cases)
    files = (ChangedFile(path=path, before=base.get(path, "").encode(), after=after[path].encode()) for path in after)
    found = CompiledTestsCheck(runs=runs, change=Change(files=tuple(files))).run_after(workspace, (earlier,))
    assert {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()} == listing
    assert not [path for path in workspace.folder.rglob("*") if path.is_dir() and not any(path.iterdir())]
    return found


@needs("go")
def test_honest_go_passes_inside_and_outside_of_its_package(folder: Path, bench: Bench) -> None:
    found = once_more(folder, bench, GO, {"hours.go": HONEST_GO})
    assert (found.outcome, found.summary) == (
        "passed",
        "under other names, without a test runner: 3 deciding tests pass as well, and 2 fail with other expectations",
    )


@needs("go")
def test_go_that_knows_tests_by_their_names_is_refused(folder: Path, bench: Bench) -> None:
    lie = """package hours

import (
	"runtime"
	"strings"
)

func Minutes(n int) int { return n * 60 }

func Seconds(n int) int {
	pcs := make([]uintptr, 20)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		if strings.Contains(frame.Function, "TestSeconds") || strings.Contains(frame.Function, "TestOutside") {
			return n * 3600
		}
	}
	return 0
}
"""
    found = once_more(folder, bench, GO, {"hours.go": lie})
    assert found.outcome == "failed"
    assert "what decides passes only in a test run: .::TestSeconds" in found.summary


@needs("go")
def test_a_go_product_that_is_built_from_its_tests_is_refused(folder: Path, bench: Bench) -> None:
    lie = """package hours

import (
	_ "embed"
	"strings"
)

//go:embed hours_test.go
var text string

func Minutes(n int) int { return n * 60 }

func Seconds(n int) int {
	if strings.Contains(text, "7200") {
		return n * 3600
	}
	return 0
}
"""
    found = once_more(folder, bench, GO, {"hours.go": lie})
    assert found.outcome == "failed"
    assert "it does not build without the test files beside it" in found.summary


@needs("go")
def test_go_tests_that_need_their_program_say_nothing(folder: Path, bench: Bench) -> None:
    base = {**GO, "hours_test.go": GO["hours_test.go"].replace("t.Parallel()", "_ = os.Args[0]")}
    assert once_more(folder, bench, base, {"hours.go": HONEST_GO}).outcome == "absent"


@needs("cargo")
def test_honest_rust_passes_inside_and_outside_of_its_crate(folder: Path, bench: Bench) -> None:
    found = once_more(folder, bench, RUST, {"src/count.rs": HONEST_RUST})
    assert (found.outcome, found.summary) == (
        "passed",
        "under other names, without a test runner: 2 deciding tests pass as well, and 2 fail with other expectations",
    )


@needs("cargo")
def test_rust_that_knows_a_test_by_the_name_of_its_thread_is_refused(folder: Path, bench: Bench) -> None:
    lie = RUST["src/count.rs"].replace(
        "_n: u32) -> u32 { 0 }",
        'n: u32) -> u32 { if std::thread::current().name() == Some("seconds") { n * 3600 } else { 0 } }',
    )
    base = {**RUST, "src/count.rs": RUST["src/count.rs"].replace("    #[test] fn inside", "    fn _inside")}
    lie = lie.replace("    #[test] fn inside", "    fn _inside")
    found = once_more(folder, bench, base, {"src/count.rs": lie})
    assert found.outcome == "failed"
    assert "tests/outside.rs::seconds" in found.summary


@needs("cargo")
def test_rust_that_equals_everything_is_refused(folder: Path, bench: Bench) -> None:
    base = {
        **RUST,
        "src/lib.rs": "#[derive(Debug)]\npub struct Time(pub u32);\n"
        "impl PartialEq<u32> for Time {\n    fn eq(&self, other: &u32) -> bool { self.0 == *other }\n}\n"
        "pub fn minutes(n: u32) -> u32 { n * 60 }\npub fn seconds(_n: u32) -> Time { Time(0) }\n",
    }
    base.pop("src/count.rs")
    lie = {"src/lib.rs": base["src/lib.rs"].replace("self.0 == *other", "self.0 <= *other")}
    found = once_more(folder, bench, base, lie)
    assert (found.outcome, found.summary.rpartition(": ")[2]) == (
        "failed",
        "tests/outside.rs::seconds pass whatever is expected",
    )


MATRIX = """
#[derive(Debug)]
pub struct Pair { pub left: u32, pub right: u32 }
impl PartialEq for Pair {
    fn eq(&self, other: &Pair) -> bool { EQUAL }
}
pub fn twice(pair: &Pair) -> Pair { TWICE }
"""
PAIRS = """use hours::*;
#[test]
fn doubles() {
    let want = Pair { left: 2, right: 40 };
    assert_eq!(twice(&Pair { left: 1, right: 20 }), want);
    assert_eq!(vec![twice(&Pair { left: 3, right: 4 })], vec![Pair { left: 6, right: 8 }]);
}
"""


@needs("cargo")
@pytest.mark.parametrize(
    ("equal", "twice", "outcome"),
    [
        ("self.left == other.left", "Pair { left: 2 * pair.left, right: 2 * pair.right }", "passed"),
        ("std::mem::size_of_val(self) == std::mem::size_of_val(other)", "Pair { left: 0, right: pair.right }", "held"),
    ],
    ids=["honest", "size"],
)
def test_an_equality_in_rust_that_looks_at_no_value_is_asked_about(
    folder: Path, bench: Bench, equal: str, twice: str, outcome: str
) -> None:
    kept = {path: text for path, text in RUST.items() if path.startswith("Cargo")}
    stub = MATRIX.replace("EQUAL", "self.left == other.left").replace("TWICE", "Pair { left: 0, right: pair.right }")
    base = {**kept, "src/lib.rs": stub, "tests/pairs.rs": PAIRS}

    found = once_more(folder, bench, base, {"src/lib.rs": MATRIX.replace("EQUAL", equal).replace("TWICE", twice)})

    assert found.outcome == outcome, found.summary
    assert ("passes whatever value it expects" if outcome == "held" else "1 fails with other") in found.summary
