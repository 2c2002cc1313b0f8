"""Where values in a Python file come from: each name with what it was given, through calls and loops."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from milepost.verify.guard.python.code import Code
from milepost.verify.guard.python.constants import text_value

Key = tuple[int, str]
Facts = frozenset[tuple[str, str]]
SourceOf = Callable[["Flow", ast.expr], str]

NOTHING: Facts = frozenset()
_SCOPES = (
    ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.ListComp | ast.SetComp
) | (ast.DictComp | ast.GeneratorExp)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_ANYWHERE = 0
_DEEPEST = 8
_COLLECTING = frozenset({"append", "extend", "add", "update", "insert", "appendleft", "setdefault"})
_APPLYING = frozenset({"map", "filter", "sorted", "min", "max", "reduce", "starmap", "takewhile", "dropwhile"})
_CARRYING_METHODS = frozenset({"join", "format", "union", "intersection", "difference", "chain", "replace"})
_SWALLOWING = frozenset({"argparse", "getopt", "optparse", "logging", "print"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One value that a name was given; `each` when the name stands for its items, one after the other."""

    value: ast.expr
    each: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A file's names and what they were given, and which values are worth following."""

    code: Code
    source_of: SourceOf
    is_word: Callable[[str], bool]
    parents: dict[int, ast.AST] = field(default_factory=dict)
    given: dict[Key, list[Given]] = field(default_factory=lambda: defaultdict(list))
    known: dict[Key, tuple[Facts, frozenset[Key]]] = field(default_factory=dict)
    outer: set[Key] = field(default_factory=set)
    paths: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)

    def facts(self, node: ast.expr) -> Facts:
        """What the value of an expression comes from: `("source", …)` and `("word", …)`."""
        facts, keys = self._direct(node)
        seen: set[Key] = set()
        todo = list(keys)
        while todo:
            key = todo.pop()
            if key in seen:
                continue
            seen.add(key)
            more, others = self._of_key(key)
            facts |= more
            todo += others
        return facts

    def path_of(self, node: ast.AST, depth: int = _DEEPEST) -> str:
        """The dotted path of a value as it is known outside of the file, through whatever names it was given."""
        if id(node) not in self.paths or depth == 0:
            found = self._path_of(node, depth)
            if depth < _DEEPEST:
                return found
            self.paths[id(node)] = found
        return self.paths[id(node)]

    def _path_of(self, node: ast.AST, depth: int) -> str:
        if depth == 0:
            return ""
        match node:
            case ast.Name(id=name):
                alias = self._alias(node)
                return self.path_of(alias, depth - 1) if alias is not None else self.code.names.get(name, name)
            case ast.Attribute(value=value, attr=attr):
                return f"{self.path_of(value, depth)}.{attr}"
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self.path_of(value, depth)
            case ast.Subscript(value=value, slice=index):
                owner, name = self.path_of(value, depth), self.text_of(index)
                return f"{owner.removesuffix('.__dict__')}.{name}" if owner.endswith(".__dict__") and name else ""
            case ast.Call(func=func, args=arguments):
                return self._path_of_call(func, arguments, depth)
            case _:
                return ""

    def text_of(self, node: ast.AST | None) -> str:
        if node is None:
            return ""
        if id(node) not in self.texts:
            self.texts[id(node)] = text_value(node, self._alias)
        return self.texts[id(node)]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def key_of(self, name: ast.Name) -> Key | None:
        for scope in self.above(name):
            if isinstance(scope, _SCOPES) and (id(scope), name.id) in self.given:
                return id(scope), name.id
        return None

    def _path_of_call(self, func: ast.expr, arguments: list[ast.expr], depth: int) -> str:
        called = self.path_of(func, depth - 1)
        first = arguments[0] if arguments else None
        if called in ("getattr", "builtins.getattr") and first is not None and len(arguments) > 1:
            return f"{self.path_of(first, depth - 1)}.{self.text_of(arguments[1])}"
        if called in ("__import__", "builtins.__import__", "importlib.import_module", "importlib.__import__"):
            return self.text_of(first)
        if called == "vars" and first is not None:
            return f"{self.path_of(first, depth - 1)}.__dict__"
        if isinstance(func, ast.Call) and self.path_of(func.func).endswith("attrgetter") and func.args and arguments:
            return f"{self.path_of(arguments[0], depth - 1)}.{self.text_of(func.args[0])}"
        return f"{called}()" if called else ""

    def _alias(self, name: ast.Name) -> ast.expr | None:
        """What a name stands for that was given one thing only."""
        found = self.given.get(key) if (key := self.key_of(name)) else None
        return found[0].value if found and len(found) == 1 and not found[0].each else None

    def _of_key(self, key: Key) -> tuple[Facts, frozenset[Key]]:
        if key not in self.known:
            found = [self._direct(given.value) for given in self.given.get(key, ())]
            facts = frozenset(fact for facts, _ in found for fact in facts)
            self.known[key] = facts, frozenset(each for _, keys in found for each in keys)
        return self.known[key]

    def _direct(self, expression: ast.expr) -> tuple[Facts, frozenset[Key]]:
        """What stands in an expression itself, and the names that it takes the rest from."""
        facts: set[tuple[str, str]] = set()
        keys: set[Key] = set()
        todo: list[ast.AST] = [expression]
        while todo:
            node = todo.pop()
            if not isinstance(node, ast.expr):
                continue
            text = self.text_of(node)
            if text and self.is_word(text):
                facts.add(("word", text))
            if source := self.source_of(self, node):
                facts.add(("source", source))
                continue
            if isinstance(node, ast.Name) and (key := self.key_of(node)):
                keys.add(key)
            if isinstance(node, ast.Attribute) and (_ANYWHERE, node.attr) in self.given:
                keys.add((_ANYWHERE, node.attr))
            todo += self._carried(node)
        return frozenset(facts), frozenset(keys)

    def _carried(self, node: ast.expr) -> Iterable[ast.AST]:
        """The parts of an expression that its value is made of."""
        match node:
            case ast.Compare():
                return ()
            case ast.Subscript(value=value) | ast.Attribute(value=value):
                return (value,)
            case ast.IfExp(body=body, orelse=orelse):
                return (body, orelse)
            case ast.Lambda(body=body):
                return (body,)
            case ast.ListComp(elt=elt, generators=loops) | ast.SetComp(elt=elt, generators=loops):
                return (elt, *(loop.iter for loop in loops))
            case ast.GeneratorExp(elt=elt, generators=loops):
                return (elt, *(loop.iter for loop in loops))
            case ast.DictComp(key=key, value=value, generators=loops):
                return (key, value, *(loop.iter for loop in loops))
            case ast.Call(func=func, args=arguments, keywords=keywords):
                carries = self._carries(func)
                return (func, *arguments, *(each.value for each in keywords)) if carries else (func,)
            case _:
                return ast.iter_child_nodes(node)

    def _carries(self, func: ast.expr) -> bool:
        """Whether a call gives back something of what it is given: of builtins, of the library, of texts."""
        if isinstance(func, ast.Attribute) and func.attr in _CARRYING_METHODS:
            return True
        root = self.path_of(func).partition(".")[0].removesuffix("()")
        is_local = isinstance(func, ast.Name) and self.key_of(func) is not None
        known = root in sys.stdlib_module_names or (isinstance(func, ast.Name) and root in _BUILTINS)
        return known and not is_local and root not in _SWALLOWING


def flow_of(code: Code, source_of: SourceOf, is_word: Callable[[str], bool]) -> Flow:
    """The flow of a file, all of its names looked up once."""
    flow = Flow(code=code, source_of=source_of, is_word=is_word)
    functions: dict[str, list[_Function]] = defaultdict(list)
    for node in code.nodes:
        flow.parents.update((id(child), node) for child in ast.iter_child_nodes(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions[node.name].append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                functions[getattr(target, "id", getattr(target, "attr", ""))].append(node.value)
    for node in code.nodes:
        if isinstance(node, ast.Global):
            flow.outer.update((id(_scope(flow, node)), name) for name in node.names)
    for node in code.nodes:
        _give(flow, node)
    for node in code.nodes:
        if isinstance(node, ast.Call):
            _give_arguments(flow, node, functions)
    return flow


_BUILTINS = frozenset(
    {"str", "repr", "list", "tuple", "set", "frozenset", "dict", "sorted", "reversed", "map", "filter", "next", "iter"}
    | {"enumerate", "zip", "min", "max", "vars", "dir", "type", "bytes", "bytearray", "ascii", "format", "open", "sum"}
    | {"getattr", "hash", "eval", "id", "memoryview"}
)


def _give(flow: Flow, node: ast.AST) -> None:
    """Enter what one statement or expression gives to names."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _bind(flow, target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
            _bind(flow, target, value)
        case ast.NamedExpr(target=target, value=value):
            _bind(flow, target, value, within=_no_comprehension(flow, node))
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            _bind(flow, target, value, each=True)
        case ast.comprehension(target=target, iter=value):
            _bind(flow, target, value, each=True, within=flow.parents[id(node)])
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            _bind(flow, target, value)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _bind_function(flow, node)
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                for part in ast.walk(case.pattern):
                    if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                        flow.given[id(_scope(flow, node)), part.name].append(Given(value=subject, each=True))
        case _:
            pass


def _bind(flow: Flow, target: ast.expr, value: ast.expr, *, each: bool = False, within: ast.AST | None = None) -> None:
    scope = within or _scope(flow, target)
    if pairs := _in_pairs(target, value) if not each else []:
        for one, its in pairs:
            _bind(flow, one, its, within=within)
        return
    for part in ast.walk(target):
        if isinstance(part, ast.Name):
            whole = part is target and not each
            if (id(scope), part.id) in flow.outer:
                scope = flow.code.tree
            flow.given[id(scope), part.id].append(Given(value=value, each=not whole))
        elif isinstance(part, ast.Attribute):
            flow.given[_ANYWHERE, part.attr].append(Given(value=value, each=each))


def _in_pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`a, b = 1, 2` as two."""
    several = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
    return list(zip(target.elts, value.elts, strict=False)) if several else []  # type: ignore[attr-defined]


def _bind_function(flow: Flow, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """A function's name stands for what it gives back; what it is called with comes from its callers."""
    owner = flow.parents[id(node)]
    key = (_ANYWHERE if isinstance(owner, ast.ClassDef) else id(_scope(flow, node)), node.name)
    todo: list[ast.AST] = list(node.body)
    while todo:
        part = todo.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(part, ast.Return | ast.Yield | ast.YieldFrom) and part.value is not None:
            flow.given[key].append(Given(value=part.value, each=True))
        todo += ast.iter_child_nodes(part)
    named = [*node.args.posonlyargs, *node.args.args]
    for argument, default in zip(named[len(named) - len(node.args.defaults) :], node.args.defaults, strict=True):
        flow.given[id(node), argument.arg].append(Given(value=default, each=True))
    for argument, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if value is not None:
            flow.given[id(node), argument.arg].append(Given(value=value, each=True))


def _give_arguments(flow: Flow, call: ast.Call, functions: dict[str, list[_Function]]) -> None:
    """Enter what the file's own functions are called with, by themselves or by `map` and its like."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    collected = call.func.value if isinstance(call.func, ast.Attribute) and name in _COLLECTING else None
    if isinstance(collected, ast.Name) and (key := flow.key_of(collected)) is not None:
        flow.given[key] += [Given(value=argument, each=True) for argument in call.args]
    called = [call.func] if isinstance(call.func, ast.Lambda) else functions.get(name, [])
    for function in called:
        parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        if isinstance(call.func, ast.Attribute) and parameters[:1] in (["self"], ["cls"]):
            parameters = parameters[1:]
        values = list(zip(parameters, call.args, strict=False))
        values += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        if function.args.vararg:
            values += [(function.args.vararg.arg, value) for value in call.args[len(parameters) :]]
        for parameter, value in values:
            flow.given[id(function), parameter].append(Given(value=value, each=True))
    if name in _APPLYING and call.args:
        applied = (*call.args, *(keyword.value for keyword in call.keywords))
        for act in applied:
            targets: list[_Function] = [act] if isinstance(act, ast.Lambda) else []
            targets += functions.get(act.id, []) if isinstance(act, ast.Name) else []
            for function in targets:
                others = [Given(value=other, each=True) for other in call.args if other is not act]
                for each in function.args.args:
                    flow.given[id(function), each.arg] += others


def _scope(flow: Flow, node: ast.AST) -> ast.AST:
    return next((above for above in flow.above(node) if isinstance(above, _SCOPES)), flow.code.tree)


def _no_comprehension(flow: Flow, node: ast.AST) -> ast.AST:
    comprehensions = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    scopes = (above for above in flow.above(node) if isinstance(above, _SCOPES))
    return next((scope for scope in scopes if not isinstance(scope, comprehensions)), flow.code.tree)
