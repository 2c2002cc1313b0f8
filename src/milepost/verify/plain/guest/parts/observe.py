"""What the product answers when a step asks it, in trials with other values; no step can fail in them."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import _thread
import hashlib
import sys
import time
from contextlib import suppress

from .cases import Case
from .endings import OWN, Unfit, is_products
from .kit import Kit
from .raises import Raises

FIRST, FEWEST, MOST_TRIALS, MOST_CALLS, MOST_SLOW, LONGEST_S = 12, 32, 120, 4000, 2, 3
LONGEST, DEEPEST, MOST_PARTS = 300, 6, 10_000
OPAQUE = "?"
_PLAIN = (int, float, complex, bool, str, bytes, bytearray, type(None))
_PROGRAMS = ("run", "check_output", "getoutput")
_READING = ("str", "repr", "len", "int", "float", "list", "tuple", "set", "dict", "sorted", "sum", "next", "iter")
_ALIKE = ("Decimal", "Fraction", "date", "datetime", "time", "timedelta", "UUID", "range")


def observe_with(kit, steps, calls, names, say):
    """Call the steps in trials, the first with their own values; say what was asked of the product each time."""
    for trial in _trials(kit, say):
        kit.alike.begin(trial)
        try:
            space = steps(kit)
        except BaseException:  # a timer of an earlier step may well end it
            if not trial:
                return
            space = None
        for name in names if space is not None else ():
            if name in kit.slow:
                continue
            kit.begin(name)
            with suppress(BaseException):  # what a step comes to is of no interest here
                calls.call(space, name)


def _trials(kit, say):
    began = time.monotonic()
    yield 0
    first = FIRST if time.monotonic() - began < 1 else 0
    say("leaves", repr(kit.alike.leaves()))
    for trial in range(1, min(MOST_TRIALS, max(FEWEST, MOST_CALLS // max(1, kit.said))) + 1):
        if len(kit.slow) > MOST_SLOW or (trial >= first and time.monotonic() >= began + LONGEST_S):
            break
        yield trial
    yield from kit.larger()


class Observer(Kit):
    """A kit whose claims hold whatever they are told, and which says what the product answers."""

    slow: frozenset[str] = frozenset()  # the steps that take so long that nobody calls them again

    def __init__(self, alike, say):
        super().__init__()
        self.alike, self._say = alike, say
        self.step, self.count, self.said = "", 0, 0
        self._owner = _thread.get_ident()
        self.equal = self.same = lambda *_, **__: True
        self.raises = lambda expected=None, *given, **named: _lenient(given)
        self.TestCase = self.IsolatedAsyncioTestCase = Lenient

    def fail(self, reason="", **_):
        pass

    def begin(self, name):
        """From here on a step of this name asks."""
        self.step, self.count = name, 0

    def larger(self):
        """Trials beyond those that all observers have: none."""
        return ()

    def given(self, value):
        """A value of the test in this trial."""
        return self.alike.value(value)

    def seen(self, function):
        """The function; where it is of the product, or is given something of it, what it answers is said."""
        place = getattr(getattr(function, "__func__", function), "__code__", None)
        if getattr(place, "co_filename", "").startswith(OWN) or isinstance(function, Raises):
            return function
        own = _is_of_product(function) or _starts_program(function)
        if not own and getattr(function, "__name__", "") not in _READING:
            return function

        def called(*given, **named):
            if not own and not any(_is_of_product(type(one)) for one in given):
                return function(*given, **named)
            return self._answer(_name(function), function, given, named)

        return called

    def joined(self, name, function, left, right):
        """The answer of an operator, which may be the product's."""
        if _is_of_product(type(left)) or _is_of_product(type(right)):
            return self._answer(name, function, (left, right), {})
        return function(left, right)

    def _answer(self, name, function, given, named):
        owner = getattr(function, "__self__", None)
        with_owner = (owner, *given) if owner is not None and not isinstance(owner, type(sys)) else given
        told = shown((*with_owner, *named.values()))
        known = {_bare(shown(one)) for one in (*given, *named.values())}
        self.count += 1
        place = f"{self.step} {self.count}"
        try:
            found = function(*given, **named)
            if getattr(found, "returncode", 0):
                self._tell(place, name, told, "raised", "TypeError")  # a program that refuses says nothing
                return found
        except BaseException as problem:
            if not isinstance(problem, Unfit):
                self._tell(place, name, told, "raised", type(problem).__name__)
            raise
        said = shown(found) if found is not None else f"None, {shown(with_owner)}"
        word = "same" if found is not None and said != OPAQUE and _bare(said) in known else "gave"
        self._tell(place, name, told, word, said if OPAQUE not in said else "")
        return found

    def _tell(self, *words):
        if _thread.get_ident() == self._owner:  # what is said is said by one thread
            self.said += 1
            self._say("saw", str(self.alike.trial), *words)


class Lenient(Case):
    """A case whose claims all hold."""

    def __getattribute__(self, name):
        if name in ("assertRaises", "assertRaisesRegex"):
            return lambda expected=None, *given, **named: _lenient(given[name == "assertRaisesRegex" :])
        if name.startswith("assert") or name == "fail":
            return lambda *_, **__: _Nothing()
        return super().__getattribute__(name)


class _Nothing(Raises):
    """A block that may end as it likes."""

    def __init__(self):
        self.value = self.type = self.tb = self.exception = None

    def __exit__(self, *_):
        return True

    def match(self, _):
        return True


def _lenient(given):
    if not given:
        return _Nothing()
    try:
        given[0](*given[1:])
    except Exception:
        return None
    return None


def _is_of_product(thing):
    while hasattr(thing, "__wrapped__"):
        thing = thing.__wrapped__
    thing = getattr(thing, "func", thing) if type(thing).__name__ == "partial" else thing
    thing = getattr(thing, "__func__", thing)
    code = getattr(thing, "__code__", None)
    if code is not None:
        return is_products(code.co_filename)
    module = sys.modules.get(getattr(thing, "__module__", None) or "")
    return isinstance(thing, type) and is_products(getattr(module, "__file__", ""))


def _starts_program(function):
    return getattr(function, "__module__", "") == "subprocess" and function.__name__ in _PROGRAMS


def _bare(text):
    """A text without what is no change of it: quotes, the space around it, capitals."""
    return text.strip("'\" ").lower()


def _name(function):
    return getattr(function, "__qualname__", type(function).__qualname__)


def shown(value, depth=DEEPEST):
    """What a value is, in one line; `?` where that cannot be told."""
    try:
        text = _shown(value, depth)
    except Exception:
        return OPAQUE
    if len(text) <= LONGEST:
        return text
    return f"{text[:80]}… {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _shown(value, depth):
    kind = type(value)
    if kind in _PLAIN or kind.__name__ in _ALIKE:
        return repr(value)
    if not depth or (hasattr(kind, "__len__") and kind.__module__ == "builtins" and len(value) > MOST_PARTS):
        return OPAQUE
    if kind in (list, tuple):
        inner = ", ".join([_shown(one, depth - 1) for one in value])
        return f"[{inner}]" if kind is list else f"({inner})"
    if kind.__name__ == "CompletedProcess":
        return _shown((value.returncode, value.stdout), depth - 1)
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_shown(k, depth - 1)}: {_shown(v, depth - 1)}" for k, v in value.items()]) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(_shown(one, depth - 1) for one in value)) + "}"
    if isinstance(value, BaseException):
        return f"{kind.__name__}{_shown(value.args, depth - 1)}"
    if hasattr(value, "__fspath__"):
        return _content(value)
    if isinstance(value, (list, tuple, str, int, float)) and kind is not bool:
        plain: type = next(base for base in (list, tuple, str, int, float) if isinstance(value, base))
        return f"{kind.__name__}({_shown(plain(value), depth - 1)})"
    if not _is_of_product(kind) and not kind.__module__.startswith("steps"):
        return OPAQUE
    state = dict(getattr(value, "__dict__", None) or {})
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, slot):
                state[slot] = getattr(value, slot)
    return f"{kind.__name__}{_shown(state, depth - 1)}"


def _content(place):
    """What is in a file: its name differs from trial to trial."""
    with open(place, "rb") as file:  # noqa: PTH123
        return f"<{hashlib.sha256(file.read(1_000_000)).hexdigest()}>"
