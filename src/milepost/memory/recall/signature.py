"""Two signatures of a failure, by which it is known again: with the file or test that failed, and without.

They differ from the one by which a run sees that it goes in circles (`milepost.core.failure_signature`): names stay,
since a missing `yaml` is not fixed by what fixed a missing `numpy`.
"""

from __future__ import annotations

import re

from milepost.core.failure_signature import normal_form, plain

LONGEST = 300
LONGEST_READ = 20_000

_CLASS = r"[A-Za-z_]\w*(?:Error|Exception|NotFound|Warning|Exit|Interrupt|Timeout|Expired|Refused)"
_RAISED = re.compile(rf"^(?:E\s+)?(?:[\w.]+\.)?({_CLASS}\b(?!\().*)$")
_REPORTED = re.compile(
    r"^(?:.*?\W)?(error(?:\s+TS\d+|\[E\d+\]).*|fatal: .*|panic: .*|go: .*"
    r"|npm (?:ERR!|error) (?:E[A-Z]{3,} |[Mm]issing ).*"
    r"|(?:[Uu]ncaught )?(?:TypeError|ReferenceError|RangeError|SyntaxError): .*|error: .*)$"
)
_OWN_PLACE = re.compile(r"\s*\((?:[A-Za-z]:)?[/\\][^)]*\)$")
_PATH = re.compile(r"(?<![\w<:/])(?:[A-Za-z]:)?(?:[\w.@~+%=-]*[/\\])+([\w.@~+%=-]+)")
_NUMBER = re.compile(r"\b(?:TS\d+|E\d{4}|errno \d+|status \d{3})\b|\d+(?:\.\d+)*", re.IGNORECASE)

_TEST = re.compile(
    r"^(?:FAILED|ERROR)\s+(\S+?::[^\s\[]+)|^_{3,} (?:[\w.]+\.)?(test\w*)(?:\[.*\])? _{3,}$|^\s*--- FAIL: (\w+)",
    re.MULTILINE,
)
_PYTHON_FRAME = re.compile(r"^(?:E\s+|\s*)(?:File \"([^\"\n]+)\", line \d+|(\S+\.py):\d+: )", re.MULTILINE)
_OTHER_FRAME = re.compile(
    r"^\s*(?:-->\s+(\S+?):\d+|(\S+?)\(\d+,\d+\): error|(\S+?\.\w{1,4}):\d+:\d+|at .*?\(?([^\s()]+?):\d+:\d+\)?$)",
    re.MULTILINE,
)
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python|node_modules|^<|/\.cargo/|/usr/lib|node:")

_HASH = re.compile(r"^[0-9a-f]{8} ")
_PLACEHOLDER = re.compile(r"<\w+>")
_WORD = re.compile(r"[a-z][a-z_]{2,}")
# What the messages of languages and tools say whatever they are about.
_MESSAGES = """
    and any are argument arguments assert assertion assignable attribute because but byte call can cannot character code
    codec could decode depth does error exceeded exist exists expected expression failed field file for from found got
    has have import index input instance int integer invalid is key line list literal local maximum missing module most
    comparison name named negative nil none not null number object one only operand operator out parameter position
    positional property range
    recursion required runtime string str such support supported syntax than that the this too true false type types
    undefined unexpected unpack unsupported value values variable was were with without zero directory argv exit status
    """
_STANDARD = frozenset(_MESSAGES.split())


def signatures(error: str) -> tuple[str, ...]:
    """The signatures of an error by its raw text, the one with its place first; none where no error is told.

    The one without a place is left out where it says nothing of its own: `assert # == #`.
    """
    text = plain(error if len(error) <= LONGEST_READ else error[: LONGEST_READ // 4] + "\n" + error[-LONGEST_READ:])
    what, where = _what(text), _where(text)
    if not what:
        return ()
    found = [f"{where}: {what}"[:LONGEST]] if where else []
    return (*found, what) if telling(what) else tuple(found)


def telling(signature: str) -> bool:
    """Whether a signature says more than what kind of error it was: only then a task with the same is alike."""
    normal = _PLACEHOLDER.sub(" ", _HASH.sub("", signature).lower())
    first, _, rest = normal.partition(":")
    words = _WORD.findall(rest if " " not in first.strip() else normal)
    return any(word not in _STANDARD for word in words)


def _what(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    raised = [found.group(1) for line in lines if (found := _RAISED.match(line))]
    reported = [found.group(1) for line in lines if not raised and (found := _REPORTED.match(line))]
    told = raised[-1:] or reported[:1]
    return _normal(told[0]) if told else ""


def _normal(line: str) -> str:
    line = _PATH.sub(r"\1", _OWN_PLACE.sub("", line[: 4 * LONGEST]))
    line = normal_form(line, keep_names=True)
    return (
        _NUMBER.sub(lambda found: found.group() if found.group()[0].isalpha() else "#", line).lower()[:LONGEST].strip()
    )


def _where(text: str) -> str:
    tests = [next(filter(None, found)) for found in _TEST.findall(text)]
    if tests:
        return _base(tests[-1]).lower()
    frames = [next(filter(None, found)) for found in _PYTHON_FRAME.findall(text)]
    others = [next(filter(None, found)) for found in _OTHER_FRAME.findall(text)] if not frames else []
    own = [frame for frame in (*reversed(frames), *others) if not _LIBRARY.search(frame)]
    return _base(own[0]).lower() if own else ""


def _base(place: str) -> str:
    path, sign, test = place.partition("::")
    return path.replace("\\", "/").rpartition("/")[2] + sign + test
