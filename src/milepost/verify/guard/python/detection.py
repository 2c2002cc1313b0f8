"""Python code outside of the tests that finds out whether it is being tested."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from milepost.verify.guard.python.code import Code, Sign, code_of
from milepost.verify.guard.python.flow import Facts, Flow, flow_of
from milepost.verify.guard.python.looks_for_tests import looks_for_tests
from milepost.verify.guard.python.signs_of_tests import (
    CALLERS,
    ENVIRONMENT,
    LISTS,
    PLACE,
    VALUE,
    WORTH_A_LOOK,
    gives_away,
    is_flag,
    is_word,
    source_of,
)
from milepost.verify.syntax.python_tree import parsed, strings

_VARIABLE = re.compile(
    r"PYTEST_[A-Z_]+|NODE_TEST_CONTEXT|TOX_ENV_NAME|UNITTEST\w*|MILEPOST_(?:SLOT|PORT_\d|DATABASE_NAME)"
)
_CI = ("CI", "CONTINUOUS_INTEGRATION", "TESTING")
_ASKING = frozenset(
    {"get", "pop", "startswith", "endswith", "find", "rfind", "index", "count", "remove", "intersection", "isdisjoint"}
    | {
        "issubset",
        "issuperset",
        "search",
        "match",
        "fullmatch",
        "findall",
        "finditer",
        "fnmatch",
        "fnmatchcase",
        "filter",
    }
    | {"map", "contains", "countOf", "indexOf", "partition", "rpartition", "split", "rsplit", "eq", "setdefault", "sub"}
    | {"__contains__", "__eq__", "__ne__", "__getitem__", "removeprefix", "removesuffix", "replace", "is_relative_to"}
    | {
        "relative_to",
        "full_match",
        "difference",
        "getenv",
        "getenvb",
        "hasattr",
        "version",
        "distribution",
        "find_spec",
        "import_module",
        "__import__",
        "find_loader",
        "getattr",
        "translate",
        "compare_digest",
    }
)
_READS_CODE = frozenset(
    {"inspect.getsource", "inspect.getsourcelines", "inspect.findsource", "linecache.getline", "linecache.getlines"}
    | {
        "open",
        "io.open",
        "pathlib.Path",
        "ast.parse",
        "eval",
        "exec",
        "compile",
        "tokenize.open",
        "inspect.getsourcefile",
    }
    | {"dis.dis", "dis.get_instructions", "dis.Bytecode", "inspect.getmodule", "inspect.getmembers", "builtins.eval"}
)
_CALLERS_OWN = frozenset({"code_context", "co_consts", "co_code", "co_names", "line"})
_WATCHING = frozenset(
    {"sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile", "sys.addaudithook"}
    | {"sys.monitoring.register_callback", "threading.settrace_all_threads", "threading.setprofile_all_threads"}
)
_COUNTED = frozenset({"sys.modules", "sys.orig_argv", "sys.meta_path", ENVIRONMENT})
_HASHED_BY_ALL = frozenset({"sys.argv", ENVIRONMENT, PLACE, "sys.stdin", "sys.path"})
_HASHES = re.compile(r"(hashlib|zlib|hmac|binascii)\..*|hash")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """Something that is asked: about which values, and whether about the whole of a text (`==`) or a part of it."""

    node: ast.AST
    operands: tuple[ast.expr, ...]
    whole: bool = False


def notices_tests(code: Code, depth: int = 2) -> Iterator[Sign]:
    """Questions whose answer differs when tests are run."""
    for text, line in strings(code.nodes):
        if _VARIABLE.fullmatch(text):
            yield f"looks for {text}, which only a test run sets", line
    if not WORTH_A_LOOK.search(code.text):
        return
    flow = flow_of(code, source_of, is_word)
    for node in code.nodes:
        yield from _reads_its_caller(node, flow)
        yield from _asks_for_a_flag(node, flow)
        yield from looks_for_tests(node, flow)
        if depth:
            yield from _in_a_string(node, flow, depth)
    if any(source_of(flow, node) for node in code.nodes if isinstance(node, ast.expr)):
        for question in _questions(flow):
            yield from _answers(question, flow)


def _questions(flow: Flow) -> Iterator[_Question]:
    for node in flow.code.nodes:
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                whole = all(isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) for op in ops)
                among = isinstance(ops[0], ast.In | ast.NotIn) and _is_list(others[0], flow)
                yield _Question(node=node, operands=(left, *others), whole=whole or among)
            case ast.Call(func=func, args=arguments) if arguments and flow.path_of(func):
                name = flow.path_of(func).rpartition(".")[2].removesuffix("()")
                owner: tuple[ast.expr, ...] = (
                    (func,) if source_of(flow, func) else (func.value,) if isinstance(func, ast.Attribute) else ()
                )
                if name in _ASKING:
                    among = bool(owner) and _is_list(owner[0], flow)
                    yield _Question(node=node, operands=(*owner, *arguments), whole=among)
            case ast.Subscript(value=value, slice=index):
                yield _Question(node=node, operands=(value, index), whole=True)
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.Sub() | ast.BitOr() | ast.BitXor(), right=right):
                yield _Question(node=node, operands=(left, right), whole=True)
            case ast.Match(subject=subject, cases=cases):
                parts = [
                    part.value for case in cases for part in ast.walk(case.pattern) if isinstance(part, ast.MatchValue)
                ]
                yield _Question(node=node, operands=(subject, *parts), whole=True)
            case _:
                pass


def _answers(question: _Question, flow: Flow) -> Iterator[Sign]:
    facts = [flow.facts(operand) for operand in question.operands]
    line = getattr(question.node, "lineno", 0)
    for one, other in permutations(facts, 2):
        for source in _of("source", one):
            words = [word for word in _of("word", other) if gives_away(source, word, whole=question.whole)]
            if words:
                yield f"finds out whether it is being tested ({source.removeprefix(VALUE)})", line
    if isinstance(question.node, ast.Compare):
        yield from _compares_otherwise(question, facts, flow)
    yield from _asks_for_ci(question, flow)


def _compares_otherwise(question: _Question, facts: list[Facts], flow: Flow) -> Iterator[Sign]:
    """How many modules there are, or what they hash to, says the same as their names."""
    for operand, its in zip(question.operands, facts, strict=True):
        for call in (part for part in ast.walk(operand) if isinstance(part, ast.Call) and part.args):
            name = flow.path_of(call.func)
            counted = {_counted(call.args[0], flow)} & _COUNTED if name == "len" else set()
            hashed = set(_of("source", its)) - _HASHED_BY_ALL if _HASHES.fullmatch(name) else set()
            for source in sorted(counted | {source for source in hashed if not source.startswith(VALUE)}):
                yield f"finds out whether it is being tested ({source})", call.lineno


def _counted(node: ast.expr, flow: Flow) -> str:
    """What is counted, through `list(…)` and the like."""
    while (
        isinstance(node, ast.Call) and node.args and flow.path_of(node.func) in ("list", "set", "tuple", "dict", "str")
    ):
        node = node.args[0]
    return source_of(flow, node)


def _asks_for_a_flag(node: ast.AST, flow: Flow) -> Iterator[Sign]:
    """`hasattr(sys, "_called_from_test")`."""
    if isinstance(node, ast.Call) and len(node.args) > 1 and flow.path_of(node.func) in ("hasattr", "getattr"):
        owner = flow.path_of(node.args[0])
        if owner in ("sys", "builtins") and is_flag(flow.text_of(node.args[1])):
            yield f"finds out whether it is being tested ({owner})", node.lineno


def _asks_for_ci(question: _Question, flow: Flow) -> Iterator[Sign]:
    paths = {flow.path_of(operand) for operand in question.operands}
    if isinstance(question.node, ast.Call):
        paths.add(flow.path_of(question.node.func))
    if paths & {"os.environ", "os.environb", "os.getenv", "os.getenvb"}:
        for operand in question.operands:
            if (name := flow.text_of(operand)) in _CI:
                yield f"behaves in another way where {name} is set", getattr(question.node, "lineno", 0)


def _reads_its_caller(node: ast.AST, flow: Flow) -> Iterator[Sign]:
    """Code that looks into the code, the constants or the values of whoever called it."""
    if isinstance(node, ast.Attribute) and _is_callers_own(node, flow) and _has(CALLERS, flow.facts(node.value)):
        yield f"reads the code that calls it ({node.attr})", node.lineno
    if isinstance(node, ast.Call):
        path = flow.path_of(node.func)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if path in _READS_CODE and any(_has(CALLERS, flow.facts(argument)) for argument in given):
            yield f"reads the code that calls it ({path})", node.lineno
        if path in _WATCHING:
            yield f"watches the code that runs it ({path})", node.lineno


def _is_callers_own(node: ast.Attribute, flow: Flow) -> bool:
    """Constants and lines of code, and single values; the names as a whole serve to resolve others."""
    if node.attr != "f_locals":
        return node.attr in _CALLERS_OWN
    parent = flow.parents.get(id(node))
    if isinstance(parent, ast.Subscript):
        return bool(flow.text_of(parent.slice))
    return isinstance(parent, ast.Attribute) and parent.attr in ("get", "values", "items", "pop")


def _in_a_string(node: ast.AST, flow: Flow, depth: int) -> Iterator[Sign]:
    """The same in code that stands in a string."""
    if not isinstance(node, ast.Call) or not node.args:
        return
    if flow.path_of(node.func).removeprefix("builtins.") in ("eval", "exec", "compile"):
        text = flow.text_of(node.args[0])
        tree = parsed(text) if text else None
        if tree is not None:
            inner = code_of(flow.code.path, text, tree)
            names = {**flow.code.names, **inner.names}
            whole = Code(path=inner.path, text=text, tree=tree, nodes=inner.nodes, names=names)
            for what, _ in notices_tests(whole, depth - 1):
                yield what, node.lineno


def _is_list(node: ast.expr, flow: Flow) -> bool:
    """Whether a value is a list of words as a whole, so that `in` asks for one of them and not for a part."""
    return flow.path_of(node) in LISTS or isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict)


def _of(kind: str, facts: Facts) -> Iterator[str]:
    return (what for each, what in sorted(facts) if each == kind)


def _has(source: str, facts: Facts) -> bool:
    return ("source", source) in facts
