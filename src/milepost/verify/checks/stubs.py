"""The check that an attempt left no unfinished code, unless the task asks for stubs."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.core.verdict import CheckResult
from milepost.sources.javascript_tree import arguments_of, line_of, string, text_of, walk
from milepost.sources.javascript_tree import parsed as parsed_javascript
from milepost.sources.python_tree import Function, last_name, parsed
from milepost.verify.checks.files import listed
from milepost.verify.judging.paths import CODE, JAVASCRIPT, is_test_path, name_of, suffix

Stub = tuple[str, int]
EMPTY = "has an empty body"

_ASKED = re.compile(
    r"(?i)\b(stub(bed|s)?|skeletons?|placeholders?|todos?|fixmes?|abstract|interfaces?|protocols?|scaffold(ing|s)?"
    r"|not[ _]?implemented(error)?|no-?op|dummy|boilerplate|empty (function|method|class|module|body|file)s?)\b"
)
_TODO = re.compile(r"\b(TODO|FIXME|XXX)\b")
_NOT_IMPLEMENTED = re.compile(r"(?i)\bnot (yet )?implemented|unimplemented|implement me")
_RUST = re.compile(r"\b(unimplemented|todo)!\s*\(")
_NOTHING_TO_DO = re.compile(
    r"__\w+__|_*(ignore|no_?op|nop|nothing|do_nothing|discard|null)\w*|a?close|flush|stop|shutdown|cleanup|reset"
    r"|log_message|(set|tear)_?[uU]p|tear_?[dD]own\w*|setup\w*|on_\w+|visit_\w+"
)
_ABSTRACT = frozenset(
    {"abstractmethod", "overload", "abstractproperty", "hookspec", "fixture", "singledispatch", "group", "callback"}
)
_PROTOCOLS = frozenset({"Protocol", "ABC", "Interface", "TypedDict", "NamedTuple"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StubsCheck:
    """Unfinished code is refused: what says that it is not implemented, and an empty body of a function that the task
    names. A comment with TODO in code that works is reported, as are other empty bodies."""

    change: Change
    task: Task

    def run(self, workspace: Workspace) -> CheckResult:
        done = implemented(self.change)
        found = [(file, stub) for file in self.change.files for stub in added(file, done)]
        log = "\n".join(_where(file, stub) for file, stub in found)
        refused = tuple(_where(file, stub) for file, stub in found if self._is_refused(file, stub))
        if refused and not asks_for_stubs(self.task):
            return CheckResult(name="stubs", outcome="failed", summary=f"unfinished code: {listed(refused)}", log=log)
        if not found:
            return CheckResult(name="stubs", outcome="passed", summary="no unfinished code")
        seen = tuple(_where(file, stub) for file, stub in found)
        word = "stubs, as the task asks" if refused else "notes of unfinished work"
        return CheckResult(name="stubs", outcome="passed", summary=f"{word}: {listed(seen)}", log=log)

    def _is_refused(self, file: ChangedFile, stub: Stub) -> bool:
        what = stub[0]
        if is_test_path(file.path) or _TODO.match(what):
            return False
        return not what.endswith(EMPTY) or names(self.task, what.removesuffix(EMPTY).strip().rpartition(".")[2])


def names(task: Task, function: str) -> bool:
    """Whether a task speaks of a function by its name."""
    word = re.compile(rf"(?<![\w.]){re.escape(function)}(?!\w)")
    return any(word.search(f"{part.title}\n{part.text}") for part in task.walk())


def _where(file: ChangedFile, stub: Stub) -> str:
    return f"{file.path}:{stub[1]} ({stub[0]})"


def asks_for_stubs(task: Task) -> bool:
    """Whether a task's own words speak of things that are not to be finished."""
    return any(_ASKED.search(f"{part.title}\n{part.text}") for part in task.walk())


def implemented(change: Change) -> frozenset[str]:
    """The methods, as `Base.method`, that a subclass in the change implements: their own bodies may be empty."""
    trees = [parsed(file.text_after) for file in change.files if suffix(file.path) == ".py"]
    owners = [node for tree in trees if tree is not None for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return frozenset(
        f"{last_name(base)}.{method.name}"
        for owner in owners
        for base in owner.bases
        for method in owner.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def added(file: ChangedFile, done: frozenset[str] = frozenset()) -> Iterator[Stub]:
    """The stubs that a file has now and had not before; those in `done` are a base's, implemented elsewhere."""
    if file.after is None or file.is_link or suffix(file.path) not in CODE:
        return
    old = Counter(what for what, _ in stubs_of(file.path, file.text_before))
    for what, line in stubs_of(file.path, file.text_after):
        if what.partition(" ")[0] in done:
            continue
        if old[what] > 0:
            old[what] -= 1
        else:
            yield what, line


def stubs_of(path: str, text: str) -> Iterator[Stub]:
    """All stubs of a file, in words that are the same wherever they stand."""
    kind = suffix(path)
    if kind == ".py":
        tree = parsed(text)
        if tree is not None:
            yield from _python(tree, path)
            yield from _python_comments(text)
    elif kind in JAVASCRIPT:
        yield from _javascript(path, text)
    else:
        yield from _comments(text, "#" if kind in (".sh", ".rb", ".bash", ".ex", ".exs", ".jl") else "//")
        yield from _lines(text)


def _python(tree: ast.Module, path: str) -> Iterator[Stub]:
    exempt = name_of(path) == "__init__.py"
    for function, owner in _functions(tree):
        name = f"{owner.name}.{function.name}" if owner is not None else function.name
        if _is_meant_to_be_empty(function, owner):
            continue
        if _is_unfinished(function):
            yield f"{name} raises NotImplementedError", function.lineno
        elif _is_empty(function) and not exempt:
            yield f"{name} {EMPTY}", function.lineno


def _functions(tree: ast.Module) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    todo: list[tuple[ast.AST, ast.ClassDef | None]] = [(tree, None)]
    while todo:
        node, owner = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield child, owner
                todo.append((child, None))
            else:
                todo.append((child, child if isinstance(child, ast.ClassDef) else owner))


def _is_meant_to_be_empty(function: Function, owner: ast.ClassDef | None) -> bool:
    """Abstract methods, protocols, overloads, and the methods of a class that exists to do nothing."""
    if any(last_name(decorator) in _ABSTRACT for decorator in function.decorator_list):
        return True
    if owner is None:
        return False
    bases = {last_name(base) for base in owner.bases}
    abstract = re.match(
        r"(?i)(null|noop|no_op|dummy|fake|base|abstract)|.*(protocol|interface|base|mixin)$", owner.name
    )
    return bool(bases & _PROTOCOLS) or any(k.arg == "metaclass" for k in owner.keywords) or abstract is not None


def _is_empty(function: Function) -> bool:
    """A body of only `pass`, `...` or a docstring, where the name does not say that nothing is to be done."""
    if _NOTHING_TO_DO.fullmatch(function.name):
        return False
    body = [node for node in function.body if not _is_prose(node)]
    return all(isinstance(node, ast.Pass) or _is_ellipsis(node) for node in body)


def _is_prose(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _is_unfinished(function: Function) -> bool:
    """Whether raising NotImplementedError is all that it does."""
    body = [node for node in function.body if not _is_prose(node)]
    return len(body) == 1 and isinstance(body[0], ast.Raise) and last_name(body[0].exc) == "NotImplementedError"


def _python_comments(text: str) -> Iterator[Stub]:
    """The same from Python's own tokens, which know what is inside a string of many lines."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        found = _TODO.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            yield f"{found[0]}: {token.string[found.end() :].strip(' :-')[:60]}".strip(": "), token.start[0]


def _comments(text: str, mark: str) -> Iterator[Stub]:
    """TODO, FIXME and XXX in comments; strings and prose may speak of them."""
    for number, line in enumerate(text.splitlines(), start=1):
        comment = _comment_of(line, mark)
        found = _TODO.search(comment)
        if found:
            yield f"{found[0]}: {comment[found.end() :].strip(' :-/*')[:60]}".strip(": "), number


def _comment_of(line: str, mark: str) -> str:
    """The comment at the end of a line, quotes considered."""
    quote, at = "", 0
    while at < len(line):
        character = line[at]
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif line.startswith(mark, at) or (mark == "//" and line.startswith("/*", at)):
            return line[at:]
        elif character in "\"'`":
            quote = character
        at += 1
    return line if mark == "//" and line.lstrip().startswith("*") else ""


def _javascript(path: str, text: str) -> Iterator[Stub]:
    for node in walk(parsed_javascript(path, text)):
        if node.type == "comment":
            found = _TODO.search(text_of(node))
            if found:
                yield f"{found[0]}: {text_of(node)[found.end() :].strip(' :-/*')[:60]}".strip(": "), line_of(node)
        elif node.type == "throw_statement":
            thrown = next((part for part in walk(node) if part.type == "new_expression"), None)
            words = " ".join(map(string, arguments_of(thrown))) if thrown is not None else ""
            if _NOT_IMPLEMENTED.search(words):
                yield "throws 'not implemented'", line_of(node)
        elif node.type == "function_declaration" and _has_empty_block(node.child_by_field_name("body")):
            yield f"{text_of(node.child_by_field_name('name'))} {EMPTY}", line_of(node)


def _has_empty_block(body: object) -> bool:
    children = getattr(body, "named_children", None)
    return children is not None and all(child.type == "comment" for child in children)


def _lines(text: str) -> Iterator[Stub]:
    for number, line in enumerate(text.splitlines(), start=1):
        if _RUST.search(line) or (re.search(r"\b(panic|throw|raise)\b", line) and _NOT_IMPLEMENTED.search(line)):
            yield "is not implemented", number
