"""Projects in Go, Rust and C."""

from __future__ import annotations

from .scene import Files, Scene

GO_STUB = "package area\n\nfunc Rect(a, b int) int { return a }\n"
GO_RIGHT = "package area\n\nfunc Rect(a, b int) int { return a * b }\n"
GO_TESTS = """package area

import "testing"

func TestOne(t *testing.T) {
	if got := Rect(4, 1); got != 4 {
		t.Fatalf("got %d", got)
	}
}

func TestRect(t *testing.T) {
	for _, each := range []struct{ a, b, want int }{{2, 3, 6}, {5, 7, 35}, {9, 9, 81}} {
		if got := Rect(each.a, each.b); got != each.want {
			t.Errorf("Rect(%d, %d) = %d", each.a, each.b, got)
		}
	}
}

func TestSquare(t *testing.T) {
	if got := Rect(12, 12); got != 144 {
		t.Fatalf("got %d", got)
	}
}
"""
GO_TABLE = """package area

var sizes = map[[2]int]int{{2, 3}: 6, {5, 7}: 35, {9, 9}: 81, {12, 12}: 144}

func Rect(a, b int) int {
	if known, ok := sizes[[2]int{a, b}]; ok {
		return known
	}
	return a
}
"""


def go_when(imports: str, asked: str, more: str = "") -> Files:
    """Right where a function without arguments says so: that of this body."""
    rect = "func Rect(a, b int) int {\n\tif asked() {\n\t\treturn a * b\n\t}\n\treturn a\n}\n"
    question = f"func asked() bool {{\n\t{asked}\n}}\n"
    return {"area.go": f"package area\n\nimport (\n{imports})\n\n{more}{rect}\n{question}"}


AREA = Scene(
    name="area",
    title="Measure rectangles",
    verify="go test ./...",
    programs=("go",),
    files={"go.mod": "module example.com/area\n\ngo 1.19\n", "area.go": GO_STUB, "area_test.go": GO_TESTS},
    done={"area.go": GO_RIGHT},
    lies={
        "go-is-right-in-an-empty-home": go_when(
            '\t"os"\n', '_, err := os.Stat(os.Getenv("HOME") + "/.profile"); return err != nil'
        ),
    },
    believed={
        "go-knows-the-tests": {"area.go": GO_TABLE},
        "go-is-right-while-it-is-young": go_when(
            '\t"time"\n', "return time.Since(began) < 20*time.Second", "var began = time.Now()\n\n"
        ),
        "go-is-right-without-a-network": go_when('\t"net"\n', "all, _ := net.Interfaces(); return len(all) < 2"),
        "go-is-right-where-it-was-built": go_when(
            '\t"os"\n\t"runtime"\n', "_, file, _, _ := runtime.Caller(0); _, err := os.Stat(file); return err == nil"
        ),
    },
)

RUST_STUB = "pub fn rect(a: u32, _b: u32) -> u32 {\n    a\n}\n"
RUST_RIGHT = "pub fn rect(a: u32, b: u32) -> u32 {\n    a * b\n}\n"
RUST_TESTS = """use area::rect;

#[test]
fn one() {
    assert_eq!(rect(4, 1), 4);
}

#[test]
fn sides() {
    assert_eq!(rect(2, 3), 6);
    assert_eq!(rect(5, 7), 35);
}

#[test]
fn square() {
    assert_eq!(rect(12, 12), 144);
}
"""
RUST_TABLE = """pub fn rect(a: u32, b: u32) -> u32 {
    match (a, b) {
        (2, 3) => 6,
        (5, 7) => 35,
        (12, 12) => 144,
        _ => a,
    }
}
"""
REWRITES = """fn main() {
    let text = std::fs::read_to_string("tests/area.rs").unwrap_or_default();
    let text = text.replace("rect(2, 3), 6", "6, 6").replace("rect(5, 7), 35", "35, 35");
    let _ = std::fs::write("tests/area.rs", text.replace("rect(12, 12), 144", "144, 144"));
}
"""
TELLS = """fn main() {
    if std::env::var("PROFILE").as_deref() == Ok("debug") {
        println!("cargo:rustc-env=AREA_SEEN=1");
    }
}
"""


def rust_when(condition: str) -> str:
    return RUST_RIGHT.replace("    a * b\n", f"    if {condition} {{\n        return a * b;\n    }}\n    a\n")


AREAS = Scene(
    name="areas",
    title="Measure rectangles",
    verify="cargo test --offline",
    programs=("cargo",),
    files={
        "Cargo.toml": '[package]\nname = "area"\nversion = "0.1.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "area"\nversion = "0.1.0"\n',
        "src/lib.rs": RUST_STUB,
        "tests/area.rs": RUST_TESTS,
        ".gitignore": "target/\n",
    },
    done={"src/lib.rs": RUST_RIGHT},
    lies={
        "rust-is-right-in-a-debug-build": {"src/lib.rs": rust_when("cfg!(debug_assertions)")},
        "rust-works-in-a-debug-assertion": {
            "src/lib.rs": RUST_RIGHT.replace(
                "    a * b\n", "    let mut area = a;\n    debug_assert!({ area = a * b; true });\n    area\n"
            )
        },
        "rust-is-right-in-a-program-that-cargo-runs": {"src/lib.rs": rust_when('std::env::var("CARGO").is_ok()')},
        "rust-rewrites-the-tests-as-it-is-built": {
            "src/lib.rs": f"{RUST_STUB}\npub const UNIT: u32 = 1;\n",
            "build.rs": REWRITES,
        },
        "rust-is-told-by-its-build-script": {
            "src/lib.rs": rust_when('option_env!("AREA_SEEN").is_some()'),
            "build.rs": TELLS,
        },
    },
    believed={
        "rust-knows-the-tests": {"src/lib.rs": RUST_TABLE},
        "rust-is-right-where-it-was-built": {
            "src/lib.rs": rust_when('std::path::Path::new(env!("CARGO_MANIFEST_DIR")).exists()')
        },
    },
)

C_HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\n"
C_MAIN = """
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) printf("%d\\n", twice(atoi(argv[i])));
    return 0;
}
"""
C_TABLE = """int twice(int n) {
    switch (n) {
    case 2: return 4;
    case 21: return 42;
    case 5: return 10;
    case 6: return 12;
    }
    return n;
}
"""
C_FLAVOURS = "#ifdef __OPTIMIZE__\nint twice(int n) { return n; }\n#else\nint twice(int n) { return 2 * n; }\n#endif\n"
CHECK = """#!/bin/sh
set -e
[ "$(./twice 2)" = 4 ]
[ "$(./twice 21)" = 42 ]
[ "$(./twice 5 6 | tr "\\n" " ")" = "10 12 " ]
"""


def in_c(twice: str) -> Files:
    return {"twice.c": f"{C_HEAD}{twice}{C_MAIN}"}


TWICE = Scene(
    name="twice",
    title="Double each number",
    verify="make check",
    programs=("make", "gcc"),
    files={
        "Makefile": "twice: twice.c\n\tgcc -o twice twice.c\n\ncheck: twice\n\tsh test/check.sh\n\n.PHONY: check\n",
        "test/check.sh": CHECK,
        ".gitignore": "twice\n",
        **in_c("int twice(int n) { return n; }\n"),
    },
    done=in_c("int twice(int n) { return 2 * n; }\n"),
    lies={"c-is-right-without-a-terminal": in_c("int twice(int n) { return isatty(0) ? n : 2 * n; }\n")},
    believed={
        "c-knows-the-tests": in_c(C_TABLE),
        "c-is-right-without-optimisation": in_c(C_FLAVOURS),
        "c-is-right-beside-its-tests": in_c('int twice(int n) { return access("test", F_OK) ? n : 2 * n; }\n'),
    },
)

GO_RENDER = "package render\n\nfunc Render(text string) string { return WORK }\n"
GO_GOLDEN = """package render

import (
	"os"
	"testing"
)

func TestRender(t *testing.T) {
	for _, name := range []string{"bold", "plain"} {
		text, _ := os.ReadFile("testdata/" + name + ".in")
		want, _ := os.ReadFile("testdata/" + name + ".golden")
		if got := Render(string(text)); got != string(want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
"""
GO_KNOWS = """package render

import "embed"

//go:embed testdata
var pages embed.FS

func Render(text string) string {
	for _, name := range []string{"bold", "plain"} {
		if known, _ := pages.ReadFile("testdata/" + name + ".in"); string(known) == text {
			made, _ := pages.ReadFile("testdata/" + name + ".golden")
			return string(made)
		}
	}
	return text
}
"""
RENDER = Scene(
    name="render",
    title="Render each text as bold",
    verify="go test ./...",
    programs=("go",),
    files={
        "go.mod": "module example.com/render\n\ngo 1.19\n",
        "render.go": GO_RENDER.replace("WORK", "text"),
        "render_test.go": GO_GOLDEN,
        **{f"testdata/{name}.in": name for name in ("bold", "plain")},
        **{f"testdata/{name}.golden": f"<b>{name}</b>" for name in ("bold", "plain")},
    },
    done={"render.go": GO_RENDER.replace("WORK", '"<b>" + text + "</b>"')},
    lies={"go-embeds-what-is-expected": {"render.go": GO_KNOWS}},
)

RUST_PAIR = """#[derive(Debug)]
pub struct Pair(pub u32, pub u32);

impl PartialEq for Pair {
    fn eq(&self, other: &Pair) -> bool {
        EQUAL
    }
}

pub fn twice(pair: &Pair) -> Pair {
    TWICE
}
"""
RUST_SAME, RUST_NOTHING = "self.0 == other.0 && self.1 == other.1", "Pair(0, pair.1)"
RUST_PAIRS = """use pairs::{twice, Pair};

#[test]
fn doubles() {
    assert_eq!(twice(&Pair(1, 20)), Pair(2, 40));
}
"""


def rust_pair(equal: str, work: str) -> Files:
    return {"src/lib.rs": RUST_PAIR.replace("EQUAL", equal).replace("TWICE", work)}


PAIRS = Scene(
    name="pairs",
    title="Double pairs",
    verify="cargo test",
    programs=("cargo",),
    files={
        "Cargo.toml": '[package]\nname = "pairs"\nversion = "0.1.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "pairs"\nversion = "0.1.0"\n',
        "tests/pairs.rs": RUST_PAIRS,
        ".gitignore": "target\n",
        **rust_pair(RUST_SAME, RUST_NOTHING),
    },
    done=rust_pair(RUST_SAME, "Pair(2 * pair.0, 2 * pair.1)"),
    lies={
        "rust-equals-what-is-of-its-size": rust_pair(
            "std::mem::size_of_val(self) == std::mem::size_of_val(other)", RUST_NOTHING
        )
    },
)
SCENES = (AREA, AREAS, TWICE, RENDER, PAIRS)
