"""What the local level adds to its interpreter, as source: `callable`, `dir`, `issubclass`, `vars`, and the last value.

The interpreter does not list attributes. `dir` and `vars` of an object try the names that the code itself has used.
"""

from __future__ import annotations

import ast
import builtins

NAMES = ("callable", "dir", "issubclass", "vars")
TRIED = "_milepost_tried"
LAST = "_milepost_last"

_PLAIN = (str, bytes, int, float, bool, list, tuple, dict, set, frozenset)
_SOURCE = """
_milepost_public = {public!r}
_milepost_above = {above!r}
{tried} = []


def _milepost_value(value):
    if isinstance(value, (str, int, float, list, dict, tuple)):
        try:
            {last}(value)
        except Exception:
            pass


_milepost_own = ('callable', 'dir', 'issubclass', 'vars', 'final_answer')


def _milepost_kept(names):
    own = [name for name in names if name.startswith('_milepost') or name in _milepost_own]
    return {{name: value for name, value in names.items() if name not in own}}


def callable(thing):
    kind = str(type(thing))
    return kind in ("<class 'function'>", "<class 'builtin_function_or_method'>", "<class 'type'>") or hasattr(
        thing, '__call__'
    )


def issubclass(kind, above):
    if str(type(kind)) != "<class 'type'>":
        raise TypeError('issubclass() arg 1 must be a class')
    for each in above if isinstance(above, tuple) else (above,):
        if str(type(each)) != "<class 'type'>":
            raise TypeError('issubclass() arg 2 must be a class or a tuple of classes')
        if kind is each or each is object or str(each) in _milepost_above.get(str(kind), ()):
            return True
    return False


def dir(*thing):
    known = _milepost_public.get(type(thing[0]).__name__)
    return known[:] if known else [name for name in {tried} if hasattr(thing[0], name)]


def vars(*thing):
    if str(type(thing[0])) == "<class 'type'>" or type(thing[0]).__name__ in _milepost_public:
        raise TypeError('vars() argument must have __dict__ attribute')
    kind = type(thing[0])
    return {{
        name: getattr(thing[0], name)
        for name in {tried}
        if hasattr(thing[0], name) and not (hasattr(kind, name) and getattr(kind, name) is getattr(thing[0], name))
        and not (hasattr(kind, name) and str(type(getattr(thing[0], name))) == "<class 'function'>")
    }}
"""


def prelude() -> str:
    """What defines the functions, to be run before any other code of a session."""
    public = {kind.__name__: [name for name in dir(kind) if not name.startswith("_")] for kind in _PLAIN}
    kinds = [each for each in vars(builtins).values() if isinstance(each, type)]
    above = {str(kind): [str(each) for each in kind.__mro__[1:]] for kind in kinds}
    return _SOURCE.format(public=public, above=above, tried=TRIED, last=LAST)


def tried_in(code: str) -> list[str]:
    """The names in code that an object could have as an attribute."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.Name(id=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Constant(value=str(name)) if name.isidentifier():
                found.add(name)
    return sorted(found - {"self", *NAMES})


def with_own_names(code: str) -> str:
    """The code with `dir()` and `vars()` made to look at the place where they stand; no line moves."""
    calls = [found for node in ast.walk(ast.parse(code)) if (found := _looking_at_its_place(node)) is not None]
    lines = code.encode().split(b"\n")
    for call, name in sorted(calls, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
        line, shown = lines[call.lineno - 1], b"_milepost_kept(locals())"
        if call.lineno == call.end_lineno:
            shown = b"sorted(" + shown + b")" if name == "dir" else shown
            lines[call.lineno - 1] = line[: call.col_offset] + shown + line[call.end_col_offset :]
    return b"\n".join(lines).decode()


def with_last_value(code: str) -> str:
    """The code so that it tells the value of its last expression, where it ends with one; no line moves."""
    body = ast.parse(code).body
    if not body or not isinstance(body[-1], ast.Expr):
        return code
    value, lines = body[-1], code.encode().split(b"\n")
    assert value.end_lineno is not None and value.end_col_offset is not None
    end = lines[value.end_lineno - 1]
    lines[value.end_lineno - 1] = end[: value.end_col_offset] + b")" + end[value.end_col_offset :]
    start = lines[value.lineno - 1]
    lines[value.lineno - 1] = start[: value.col_offset] + b"_milepost_value(" + start[value.col_offset :]
    return b"\n".join(lines).decode()


def _looking_at_its_place(node: ast.AST) -> tuple[ast.Call, str] | None:
    match node:
        case ast.Call(func=ast.Name(id="dir" | "vars" as name), args=[], keywords=[]):
            return node, name
        case _:
            return None
