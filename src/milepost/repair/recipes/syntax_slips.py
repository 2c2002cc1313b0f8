"""The recipe for slips of writing that keep a file from being parsed at all.

An edit is made only when the file does not parse as it is and does parse afterwards.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import PurePosixPath

from milepost.core.failures import FailureClass
from milepost.repair.recipes import syntax_edits
from milepost.repair.recipes.parsing import Parsed, parse_python, parses_as_script
from milepost.repair.recipes.recipe import Advice, Answer, Mended, RecipeTools, RepairCase

PYTHON = (".py", ".pyi")
SCRIPTS = (".js", ".mjs", ".cjs")
ROUNDS = 40
MOST_FILES = 20

_SIGNS = re.compile(
    "SyntaxError|IndentationError|TabError|Unexpected token|Unterminated|Invalid or unexpected|JSONDecodeError"
    "|TOMLDecodeError|is not valid JSON|is not valid TOML|<{7} |invalid-syntax|Expecting property name"
    '|"" is not a function'
)

# Text that is meant not to parse is kept under these names.
_SAMPLES = re.compile(r"(?:^|/)_*(?:fixtures?|test[-_]?data|corpus|snapshots?|goldens?|samples?|templates?)_*/")

Parses = Callable[[str], bool]


class SyntaxSlip:
    """Takes back fences, conflict markers, literal line ends and odd characters that were written by mistake."""

    name = "syntax slip"

    def fits(self, case: RepairCase) -> bool:
        return case.failure.kind is FailureClass.SYNTAX_ERROR or _SIGNS.search(case.said) is not None

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        mended: dict[str, str] = {}
        undecided: list[str] = []
        for path in suspects(case):
            text = case.files.text(path)
            if text is None or not case.may_change(path):
                continue
            found = _mend(path, text, case, tools)
            if found is not None:
                after, what = found
                case.files.write(path, after.encode())
                mended[path] = what
            elif syntax_edits.has_conflict(text) and path.endswith((*PYTHON, *SCRIPTS, ".json", ".toml")):
                undecided.append(path)
        if mended:
            told = ", ".join(f"{what} in {path}" for path, what in mended.items())
            return Mended(what=f"reverted {told}", paths=tuple(mended))
        if undecided:
            return Advice(what=f"conflict markers were left in {', '.join(undecided)}: decide between the two sides")
        return None


def suspects(case: RepairCase) -> tuple[str, ...]:
    """The files that the evidence names, then those that the attempt changed."""
    said = f"{case.failure.subject}\n{case.said}"
    parsed = (*PYTHON, *SCRIPTS, ".json", ".toml")
    paths = [path for path in case.files.paths() if path.endswith(parsed) and not _SAMPLES.search(path)]
    named = [path for path in paths if _is_named(path, said)]
    changed = [path for path in case.change.paths if path in set(paths)]
    return tuple(dict.fromkeys((*named, *changed)))[:MOST_FILES]


def _is_named(path: str, said: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(PurePosixPath(path).name)}(?![\w-])", said) is not None


def _mend(path: str, text: str, case: RepairCase, tools: RecipeTools) -> tuple[str, str] | None:
    """The text that parses and what was taken back, None when it parses already or nothing helps."""
    suffix = PurePosixPath(path).suffix
    if suffix in PYTHON:
        return _mend_python(text, case, tools)
    parses = _parser_of(suffix, case, tools)
    # To JavaScript a fence around a file is a template string: it parses, and exports nothing.
    fenced = suffix in SCRIPTS and syntax_edits.without_fence(text) is not None
    if not fenced and parses(text):
        return None
    for edit in syntax_edits.WHOLE:
        after = edit.of(text)
        if after is not None and after != text and parses(after):
            return after, edit.what
    return None


def _parser_of(suffix: str, case: RepairCase, tools: RecipeTools) -> Parses:
    if suffix == ".json":
        return lambda text: _loads(json.loads, text)
    if suffix == ".toml":
        return lambda text: _loads(tomllib.loads, text)
    return lambda text: parses_as_script(text, suffix, case, tools)


def _loads(load: Callable[[str], object], text: str) -> bool:
    try:
        load(text)
    except (ValueError, RecursionError):
        return False
    return True


def _mend_python(text: str, case: RepairCase, tools: RecipeTools) -> tuple[str, str] | None:
    first = parse_python([text], case, tools)
    if first is None or first[0].succeeded:
        return None
    edits = [(edit.what, edit.of(text)) for edit in syntax_edits.WHOLE]
    whole = [(what, after) for what, after in edits if after is not None and after != text]
    answers = parse_python([after for _, after in whole], case, tools) or []
    for (what, after), answer in zip(whole, answers, strict=False):
        if answer.succeeded:
            return after, what
    return _with_even_indents(text, case, tools) or _line_by_line(text, first[0], case, tools)


def _with_even_indents(text: str, case: RepairCase, tools: RecipeTools) -> tuple[str, str] | None:
    """Tabs as spaces, when every width that parses means the same."""
    widths = [syntax_edits.without_tabs(text, width) for width in (8, 4, 2)]
    if widths[0] == text:
        return None
    answers = parse_python(widths, case, tools) or []
    fitting = [(after, answer) for after, answer in zip(widths, answers, strict=False) if answer.succeeded]
    if not fitting or len({answer.meaning for _, answer in fitting}) > 1:
        return None
    return next((after for after, _ in fitting if after == widths[1]), fitting[0][0]), "tabs mixed with spaces"


def _line_by_line(text: str, problem: Parsed, case: RepairCase, tools: RecipeTools) -> tuple[str, str] | None:
    """Odd characters made plain on the line that does not parse, and on the next one, as long as that gets further."""
    for _ in range(ROUNDS):
        after = syntax_edits.with_plain_line(text, problem.line)
        if after is None:
            return None
        answers = parse_python([after], case, tools)
        if answers is None:
            return None
        if answers[0].succeeded:
            return after, "odd quotes or invisible characters"
        if answers[0].line < problem.line:
            return None
        text, problem = after, answers[0]
    return None
