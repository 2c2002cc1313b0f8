"""Whether an attempt did as a lesson says, and whether what it failed with is about that."""

from __future__ import annotations

import re
from collections.abc import Iterable

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil.added_lines import added_numbers, added_text
from milepost.memory.lessons.distil.call_shapes import calls_in
from milepost.memory.lessons.distil.wording import code_in, is_warning
from milepost.memory.lessons.experience import FileChange
from milepost.memory.recall.signature import signatures
from milepost.sources.grammars import language_of

_LITERAL = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|\b\d[\w.]*""")
_IMPORT = re.compile(r"(?:import|from|use|pub use)\b|(?:const|let|var)\s.*\brequire\(")


def uses(lesson: Lesson, changes: Iterable[FileChange]) -> bool:
    """Whether what a lesson is about is in a change: a file of it, or a name in the lines that were added."""
    names = _named(lesson.symbols)
    return any(
        change.path in lesson.symbols or names.search(added_text(change.before, change.after))
        for change in (changes if lesson.symbols else ())
    )


def follows(lesson: Lesson, changes: Iterable[FileChange]) -> bool:
    """Whether a change has the calls or the lines that a lesson quotes, whatever their literals are.

    One that quotes no code, or code that failed, says nothing that could be seen to be done.
    """
    code = code_in(lesson.text)
    if not code.strip() or is_warning(lesson.text):
        return False
    changed = tuple(changes)
    return (lesson.kind == "usage" and _calls_so(code, changed)) or _has_lines(code, changed)


def concerns(lesson: Lesson, errors: Iterable[str]) -> bool:
    """Whether an error names what a lesson is about, or is the one that it should have mended."""
    names, mended = _named(lesson.symbols), set(lesson.signature.splitlines())
    return any(bool(lesson.symbols and names.search(text)) or bool(mended & {*signatures(text)}) for text in errors)


def _calls_so(code: str, changes: Iterable[FileChange]) -> bool:
    """Whether the added lines of a Python file call as the lesson does."""
    told = calls_in(code)
    python = [one for one in changes if one.after and language_of(one.path) == "Python"]
    return bool(told) and any(told <= calls_in(one.after or "", added_numbers(one.before, one.after)) for one in python)


def _has_lines(code: str, changes: Iterable[FileChange]) -> bool:
    told = {line for line in _plain_lines(code) if not _IMPORT.match(line)}
    added = {line for one in changes for line in _plain_lines(added_text(one.before, one.after))}
    return bool(told) and told <= added


def _plain_lines(code: str) -> Iterable[str]:
    """The lines of code, without literals and spaces."""
    found = (" ".join(_LITERAL.sub("…", line).split()).removesuffix(";") for line in code.splitlines())
    return filter(None, found)


def _named(symbols: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<![\w$]){re.escape(symbol)}(?![\w$])" for symbol in symbols))
