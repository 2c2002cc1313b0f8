"""A failure: what went wrong with an attempt, by class, so that it can be counted and mended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

CHANGED_NOTHING = "the attempt changed nothing"

Severity = Literal["critical", "high", "medium", "low"]


class FailureClass(StrEnum):
    """What kind of thing went wrong, decided from evidence."""

    CONTEXT_MISSING = "context_missing"
    CONTEXT_STALE = "context_stale"
    CONTEXT_OVERWHELMING = "context_overwhelming"
    WRONG_FILE = "wrong_file"
    FILE_NOT_FOUND = "file_not_found"
    FILE_CONFLICT = "file_conflict"
    PARTIAL_CHANGE = "partial_change"
    INCOMPLETE_IMPLEMENTATION = "incomplete_implementation"
    REGRESSION = "regression"
    SYNTAX_ERROR = "syntax_error"
    TYPE_ERROR = "type_error"
    IMPORT_ERROR = "import_error"
    TEST_FAILURE = "test_failure"
    WRONG_APPROACH = "wrong_approach"
    SCOPE_CREEP = "scope_creep"
    TOOL_FAILURE = "tool_failure"
    TIMEOUT = "timeout"
    API_ERROR = "api_error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failed attempt as it is counted: `signature` is the same for the same error in other places.

    `subject` is the one thing it is about where there is one: the module that is missing, the file. `machine` is what
    a person can do where the machine failed and not the work; empty where it did not.
    """

    kind: FailureClass
    severity: Severity
    signature: str
    summary: str
    subject: str = ""
    check: str = ""
    machine: str = ""
