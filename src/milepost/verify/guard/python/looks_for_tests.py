"""Python code outside of the tests that looks for them beside itself: in files, in folders, by import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from milepost.verify.guard.python.code import Sign
from milepost.verify.guard.python.flow import Flow

_FUNCTIONS = frozenset(
    {"os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.lexists", "os.path.getsize", "os.path.getmtime"}
    | {"os.stat", "os.lstat", "os.access", "os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob", "open"}
    | {"io.open", "os.open", "os.readlink", "os.fwalk", "os.path.samefile", "os.path.realpath", "linecache.getlines"}
    | {"linecache.getline", "runpy.run_path", "importlib.util.spec_from_file_location", "os.chdir", "codecs.open"}
    | {"importlib.resources.files", "pkgutil.get_data", "importlib.util.find_spec", "importlib.import_module"}
    | {"__import__", "runpy.run_module", "fnmatch.filter", "shutil.copy", "shutil.copytree", "sqlite3.connect"}
    | {
        "builtins.open",
        "os.path.islink",
        "os.path.getctime",
        "os.path.ismount",
        "tokenize.open",
        "importlib.find_loader",
    }
)
_METHODS = frozenset(
    {"exists", "is_file", "is_dir", "stat", "lstat", "open", "read_text", "read_bytes", "iterdir", "glob", "rglob"}
    | {"is_symlink", "walk", "samefile", "joinpath"}
)
_LISTING = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"})
_LISTING_METHODS = frozenset({"iterdir", "glob", "rglob", "walk"})
_PLACES = frozenset(
    {"os.getcwd()", "pathlib.Path.cwd()", "os.curdir", "os.pardir", "sys.prefix", "sys.path", "sys.argv", "__path__"}
    | {"__spec__", "pathlib.Path()"}
)
_TEST_PLACE = re.compile(
    r"(^|[/\\])(tests?|__tests__)([/\\.]|$)|(^|[/\\.])test_|_tests?\.(py|\*)|\bconftest\b|\.?pytest(_cache|\.ini)?$"
    r"|(^|[/\\])tox\.ini$|(^|[/\\])noxfile|\.coverage$|\.milepost\b|milepost\.toml$|test\*|\*test",
    re.IGNORECASE,
)
_LONGEST_WAY = 50
_DECIDING = frozenset({"any", "all", "next", "bool"})


def looks_for_tests(node: ast.AST, flow: Flow) -> Iterator[Sign]:
    """Questions for files of tests at a place the code knows by itself; one it is told by others is their business."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imports_tests(node)
    elif isinstance(node, ast.Call):
        place = _asked_place(node, flow)
        if place is not None and not _writes(node, flow):
            words = [text for kind, text in sorted(flow.facts(place)) if kind == "word" and _TEST_PLACE.search(text)]
            words += [text for text in map(flow.text_of, _named(node)) if _TEST_PLACE.search(text)]
            if words and _is_own(place, flow, set()):
                yield f"looks for files of tests ({words[0]!r})", node.lineno
    elif isinstance(node, ast.Compare) and _asks_a_listing(node, flow):
        yield "looks for files of tests (beside itself)", node.lineno


def _imports_tests(node: ast.Import | ast.ImportFrom) -> Iterator[Sign]:
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for module in modules:
        parts = module.split(".")
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        if not level and (parts[0] in ("tests", "conftest") or parts[-1].startswith("test_")):
            yield f"imports {module} outside of the tests", node.lineno


def _asked_place(call: ast.Call, flow: Flow) -> ast.expr | None:
    """The path that a call asks about; for `glob` and the like the folder, the pattern being named beside it."""
    path = flow.path_of(call.func)
    if path in _FUNCTIONS or path.removeprefix("posix.") in ("stat", "listdir", "open", "access"):
        named = [keyword.value for keyword in call.keywords if keyword.arg in ("path", "file", "root_dir", "pathname")]
        return next(iter((*call.args, *named)), None)
    if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        return call.func.value
    return None


def _named(call: ast.Call) -> Iterator[ast.expr]:
    """What else names the path: a pattern, a part that is joined."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in (*_LISTING_METHODS, "joinpath"):
        yield from call.args


def _writes(call: ast.Call, flow: Flow) -> bool:
    at = 0 if isinstance(call.func, ast.Attribute) and flow.path_of(call.func) not in _FUNCTIONS else 1
    modes = [*call.args[at : at + 1], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    is_open = flow.path_of(call.func).rpartition(".")[2] == "open"
    return is_open and any(set(flow.text_of(mode)) & set("wax") for mode in modes)


def _is_own(place: ast.expr, flow: Flow, seen: set[int]) -> bool:
    """Whether a path starts at a constant, at this file, or where the program runs."""
    if id(place) in seen or len(seen) > _LONGEST_WAY:
        return len(seen) > _LONGEST_WAY
    seen.add(id(place))
    if flow.text_of(place) or flow.path_of(place) in _PLACES:
        return True
    match place:
        case ast.Name(id="__file__" | "__path__"):
            return True
        case ast.Name():
            key = flow.key_of(place)
            return any(_is_own(given.value, flow, seen) for given in flow.given.get(key, ())) if key else False
        case ast.BinOp(left=left):
            return _is_own(left, flow, seen)
        case ast.JoinedStr(values=[first, *_]):
            return _is_own(first.value if isinstance(first, ast.FormattedValue) else first, flow, seen)
        case ast.Attribute(value=value) | ast.Subscript(value=value):
            return _is_own(value, flow, seen)
        case ast.Call(func=func, args=arguments):
            return _is_own_call(func, arguments, flow, seen)
        case _:
            return False


def _is_own_call(func: ast.expr, arguments: list[ast.expr], flow: Flow, seen: set[int]) -> bool:
    path = flow.path_of(func)
    if path in ("pathlib.Path", "os.path.abspath", "pathlib.PurePath") and not arguments:
        return True
    root = path.partition(".")[0]
    if root in ("os", "pathlib", "str", "glob", "importlib", "posixpath", "inspect") and arguments:
        return _is_own(arguments[0], flow, seen)
    if isinstance(func, ast.Attribute) and func.attr == "join" and arguments:
        joined = arguments[0]
        return isinstance(joined, ast.List | ast.Tuple) and bool(joined.elts) and _is_own(joined.elts[0], flow, seen)
    if isinstance(func, ast.Attribute):
        return _is_own(func.value, flow, seen)
    return isinstance(func, ast.Name) and _is_own(func, flow, seen)


def _asks_a_listing(node: ast.Compare, flow: Flow) -> bool:
    """`"tests" in os.listdir(".")`, or the same of each name where that decides something as a whole."""
    if not any(kind == "word" and _TEST_PLACE.search(text) for kind, text in flow.facts(node.left)):
        return False
    for other in node.comparators:
        if _lists(other, flow):
            return True
        names = [part for part in ast.walk(other) if isinstance(part, ast.Name)]
        given = [each for name in names if (key := flow.key_of(name)) for each in flow.given[key]]
        if any(_lists(each.value, flow) and (not each.each or _decides(node, flow)) for each in given):
            return True
    return False


def _lists(value: ast.expr, flow: Flow) -> bool:
    calls = [part for part in ast.walk(value) if isinstance(part, ast.Call)]
    for call in calls:
        by_method = isinstance(call.func, ast.Attribute) and call.func.attr in _LISTING_METHODS
        if by_method or flow.path_of(call.func) in _LISTING:
            place = _asked_place(call, flow)
            if place is None or _is_own(place, flow, set()):
                return True
    return False


def _decides(node: ast.AST, flow: Flow) -> bool:
    calls = (above for above in flow.above(node) if isinstance(above, ast.Call))
    return any(flow.path_of(call.func) in _DECIDING for call in calls)
