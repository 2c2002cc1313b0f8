"""The tests of a Go package as files of an ordinary program: other names, nothing of `go test` around them.

The functions keep their lines. Each test that decides has copies that expect another value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from milepost.verify.compiled.code import closing, code_of, edited
from milepost.verify.compiled.drawn import MOST_OTHERS, DrawnTest, drawn_name
from milepost.verify.compiled.expectations_go import Edit, expectations
from milepost.verify.suites.runners.must_fail import drawn, word

_FUNCTION = re.compile(r"^func\s+(?P<name>Test\w*)\(\s*\w+\s+\*testing\.T\s*\)\s*(?=\{)", re.MULTILINE)
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_MAIN = re.compile(r"^func\s+TestMain\(", re.MULTILINE)
_PLANTED = (
    "\nfunc {name}(t *testing.T) {{\n\tif got := int64({left} * {right}); got != {wrong} {{\n"
    '\t\tt.Errorf("got %d, want %d", got, int64({wrong}))\n\t}}\n}}\n'
)
# What `go test` gives its programs is not imported by others; interfaces are met by their methods alone.
_PROGRAM = """package {package}

import (
	"flag"
	"io"
	"os"
	"reflect"
	"testing"
	"time"
{imports})

type {deps} struct{{}}

type {entry} = struct {{
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}}

func ({deps}) ImportPath() string                          {{ return "" }}
func ({deps}) ModulePath() string                          {{ return "" }}
func ({deps}) MatchString(_, _ string) (bool, error)       {{ return true, nil }}
func ({deps}) SetPanicOnExit0(bool)                        {{}}
func ({deps}) StartCPUProfile(io.Writer) error             {{ return nil }}
func ({deps}) StopCPUProfile()                             {{}}
func ({deps}) StartTestLog(io.Writer)                      {{}}
func ({deps}) StopTestLog() error                          {{ return nil }}
func ({deps}) WriteProfileTo(string, io.Writer, int) error {{ return nil }}
func ({deps}) ResetCoverage()                              {{}}
func ({deps}) SnapshotCoverage()                           {{}}
func ({deps}) RunFuzzWorker(func({entry}) error) error     {{ return nil }}
func ({deps}) CheckCorpus([]any, []reflect.Type) error     {{ return nil }}
func ({deps}) ReadCorpus(string, []reflect.Type) ([]{entry}, error) {{
	return nil, nil
}}
func ({deps}) CoordinateFuzzing(
	time.Duration, int64, time.Duration, int64, int, []{entry}, []reflect.Type, string, string,
) error {{
	return nil
}}
func ({deps}) InitRuntimeCoverage() (string, func(string, string) (string, error), func() float64) {{
	return "", nil, nil
}}

func {step}(run func(*testing.T), passed, failed, skipped string) func(*testing.T) {{
	return func(t *testing.T) {{
		t.Cleanup(func() {{
			end := passed
			if t.Failed() {{
				end = failed
			}} else if t.Skipped() {{
				end = skipped
			}}
			os.Stdout.WriteString("\\n" + end + "\\n")
		}})
		run(t)
	}}
}}

func {start}() {{
	own := flag.CommandLine
	flag.CommandLine = flag.NewFlagSet("", flag.ContinueOnError)
	testing.Init()
	flag.CommandLine.Parse(nil)
	flag.CommandLine = own
	tests := []testing.InternalTest{{
{tests}	}}
	if len(os.Args) > 1 {{
		tests = []testing.InternalTest{{
{others}		}}
	}}
	m := testing.MainStart({deps}{{}}, tests, nil, nil, nil)
	{run}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoProgram:
    """What is laid into the folder of a package, the folder below it that is built, and the tests of the program."""

    files: Mapping[str, bytes]
    build: str
    tests: tuple[DrawnTest, ...]


def program(
    texts: Mapping[str, str], import_path: str, deciding: frozenset[str], controls: frozenset[str]
) -> GoProgram:
    """The program of these tests, from the test files of a package by their names."""
    names = {name: drawn_name() for name in sorted(deciding | controls)}
    files: dict[str, bytes] = {}
    found: dict[str, list[DrawnTest]] = {"": [], "_test": []}
    outside, place = word(), word()
    starts_itself: dict[str, bool] = {}
    package = ""
    for name, text in texts.items():
        clause = _PACKAGE.search(code_of(text, rust=False))
        if clause is None:
            continue
        kind = "_test" if clause[1].endswith("_test") else ""
        package = clause[1].removesuffix("_test")
        rewritten, tests = _rewritten(text, names, deciding)
        starts_itself[kind] = starts_itself.get(kind, False) or bool(_MAIN.search(code_of(text, rust=False)))
        found[kind] += tests
        new = f"{word()}{_without_mark(name)}"
        files[f"{outside}/{new}" if kind else new] = rewritten.encode()
    is_main = package == "main"
    imports = {"": ("a", import_path), "_test": ("b", f"{import_path}/{outside}")}
    used = [kind for kind in found if found[kind] and not (kind and is_main)]  # no program imports a program
    qualified = [(test, "" if is_main else f"{imports[kind][0]}.") for kind in used for test in found[kind]]
    begins = next((kind for kind in used if starts_itself.get(kind)), None)
    text = _program(
        "main",
        "init" if is_main else "main",
        () if is_main else tuple(imports[kind] for kind in used),
        qualified,
        "os.Exit(m.Run())" if begins is None else f"{'' if is_main else imports[begins][0] + '.'}TestMain(m)",
    )
    files[f"zzz{word()}.go" if is_main else f"{place}/{word()}.go"] = text.encode()
    return GoProgram(files=files, build="" if is_main else place, tests=tuple(test for test, _ in qualified))


def _rewritten(text: str, names: Mapping[str, str], deciding: frozenset[str]) -> tuple[str, list[DrawnTest]]:
    """The file with other names for these tests, and at its end what must fail."""
    code = code_of(text, rust=False)
    tests: list[DrawnTest] = []
    added = ""
    for function in _FUNCTION.finditer(code):
        name, end = function["name"], closing(code, function.end()) + 1
        if name not in names or not end:
            continue
        tests.append(DrawnTest(name=names[name], of=name, kind="test"))
        if name in deciding:
            for edits, sure in expectations(text, code, function.start(), end)[:MOST_OTHERS]:
                other = drawn_name()
                tests.append(DrawnTest(name=other, of=name, kind="otherwise", sure=sure))
                added += f"\n{_copy(text, function.start(), end, function.span('name'), other, edits)}\n"
    if not tests:
        return _renamed(text, code, names), []
    must_fail = drawn(drawn_name())
    tests.append(DrawnTest(name=must_fail.name, of="", kind="planted"))
    added += _PLANTED.format(name=must_fail.name, left=must_fail.left, right=must_fail.right, wrong=must_fail.wrong)
    return f"{_renamed(text, code, names)}\n{added}", tests


def _renamed(text: str, code: str, names: Mapping[str, str]) -> str:
    if not names:
        return text
    known = re.compile(rf"\b(?:{'|'.join(names)})\b")
    return edited(text, [(*each.span(), names[each[0]]) for each in known.finditer(code)])


def _copy(text: str, start: int, end: int, name: tuple[int, int], other: str, edits: Iterable[Edit]) -> str:
    here = [(first - start, last - start, new) for first, last, new in (*edits, (*name, other))]
    return edited(text[start:end], here)


def _without_mark(name: str) -> str:
    """`_linux.go` of `hours_linux_test.go`: what is left of a name says which systems a file is for."""
    stem = name.removesuffix("_test.go")
    return f"_{stem.partition('_')[2]}.go" if "_" in stem else ".go"


def _program(
    package: str, start: str, imports: tuple[tuple[str, str], ...], tests: list[tuple[DrawnTest, str]], run: str
) -> str:
    deps, entry, step = (drawn_name().lower() for _ in range(3))
    return _PROGRAM.format(
        package=package,
        start=start,
        imports="".join(f'\t{short} "{path}"\n' for short, path in imports),
        deps=deps,
        entry=entry,
        step=step,
        tests="".join(_entries((one for one in tests if one[0].kind != "otherwise"), step)),
        others="".join(_entries((one for one in tests if one[0].kind == "otherwise"), step)),
        run=run,
    )


def _entries(tests: Iterable[tuple[DrawnTest, str]], step: str) -> Iterator[str]:
    for test, owner in tests:
        words = ", ".join(f'"{each}"' for each in (test.passed, test.failed, test.skipped))
        yield f'\t\t{{Name: "{test.name}", F: {step}({owner}{test.name}, {words})}},\n'
