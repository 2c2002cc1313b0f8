"""A Python test file as a plain module: nothing of a test runner in it, and no name that tells what it is for."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

KIT = "_kit"

_AROUND = frozenset(
    {"setup_module", "teardown_module", "setup_function", "teardown_function", "setup", "teardown", "setUpModule"}
    | {"tearDownModule", "pytest_plugins", "load_tests"}
)
_AROUND_METHODS = frozenset(
    {"setUp", "tearDown", "setUpClass", "tearDownClass", "setup_method", "teardown_method", "setup_class"}
    | {"teardown_class"}
)
_RUNNERS = ("pytest", "unittest")
_ASYNC_CASE = "IsolatedAsyncioTestCase"
_GIVEN = frozenset({"tmp_path"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainFile:
    """The source of the module, and the name there of each test that is plain, by its place in the file's ids.

    Where the file as a whole needs its runner, `problem` says why, and nothing is plain.
    """

    source: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def plain_python(source: bytes, path: str = "", made: type[Neutral] | None = None) -> PlainFile:
    """The file as a module; tests are plain that take nothing but values, fixtures of the file and `tmp_path`.

    `path` is what the file says of itself where it asks for `__file__`; `made` is what makes the module of it.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return PlainFile(problem="it cannot be parsed")
    if problem := _needs_runner(tree):
        return PlainFile(problem=problem)
    fixtures = _fixtures(tree)
    names = dict(_neutral_names(tree, fixtures))
    places = {"::".join(path): ".".join(names.get(part, part) for part in path) for path in _plain(tree, fixtures)}
    changed = ast.fix_missing_locations((made or Neutral)(names, path).visit(tree))
    return PlainFile(source=ast.unparse(changed), names=places)


def _needs_runner(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(level=level) if level:
                return "it imports from beside it"
            case ast.ImportFrom(module=str(name)) | ast.alias(name=name) if _is_runners_own(name):
                return f"it imports {name}"
            case ast.ImportFrom(module="pytest" | "unittest", names=[ast.alias(name="*")]):
                return "it imports all of its runner"
            case ast.keyword(arg="autouse") | ast.Attribute(attr="usefixtures"):
                return "it uses fixtures that its tests do not name"
    defined = {name for statement in tree.body for name in _defined(statement)}
    around = sorted(defined & _AROUND)
    return f"{around[0]} is for a runner" if around else ""


def _is_runners_own(name: str) -> bool:
    top = name.partition(".")[0]
    return top in ("_pytest", "conftest", "nose", "test", "tests") or top.startswith("pytest_")


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, Function | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _fixtures(tree: ast.Module) -> frozenset[str]:
    """The fixtures of the file that need nothing from elsewhere."""
    made = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_fixture(node)}
    known: set[str] = set()
    while more := {name for name, node in made.items() if name not in known and _taken(node) <= known | _GIVEN}:
        known |= more
    return frozenset(known)


def _is_fixture(node: ast.FunctionDef) -> bool:
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        if _last_word(call.func if call else decorator) == "fixture":
            return not (call and {keyword.arg for keyword in call.keywords} & {"params", "name"})
    return False


def _plain(tree: ast.Module, fixtures: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Where the plain tests stand: the name of a function, or those of a class and a method."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.AsyncFunctionDef) and _is_on_a_loop(node)):
            if _is_plain(node, fixtures):
                yield (node.name,)
        elif isinstance(node, ast.ClassDef) and _is_plain_class(node):
            kinds = Function if _last_word(node.bases[0] if node.bases else node) == _ASYNC_CASE else ast.FunctionDef
            methods = (method for method in node.body if isinstance(method, kinds))
            yield from ((node.name, method.name) for method in methods if _is_plain(method, fixtures))


def _is_on_a_loop(node: ast.AsyncFunctionDef) -> bool:
    """Whether a test is marked as one that is run to its end by an event loop."""
    return any(_last_word(decorator) == "asyncio" for decorator in node.decorator_list)


def _is_plain(node: Function, fixtures: frozenset[str]) -> bool:
    if not node.name.startswith("test") or node.args.vararg or node.args.kwarg or node.args.posonlyargs:
        return False
    values: set[str] = set()
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _last_word(decorator.func) == "parametrize":
            named = _value_names(decorator)
            if named is None:
                return False
            values |= named
    return _taken(node) <= values | fixtures | _GIVEN | {"self"}


def _is_plain_class(node: ast.ClassDef) -> bool:
    if node.keywords or any(_last_word(base) not in ("TestCase", _ASYNC_CASE, "object") for base in node.bases):
        return False
    if node.decorator_list:
        return False
    for method in node.body:
        if isinstance(method, Function) and method.name in _AROUND_METHODS:
            if isinstance(method, ast.AsyncFunctionDef) or len(method.args.args) > 1:
                return False
        elif isinstance(method, Function) and method.name in (
            "__init__",
            "asyncSetUp",
            "asyncTearDown",
            *_AROUND,
            "run",
        ):
            return False
    return True


def _taken(node: Function) -> set[str]:
    """The parameters without a default."""
    given = node.args
    optional = len(given.defaults)
    return {one.arg for one in (*given.args[: len(given.args) - optional], *given.kwonlyargs)}


def _value_names(call: ast.Call) -> set[str] | None:
    """The names that a `parametrize` gives values; None where that cannot be told."""
    if len(call.args) != 2 or any(keyword.arg != "ids" for keyword in call.keywords):
        return None
    match call.args[0]:
        case ast.Constant(value=str(text)):
            return {name.strip() for name in text.split(",") if name.strip()}
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            found = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
            return found if len(found) == len(parts) else None
    return None


def _last_word(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _neutral_names(tree: ast.Module, fixtures: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Other names for the functions, methods and classes that are called tests."""
    count = 0
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else []
        for each in (node, *inside):
            if isinstance(each, Function | ast.ClassDef) and "test" in each.name.lower() and each.name not in fixtures:
                count += 1
                yield each.name, f"{'Group' if isinstance(each, ast.ClassDef) else 'step_'}{count}"


class Neutral(ast.NodeTransformer):
    """Neutral names, the kit in the place of a runner's module, `_kit.equal(a, b)` for `assert a == b`."""

    def __init__(self, names: Mapping[str, str], path: str) -> None:
        self._names = {**names, **dict.fromkeys(_RUNNERS, KIT)}
        self._path = path
        self._depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._named(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._named(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._named(node)

    def _named(self, node: Function | ast.ClassDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == "__file__":
            return ast.Constant(self._path)
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            node.attr = self._names.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        kept = [alias for alias in node.names if alias.name.partition(".")[0] not in _RUNNERS]
        found: list[ast.stmt] = [ast.Import(names=kept)] if kept else []
        for alias in node.names:
            if alias not in kept and alias.asname:
                path = alias.name.split(".")[1:]
                found.append(_assigned(alias.asname, ".".join((KIT, *path))))
        return found or [ast.Pass()]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | list[ast.stmt]:
        module = node.module or ""
        bound = [(alias.name, alias.asname or alias.name) for alias in node.names]
        if module.partition(".")[0] in _RUNNERS:
            prefix = ".".join((KIT, *module.split(".")[1:]))
            return [_assigned(name, f"{prefix}.{found}") for found, name in bound]
        top = module.partition(".")[0]
        if self._depth or top in sys.stdlib_module_names or any(name == "*" for name, _ in bound):
            return node
        return [_assigned(name, f"{KIT}.need({module!r}, {found!r})") for found, name in bound]

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = _watched(node.test, "equal")
        return self.generic_visit(node)


def _assigned(name: str, value: str) -> ast.stmt:
    return ast.parse(f"{name} = {value}").body[0]


def _watched(test: ast.expr, asked: str) -> ast.expr:
    """`asked` in the place of `==`, also inside `and`, `or` and `not`, where a difference is no failure yet."""
    if isinstance(test, ast.BoolOp):
        inside = asked if isinstance(test.op, ast.And) else "same"
        test.values = [_watched(value, inside) for value in test.values]
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test.operand = _watched(test.operand, "same")
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        kit = ast.Attribute(ast.Name(KIT, ast.Load()), asked, ast.Load())
        return ast.Call(kit, [test.left, test.comparators[0]], [])
    return test
