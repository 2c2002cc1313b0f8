"""What the product answers, in words that another version of it can be held to: values, and nothing of its insides."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import hashlib
import re
import signal
import sys
import time

from .alike import LARGER, MOST_LARGER, Alike
from .endings import Unfit
from .observe import Observer, _is_of_product, observe_with

LONGEST, DEEPEST = 1000, 8
LONGEST_STEP_S, LONGEST_LARGE_S, LONGEST_OF_ALL_S = 3, 15, 4
UNKNOWN = "…"
_VALUES = (int, float, complex, bool, str, bytes, type(None))
_BY_VALUE = ("Decimal", "Fraction", "date", "datetime", "time", "timedelta", "UUID", "range")
_OUTSIDE = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "shutil.", "tempfile.", "sqlite3.")
_MODULES = (".py", ".pyc", ".so", ".pyd")


def observe(steps, calls, names, say, order):
    """Observe the steps by the kind of observer that the order asks for."""
    alike = Alike(order["seed"], order["words"], order["leaves"])
    observe_with((Comparing if order["compared"] else Observer)(alike, say), steps, calls, names, say)


class Opaque(Exception):
    """A value that cannot be compared with one of another process."""


class TooLong(Unfit):
    """A step takes longer than anybody waits for it."""


class Comparing(Observer):
    """An observer that says each argument as it was written, and no answer of a call that is not about values alone."""

    def __init__(self, alike, say):
        super().__init__(alike, say)
        self._looked_outside = False
        sys.addaudithook(self._watch)
        signal.signal(signal.SIGPROF, self._give_up)

    def _watch(self, event, given):
        reads = event == "open" and not str(given[0]).endswith(_MODULES)
        if reads or event.startswith(_OUTSIDE):
            self._looked_outside = True

    def _give_up(self, *_):
        self.slow = self.slow | {self.step}
        raise TooLong("it takes too long")

    def begin(self, name):
        super().begin(name)
        signal.setitimer(signal.ITIMER_PROF, LONGEST_LARGE_S if self.alike.trial >= LARGER else LONGEST_STEP_S)

    def larger(self):
        """The trials with larger values, until these take too long; of time that the processor spends on them."""
        until, before = time.process_time() + LONGEST_OF_ALL_S, len(self.slow)
        for trial in range(LARGER, LARGER + MOST_LARGER):
            if len(self.slow) > before or time.process_time() > until:
                return
            yield trial

    def _answer(self, name, function, given, named):
        owner = getattr(function, "__self__", None)
        own = [] if owner is None or isinstance(owner, (type, type(sys))) else [owner]
        asked = [*map(argument, given), *(f"{key}={argument(one)}" for key, one in named.items())]
        self.count += 1
        place, told = f"{self.step} {self.count}", ", ".join(asked)
        outer, self._looked_outside = self._looked_outside, False
        try:
            found = function(*given, **named)
            word, said = "gave", _of(found, [*own, *given, *named.values()])
        except BaseException as problem:
            word, said = "raised", "" if isinstance(problem, Unfit) else type(problem).__name__
            raise
        finally:
            self._tell(place, name, told, word, "" if self._looked_outside else said)
            self._looked_outside = outer or self._looked_outside
        return found


def _of(found, given):
    """What was given back; of what gives nothing back, what it made of its arguments."""
    try:
        text = told(found) if found is not None else f"None, {told(given)}"
    except Opaque:
        return "None" if found is None else ""
    if len(text) <= LONGEST:
        return text
    if re.search(r"\d\.\d|\de-", text):
        return ""  # the last digits of a number may differ, and those of a digest then do
    return f"{text[:80]}… {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def argument(value):
    """An argument, as far as it is a value."""
    try:
        text = told(value)
    except Opaque:
        return UNKNOWN
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return text if len(text) <= LONGEST // 5 else f"{text[:60]}… ({len(text)} characters, {digest[:8]})"


def told(value, depth=DEEPEST):
    """A value, in one line; alike for those that are equal."""
    kind = type(value)
    if kind in _VALUES or kind.__name__ in _BY_VALUE:
        return repr(value)
    if not depth:
        raise Opaque
    if hasattr(kind, "__members__") and hasattr(value, "name"):
        return f"{kind.__name__}.{value.name}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join([told(one, depth - 1) for one in value])
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        parts = [f"{told(key, depth - 1)}: {told(one, depth - 1)}" for key, one in value.items()]
        return "{" + ", ".join(sorted(parts)) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(told(one, depth - 1) for one in value)) + "}"
    for base in (str, int, float):
        if isinstance(value, base):
            return base.__repr__(value)
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is None or not _is_of_product(kind):
        raise Opaque
    open_to_all = [one.name for one in fields.values() if one.compare and not one.name.startswith("_")]
    return f"{kind.__name__}({', '.join([f'{name}={told(getattr(value, name), depth - 1)}' for name in open_to_all])})"
