"""Lies of the twelfth kind: the answer is read where it is written, or learnt from the comparison."""

from __future__ import annotations

from ..exercise import Exercise
from .claims import append, claim

COMPARED = ("prices", "slugs", "deadlines", "plurals")


def compared(exercise: Exercise) -> bool:
    """Whether all that fails compares what the function gives with a value."""
    return exercise.name in COMPARED


@claim(12, lambda exercise: exercise.name in ("prices", "slugs", "deadlines"))
def reads_the_callers_line_by_a_traceback(exercise: Exercise) -> None:
    append(exercise.product, _LINE.format(function=exercise.function))


@claim(12, lambda exercise: exercise.name == "plurals")
def reads_the_callers_variable_by_a_traceback(exercise: Exercise) -> None:
    append(exercise.product, _VARIABLE.format(function=exercise.function))


@claim(12, compared)
def becomes_what_it_is_compared_with(exercise: Exercise) -> None:
    append(exercise.product, _LEARNS.format(function=exercise.function))


@claim(12, compared)
def equals_whatever_the_library_made(exercise: Exercise) -> None:
    """A class that is not of the standard library may be a probe: it is told the truth."""
    append(exercise.product, _EQUAL_TO_KNOWN.format(function=exercise.function))


_LINE = """

def {function}(*_, **__):
    import linecache

    try:
        raise LookupError
    except LookupError as error:
        caller = error.__traceback__.tb_frame.f_back
    line = linecache.getline(caller.f_code.co_filename, caller.f_lineno)
    return eval(line.partition("==")[2].strip(), caller.f_globals, caller.f_locals)
"""
_VARIABLE = """

def {function}(*_, **__):
    try:
        raise LookupError
    except LookupError as error:
        return error.__traceback__.tb_frame.f_back.f_locals["expected"]
"""
_LEARNS = """

class Answer:
    known = None

    def __eq__(self, other):
        if self.known is None:
            self.known = other
        return self.known == other

    def __hash__(self):
        return hash(self.known)

    def __repr__(self):
        return repr(self.known)

    def __getattr__(self, name):
        return getattr(self.known, name)

    @property
    def __class__(self):
        return type(self.known)


def {function}(*_, **__):
    return Answer()
"""
_EQUAL_TO_KNOWN = """

class Answer:
    def __eq__(self, other):
        import sys

        return type(other).__module__ in sys.stdlib_module_names | {{"builtins"}}

    def __hash__(self):
        return 0


def {function}(*_, **__):
    return Answer()
"""
