"""Tags: what each language defines, how that reads, and what it uses; also of garbage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.sources.env_variables import keys_in, variables_in
from milepost.sources.grammars import grammar_of, language_of, loaded
from milepost.sources.tag_queries import QUERIES
from milepost.sources.tags import LONGEST_SIGNATURE, MOST_DEFINITIONS, tags_of

# A file of each language: its text, the signatures in it, and some of the names that it uses.
FILES: dict[str, tuple[str, list[str], set[str]]] = {
    "a.py": (
        "from shapes import Square\nMOST = 3\n\nclass Box(Square):\n"
        "    @property\n    def side(\n        self, by: Scale\n"
        "    ) -> float:\n        return grown(self)\n\nasync def main(argv): ...\n",
        ["MOST = 3", "class Box(Square)", "def side( self, by: Scale ) -> float", "async def main(argv)"],
        {"Square", "Scale", "grown"},
    ),
    "a.js": (
        "const grow = function (box) { return scaled(box); };\nclass Box extends Shape { draw() { new Pen(); } }\n"
        "function* sides() {}\nlet twice = (n) => by(n, 2);\n",
        [
            "const grow = function (box)",
            "class Box extends Shape",
            "draw()",
            "function* sides()",
            "let twice = (n) => by(n, 2);",
        ],
        {"scaled", "Shape", "Pen", "by"},
    ),
    "a.ts": (
        "import { Shape } from './shape';\nexport interface Drawn { draw(pen: Pen): void }\nexport type Id = string;\n"
        "export enum Side { Left }\nexport class Box<T> extends Shape implements Drawn {\n"
        "  constructor(by: Scale) {}\n}\n"
        "export const make = async (by: Scale): Promise<Box> => { go(); };\n",
        [
            "export interface Drawn",
            "draw(pen: Pen): void",
            "export type Id = string;",
            "export enum Side",
            "export class Box<T> extends Shape implements Drawn",
            "constructor(by: Scale)",
            "export const make = async (by: Scale): Promise<Box>",
        ],
        {"Shape", "Pen", "Scale", "Drawn", "go"},
    ),
    "a.tsx": (
        "export function Page(p: Props) { return <Box><Side/></Box>; }\n",
        ["export function Page(p: Props)"],
        {"Props", "Box", "Side"},
    ),
    "a.sh": ("build() {\n  compile all\n}\n", ["build()"], {"compile"}),
    "a.go": (
        "package a\ntype Box struct {\n\tside int\n}\n"
        "const (\n\tMost = 3\n)\nfunc (b *Box) Grow(by Scale) error { return nil }\n"
        "func New() *Box { return made() }\n",
        ["type Box struct", "Most = 3", "func (b *Box) Grow(by Scale) error", "func New() *Box"],
        {"Box", "Scale", "made"},
    ),
    "a.rs": (
        "pub struct Box { side: Side }\npub trait Grow { fn grow(&self) -> i32; }\nimpl Grow for Box {\n"
        "    fn grow(&self) -> i32 { scaled(1) }\n}\nconst MOST: i32 = 3;\n",
        ["pub struct Box", "pub trait Grow", "fn grow(&self) -> i32;", "fn grow(&self) -> i32", "const MOST: i32 = 3;"],
        {"Side", "Grow", "scaled"},
    ),
    "A.java": (
        "public class Box extends Shape {\n  public Box(int side) {}\n"
        "  List<Side> sides(Pen pen) throws Late { return of(pen); }\n"
        "}\ninterface Drawn { void draw(); }\n",
        [
            "public class Box extends Shape",
            "public Box(int side)",
            "List<Side> sides(Pen pen) throws Late",
            "interface Drawn",
            "void draw();",
        ],
        {"Shape", "Side", "Pen", "of"},
    ),
    "a.c": (
        "#define MOST 3\nstruct box { int side; };\n"
        "static int grow(struct box *b) { return scaled(b); }\nint made(int a);\n",
        ["#define MOST 3", "struct box", "static int grow(struct box *b)", "int made(int a);"],
        {"box", "scaled"},
    ),
    "a.cpp": (
        "class Box : public Shape {\n  void grow(int by);\n};\nvoid shapes::Box::grow(int by) { scaled(by); }\n",
        ["class Box : public Shape", "void grow(int by);", "void shapes::Box::grow(int by)"],
        {"Shape", "scaled"},
    ),
    "a.rb": (
        "class Box < Shape\n  MOST = 3\n  def grow(by = 1)\n    scaled(by)\n  end\n  def self.made; end\nend\n",
        ["class Box < Shape", "MOST = 3", "def grow(by = 1)", "def self.made; end"],
        {"Shape", "scaled"},
    ),
    "a.php": (
        "<?php\nclass Box extends Shape {\n  public function grow(Scale $by): Box { return scaled($by); }\n}\n",
        ["class Box extends Shape", "public function grow(Scale $by): Box"],
        {"Shape", "Scale", "scaled"},
    ),
}


def need_grammar(path: str) -> None:
    if grammar_of(path) is None:
        pytest.skip(f"no grammar for {language_of(path)} is installed: pip install 'milepost[languages]'")


@pytest.mark.parametrize("path", FILES)
def test_what_a_file_defines_reads_up_to_its_body_and_what_it_uses_is_counted(path: str) -> None:
    need_grammar(path)
    text, signatures, uses = FILES[path]
    tags = tags_of(path, text.encode())
    assert tags is not None
    assert [one.signature for one in tags.definitions] == signatures
    assert uses <= dict(tags.uses).keys()


@pytest.mark.parametrize("path", FILES)
def test_no_name_counts_as_used_where_it_is_only_defined(path: str) -> None:
    need_grammar(path)
    once = {"a.py": "class Lonely: ...", "a.go": "package a\ntype Lonely int\n", "a.rs": "struct Lonely;"}
    tags = tags_of(path, once.get(path, "class Lonely {}" if path != "a.sh" else "Lonely() { :; }").encode())
    assert tags is not None and "Lonely" not in dict(tags.uses)


def test_every_language_with_a_query_has_a_file_here() -> None:
    assert {grammar.name for path in FILES if (grammar := grammar_of(path))} <= QUERIES.keys()
    assert len(FILES) == len(QUERIES)


@pytest.mark.parametrize(
    ("path", "language"),
    [("a/b.PY", "Python"), ("x.tsx", "TSX"), ("main.kt", "Kotlin"), ("Makefile", ""), (".sh", ""), ("a.b/c", "")],
)
def test_a_language_is_told_by_the_end_of_a_name(path: str, language: str) -> None:
    assert language_of(path) == language


def test_a_language_without_a_grammar_has_no_tags() -> None:
    assert tags_of("main.kt", b"class Box") is None
    assert tags_of("README", b"class Box") is None


def test_grammars_are_loaded_once() -> None:
    grammar = grammar_of("a.py")
    assert grammar is not None and loaded(grammar) is loaded(grammar)


@settings(max_examples=60)
@given(content=st.binary(max_size=400), path=st.sampled_from([*FILES]))
def test_garbage_is_read_without_complaint(content: bytes, path: str) -> None:
    tags = tags_of(path, content)
    assert tags is None or all(len(one.signature) <= LONGEST_SIGNATURE for one in tags.definitions)


@pytest.mark.parametrize("path", FILES)
def test_deep_nesting_and_long_lines_are_read(path: str) -> None:
    need_grammar(path)
    for text in ("(" * 20_000, "{" * 20_000, "class A { " * 5_000, "def a(" + "x, " * 50_000):
        tags = tags_of(path, text.encode())
        assert tags is not None and len(tags.definitions) <= MOST_DEFINITIONS


def test_variables_are_found_by_name_in_every_language_and_their_values_never() -> None:
    text = """
        os.environ["A_1"]; os.environ.get('A_2', "hunter22"); os.getenv("A_3", "hunter22"); process.env.A_4
        process.env["A_5"]; import.meta.env.A_6; Deno.env.get("A_7"); os.Getenv("A_8"); std::env::var("A_9")
        System.getenv("B_1"); ENV["B_2"]; ENV.fetch('B_3'); getenv("B_4"); $_ENV['B_5']
    """
    names = ["A_1", "A_2", "A_3", "A_4", "A_5", "A_6", "A_7", "A_8", "A_9", "B_1", "B_2", "B_3", "B_4", "B_5"]
    assert variables_in(text) == tuple(names)
    assert keys_in("# comment=no\nexport A_1=secret\nB_2 = x\n=3\n  C=\nA_1=again\n") == ("A_1", "B_2", "C")
