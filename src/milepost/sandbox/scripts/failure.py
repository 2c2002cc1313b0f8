"""Why a program failed: from the exception that it ended with, or from how its process ended."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from milepost.core.commands import CommandResult

ScriptFailureClass = Literal["import", "syntax", "runtime", "permission", "timeout", "unknown"]

_IMPORT_CODES = frozenset({"MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"})
_PERMISSION_CODES = frozenset({"EACCES", "EPERM", "ERR_ACCESS_DENIED", errno.EACCES, errno.EPERM, errno.EROFS})
_PERMISSION_NAMES = frozenset({"PermissionError", "PermissionDenied", "NotCapable"})
_TIMEOUT_NAMES = frozenset({"TimeoutError", "TimedOut"})
_PLAIN_NAME = re.compile(r"(@[a-z0-9~-][\w.~-]*/)?[A-Za-z0-9_][\w.-]*")
# What Deno prints about a module that it does not start.
_UNLOADED = re.compile(
    r"^error: (?:Module not found|Import) \"(?P<missing>[^\"]+)\".*|^error: (?P<syntax>SyntaxError: .*)"
    r"|^error: (?P<unparsed>The module's source code could not be parsed.*)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFailure:
    """Why a program failed. The exception is what the program itself reported.

    `missing` is the package that it could not import, where that is a plain name.
    """

    kind: ScriptFailureClass
    type: str
    message: str
    traceback: str = ""
    missing: str = ""


def failure_of(result: CommandResult, report: str) -> ScriptFailure | None:
    """Why a program failed that ended so and wrote this report; None for one that did not fail."""
    if result.succeeded:
        return None
    match result.termination:
        case "timeout":
            return ScriptFailure(kind="timeout", type="", message="ran longer than its timeout")
        case "not_started":
            refused = "refused by policy" in result.error
            return ScriptFailure(kind="permission" if refused else "unknown", type="", message=result.error)
        case "exited":
            return _reported(report) or _unloaded(result.stderr) or _silent(result)
        case "signalled" | "idle" | "output" | "killed" | "memory" | "processes" | "cpu" | "disk" | "steps":
            return ScriptFailure(kind="unknown", type="", message=result.error)
        case _ as never:
            assert_never(never)


def _reported(report: str) -> ScriptFailure | None:
    """The exception in a report; None where the report is missing or malformed."""
    try:
        found = json.loads(report)
        names = [str(name) for name in found["names"]]
        message, traceback, code = str(found["message"]), str(found["traceback"]), found.get("code")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    missing = found.get("missing") or _named_in(message, code)
    return ScriptFailure(
        kind=_class_of(names, code),
        type=names[0] if names else "",
        message=message,
        traceback=traceback,
        missing=_package(str(missing or "")),
    )


def _class_of(names: Sequence[str], code: Any) -> ScriptFailureClass:
    known = code if isinstance(code, str | int) else None
    if "ImportError" in names or known in _IMPORT_CODES:
        return "import"
    if "SyntaxError" in names:
        return "syntax"
    if not _PERMISSION_NAMES.isdisjoint(names) or known in _PERMISSION_CODES:
        return "permission"
    return "timeout" if not _TIMEOUT_NAMES.isdisjoint(names) else "runtime"


def _unloaded(stderr: str) -> ScriptFailure | None:
    found = _UNLOADED.search(stderr)
    if found is None:
        return None
    message = found[0].removeprefix("error: ")
    if found["missing"]:
        package = _package(found["missing"])
        return ScriptFailure(kind="import", type="", message=message, traceback=stderr, missing=package)
    return ScriptFailure(kind="syntax", type="SyntaxError", message=message, traceback=stderr)


def _silent(result: CommandResult) -> ScriptFailure:
    return ScriptFailure(kind="unknown", type="", message=f"exit code {result.exit_code}")


def _named_in(message: str, code: Any) -> str:
    """The module that an error of Node names first."""
    found = re.search(r"'([^']+)'", message) if code in ("MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND") else None
    return found[1] if found else ""


def _package(module: str) -> str:
    """The package that a module is of; empty for a path, and for what could not be a package's name."""
    if not _PLAIN_NAME.match(module):
        return ""
    scope = module.startswith("@")
    parts = module.split("/")
    name = "/".join(parts[:2] if scope else parts[:1])
    name = name if scope or len(parts) > 1 else name.partition(".")[0] or name
    return name if _PLAIN_NAME.fullmatch(name) else ""
