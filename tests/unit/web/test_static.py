"""The page as it is written: all of it is used, no text becomes markup, nothing comes from elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pygments.token import STANDARD_TYPES  # type: ignore[import-untyped]

from milepost.web import libraries

STATIC = libraries.HERE / "static"
MODULES = {file.name: file.read_text() for file in sorted(STATIC.glob("*.js"))}
STYLES = {file.name: file.read_text() for file in sorted((STATIC / "styles").glob("*.css"))}
SHELL = (STATIC / "index.html").read_text()
WIDEST = 120
# What makes markup or code of a text. A module that needs one of these needs another way.
SINKS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|srcdoc"
)
ELSEWHERE = re.compile(r"https?:|(?:['\"`(]|url\()\s*//\w")
COMMENT = re.compile(r"/\*.*?\*/|(?:^|\s)//\s[^\n]*", re.DOTALL)


def test_every_class_of_a_style_sheet_is_one_that_a_module_or_the_colours_of_code_use() -> None:
    assert {name: sorted(unused) for name, text in STYLES.items() if (unused := _classes(text) - _used(text))} == {}


@pytest.mark.parametrize(
    ("style", "unused"),
    [
        (".frame.m-passed:hover { }", set()),
        (".nobody-has-this { margin: .5em }", {"nobody-has-this"}),
        (".m-nobody-either { }", {"m-nobody-either"}),
    ],
)
def test_a_class_that_nobody_uses_is_found(style: str, unused: set[str]) -> None:
    assert _classes(style) - _used(style) == unused


def test_a_selector_has_one_rule_in_all_style_sheets_unless_the_room_is_less() -> None:
    rules = Counter(selector for text in STYLES.values() for selector in _rules(text))

    assert [selector for selector, count in rules.items() if count > 1] == []


def test_every_style_sheet_is_linked_by_the_shell() -> None:
    assert sorted(re.findall(r'href="/static/styles/([\w.]+)"', SHELL)) == sorted(STYLES)


def test_every_module_is_reached_from_the_shell_which_has_the_browser_fetch_all_of_them_at_once() -> None:
    (first,) = re.findall(r'<script type="module" src="/static/(\w+\.js)"', SHELL)
    (plain,) = re.findall(r'<script src="/static/(\w+\.js)"', SHELL)
    waiting, reached = [first], {first}
    while waiting:
        new = set(re.findall(r"(?:from|import) '\./(\w+\.js)'", MODULES[waiting.pop()])) - reached
        waiting += new
        reached |= new
    vendored = {f"vendor/{name}" for name, _ in libraries.MODULES.values()}

    assert reached | {plain} == set(MODULES)
    assert sorted(re.findall(r'<link rel="modulepreload" href="/static/([\w./-]+)">', SHELL)) == sorted(
        (reached | vendored) - {first}
    )


def test_what_a_module_exports_is_imported_by_another_one_or_called_by_a_test() -> None:
    tests = [file.read_text() for file in (Path(__file__).parents[2] / "web").glob("*.py")]

    assert [
        f"{module}: {name}"
        for module, text in MODULES.items()
        for name in re.findall(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", text, re.MULTILINE)
        if name not in _imported_from(module)
        and not any(f'"{module}"' in test and re.search(rf"\b{name}\b", test) for test in tests)
    ] == []


def test_what_a_module_imports_or_names_for_itself_it_uses() -> None:
    named = re.compile(r"^import \{([^}]*)\} from|^(?:const|let|class|function\*?|async function) (\w+)", re.MULTILINE)

    assert [
        f"{module}: {name}"
        for module, text in MODULES.items()
        if module != "libraries.js"
        for found in named.findall(COMMENT.sub("", text))
        for name in re.findall(r"(\w+)(?=,|\s*$)", " ".join(found))
        if len(re.findall(rf"\b{name}\b", COMMENT.sub("", text))) < 2
    ] == []


def test_no_line_of_a_module_is_wide() -> None:
    wide = {name: [line for line in text.splitlines() if len(line) > WIDEST] for name, text in MODULES.items()}

    assert {name: lines for name, lines in wide.items() if lines} == {}


def test_no_module_makes_markup_or_code_of_a_text() -> None:
    assert {name: found for name, text in MODULES.items() if (found := SINKS.findall(text))} == {}


def test_nothing_names_another_host_and_no_code_stands_in_the_shell_or_a_style_sheet() -> None:
    every = {**MODULES, **STYLES, "index.html": SHELL}

    assert {name: found for name, text in every.items() if (found := ELSEWHERE.findall(COMMENT.sub("", text)))} == {}
    assert re.findall(r"@import|<style|\son\w+=|javascript:|<script>", SHELL + "".join(STYLES.values())) == []


def _classes(style: str) -> set[str]:
    return set(re.findall(r"\.([a-zA-Z][\w-]*)", " ".join(_selectors(style))))


def _used(style: str) -> set[str]:
    """Those classes that are given to an element, or made of a beginning such as `m-${…}` and a word of the modules."""
    text = "\n".join(COMMENT.sub("", one) for one in (*MODULES.values(), SHELL))
    places = re.findall(r"(?:class|className|look) ?=.*|'[\w -]{1,24}'|\w+: (?:true|false)|\} [\w-]+`", text)
    given = {word for place in places for word in re.findall(r"[\w-]+", place)}
    ends = given | set(re.findall(r"\b(\w+):", text)) | {str(number) for number in range(10)}
    made = {start + end for start in re.findall(r"\b([a-z]+-)\$\{", text) for end in ends}
    return given | made | (set(STANDARD_TYPES.values()) if ".source" in style else set())


def _selectors(style: str) -> Iterator[str]:
    for found in re.finditer(r"([^{}]+)\{", COMMENT.sub("", style)):
        yield " ".join(found[1].split())


def _rules(style: str) -> list[str]:
    """The selectors of the rules that always hold."""
    always = re.sub(r"@[^{]+\{(?:[^{}]*\{[^{}]*\})*\s*\}", "", COMMENT.sub("", style))
    return list(_selectors(always))


def _imported_from(module: str) -> set[str]:
    lists = re.findall(rf"import \{{([^}}]*)\}} from '\./{re.escape(module)}'", "".join(MODULES.values()))
    return {word for names in lists for word in re.findall(r"(\w+)(?: as \w+)?", names)}
