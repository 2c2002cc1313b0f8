"""What the steps use in the place of a runner's own module."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import sys

from .cases import Case
from .compare import Near, equal, same
from .endings import Later, Unfit, is_products
from .raises import raises


class _Marks:
    """Marks make no difference here, but for sets of values."""

    def __getattr__(self, name):
        return _Mark()

    def parametrize(self, names, values, **_):
        listed = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
        sets = []
        for value in values:
            given = value.values if isinstance(value, Values) else (value,) if len(listed) == 1 else tuple(value)
            sets.append(dict(zip(listed, given)))  # noqa: B905 -- older interpreters do not have it

        def keep(function):
            function.sets = [*getattr(function, "sets", []), sets]
            return function

        return keep


class _Mark:
    def __call__(self, *given, **_):
        return given[0] if len(given) == 1 and callable(given[0]) and not isinstance(given[0], _Mark) else self


class Values:
    def __init__(self, *values, **_):
        self.values = values


class Kit:
    """In the place of a runner's module; what it does not have makes a step unfit."""

    def __init__(self):
        self.mark, self.makers = _Marks(), {}
        self.equal, self.same, self.raises, self.approx, self.param = equal, same, raises, Near, Values
        self.TestCase = self.IsolatedAsyncioTestCase = Case

    def __getattr__(self, name):
        raise Unfit(f"there is no {name} here")

    def skip(self, *_, **__):
        raise Unfit("it is skipped")

    def skipUnless(self, *_):  # noqa: N802
        return lambda step: step  # whoever is here was not skipped

    skipIf = skipUnless  # noqa: N815

    def fail(self, reason="", **_):
        raise AssertionError(reason)

    def fixture(self, function=None, **_):
        def keep(maker):
            self.makers[maker.__name__] = maker
            return maker

        return keep if function is None else keep(function)

    @property
    def mock(self):
        from unittest import mock

        for name in [name for name in sys.modules if name.partition(".")[0] == "unittest"]:
            del sys.modules[name]
        return mock

    def need(self, module, name):
        """`from module import name`; a name that a module of the product lacks fails the steps that use it."""
        found = __import__(module, {}, {}, [name])
        if hasattr(found, name) or not is_products(getattr(found, "__file__", "")):
            return getattr(found, name)
        return Later(f"{module}.{name}")
