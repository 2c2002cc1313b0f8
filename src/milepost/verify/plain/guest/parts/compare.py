"""Comparison by what values are, not by a class of the product that calls itself equal to whatever it is shown."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import _thread
import os
import sys

from .endings import Unequal, Unfit, is_products

_PLAIN = (int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, type(None))


def equal(left, right):
    """Whether two values are equal by what they are; raises `Unequal` where they are not, with both."""
    if not same(left, right):
        raise Unequal(f"{shown(left)} == {shown(right)}")
    return True


def same(left, right):
    kind = type(left)
    if kind is type(right) and kind in (list, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if kind is type(right) and kind is dict:
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if kind in _PLAIN and type(right) in _PLAIN:
        return left == right
    if any(_equals_anything(one, other) for one, other in ((left, right), (right, left))):
        return False
    if any(_is_another(one, other) for one, other in ((left, right), (right, left))):
        return False
    return _elsewhere(lambda: left == right)


def _is_another(one, other):
    """Whether a value whose class compares by itself is, as the plain value that it is, another one."""
    kind = type(other)
    if kind not in _PLAIN or type(one) is kind or not isinstance(one, kind):
        return False
    code = getattr(type(one).__eq__, "__code__", None)
    return code is not None and is_products(code.co_filename) and kind.__eq__(one, other) is False  # type: ignore[call-arg]


def _equals_anything(one, other):
    """Whether a value of a class of the product is also equal to what the other side is not.

    It is asked before the comparison that counts: some become what they are compared with first.
    """
    compare = type(one).__eq__
    module = sys.modules.get(type(one).__module__)
    code = getattr(compare, "__code__", None)
    if not is_products(getattr(module, "__file__", "")) and not is_products(code.co_filename if code else ""):
        return False
    if compare in (object.__eq__, *(kind.__eq__ for kind in _PLAIN)):
        return False
    try:
        return _elsewhere(lambda: any(bool(one == stranger) for stranger in [object(), *_others(other)]))
    except Exception:
        return False


def _others(value):
    """Values of the same type that are not this one."""
    noise = os.urandom(6).hex()
    kind = type(value)
    if kind is bool:
        return [not value]
    if kind in (int, float, complex):
        return [value + 1 + int(noise, 16)]
    if kind in (str, bytes):
        return [value + (noise if kind is str else noise.encode())]
    if kind in (list, tuple):
        return [kind([*value, noise])]
    if kind is dict:
        return [{**value, noise: noise}]
    return [{*value, noise}] if kind in (set, frozenset) else []


def _elsewhere(ask):
    """The answer to a question that is asked where no frame of a step can be looked at."""
    found: list[tuple[bool, BaseException | None]] = []
    over = _thread.allocate_lock()
    over.acquire()

    def run():
        try:
            found.append((bool(ask()), None))
        except BaseException as problem:
            found.append((False, problem))
        finally:
            over.release()

    _thread.start_new_thread(run, ())
    over.acquire()
    answer, problem = found[0]
    if problem is not None:
        raise problem
    return answer


def shown(value):
    return f"{ascii(value)[:80]} ({type(value).__name__})"


class Near:
    """Equal to numbers that are close to these."""

    def __init__(self, value, rel=None, abs=None, nan_ok=False):  # noqa: A002
        self.value, self.rel, self.abs, self.nan_ok = value, rel, abs, nan_ok

    def __eq__(self, other):
        return self._near(self.value, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"about {self.value!r}"

    def _near(self, wanted, got):
        if isinstance(wanted, dict):
            return (
                isinstance(got, dict)
                and wanted.keys() == got.keys()
                and all(self._near(value, got[key]) for key, value in wanted.items())
            )
        if isinstance(wanted, (list, tuple)):
            return isinstance(got, (list, tuple)) and len(wanted) == len(got) and all(map(self._near, wanted, got))
        if wanted is None or isinstance(wanted, (bool, str)):
            return wanted == got
        if not isinstance(wanted, (int, float, complex)) or isinstance(got, (list, tuple, dict)):
            raise Unfit("this kind of value cannot be compared here")
        if wanted == got or (self.nan_ok and wanted != wanted and got != got):
            return True
        if abs(wanted) == float("inf"):
            return False
        closest = 1e-12 if self.abs is None else self.abs
        relative = 1e-6 if self.rel is None else self.rel
        use_rel = self.rel is not None or self.abs is None
        return abs(wanted - got) <= max(closest, relative * abs(wanted) if use_rel else 0)
