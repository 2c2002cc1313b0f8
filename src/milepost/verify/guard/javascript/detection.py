"""JavaScript and TypeScript outside of the tests that finds out whether it is being tested."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

from milepost.verify.guard.javascript.flow import Facts, Flow, Key, above, flow_of
from milepost.verify.syntax.javascript_tree import FUNCTIONS, arguments_of, dotted, line_of, string, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

Sign = tuple[str, int]

_VARIABLES = frozenset(
    {"JEST_WORKER_ID", "VITEST", "VITEST_WORKER_ID", "VITEST_POOL_ID", "VITEST_MODE", "NODE_TEST_CONTEXT"}
    | {"MOCHA_COLORS", "NODE_TEST_WORKER_ID", "TEST_WORKER_INDEX", "PLAYWRIGHT_TEST"}
    | {"MILEPOST_SLOT", "MILEPOST_DATABASE_NAME", *(f"MILEPOST_PORT_{number}" for number in range(10))}
)
_GLOBALS = frozenset({"jest", "vi", "vitest", "describe", "it", "test", "expect", "beforeEach", "afterEach", "mocha"})
_RUNNER_GLOBAL = re.compile(r"(globalThis|global|window)\.(jest|vi|vitest|describe|it|expect|__vitest_\w+|__jest\w*)")
_RUNNER_MODULES = frozenset({"node:test", "vitest", "@jest/globals", "mocha", "chai", "jasmine", "ava", "tap"})
_LISTENING = re.compile(r"\b(listen|morgan|logger|log|connect|start\w*)\b")

_ENVIRONMENT = "process.env"
_VALUE = "the variable "
_STACK = "the stack"
_FILES = "the files beside it"
_SOURCES = {
    **{path: path for path in ("process.argv", "process.execArgv", "process.argv0", "process.title", "require.main")},
    **{
        path: path
        for path in ("module.parent", "module.children", "require.cache", "process.mainModule", "import.meta")
    },
    **{path: path for path in ("process.moduleLoadList", "process.ppid", "process.report.getReport", "module.paths")},
    **dict.fromkeys(("util.getCallSites", "util.getCallSite", "Error.captureStackTrace"), _STACK),
    **dict.fromkeys(("Error.prepareStackTrace", "arguments.callee.caller", "console.trace"), _STACK),
    "process.env": _ENVIRONMENT,
    "process.cwd": "process.cwd",
}
_ASKING = frozenset(
    {
        "includes",
        "match",
        "matchAll",
        "test",
        "startsWith",
        "endsWith",
        "indexOf",
        "lastIndexOf",
        "search",
        "exec",
        "has",
    }
    | {"get", "split", "replace", "replaceAll", "localeCompare", "hasOwn", "hasOwnProperty", "count", "isSubsetOf"}
    | {"intersection", "isDisjointFrom"}
)
_COMPARING = frozenset({"==", "===", "!=", "!==", "in"})
_DECIDING = frozenset({"some", "every", "find", "findIndex", "findLast"})
_READING = re.compile(
    r"(existsSync|exists|l?stat(Sync)?|access(Sync)?|read(File|dir|link)(Sync)?|open(dir)?(Sync)?|glob(Sync)?|realpath(Sync)?"
    r"|createReadStream|require\.resolve|require|import|import\.meta\.resolve)"
)
_LISTING = re.compile(r"(readdir|glob|opendir)(Sync)?")
_RUNNER = re.compile(r"\b(jest|vitest|mocha|jasmine|node:test|ava)\b|[.\-_](test|spec)\b|\bmilepost\b", re.IGNORECASE)
_TEST = re.compile(r"(^|[^a-z])(tests?|specs?)($|[^a-z])|__tests__|--test", re.IGNORECASE)
_TEST_PATH = re.compile(
    r"(^|[/\\])(tests?|__tests__|specs?)([/\\]|$)|([.\-_]test|\.spec)\.[cm]?[jt]sx?|\.test\b", re.IGNORECASE
)
_TEST_WITHIN = re.compile(r"(^|[/\\])(tests?|__tests__|specs?)[/\\]", re.IGNORECASE)
_RUN_VARIABLE = re.compile(
    r"node_test|^jest|vitest|^mocha|npm_(lifecycle|command)|playwright_test|^tests?_?$"
    r"|^milepost(_(slot|port|database_name|$)|$)",
    re.IGNORECASE,
)
_NPM = re.compile(r"npm_(lifecycle_\w+|command|config_argv)")
_WORTH_A_LOOK = re.compile(
    r"process|\brequire\b|\bmodule\b|import|\bstack|CallSite|caller|captureStack|prepareStack|/proc|readdir|exists|globalThis"
    r"|\bglobal\b|Reflect|eval|Function"
)
_ANY_WORD = re.compile(r"test|spec|jest|mocha|jasmine|\bava\b|milepost|npm_", re.IGNORECASE)


def notices_tests(root: Node) -> Iterator[Sign]:
    """Questions whose answer differs when tests are run."""
    flow = flow_of(root)
    for node in flow.nodes:
        yield from _asks_by_name(node, flow)
    if not _WORTH_A_LOOK.search(text_of(root)):
        return
    for node in flow.nodes:
        yield from _looks_for_tests(node, flow)
        for operands, whole in _question(node, flow):
            yield from _answers(node, operands, whole, flow)


def imports_the_runner(node: Node, name: str) -> Iterator[Sign]:
    module = ""
    if node.type == "import_statement":
        module = string(node.child_by_field_name("source"))
    elif node.type == "call_expression" and text_of(node.child_by_field_name("function")) in ("require", "import"):
        module = string(next(iter(arguments_of(node)), None))
    if module in _RUNNER_MODULES and "test" not in name.lower() and "spec" not in name.lower():
        yield f"imports {module} outside of the tests", line_of(node)


def _asks_by_name(node: Node, flow: Flow) -> Iterator[Sign]:
    path = dotted(node) if node.type in ("member_expression", "subscript_expression") else ""
    name = path.rpartition(".")[2]
    if node.type == "subscript_expression":
        name = flow.text(node.child_by_field_name("index")) or name
    if node.type in ("shorthand_property_identifier_pattern", "property_identifier") and text_of(node) in _VARIABLES:
        name = text_of(node)
    if name in _VARIABLES:
        yield f"looks for {name}, which only a test run sets", line_of(node)
    if node.type in ("string", "binary_expression", "call_expression") and flow.text(node) in _VARIABLES - {"VITEST"}:
        yield f"looks for {flow.text(node)}, which only a test run sets", line_of(node)
    if path == "import.meta.vitest":
        yield "finds out whether it is being tested (import.meta.vitest)", line_of(node)
    if node.type == "unary_expression" and text_of(node.child_by_field_name("operator")) == "typeof":
        asked = dotted(node.child_by_field_name("argument"))
        if asked.removeprefix("globalThis.").removeprefix("global.") in _GLOBALS:
            yield f"finds out whether it is being tested (typeof {asked})", line_of(node)
    if path and _RUNNER_GLOBAL.fullmatch(path):
        yield f"finds out whether it is being tested ({path})", line_of(node)
    if node.type == "binary_expression" and _compares_environment(node) and not _only_listens(node):
        yield "behaves in another way where NODE_ENV is 'test'", line_of(node)


def _question(node: Node, flow: Flow) -> Iterator[tuple[list[Node], bool]]:
    """What is asked about what, and whether about the whole of a text or a part of it."""
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        owner = function.child_by_field_name("object") if function is not None else None
        name = text_of(function.child_by_field_name("property")) if function is not None else ""
        if name in _ASKING and owner is not None:
            yield [owner, *arguments_of(node)], flow.path(owner) in ("process.argv", "process.argv.slice()")
    elif node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in _COMPARING:
        sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        yield [side for side in sides if side is not None], True
    elif node.type == "switch_statement":
        value = node.child_by_field_name("value")
        cases = [part.child_by_field_name("value") for part in walk(node) if part.type == "switch_case"]
        yield [part for part in (value, *cases) if part is not None], True
    elif node.type == "subscript_expression":
        sides = [node.child_by_field_name("object"), node.child_by_field_name("index")]
        yield [side for side in sides if side is not None], True


def _answers(node: Node, operands: list[Node], whole: bool, flow: Flow) -> Iterator[Sign]:
    facts = [_facts(operand, flow) for operand in operands]
    for one, other in permutations(facts, 2):
        for source in sorted(what for kind, what in one if kind == "source"):
            words = [what for kind, what in other if kind == "word" and _gives_away(source, what, whole)]
            if words and (source != _FILES or _decides(node, operands, flow)):
                yield f"finds out whether it is being tested ({source.removeprefix(_VALUE)})", line_of(node)


def _gives_away(source: str, word: str, whole: bool) -> bool:
    """Whether a question about a source for this word is one for tests: a command of a program may be `test`."""
    if source == _ENVIRONMENT:
        return bool(_RUN_VARIABLE.search(word))
    if source.startswith(_VALUE):
        is_npm = _NPM.fullmatch(source.removeprefix(_VALUE)) is not None
        return bool(_RUNNER.search(word)) or (is_npm and bool(_TEST.search(word)))
    if source in ("process.argv", "process.cwd", "import.meta"):
        searched = not whole and source == "process.argv" and bool(_TEST.search(word))
        return not word.startswith("-") and (searched or bool(_RUNNER.search(word) or _TEST_WITHIN.search(word)))
    return bool(_RUNNER.search(word) or _TEST.search(word))


def _decides(node: Node, operands: list[Node], flow: Flow) -> bool:
    """Whether names of files are asked for as a whole, and not only left out one by one."""
    if any(_LISTING.fullmatch(flow.path(operand).rpartition(".")[2].removesuffix("()")) for operand in operands):
        return True
    calls = (each for each in above(node) if each.type == "call_expression")
    return any(dotted(call).rpartition(".")[2] in _DECIDING for call in calls)


def _facts(node: Node, flow: Flow) -> Facts:
    """What an expression's value comes from, through the names in it."""
    if not flow.known:
        _know(flow)
    facts, keys = _direct(node, flow)
    return facts.union(*(flow.known.get(key, frozenset()) for key in keys))


def _know(flow: Flow) -> None:
    """Enter for each name all that its values come from, however many names lie between."""
    direct: dict[Key, set[Key]] = {(0, ""): set()}
    flow.known[0, ""] = frozenset()
    for key in {*flow.given, *flow.members}:
        found = [_direct(value, flow) for value in flow.values_of(key)]
        flow.known[key] = frozenset(fact for facts, _ in found for fact in facts)
        direct[key] = {other for _, keys in found for other in keys}
    users: dict[Key, set[Key]] = defaultdict(set)
    for key, others in direct.items():
        for other in others:
            users[other].add(key)
    todo = [key for key, facts in flow.known.items() if facts]
    while todo:
        key = todo.pop()
        for user in users[key]:
            if not flow.known[key] <= flow.known[user]:
                flow.known[user] |= flow.known[key]
                todo.append(user)


def _direct(node: Node, flow: Flow) -> tuple[Facts, frozenset[Key]]:
    """What stands in an expression itself, and the names that it takes the rest from."""
    facts: set[tuple[str, str]] = set()
    keys: set[Key] = set()
    todo = [node]
    while todo:
        current = todo.pop()
        text = text_of(current) if current.type == "regex" else flow.text(current)
        if text and len(text) < 300 and _ANY_WORD.search(text):
            facts.add(("word", text))
        source = _source(current, text, flow)
        if source:
            facts.add(("source", source))
        elif current.type in ("identifier", "shorthand_property_identifier"):
            key = flow.key_of(current)
            keys |= {key} if key else set()
        elif current.type not in FUNCTIONS:
            todo += _carried(current)
    return frozenset(facts), frozenset(keys)


def _carried(node: Node) -> list[Node]:
    """The parts of an expression that its value is made of: not what stands in the brackets of an index."""
    if node.type == "subscript_expression":
        return [part for part in (node.child_by_field_name("object"),) if part is not None]
    if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in _COMPARING:
        return []
    return list(node.named_children)


def _source(node: Node, text: str, flow: Flow) -> str:
    if text.startswith("/proc/"):
        return "the process"
    if node.type not in ("member_expression", "subscript_expression", "identifier", "call_expression", "meta_property"):
        return ""
    path = flow.path(node)
    if path.startswith("process.env."):
        name = path.removeprefix("process.env.")
        return f"{_VALUE}{name}" if name not in ("[]", "") else _ENVIRONMENT
    if node.type == "member_expression" and path.endswith((".stack", ".callee.caller", ".caller")):
        return _STACK
    if node.type == "call_expression" and _LISTING.fullmatch(path.removesuffix("()").rpartition(".")[2]):
        return _FILES if all(_is_own(argument, flow) for argument in arguments_of(node)[:1]) else ""
    return _SOURCES.get(path, "")


def _looks_for_tests(node: Node, flow: Flow) -> Iterator[Sign]:
    """Files of tests, at a place the code knows by itself; and the code of whoever called it."""
    if node.type == "member_expression" and text_of(node).endswith("arguments.callee.caller"):
        yield "reads the code that calls it (caller)", line_of(node)
    if node.type != "call_expression":
        return
    path, arguments = flow.path(node.child_by_field_name("function")), arguments_of(node)
    called = text_of(node.child_by_field_name("function"))
    if not arguments or not (_READING.fullmatch(path.rpartition(".")[2]) or _READING.fullmatch(called)):
        return
    facts = _facts(arguments[0], flow)
    if ("source", _STACK) in facts:
        yield f"reads the code that calls it ({path})", line_of(node)
    words = sorted(what for kind, what in facts if kind == "word" and _TEST_PATH.search(what))
    if words and _is_own(arguments[0], flow):
        yield f"looks for files of tests ({words[0]!r})", line_of(node)


def _is_own(node: Node, flow: Flow, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a path starts at a constant, at this file, or where the program runs."""
    if node.id in seen or len(seen) > 12:
        return False
    seen |= {node.id}
    if flow.text(node) or text_of(node) in ("__dirname", "__filename", "process.cwd()"):
        return True
    path = flow.path(node)
    if path.startswith(("import.meta", "process.cwd", "new URL")) or "import.meta.url" in text_of(node):
        return True
    match node.type:
        case "identifier":
            return any(_is_own(value, flow, seen) for value in flow.values(node)[:8])
        case "template_string" if node.named_children:
            first = node.named_children[0]
            inner = first.named_children[0] if first.type == "template_substitution" else None
            return inner is None or _is_own(inner, flow, seen)
        case "binary_expression":
            left = node.child_by_field_name("left")
            return left is not None and _is_own(left, flow, seen)
        case "call_expression":
            arguments = arguments_of(node)
            return bool(arguments) and path.startswith(("path.", "url.")) and _is_own(arguments[0], flow, seen)
        case _:
            return False


def _compares_environment(node: Node) -> bool:
    sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
    return any(dotted(side).endswith("env.NODE_ENV") for side in sides) and any(
        string(side) == "test" for side in sides
    )


def _only_listens(node: Node) -> bool:
    """`if (process.env.NODE_ENV !== "test") app.listen(…)`: a server that is not started is no lie."""
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "binary_expression", "unary_expression"):
        parent = parent.parent
    if parent is None or parent.type != "if_statement":
        return False
    guarded = parent.child_by_field_name("consequence")
    statements = guarded.named_children if guarded is not None and guarded.type == "statement_block" else [guarded]
    return all(
        statement is not None
        and statement.type == "expression_statement"
        and bool(_LISTENING.search(text_of(statement)))
        for statement in statements
    )
