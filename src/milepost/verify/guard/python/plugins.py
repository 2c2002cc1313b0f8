"""What conftest.py files and plugins do to a test run: hooks over outcomes and collection, patching fixtures."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from milepost.core.change import ChangedFile
from milepost.verify.guard.finding import GuardFinding
from milepost.verify.judging.paths import is_test_path
from milepost.verify.syntax.python_tree import Function, dotted, folded, import_names, key, last_name, parsed

_OUTCOMES = frozenset(
    {"pytest_runtest_makereport", "pytest_runtest_protocol", "pytest_runtestloop", "pytest_pyfunc_call"}
    | {"pytest_runtest_call", "pytest_sessionfinish", "pytest_report_teststatus", "pytest_cmdline_main"}
    | {"pytest_report_from_serializable", "pytest_runtest_logreport", "pytest_fixture_setup", "pytest_unconfigure"}
    | {"pytest_exception_interact", "pytest_cmdline_parse", "pytest_report_to_serializable"}
)
_COLLECTION = frozenset(
    {"pytest_collection_modifyitems", "pytest_ignore_collect", "pytest_collect_file", "pytest_pycollect_makeitem"}
    | {"pytest_collection", "pytest_itemcollected", "pytest_load_initial_conftests", "pytest_runtest_setup"}
    | {"pytest_pycollect_makemodule", "pytest_collection_finish", "load_tests"}
)
_PATCHING = frozenset({"setattr", "setitem", "delattr", "patch", "object", "dict"})
_RUNNER_MODULES = frozenset(
    {"pytest", "_pytest", "unittest", "pluggy", "iniconfig", "doctest", "nose", "xdist", "junitxml"}
)
_INNER_MODULES = frozenset(
    {"traceback", "inspect", "ast", "importlib", "builtins", "os", "site", "io", "warnings", "linecache", "tokenize"}
    | {"contextlib", "runpy", "functools", "enum", "dataclasses", "abc", "re", "pathlib", "tempfile", "atexit", "gc"}
)
_IMPORT_ROOTS = frozenset({"", "src", "lib", "tests", "test"})


def steered(file: ChangedFile) -> tuple[GuardFinding, ...]:
    """The findings about one Python file as a part of the runner."""
    after = parsed(file.text_after) if file.after is not None and not file.is_link else None
    before = parsed(file.text_before) if file.before is not None else None
    return (*_shadow(file), *(_hooks(file.path, before, after) if after is not None else ()))


def _shadow(file: ChangedFile) -> Iterator[GuardFinding]:
    """New files that Python or pytest would take for something else, or run unasked."""
    if file.is_gone:
        return
    path = PurePosixPath(file.path)
    if path.name in ("sitecustomize.py", "usercustomize.py") or path.suffix == ".pth":
        yield GuardFinding(path=file.path, line=0, what="is run by Python at every start", forges=True)
    if not file.is_new:
        return
    folder, module = path.parent.as_posix().removeprefix("."), path.stem
    if path.name == "__init__.py":
        folder, module = path.parent.parent.as_posix().removeprefix("."), path.parent.name
    roots = folder in _IMPORT_ROOTS or path.parts[0] in ("tests", "test")
    if (
        path.suffix == ".py"
        and roots
        and (module in _RUNNER_MODULES or (folder in _IMPORT_ROOTS and module in _INNER_MODULES))
    ):
        yield GuardFinding(path=file.path, line=0, what=f"takes the place of the module {module}", forges=True)


def _hooks(path: str, before: ast.Module | None, after: ast.Module) -> Iterator[GuardFinding]:
    known = dict(_steering(before, is_test_path(path))) if before is not None else {}
    for name, (text, line, forges) in dict(_steering(after, is_test_path(path))).items():
        if name not in known:
            yield GuardFinding(path=path, line=line, what=f"{name} was added", forges=forges)
        elif known[name][0] != text:
            yield GuardFinding(path=path, line=line, what=f"{name} was changed", forges=forges)


def _steering(tree: ast.Module, is_test: bool) -> Iterator[tuple[str, tuple[str, int, bool]]]:
    """Everything in a file that steers a run, by a name to compare it by."""
    if is_test:
        yield from _replaced_for_all(tree)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                hook = _hook_name(node)
                if hook in _OUTCOMES or hook in _COLLECTION:
                    yield f"the hook {hook}", (_text(node), node.lineno, hook in _OUTCOMES)
                elif _is_autouse(node) and any(map(_patches, ast.walk(node))):
                    yield f"the fixture {name}, which patches for every test,", (_text(node), node.lineno, False)
            case ast.Assign(targets=targets, value=value):
                for name in map(last_name, targets):
                    if name in _OUTCOMES or name in _COLLECTION:
                        yield f"the hook {name}", (key(value, {}), node.lineno, name in _OUTCOMES)
                    elif name.startswith("collect_ignore"):
                        yield f"the list {name}", (key(value, {}), node.lineno, False)
            case ast.ImportFrom(names=names):
                for alias in names:
                    hook = alias.asname or alias.name
                    if hook in _OUTCOMES or hook in _COLLECTION:
                        yield f"the hook {hook}", (f"{node.module}.{alias.name}", node.lineno, hook in _OUTCOMES)
            case _:
                pass


def _replaced_for_all(tree: ast.Module) -> Iterator[tuple[str, tuple[str, int, bool]]]:
    """What test code puts in the place of imported things, where every test in the same process meets it."""
    hooks = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    bodies = [tree.body, *(node.body for node in hooks if node.name.startswith("pytest_") or _is_autouse(node))]
    imported = set(import_names(ast.walk(tree)))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in (statement for body in bodies for statement in body if isinstance(statement, ast.Assign)):
        for target in node.targets:
            path = dotted(target)
            is_code = isinstance(node.value, ast.Lambda) or last_name(node.value) in {*defined, "Mock", "MagicMock"}
            if isinstance(target, ast.Attribute) and path.partition(".")[0] in imported and is_code:
                yield f"a replacement of {path} for every test", (key(node.value, {}), node.lineno, False)
            elif isinstance(target, ast.Subscript) and path == "sys.modules":
                yield f"a replacement of the module {folded(target.slice)}", (key(node.value, {}), node.lineno, False)


def _hook_name(node: Function) -> str:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and last_name(decorator.func) == "hookimpl":
            names: Mapping[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in decorator.keywords}
            if "specname" in names:
                return folded(names["specname"])
    return node.name


def _is_autouse(node: Function) -> bool:
    return any(
        isinstance(decorator, ast.Call)
        and last_name(decorator.func) == "fixture"
        and any(keyword.arg == "autouse" and not _is_false(keyword.value) for keyword in decorator.keywords)
        for decorator in node.decorator_list
    )


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _patches(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    path = dotted(node.func)
    return path.rpartition(".")[2] in _PATCHING and ("patch" in path or path.startswith("mocker."))


def _text(node: Function) -> str:
    """What a function does, its types left out."""
    return " ".join(key(part, {}) for part in (*node.decorator_list, *node.body))
