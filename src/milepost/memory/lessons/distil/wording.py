"""How lessons are worded: our own sentences around quoted evidence, and back, so that a forged one is known."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from milepost.core.memories import LessonKind
from milepost.memory.lessons.distil import sanitise
from milepost.memory.lessons.distil.lines import quoted
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.sources.grammars import language_of

MOST_TOKENS = 100
BYTES_PER_TOKEN = 4
# What is shown has a mark of where it comes from beside it, which has to fit, too.
LONGEST_TEXT = (MOST_TOKENS - 10) * BYTES_PER_TOKEN

_INDENT = "    "
_USAGE = "`{symbol}` as it is used in `{path}`, which passed:\n{code}"
_RECOVERY = "`{error}` ({digest}) was mended in `{path}` with:\n{code}"
_COMMAND = "The check {check} passed here by: `{command}`"
_TOGETHER = "`{path}` and `{other}` changed together in {count} verified mileposts."
_FLAKY = "`{test}` failed and passed on the same tree ({count} of {runs} runs): do not mend it."
_FAILED = "Tried for this task and failed with `{error}` ({digest}): a change of `{path}`{names}."
_TESTS = "Tests of `{path}` are in `{other}` ({count} of {runs} verified mileposts)."
_ALONG = "`{path}` is changed along with the code ({count} of {runs} verified mileposts)."
_FACT = "The check {check} is done by `{tool}` here."
_CHOSEN_FAILED = "Tried in `{path}` and failed with `{error}` ({digest}):\n{code}"
_CHOSEN = "From `{path}`, which passed:\n{code}"

_SLOTS = {
    "symbol": r"(?P<symbol>\.*[\w.]+)",
    "path": r"(?P<path>[^`\n]+)",
    "other": r"(?P<other>[^`\n]+)",
    "error": r"(?P<error>\w+)",
    "digest": r"(?P<digest>[0-9a-f]{8})",
    "check": r"(?P<check>[a-z_-]{1,20})",
    "command": r"(?P<command>[^`\n]+)",
    "test": r"(?P<test>[^`\n]+)",
    "count": r"\d{1,6}",
    "runs": r"\d{1,6}",
    "names": r"(?: \((?P<names>`\w+`(?:, `\w+`){0,3})\))?",
    "tool": r"(?P<tool>[a-z0-9]{2,12})",
    "code": r"(?P<code>(?:    [^\n]*(?:\n|\Z))+)",
}
_TEMPLATES: Mapping[LessonKind, tuple[str, ...]] = {
    "usage": (_USAGE,),
    "recovery": (_RECOVERY,),
    "command": (_COMMAND,),
    "together": (_TOGETHER,),
    "flaky": (_FLAKY,),
    "failed_approach": (_FAILED,),
    "convention": (_TESTS, _ALONG),
    "fact": (_FACT,),
    "distilled": (_CHOSEN, _CHOSEN_FAILED),
}


def usage(symbol: str, path: str, code: str) -> str:
    plain = symbol.lstrip(".")
    return _USAGE.format(symbol=sanitise.name(plain) and symbol, path=sanitise.path(path), code=_block(code))


def recovery(error: str, digest: str, path: str, code: str) -> str:
    return _RECOVERY.format(error=sanitise.name(error), digest=digest, path=sanitise.path(path), code=_block(code))


def command(check: str, argv: Sequence[str]) -> str:
    return _COMMAND.format(check=check, command=sanitise.command(argv))


def together(path: str, other: str, count: int) -> str:
    return _TOGETHER.format(path=sanitise.path(path), other=sanitise.path(other), count=count)


def flaky(test: str, count: int, runs: int) -> str:
    return _FLAKY.format(test=named_test(test), count=count, runs=runs)


def failed(error: str, digest: str, path: str, names: Iterable[str]) -> str:
    shown = ", ".join(f"`{sanitise.name(one)}`" for one in names)
    told = f" ({shown})" if shown else ""
    return _FAILED.format(error=sanitise.name(error), digest=digest, path=sanitise.path(path), names=told)


def tests_of(path: str, other: str, count: int, runs: int) -> str:
    return _TESTS.format(path=sanitise.path(path), other=sanitise.path(other), count=count, runs=runs)


def along(path: str, count: int, runs: int) -> str:
    return _ALONG.format(path=sanitise.path(path), count=count, runs=runs)


def fact(check: str, tool: str) -> str:
    return _FACT.format(check=check, tool=sanitise.path(tool))


def chosen(path: str, code: str) -> str:
    return _CHOSEN.format(path=sanitise.path(path), code=_block(code))


def chosen_failed(error: str, digest: str, path: str, code: str) -> str:
    return _CHOSEN_FAILED.format(error=sanitise.name(error), digest=digest, path=sanitise.path(path), code=_block(code))


def fits(text: str) -> bool:
    """Whether a text is short enough for a lesson."""
    return len(text.encode()) <= LONGEST_TEXT


def named_test(test: str) -> str:
    """A test as it may be quoted: with its name where that is one, else only the file that it is in."""
    path, *names = test.partition("[")[0].split("::")
    shown = sanitise.path(path)
    try:
        return "::".join([shown, *map(sanitise.name, names)])
    except CannotQuote:
        return shown


def code_in(text: str) -> str:
    """The code that a lesson quotes; empty where it quotes none."""
    lines = text.split("\n")[1:]
    return "\n".join(line.removeprefix(_INDENT) for line in lines)


def is_warning(text: str) -> bool:
    """Whether the code that a lesson quotes failed."""
    return any(_pattern(template).fullmatch(text) for template in (_FAILED, _CHOSEN_FAILED))


def objection(kind: LessonKind, text: str) -> str:
    """Why a text is no lesson of this kind that we could have worded; empty where it is one."""
    found = next((hit for template in _TEMPLATES[kind] if (hit := _pattern(template).fullmatch(text))), None)
    if found is None:
        return "is not worded as lessons are"
    if len(text.encode()) > MOST_TOKENS * BYTES_PER_TOKEN:
        return "is longer than a lesson"
    slots = {slot: value for slot, value in found.groupdict().items() if value is not None}
    try:
        for slot, value in slots.items():
            _HOLDS[slot](value, slots)
        sanitise.checked(text)
    except CannotQuote as refused:
        return refused.why
    return ""


def _block(code: str) -> str:
    return "\n".join(f"{_INDENT}{line}" for line in code.splitlines())


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile("".join(_SLOTS[part] if odd % 2 else re.escape(part) for odd, part in enumerate(parts)))


def _hold_code(value: str, slots: Mapping[str, str]) -> None:
    code = "\n".join(line.removeprefix(_INDENT) for line in value.split("\n"))
    if language_of(slots["path"]) == "Python" and "symbol" in slots:
        if sanitise.python(code) != code:
            raise CannotQuote("quotes what is left out of code")
    elif list(quoted(slots["path"], code.splitlines())) != code.splitlines():
        raise CannotQuote("quotes what is left out of code")


_HOLDS: Mapping[str, Callable[[str, Mapping[str, str]], object]] = {
    "symbol": lambda value, _: sanitise.name(value.lstrip(".")),
    "path": lambda value, _: sanitise.path(value),
    "other": lambda value, _: sanitise.path(value),
    "error": lambda value, _: sanitise.name(value),
    "digest": lambda value, _: value,
    "check": lambda value, _: sanitise.checked(value),
    "command": lambda value, _: sanitise.command(_argv(value)),
    "test": lambda value, _: _hold_test(value),
    "names": lambda value, _: [sanitise.name(one) for one in re.findall(r"\w+", value)],
    "tool": lambda value, _: sanitise.path(value),
    "code": _hold_code,
}


def _argv(typed: str) -> list[str]:
    try:
        return shlex.split(typed)
    except ValueError:
        raise CannotQuote("a command that cannot be read") from None


def _hold_test(value: str) -> None:
    if named_test(value) != value:
        raise CannotQuote("a test with a name that reads as a sentence")
