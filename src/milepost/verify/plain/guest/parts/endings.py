"""How a step can end, and what that says."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import os
import sys

HERE = os.getcwd() + os.sep  # noqa: PTH109 -- pathlib would be one more module
OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120


class Unequal(AssertionError):
    """Two values that are compared are not the same, or only one of them says so."""


class Missing(AssertionError):
    """A name that the product does not have here."""


class Unfit(BaseException):
    """The step needs something that only a runner has."""


def ending(problem):
    """How a step ended by an exception: `failed` by what it compares or misses, `broke` by another failure in it or the
    product, `unfit` for want of a runner, and `apart` where what went wrong may be the surroundings."""
    if isinstance(problem, Unfit):
        return "unfit"
    if isinstance(problem, (AssertionError, NotImplementedError)) or _lacks_name(problem):
        return "failed"
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename if trace else ""
    apart = (ImportError, OSError, MemoryError, KeyboardInterrupt)
    return "broke" if not isinstance(problem, apart) and file.startswith((HERE, OWN)) else "apart"


def _lacks_name(problem):
    """Whether a module of the product has no such attribute."""
    found = getattr(problem, "obj", None)
    return type(problem) is AttributeError and type(found) is type(sys) and is_products(found.__file__)


def is_products(file):
    packages = ("site-packages", "node_modules", ".venv")
    return str(file or "").startswith(HERE) and not any(one in str(file).split("/") for one in packages)


class Later:
    """Stands for a name that the product lacks, until it is used."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __call__(self, *_, **__):
        raise Missing(f"there is no {self._name}")

    def __getattr__(self, name):
        raise Missing(f"there is no {self._name}.{name}")
