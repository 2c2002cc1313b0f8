"""Which class an error line, or the last words of an agent, belongs to."""

from __future__ import annotations

import re

from milepost.core.failures import FailureClass
from milepost.repair.diagnosis.clues import error_line, exception_name, missing_file, missing_module

_BY_EXCEPTION: dict[str, FailureClass] = {
    **dict.fromkeys(("SyntaxError", "IndentationError", "TabError"), FailureClass.SYNTAX_ERROR),
    **dict.fromkeys(("ModuleNotFoundError", "ImportError", "NoClassDefFoundError"), FailureClass.IMPORT_ERROR),
    **dict.fromkeys(("ClassNotFoundException", "PackageNotFoundError"), FailureClass.IMPORT_ERROR),
    **dict.fromkeys(("FileNotFoundError", "NotADirectoryError", "NoSuchFileException"), FailureClass.FILE_NOT_FOUND),
    **dict.fromkeys(("TimeoutError", "TimeoutExpired", "ReadTimeout", "ConnectTimeout"), FailureClass.TIMEOUT),
    **dict.fromkeys(("TimeoutException", "Timeout"), FailureClass.TIMEOUT),
    **dict.fromkeys(("TypeError", "ClassCastException"), FailureClass.TYPE_ERROR),
    **dict.fromkeys(
        ("AttributeError", "NameError", "UnboundLocalError", "NotImplementedError", "ReferenceError"),
        FailureClass.INCOMPLETE_IMPLEMENTATION,
    ),
    **dict.fromkeys(("NoSuchMethodError", "UnsupportedOperationException"), FailureClass.INCOMPLETE_IMPLEMENTATION),
    **dict.fromkeys(
        ("PermissionError", "MemoryError", "OutOfMemoryError", "ConnectionRefusedError", "BlockingIOError"),
        FailureClass.TOOL_FAILURE,
    ),
}

# Lines that say more than the exception they begin with, and lines of compilers, which begin with none.
_BY_WORDS: tuple[tuple[FailureClass, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            FailureClass.TOOL_FAILURE,
            r"EADDRINUSE|(?i:address already in use)|ENOSPC|No space left on device|EMFILE|Too many open files"
            r"|Cannot allocate memory|out of memory",
        ),
        (FailureClass.TIMEOUT, r"^Failed: Timeout|(?i:exceeded timeout of)|(?i:test timed out)"),
        (
            FailureClass.IMPORT_ERROR,
            r"does not provide an export named|cannot import name|partially initialized module",
        ),
        (
            FailureClass.SYNTAX_ERROR,
            r"error TS1\d{3}:|(?i:syntax error)|error: expected |error: this file contains an un",
        ),
        (
            FailureClass.TYPE_ERROR,
            r"error TS2(?:322|345|339|554|741|769)\b|error\[E0(?:308|277|061)\]|incompatible types",
        ),
        (
            FailureClass.INCOMPLETE_IMPLEMENTATION,
            r"error TS2(?:304|305|614|724)\b|error\[E0(?:425|433|412|599|432)\]|undefined reference to|: undefined: "
            r"|cannot find symbol|was not declared in this scope|not (?:yet )?implemented|No rule to make target"
            r"|Missing script:",
        ),
        (FailureClass.TYPE_ERROR, r"error TS\d+:|error\[E\d+\]"),
    )
)
_ASSERTS = re.compile(r"^(?:assert\b|expect(?:ed)?\b|AssertionError\b|[^:]{0,200} [!=]= )")

_GIVE_UP: tuple[tuple[FailureClass, re.Pattern[str]], ...] = tuple(
    (kind, re.compile("|".join(patterns), re.IGNORECASE))
    for kind, patterns in (
        (
            FailureClass.CONTEXT_STALE,
            (
                r"patch does not apply|hunk #?\d+ failed|failed to match|no longer matches",
                r"(?:string|text|block|snippet) (?:was )?not found in",
                r"(?:modified|changed) since (?:it was )?(?:last )?read",
            ),
        ),
        (
            FailureClass.CONTEXT_MISSING,
            (
                r"need (?:more|further) (?:information|context|details)",
                r"(?:not enough|insufficient|missing) (?:context|information)",
                r"\b(?:unclear|ambiguous|not specified|unspecified)\b|does not say (?:what|which|where|how)",
                r"(?:could not|cannot|can't) (?:find|locate) (?:the|any|a) (?:function|class|definition|method)",
            ),
        ),
        (
            FailureClass.TOOL_FAILURE,
            (
                r"could not start|was ended by sig|was killed|was stopped: it wrote too much|command not found",
                r"no more answers|tool call failed|permission denied",
            ),
        ),
        (
            FailureClass.INCOMPLETE_IMPLEMENTATION,
            (r"stopped after \d+ (?:steps|turns)|ran out of (?:steps|turns)|max(?:imum)? (?:steps|turns)",),
        ),
    )
)


def class_of_error(line: str) -> FailureClass | None:
    """The class of one telling line; None when the line is of no known kind, or an assertion."""
    name = exception_name(line)
    if name in ("AssertionError", "AssertionFailedError") or (not name and _ASSERTS.match(line)):
        return None
    for kind, pattern in _BY_WORDS[:3]:
        if pattern.search(line):
            return kind
    if name in _BY_EXCEPTION:
        return FailureClass.TEST_FAILURE if _parses_data(line) else _BY_EXCEPTION[name]
    if name in ("", "Error"):
        return _of_words(line)
    return None


def class_of_give_up(said: str) -> FailureClass:
    """The class of an attempt whose agent stopped by itself and named no service."""
    end = "\n".join(said.splitlines()[-20:])
    for kind, pattern in _GIVE_UP:
        if pattern.search(end):
            return kind
    line = error_line(end)
    told = class_of_error(line)
    if told is FailureClass.FILE_NOT_FOUND:
        return told
    return FailureClass.TOOL_FAILURE if exception_name(line) else FailureClass.UNKNOWN


def _of_words(line: str) -> FailureClass | None:
    if missing_module(line):
        return FailureClass.IMPORT_ERROR
    if missing_file(line):
        return FailureClass.FILE_NOT_FOUND
    return next((kind for kind, pattern in _BY_WORDS if pattern.search(line)), None)


def _parses_data(line: str) -> bool:
    """JavaScript calls it a SyntaxError, too, when a program was given bad JSON."""
    return exception_name(line) == "SyntaxError" and "JSON" in line
