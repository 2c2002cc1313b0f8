"""Which language a file is written in, and the grammar that reads it, where one is installed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A language that can be read: the package of its grammar, and the function there that gives it."""

    name: str
    package: str
    function: str = "language"


_GRAMMARS = {
    "Python": Grammar(name="python", package="tree_sitter_python"),
    "JavaScript": Grammar(name="javascript", package="tree_sitter_javascript"),
    "TypeScript": Grammar(name="typescript", package="tree_sitter_typescript", function="language_typescript"),
    "TSX": Grammar(name="tsx", package="tree_sitter_typescript", function="language_tsx"),
    "Shell": Grammar(name="bash", package="tree_sitter_bash"),
    "Go": Grammar(name="go", package="tree_sitter_go"),
    "Rust": Grammar(name="rust", package="tree_sitter_rust"),
    "Java": Grammar(name="java", package="tree_sitter_java"),
    "C": Grammar(name="c", package="tree_sitter_c"),
    "C++": Grammar(name="cpp", package="tree_sitter_cpp"),
    "Ruby": Grammar(name="ruby", package="tree_sitter_ruby"),
    "PHP": Grammar(name="php", package="tree_sitter_php", function="language_php"),
}
_ENDINGS = {
    "Python": "py pyi",
    "JavaScript": "js mjs cjs jsx",
    "TypeScript": "ts mts cts",
    "TSX": "tsx",
    "Shell": "sh bash",
    "Go": "go",
    "Rust": "rs",
    "Java": "java",
    "C": "c h",
    "C++": "cc cpp cxx hpp hh hxx",
    "Ruby": "rb rake",
    "PHP": "php",
    "C#": "cs",
    "Kotlin": "kt kts",
    "Swift": "swift",
    "Scala": "scala",
    "Elixir": "ex exs",
    "Haskell": "hs",
    "OCaml": "ml mli",
    "Lua": "lua",
    "Perl": "pl pm",
    "R": "r",
    "Julia": "jl",
    "Dart": "dart",
    "Zig": "zig",
    "Clojure": "clj cljs",
    "Erlang": "erl",
    "Objective-C": "m mm",
    "Vue": "vue",
    "Svelte": "svelte",
    "SQL": "sql",
    "HTML": "html htm",
    "CSS": "css scss sass less",
}
_LANGUAGES = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}


def language_of(path: str) -> str:
    """The programming language of a file by its name, such as `Python`; empty where the name tells none."""
    name, dot, ending = path.rpartition("/")[2].rpartition(".")
    return _LANGUAGES.get(ending.lower(), "") if dot and name else ""


def grammar_of(path: str) -> Grammar | None:
    """The grammar for a file; None where its language has none, or none that is installed."""
    grammar = _GRAMMARS.get(language_of(path))
    return grammar if grammar is not None and loaded(grammar) is not None else None


@cache
def loaded(grammar: Grammar) -> Language | None:
    """The grammar itself; None where its package is not installed."""
    from tree_sitter import Language

    try:
        package = import_module(grammar.package)
    except ImportError:
        return None
    return Language(getattr(package, grammar.function)())
