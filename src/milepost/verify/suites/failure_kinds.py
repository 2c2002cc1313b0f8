"""The kind of a test's failure, decided from the type of the exception, and from the text where there is none."""

from __future__ import annotations

import re

from milepost.core.verdict import FailureKind

_BY_TYPE: dict[str, FailureKind] = {
    **dict.fromkeys(
        (
            *("AssertionError", "Failed", "AssertionFailedError", "ComparisonFailure", "MultipleFailuresError"),
            *("ERR_ASSERTION", "JestAssertionError", "AssertionFailure", "ExpectationNotMetException"),
        ),
        "assertion",
    ),
    **dict.fromkeys(
        (
            *("ImportError", "ModuleNotFoundError", "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"),
            *("ClassNotFoundException", "NoClassDefFoundError", "ERR_PACKAGE_PATH_NOT_EXPORTED"),
        ),
        "import",
    ),
    **dict.fromkeys(("TypeError", "ClassCastException"), "type"),
    **dict.fromkeys(
        (
            *("ValueError", "UnicodeDecodeError", "UnicodeEncodeError", "JSONDecodeError", "ValidationError"),
            *("RangeError", "IllegalArgumentException", "NumberFormatException"),
        ),
        "value",
    ),
    **dict.fromkeys(("AttributeError", "NoSuchMethodError", "NoSuchFieldError", "NoSuchMethodException"), "attribute"),
    **dict.fromkeys(
        ("TimeoutError", "Timeout", "TimeoutExpired", "TimeoutException", "TestTimedOutException", "ReadTimeout"),
        "timeout",
    ),
}
_LEADING_TYPE = re.compile(
    r"^(?:E\s+)?(?:Uncaught |Exception in thread \S+ )?"
    r"(?P<type>(?:[A-Za-z_][\w.$]*?)?(?:Error|Exception|Failure|Failed|Exit|Interrupt))"
    r"(?: \[(?P<code>[A-Z_]+)\])?(?::|$)",
    re.MULTILINE,
)
_TIMEOUT_OF_PYTEST = re.compile(r"^(?:Failed: )?Timeout \(?>")
_MESSAGES: tuple[tuple[re.Pattern[str], FailureKind], ...] = (
    (re.compile(r"cannot find (module|package)|no module named|failed to (resolve import|load url)", re.I), "import"),
    (re.compile(r"exceeded timeout of|test timed out|\btimed out (in|after)\b|deadline exceeded", re.I), "timeout"),
    (
        re.compile(
            r"\bassertion\b.*\bfailed\b|^assert(?:ion)?\b|\bexpect\(|^expected\b|\bto (?:be|equal)\b", re.I | re.M
        ),
        "assertion",
    ),
    (re.compile(r"panic|segmentation fault|sigsegv|sigabrt|core dumped", re.I), "runtime"),
)


def kind_of(exception_type: str, message: str, traceback: str, during_collection: bool) -> FailureKind:
    """The kind of a failure; what went wrong before any test could run is a `collection` failure, or a lost import."""
    if _TIMEOUT_OF_PYTEST.search(message):
        return "timeout"
    kind = _told_by_type(exception_type) or _told_by_text(message) or _told_by_text(traceback) or "unknown"
    if during_collection and kind != "import":
        return "collection"
    return kind


def exception_named(text: str) -> str:
    """The type of the exception that a message or a traceback tells of, the last where there are several."""
    found = list(_LEADING_TYPE.finditer(text))
    return (found[-1]["code"] or found[-1]["type"]) if found else ""


def _told_by_type(name: str) -> FailureKind | None:
    plain = re.split(r"[.$:]", name.strip())[-1]
    if not plain or plain in ("Error", "Exception"):
        return None  # says only that something went wrong
    if plain in _BY_TYPE:
        return _BY_TYPE[plain]
    return "runtime" if plain.endswith(("Error", "Exception", "Exit", "Interrupt", "Warning")) else None


def _told_by_text(text: str) -> FailureKind | None:
    if kind := _told_by_type(exception_named(text)):
        return kind
    return next((kind for pattern, kind in _MESSAGES if pattern.search(text)), None)
