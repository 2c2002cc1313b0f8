"""Calls a step with what it takes."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from .cases import Case
from .endings import Unfit


def call(space, name, backwards=False):
    """Call a step, `name` or `Group.name`, once for each of its sets of values."""
    group, _, step = name.rpartition(".")
    function = space[group].__dict__[step] if group else space[step]
    products = _products_of(getattr(function, "sets", []))
    for values in reversed(products) if backwards else products:
        if group:
            _call_method(space, space[group], step, values)
        else:
            _call_with(space, function, values)


def _products_of(sets):
    found: list[dict[str, object]] = [{}]
    for values in sets:
        found = [{**one, **other} for one in found for other in values]
    return found


def _call_method(space, group, step, values):
    for name in ("setUpClass", "setup_class"):
        getattr(group, name, lambda: None)()
    one = group()
    before, after = ("setUp", "tearDown") if isinstance(one, Case) else ("setup_method", "teardown_method")
    try:
        getattr(one, before, lambda: None)()
        try:
            _call_with(space, getattr(one, step), values)
        finally:
            getattr(one, after, lambda: None)()
    finally:
        for function, given, named in reversed(getattr(one, "cleanups", [])):
            function(*given, **named)
        for name in ("tearDownClass", "teardown_class"):
            getattr(group, name, lambda: None)()


def _call_with(space, function, values):
    """Call with these values, and with what the makers of the file make for the other parameters."""
    made = dict(values)
    endings: list = []  # type: ignore[type-arg]
    try:
        given = {name: _make(space["_kit"].makers, name, made, endings) for name in _wanted(function)}
        ended = function(**given)
        if type(ended).__name__ == "coroutine":
            import asyncio

            asyncio.run(ended)
    finally:
        for one in reversed(endings):
            next(one, None)


def _wanted(function):
    function = getattr(function, "__func__", function)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    optional = len(function.__defaults__ or ())
    names = (
        code.co_varnames[: code.co_argcount - optional]
        + code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    )
    return [name for name in names if name != "self"]


def _make(makers, name, made, endings):
    if name in made:
        return made[name]
    if name == "tmp_path" and name not in makers:
        import pathlib
        import tempfile

        made[name] = pathlib.Path(tempfile.mkdtemp())
        return made[name]
    if name not in makers:
        raise Unfit(f"there is no {name} here")
    value = makers[name](**{each: _make(makers, each, made, endings) for each in _wanted(makers[name])})
    if type(value).__name__ == "generator":
        endings.append(value)
        value = next(value)
    made[name] = value
    return value
