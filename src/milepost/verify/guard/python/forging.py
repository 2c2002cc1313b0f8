"""Python code that makes a test run lie: it replaces parts of the runner, ends it, or equals everything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from milepost.verify.guard.python.always_true import is_vacuous
from milepost.verify.guard.python.code import RUNNERS, Code, Sign, within
from milepost.verify.judging.paths import name_of
from milepost.verify.syntax.python_tree import dotted, folded, last_name

_HIDDEN = frozenset(
    {"b64decode", "a85decode", "b85decode", "fromhex", "unhexlify", "decompress", "loads", "decode", "rot13"}
)
_EXITING = re.compile(r"exit|SystemExit|quit|getattr")
_COMMAND_LINE = re.compile(r"\b(argparse|click|typer|optparse|docopt|fire|sys\.argv|__main__|getopt)\b")
_SPEAKING = ("pytest.skip", "pytest.xfail", "pytest.exit")
_ENDING_NAMES = re.compile(
    r"main|cli|exit|quit|run|stop|signal|shutdown|usage|help|version|command|cmd|callback|complet", re.IGNORECASE
)


def replaces_the_runner(code: Code) -> Iterator[Sign]:
    for node in code.nodes:
        for target in _assigned(node):
            path = code.path_of(target)
            first = path.partition(".")[0]
            if isinstance(target, ast.Attribute | ast.Subscript) and first in (*RUNNERS, "builtins", "__builtins__"):
                yield f"replaces {path}", getattr(node, "lineno", 0)
            elif path == "sys.modules" and isinstance(target, ast.Subscript):
                module = folded(target.slice)
                if module.partition(".")[0] in (*RUNNERS, "builtins"):
                    yield f"replaces the module {module}", getattr(node, "lineno", 0)
        if isinstance(node, ast.Call):
            yield from _replacing_call(node, code)


def _replacing_call(call: ast.Call, code: Code) -> Iterator[Sign]:
    path, arguments = code.path_of(call.func), call.args
    subject = code.path_of(arguments[0]) if arguments else ""
    first = subject.partition(".")[0]
    if path in ("setattr", "delattr", "builtins.setattr", "type.__setattr__") and first in (*RUNNERS, "builtins"):
        yield f"replaces {subject}.{folded(arguments[1]) if len(arguments) > 1 else ''}", call.lineno
    if path in ("monkeypatch.setattr", "mock.patch.object", "unittest.mock.patch.object") and first in RUNNERS:
        yield f"replaces a part of {subject}", call.lineno
    if path.endswith("patch") and arguments and folded(arguments[0]).partition(".")[0] in RUNNERS:
        yield f"replaces {folded(arguments[0])}", call.lineno
    if path in ("sys.meta_path.insert", "sys.meta_path.append", "sys.path_hooks.insert", "sys.path_hooks.append"):
        yield "puts itself into the import of modules (sys.meta_path)", call.lineno
    if path.endswith((".register", ".unregister")) and "pluginmanager" in path:
        yield "changes the runner's plugins", call.lineno


def ends_the_run(code: Code) -> Iterator[Sign]:
    """Ways to end the process before the tests have said what they found."""
    if not _EXITING.search(code.text):
        return
    calls = list(code.calls)
    has_children = any(path in ("os.fork", "os.forkpty", "os.execv", "os.execve", "os.execvpe") for _, path in calls)
    for call, path in calls:
        if path in ("os._exit", "posix._exit") and not has_children:
            yield "ends the process by os._exit", call.lineno
        if path == "atexit.register" and call.args and _exits_at_end(call.args[0], code):
            yield "ends the process with a status of its own (atexit)", call.lineno
    for node in _import_time(code.tree.body):
        if _ends_well(node, code):
            yield "ends the process while it is imported", getattr(node, "lineno", 0)
    if not _COMMAND_LINE.search(code.text) and not _ENDING_NAMES.search(name_of(code.path)):
        yield from _ends_in_functions(code)


def _ends_in_functions(code: Code) -> Iterator[Sign]:
    for scope in code.scopes:
        if not isinstance(scope, ast.Module) and not _ENDING_NAMES.search(scope.name):
            for node in within(scope):
                if _ends_well(node, code):
                    yield f"{scope.name} ends the process as if all were well", getattr(node, "lineno", 0)


def _exits_at_end(subject: ast.expr, code: Code) -> bool:
    """Whether what is registered for the end of the process ends it itself."""
    if code.path_of(subject).endswith(("_exit", "kill")):
        return True
    name = dotted(subject)
    bodies: list[ast.AST] = [subject] if isinstance(subject, ast.Lambda) else []
    bodies += [node for node in code.nodes if isinstance(node, ast.FunctionDef) and node.name == name]
    called = [node for body in bodies for node in ast.walk(body) if isinstance(node, ast.Call)]
    return any(code.path_of(node.func) in ("os._exit", "os.kill", "sys.exit", "os.abort") for node in called)


def _ends_well(node: ast.AST, code: Code) -> bool:
    """Whether a statement or call ends the process with status 0."""
    if isinstance(node, ast.Raise) and node.exc is not None and last_name(node.exc) == "SystemExit":
        arguments = node.exc.args if isinstance(node.exc, ast.Call) else []
    elif isinstance(node, ast.Call) and code.path_of(node.func) in ("sys.exit", "exit", "quit"):
        arguments = node.args
    else:
        return False
    return not arguments or (isinstance(arguments[0], ast.Constant) and not arguments[0].value)


def equals_everything(code: Code) -> Iterator[Sign]:
    """Objects that no comparison can fail on."""
    for node in code.nodes:
        if isinstance(node, ast.FunctionDef) and node.name == "__eq__" and _always_true(node):
            yield "has objects that equal everything (__eq__)", node.lineno
        values: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Assign):
            values = [(last_name(target), node.value) for target in node.targets]
        elif isinstance(node, ast.Dict):
            values = [(folded(name), value) for name, value in zip(node.keys, node.values, strict=True)]
        for name, value in values:
            if name == "__eq__" and isinstance(value, ast.Lambda) and is_vacuous(value.body):
                yield "has objects that equal everything (__eq__)", value.lineno


def _always_true(node: ast.FunctionDef) -> bool:
    returned = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
    return bool(returned) and all(value is not None and is_vacuous(value) for value in returned)


def runs_hidden_code(code: Code) -> Iterator[Sign]:
    """Code inside a string that has to be decoded first."""
    for call, path in code.calls:
        if path in ("exec", "eval", "builtins.exec", "builtins.eval") and call.args:
            inner = {last_name(part.func) for part in ast.walk(call.args[0]) if isinstance(part, ast.Call)}
            if inner & _HIDDEN and any(len(folded(part)) >= 16 for part in ast.walk(call.args[0])):
                yield "runs code that is hidden in a string", call.lineno


def _import_time(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What runs when the module is imported, what stands under `if __name__ == "__main__"` left out."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and _is_main(statement.test):
            yield from _import_time(statement.orelse)
            continue
        if isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                yield from _import_time(getattr(statement, name, []))
            for handler in getattr(statement, "handlers", []):
                yield from _import_time(handler.body)
            continue
        yield from (node for node in ast.walk(statement) if not isinstance(node, ast.Lambda))


def _is_main(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    return any(dotted(side) == "__name__" for side in sides) and any(folded(side) == "__main__" for side in sides)


def _assigned(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign | ast.Delete):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def uses_the_runner(code: Code) -> Iterator[Sign]:
    """Code outside of the tests that speaks to the runner itself."""
    for node in code.nodes:
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module or ""]
        for module in modules:
            if module.partition(".")[0] in RUNNERS and module.partition(".")[0] != "doctest":
                yield f"imports {module} outside of the tests", getattr(node, "lineno", 0)
        raised = node.exc if isinstance(node, ast.Raise) else None
        if raised is not None and last_name(raised) in ("SkipTest", "Skipped"):
            yield "raises SkipTest outside of the tests", getattr(node, "lineno", 0)
        if isinstance(node, ast.Call) and code.path_of(node.func) in _SPEAKING:
            yield f"calls {code.path_of(node.func)} outside of the tests", node.lineno
